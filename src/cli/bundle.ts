// `spillway bundle SCENARIO -o FILE`: writes a scenario as one JavaScript file that plain k6 runs without Node.

import { stat } from "node:fs/promises";
import type { LoadedScenario } from "../load/scenario-file.ts";
import { SpillwayError } from "../rules/errors.ts";
import { onInterrupt } from "../runs/interrupt.ts";
import { shellCommand } from "../runs/run-place.ts";
import { pc } from "./colors.ts";
import { readLimits } from "./files.ts";
import { codeNote, importMsOf, importTimeout, rulesOption, scenarioOperand } from "./run-options.ts";
import { openTerminal } from "./terminal.ts";
import { type ArgsOf, defineVerb, type Operand, option, type VerbOptions } from "./verb.ts";

const operands = [scenarioOperand] as const satisfies readonly Operand[];

const options = {
  out: option.text("FILE", "write the bundle to FILE [default: SCENARIO.js]", { alias: "o" }),
  rules: rulesOption("hold answers to", "the scenario's"),
  "import-timeout": importTimeout,
} as const satisfies VerbOptions;

type Args = ArgsOf<typeof options, typeof operands>;

export const verb = defineVerb({
  name: "bundle",
  summary: "write a scenario as one JavaScript file that plain k6 runs",
  notes: [codeNote],
  operands,
  options,
  examples: {
    "$0 bundle herd -o herd.js": "run it with: k6 run -e TARGET=http://127.0.0.1:4100 herd.js",
    "$0 bundle github --policy github -o github.js":
      "clients of another API, which read its answers by its policy",
    "$0 bundle mine.ts -o mine.js": "put tokens.json beside the bundle, or name the file by -e TOKENS=PATH",
  },
  handler: async (args) => {
    const terminal = openTerminal(args.json);
    const { bundleScenario } = await import("../load/bundle.ts");
    const { writeWhole } = await import("../files/whole-file.ts");
    const limits = args.rules === undefined ? {} : await readLimits(args.rules);
    const { scenario, path } = await loadedScenario(args);
    const file = args.out ?? `${scenario.name}.js`;
    const there = await stat(file).catch(() => null);
    if (there?.isDirectory())
      throw new SpillwayError("FILE_UNWRITABLE", "the bundle cannot be written", {
        problem: { path: file, got: "a directory", allowed: "the path of a .js file" },
      });
    const source = await stat(path);
    if (there?.ino === source.ino && there.dev === source.dev)
      throw new SpillwayError("FILE_UNWRITABLE", "the bundle would replace its scenario", {
        problem: { path: file, got: "the scenario's own file", allowed: "--out FILE, another file" },
      });
    await writeWhole(file, await bundleScenario({ path, name: scenario.name, limits }));
    const next = shellCommand([
      "k6",
      "run",
      "-e",
      "TARGET=http://127.0.0.1:4100",
      "-e",
      "TOKENS=/path/tokens.json",
      file,
    ]);
    terminal.say(file);
    terminal.say(`${pc.cyan("next")} ${next}`);
    terminal.result({ file, run: next });
  },
});

/** Loads the scenario; of it, only the name and the file are needed. */
async function loadedScenario(args: Args): Promise<LoadedScenario> {
  const { readScenario } = await import("../runs/job-thread.ts");
  const importMs = importMsOf(args);
  const { signal, release } = onInterrupt();
  return readScenario(args.scenario, { importMs, signal }).finally(release);
}
