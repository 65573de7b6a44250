// `spillway bundle SCENARIO -o FILE`: a scenario as one JavaScript file that plain k6 runs, no Node needed.
import { stat } from "node:fs/promises";
import pc from "picocolors";
import type { CommandModule } from "yargs";
import { SpillwayError } from "../rules/errors.ts";
import { scenarioPositional } from "./run-options.ts";
import { shellCommand } from "./run-place.ts";
import { openTerminal } from "./terminal.ts";

interface Args {
  readonly scenario: string;
  readonly out?: string | undefined;
  readonly json?: boolean | undefined;
}

export const command: CommandModule<object, Args> = {
  command: "bundle <scenario>",
  describe: "write a scenario as one JavaScript file for plain k6",
  builder: (yargs) =>
    yargs
      .positional("scenario", scenarioPositional)
      .option("out", {
        alias: "o",
        type: "string",
        requiresArg: true,
        describe: "the file [default: SCENARIO.js]",
      })
      .example("$0 bundle herd -o herd.js", "then: k6 run -e TARGET=http://127.0.0.1:4100 herd.js")
      .example(
        "$0 bundle mine.ts -o mine.js",
        "the tokens lie beside it as tokens.json, or at -e TOKENS=PATH",
      ),
  handler: async (args) => {
    const terminal = openTerminal(args.json === true);
    const { loadScenarioFile } = await import("../load/scenario-file.ts");
    const { bundleScenario } = await import("../load/bundle.ts");
    const { writeText } = await import("../report/run-folder.ts");
    const { scenario, path } = await loadScenarioFile(args.scenario);
    const file = args.out ?? `${scenario.name}.js`;
    if (
      await stat(file).then(
        (found) => found.isDirectory(),
        () => false,
      )
    )
      throw new SpillwayError("FILE_UNWRITABLE", "the bundle cannot be written", {
        problems: [{ path: file, got: "a directory", allowed: "the path of a .js file" }],
      });
    await writeText(file, await bundleScenario({ path, name: scenario.name }));
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
};
