// `spillway init`: a first scenario and rules file in one's own repository.
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { SpillwayError } from "../rules/errors.ts";
import { openTerminal } from "./terminal.ts";
import { defineVerb } from "./verb.ts";

interface Args {
  readonly dir?: string | undefined;
  readonly json?: boolean;
}

const scenario = `// Twelve agents of one organization that list pipelines and wait for the reset when they are refused.
// Try it in virtual time:   npx spillway simulate DIR/agents.ts
// and for real, by k6:      npx spillway load DIR/agents.ts
import { defineScenario, poller, rest, waitReset } from "spillway/scenario";

export default defineScenario({
  name: "agents",
  description: "Twelve agents that each list pipelines every four seconds",
  seed: 1,
  duration: "2m",
  populations: {
    agents: {
      clients: 12,
      user: "each",
      startWithin: "4s",
      behaviour: poller({ every: "4s", call: rest("/v2/organizations/:org/pipelines") }),
      onRefused: waitReset({ of: "both", jitter: { least: "0s", most: "2s" } }),
    },
  },
  expect: { refusedShare: "<5%", waitP95Ms: "<1000" },
});
`;

const rules = `${JSON.stringify(
  {
    organization: { rest: { limit: 200, windowSeconds: 60 }, graphql: { limit: 20_000, windowSeconds: 300 } },
    user: { rest: { limit: 50, windowSeconds: 60 }, graphql: { limit: 5_000, windowSeconds: 300 } },
    semantics: { anchor: "epoch" },
  },
  null,
  2,
)}\n`;

export const verb = defineVerb<Args>({
  name: "init",
  summary: "write a first scenario and a rules file into your own repository",
  operands: [{ name: "dir", required: false, describe: "the folder to write to [default: spillway]" }],
  options: {},
  examples: [
    ["$0 init", "write spillway/agents.ts and spillway/rules.json"],
    ["$0 init load-tests", "write the same two files to load-tests/"],
  ],
  handler: async ({ dir = "spillway", json = false }) => {
    const terminal = openTerminal(json);
    await mkdir(dir, { recursive: true }).catch((cause: NodeJS.ErrnoException) => {
      throw new SpillwayError("FILE_UNWRITABLE", "the folder cannot be made", {
        problems: [{ path: dir, got: String(cause.code), allowed: "a folder that can be written to" }],
      });
    });
    const files = { "agents.ts": scenario.replaceAll("DIR", dir), "rules.json": rules };
    for (const [name, text] of Object.entries(files)) await writeNew(join(dir, name), text);
    terminal.result({ written: Object.keys(files).map((name) => join(dir, name)) });
    terminal.say(`wrote ${join(dir, "agents.ts")} and ${join(dir, "rules.json")}`);
    terminal.say(`next: npx spillway simulate ${join(dir, "agents.ts")} --rules ${join(dir, "rules.json")}`);
  },
});

/** Never overwrites: what stands there may be somebody's work. */
async function writeNew(path: string, text: string): Promise<void> {
  await writeFile(path, text, { flag: "wx" }).catch((cause: NodeJS.ErrnoException) => {
    const got = cause.code === "EEXIST" ? "a file that is already there" : String(cause.code);
    throw new SpillwayError("FILE_UNWRITABLE", "nothing is overwritten", {
      problems: [{ path, got, allowed: "a path where there is no file" }],
      hint: "name another folder: npx spillway init DIR",
    });
  });
}
