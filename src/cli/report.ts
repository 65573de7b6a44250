// `spillway report RUN`: makes the documents of a run folder, again if they are there.
import pc from "picocolors";
import type { CommandModule } from "yargs";
import { openTerminal } from "./terminal.ts";

interface Args {
  readonly run: string;
  readonly compare?: string | undefined;
  readonly out?: string | undefined;
  readonly pictures: boolean;
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
      .option("pictures", {
        type: "boolean",
        default: true,
        describe: "write each picture beside the page, too, as SVG and CSV",
      })
      .example("$0 report reports/ci-fleet-load", "makes the folder's documents again")
      .example(
        "$0 report reports/herd-load --compare reports/herd-simulated",
        "the measurement with the prediction beside it",
      )
      .example("$0 report reports/herd-load --out herd.html", "the page elsewhere, herd-pictures/ beside it"),
  handler: async ({ run, compare, out, pictures, json = false }) => {
    const terminal = openTerminal(json);
    const { writeReport } = await import("../report/report.ts");
    const { headline, outcomeOf } = await import("../report/source.ts");
    const report = await writeReport(run, { compare, out, pictures });
    const color = { good: pc.green, bad: pc.red, none: pc.yellow }[outcomeOf(report.run)];
    terminal.say(`${pc.bold(report.run.record.scenario.name)}: ${color(headline(report.run))}`);
    for (const path of [report.html, report.markdown, report.junit]) terminal.say(`  ${path}`);
    const { html, markdown, junit } = report;
    terminal.result({ html, markdown, junit, pictures: report.pictures });
  },
};
