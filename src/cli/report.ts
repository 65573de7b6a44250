// `spillway report FOLDER`: makes the documents of a run's, a plan's or a replay's folder, again if they are there.
import pc from "picocolors";
import type { CommandModule } from "yargs";
import type { Report, ReportOptions } from "../report/report.ts";
import type { KeptResult } from "../report/result-report.ts";
import type { PageOptions } from "../report/run-folder.ts";
import { SpillwayError } from "../rules/errors.ts";
import { openTerminal } from "./terminal.ts";
import { version } from "./version.ts";

interface Args {
  readonly folder: string;
  readonly compare?: string | undefined;
  readonly out?: string | undefined;
  readonly pictures: boolean;
  readonly json?: boolean | undefined;
}

export const command: CommandModule<object, Args> = {
  command: "report <folder>",
  describe:
    "make the documents of a run's, plan's or replay's folder: report.html, summary.md, junit.xml, pictures",
  builder: (yargs) =>
    yargs
      .positional("folder", {
        type: "string",
        demandOption: true,
        describe: "the folder that simulate, load, demo, plan or replay left",
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
      .example("$0 report reports/ci-fleet-plan", "the same of a plan")
      .example(
        "$0 report reports/herd-load --compare reports/herd-simulated",
        "the measurement with the prediction beside it",
      )
      .example("$0 report reports/herd-load --out herd.html", "the page elsewhere, herd-pictures/ beside it"),
  handler: async ({ folder, compare, out, pictures, json = false }) => {
    const terminal = openTerminal(json);
    const { readResult } = await import("../report/result-report.ts");
    const kept = await readResult(folder);
    if (kept !== null && compare !== undefined)
      throw new SpillwayError("USAGE", `a ${kept.kind} cannot be compared with a run`, {
        problems: [{ path: "--compare", got: compare, allowed: "only where FOLDER is a run's" }],
      });
    const options = { out, pictures };
    const made =
      kept === null ? await ofRun(folder, { ...options, compare }) : await ofResult(folder, kept, options);
    const color = { good: pc.green, bad: pc.red, none: pc.yellow }[made.outcome];
    terminal.say(`${pc.bold(made.name)}: ${color(made.words)}`);
    const { html, markdown, junit } = made.paths;
    for (const path of [html, markdown, junit]) terminal.say(`  ${path}`);
    terminal.result({ html, markdown, junit, pictures: made.paths.pictures });
  },
};

/** What was made, and what is said of it. */
interface Made {
  readonly name: string;
  readonly outcome: "good" | "bad" | "none";
  readonly words: string;
  readonly paths: Paths;
}

type Paths = Pick<Report, "html" | "markdown" | "junit" | "pictures">;

async function ofRun(folder: string, options: ReportOptions): Promise<Made> {
  const { writeReport } = await import("../report/report.ts");
  const { headline, outcomeOf } = await import("../report/source.ts");
  const report = await writeReport(folder, options);
  const { run } = report;
  return { name: run.record.scenario.name, outcome: outcomeOf(run), words: headline(run), paths: report };
}

async function ofResult(folder: string, kept: KeptResult, options: PageOptions): Promise<Made> {
  const { writePlanReport, writeReplayReport } = await import("../report/result-report.ts");
  if (kept.kind === "plan") {
    const { planAnswer, planOutcome } = await import("../report/plan-words.ts");
    const paths = await writePlanReport(folder, kept.result, version, options);
    const { scenario } = kept.result.question;
    return { name: scenario, outcome: planOutcome(kept.result), words: planAnswer(kept.result), paths };
  }
  const { replayAnswer, replayName, replayOutcome } = await import("../report/replay-words.ts");
  const paths = await writeReplayReport(folder, kept.result, version, options);
  const { result } = kept;
  return { name: replayName(result), outcome: replayOutcome(result), words: replayAnswer(result), paths };
}
