// `spillway init`: writes a first scenario and rules file into the user's repository.
import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { requireNoLink, writeNew } from "../files/whole-file.ts";
import { unenforceable } from "../policy/as-window.ts";
import { SpillwayError } from "../rules/errors.ts";
import { printable } from "../rules/printable.ts";
import { shellCommand } from "../runs/run-place.ts";
import { version } from "../runs/version.ts";
import { ciScript, githubWorkflow } from "./ci-recipe.ts";
import { readPolicy } from "./files.ts";
import { openTerminal, type Terminal } from "./terminal.ts";
import { defineVerb, option } from "./verb.ts";

const scenario = `// Twelve agents of one organization that list pipelines and wait for the reset when they are refused.
// Try it in virtual time:   npx spillway simulate FILE
// and for real, by k6:      npx spillway load FILE
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

const workflows = join(".github", "workflows");
/** Folders that init creates without being asked. Links in somebody else's repository may lead them elsewhere. */
const workflowFolders = [".github", workflows];

export const verb = defineVerb({
  name: "init",
  summary: "write a first scenario and a rules file into your own repository",
  operands: [{ name: "dir", required: false, describe: "the folder to write to [default: spillway]" }],
  options: {
    ci: option.flag("also write ci.sh and a GitHub Actions workflow; keep a scenario and rules that exist", {
      default: false,
    }),
    policy: option.text(
      "NAME|FILE",
      "write a scenario of the calls of the policy FILE, or of the preset NAME with a policy that builds on it",
    ),
  },
  examples: {
    "$0 init": "write spillway/agents.ts and spillway/rules.json",
    "$0 init load-tests": "write the same two files to load-tests/",
    "$0 init --policy github": "write spillway/policy.json and spillway/clients.ts",
    "$0 init --ci": "write spillway/ci.sh and .github/workflows/spillway.yml, too",
  },
  handler: async ({ dir = "spillway", ci = false, policy, json }) => {
    const terminal = openTerminal(json);
    if (policy !== undefined && ci)
      throw new SpillwayError("USAGE", "--policy and --ci do not go together", {
        hint: "the recipe for a build server loads and judges the default API",
      });
    if (policy !== undefined) return initPolicy(dir, policy, terminal);
    const [scenarioPath, rulesPath] = [join(dir, "agents.ts"), join(dir, "rules.json")];
    const first = [
      [scenarioPath, scenario.replaceAll("FILE", () => printable(shellCommand([scenarioPath])))],
      [rulesPath, rules],
    ] as const;
    const recipe = [
      [join(dir, "ci.sh"), ciScript(dir)],
      [join(workflows, "spillway.yml"), githubWorkflow(dir)],
    ] as const;
    if (ci) for (const folder of workflowFolders) await requireNoLink(folder);
    const wanted = ci ? [...first.filter(([path]) => !existsSync(path)), ...recipe] : first;
    await writeAll(wanted);
    const written = wanted.map(([path]) => path);
    terminal.result({ written });
    terminal.say(`wrote ${written.join(", ")}`);
    if (!isInstalled()) for (const line of installing) terminal.say(line);
    if (ci) terminal.say(`next: ${shellCommand(["sh", join(dir, "ci.sh")])}, as the build server will`);
    else
      terminal.say(
        `next: ${shellCommand(["npx", "spillway", "simulate", scenarioPath, "--rules", rulesPath])}`,
      );
  },
});

/** Writes a scenario of a policy's calls; for a preset, also a policy that builds on it. */
async function initPolicy(dir: string, named: string, terminal: Terminal): Promise<void> {
  const [{ presets }, { policyText, scenarioText }] = await Promise.all([
    import("../policy/presets.ts"),
    import("./init-policy.ts"),
  ]);
  const policy = await readPolicy(named);
  const isPreset = Object.hasOwn(presets, named);
  const [policyPath, scenarioPath] = [isPreset ? join(dir, "policy.json") : named, join(dir, "clients.ts")];
  const asWindow = unenforceable(policy).length === 0 ? [] : ["--as-window"];
  const next = ["npx", "spillway", "simulate", scenarioPath, "--policy", policyPath, ...asWindow];
  const command = shellCommand(next);
  const files: [path: string, text: string][] = [[scenarioPath, scenarioText(policy, command)]];
  if (isPreset) files.unshift([policyPath, policyText(policy)]);
  await writeAll(files);
  const written = files.map(([path]) => path);
  terminal.result({ written });
  terminal.say(`wrote ${written.join(", ")}`);
  if (!isInstalled()) for (const line of installing) terminal.say(line);
  terminal.say(`next: ${command}`);
}

const installing = [
  "spillway is not installed in this repository, and in no registry yet. In a clone of spillway run: npm ci && npm pack",
  `then here: npm install --save-dev /path/to/spillway-${version}.tgz`,
];

/** Tells whether files of this repository can import spillway. */
function isInstalled(): boolean {
  try {
    createRequire(resolve("package.json")).resolve("spillway/package.json");
    return true;
  } catch {
    return false;
  }
}

/** Writes all files or none. A file that is there already may be somebody's work. */
async function writeAll(files: readonly (readonly [path: string, text: string])[]): Promise<void> {
  const written: string[] = [];
  try {
    for (const [path, text] of files) {
      await writeNew(path, text);
      written.push(path);
    }
  } catch (error) {
    for (const path of written) await rm(path, { force: true });
    throw error;
  }
}
