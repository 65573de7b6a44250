// `spillway map FILES...`: proposes a policy from answers of an API, and asks what they leave open.
import { basename, extname } from "node:path";
import { openBytes } from "../files/byte-source.ts";
import { requireFile, requireFree } from "../files/read-file.ts";
import type { Proposal } from "../map/propose.ts";
import { SpillwayError } from "../rules/errors.ts";
import { counted } from "../rules/words.ts";
import { shellCommand } from "../runs/run-place.ts";
import { pc } from "./colors.ts";
import { openTerminal, type Terminal } from "./terminal.ts";
import { defineVerb, option } from "./verb.ts";

export const verb = defineVerb({
  name: "map",
  summary: "propose a policy file from answers of an API: output of curl, a HAR, logs",
  notes: [
    "A form of time is never guessed from one value: give two answers to one caller, at least 2 s apart. No token, query, id or host of what is read gets into the file.",
  ],
  operands: [
    {
      name: "files",
      many: true,
      required: false,
      describe: "output of curl -i or curl -v, a HAR, JSON lines, an access log, or - for standard input",
    },
  ],
  options: {
    from: option.text("FILE", "read answers from FILE, too", { array: true }),
    out: option.text("FILE", "write the policy to FILE [default: standard output]", { alias: "o" }),
    name: option.text("NAME", "call the policy NAME [default: the file's name]"),
    force: option.flag("overwrite a file that exists", { default: false }),
  },
  examples: {
    "$0 map first.txt second.txt -o my-api.json": "propose a policy from two outputs of curl -i",
    "$0 map session.har -o my-api.json": "propose one from what a browser or a proxy recorded",
    "curl -si URL | $0 map -": "propose one from a single answer, and ask what it does not settle",
  },
  handler: async ({ files = [], from = [], out, name, force, json }) => {
    const paths = [...files, ...from];
    requireSome(paths);
    if (out !== undefined && !force) await requireFree(out);
    const called = nameOf(name, out);
    const terminal = openTerminal(json || out === undefined);
    const [{ readTranscript }, { propose }, { textOfFile }] = await Promise.all([
      import("../map/transcripts.ts"),
      import("../map/propose.ts"),
      import("../logs/har.ts"),
    ]);
    const secrets = new Set<string>();
    const seen = [];
    for (const path of paths) {
      if (path !== "-") await requireFile(path, "file of answers");
      terminal.progress(`reading ${path}`);
      const source = await openBytes(path);
      const text = await textOfFile({ open: () => source, name: path });
      for (const each of readTranscript(text, path, secrets)) seen.push(each);
    }
    const proposal = propose(seen, secrets, called);
    const text = `${JSON.stringify(proposal.policy, null, 2)}\n`;
    if (out !== undefined) await (await import("../files/whole-file.ts")).writeWhole(out, text);
    await sayProposal(proposal, out, terminal);
    const { policy, format, answers, questions } = proposal;
    if (json) terminal.result({ policy, format, answers, questions, out: out ?? null });
    else if (out === undefined) terminal.document(text);
  },
});

function requireSome(paths: readonly string[]): void {
  if (paths.length > 0) return;
  throw new SpillwayError("USAGE", "map needs answers of the API", {
    problem: { path: "FILES", got: "nothing", allowed: "files of answers, or - for standard input" },
    hint: "curl -si URL > answers.txt keeps one",
  });
}

/** Returns the policy's name: as given, or as its file is called. @throws SpillwayError `USAGE` */
export function nameOf(name: string | undefined, out: string | undefined): string {
  if (name !== undefined && !/^[A-Za-z_][\w.-]{0,63}$/.test(name))
    throw new SpillwayError("USAGE", "the name cannot be used", {
      problem: { path: "--name", got: name, allowed: "a letter, then letters, digits, dots, - and _" },
    });
  const file = out === undefined ? "" : basename(out, extname(out)).replace(/[^\w.-]+/g, "-");
  return name ?? (/^[A-Za-z_]/.test(file) ? file.slice(0, 64) : "my-api");
}

/** Prints the proposed policy, and the questions that the answers leave open. */
export async function sayProposal(
  { policy, format, answers, questions }: Proposal,
  out: string | undefined,
  terminal: Terminal,
) {
  const { parsePolicy } = await import("../policy/parse.ts");
  const { quotaSentences } = await import("../policy/sentences.ts");
  terminal.say(
    format === null
      ? `${counted(answers, "answer")}; their format is written out below wire`
      : `${counted(answers, "answer")}, in the format of ${pc.bold(format)}`,
  );
  for (const [name, quota] of Object.entries(parsePolicy(policy).quotas))
    terminal.say(`  ${pc.bold(name)}  ${quotaSentences(quota).join(" ")}`);
  if (questions.length > 0) terminal.say("", `Not settled by these answers (${questions.length}):`);
  for (const [index, { path, seen, settle }] of questions.entries())
    terminal.say(`  ${index + 1}. ${pc.bold(path)}: ${seen}`, `     ${pc.cyan("to find out")} ${settle}`);
  if (out === undefined) return;
  terminal.say("", `wrote ${out}`);
  terminal.say(`${pc.cyan("next")} ${shellCommand(["npx", "spillway", "policy", "check", out])}`);
}
