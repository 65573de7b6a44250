// `spillway completion SHELL`: writes a script by which the Tab key completes verbs, options and names.
import { basename } from "node:path";
import { quote, SpillwayError } from "../rules/errors.ts";
import { openTerminal } from "./terminal.ts";
import { defineVerb } from "./verb.ts";

export const verb = defineVerb({
  name: "completion",
  summary: "print a script that completes verbs, options and names by the Tab key",
  notes: [
    'bash: put eval "$(npx spillway completion bash)" into ~/.bashrc. zsh: put eval "$(npx spillway completion zsh)" into ~/.zshrc, below compinit. ' +
      "To start shells faster, save the script to a file once, and read that. It completes spillway and npx spillway.",
  ],
  operands: [{ name: "shell", required: false, describe: "bash or zsh [default: the one that SHELL names]" }],
  options: {},
  examples: {
    'eval "$($0 completion bash)"': "complete in this shell",
    "$0 completion zsh > ~/.zfunc/_spillway": "complete in every zsh that has ~/.zfunc in its fpath",
  },
  handler: async ({ shell = basename(process.env["SHELL"] ?? "") }) => {
    const { bashCompletion, zshCompletion } = await import("./completion-scripts.ts");
    const scripts = { bash: bashCompletion, zsh: zshCompletion };
    if (shell !== "bash" && shell !== "zsh")
      throw new SpillwayError("USAGE", "there is no completion for this shell", {
        problem: { path: "SHELL", got: quote(shell), allowed: Object.keys(scripts).join(", ") },
        hint: "npx spillway completion bash",
      });
    const { completedVerbs } = await import("./completion-words.ts");
    const { allVerbs } = await import("./verbs.ts");
    openTerminal(false).document(scripts[shell](await completedVerbs(await allVerbs())));
  },
});
