// `spillway report RUN`: makes the documents of a run folder, again if they are there.
import pc from "picocolors";
import type { CommandModule } from "yargs";
import { openTerminal } from "./terminal.ts";

interface Args {
  readonly run: string;
  readonly compare?: string | undefined;
  readonly out?: string | undefined;
  readonly svg: boolean;
  readonly json?: boolean | undefined;
}

export const command: CommandModule<object, Args> = {
  command: "report <run>",
  describe: "make the documents of a run's folder: report.html, summary.md, junit.xml",
  builder: (yargs) =>
    yargs
      .positional("run", {
        type: "string",
        demandOption: true,
        describe: "the folder that simulate, load or demo left",
      })
      .option("compare", {
        type: "string",
        requiresArg: true,
        describe: "another run's folder, shown beside this one: the simulator's beside k6's",
      })
      .option("out", { type: "string", requiresArg: true, describe: "where the HTML goes instead" })
      .option("svg", {
        type: "boolean",
        default: false,
        describe: "write each picture into charts/, too, as SVG",
      })
      .example("$0 report reports/ci-fleet-load", "makes the folder's documents again")
      .example(
        "$0 report reports/herd-load --compare reports/herd-simulated",
        "the measurement with the prediction beside it",
      )
      .example("$0 report reports/herd-load --svg --out herd.html", "pictures as files; the page elsewhere"),
  handler: async ({ run, compare, out, svg, json = false }) => {
    const terminal = openTerminal(json);
    const { writeReport } = await import("../report/report.ts");
    const { headline, outcomeOf } = await import("../report/source.ts");
    const report = await writeReport(run, { compare, out, svg });
    const color = { good: pc.green, bad: pc.red, none: pc.yellow }[outcomeOf(report.run)];
    terminal.say(`${pc.bold(report.run.record.scenario.name)}: ${color(headline(report.run))}`);
    for (const path of [report.html, report.markdown, report.junit, ...report.charts])
      terminal.say(`  ${path}`);
    const { html, markdown, junit, charts } = report;
    terminal.result({ html, markdown, junit, charts });
  },
};
