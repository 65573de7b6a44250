// `spillway report FOLDER`: makes the documents of a run's, a plan's or a replay's folder, and replaces older ones.

import { dirname, resolve } from "node:path";
import type { Report, ReportOptions } from "../report/report.ts";
import type { KeptResult } from "../report/result-report.ts";
import type { PageOptions } from "../report/result-writer.ts";
import { quote, SpillwayError } from "../rules/errors.ts";
import { shortName } from "../rules/printable.ts";
import { version } from "../runs/version.ts";
import { pc } from "./colors.ts";
import { openOption, reportOpener } from "./open-report.ts";
import { openTerminal } from "./terminal.ts";
import { defineVerb, option } from "./verb.ts";

export const verb = defineVerb({
  name: "report",
  summary: "make the documents of a run, plan or replay: report.html, summary.md, junit.xml, pictures",
  operands: [
    {
      name: "folder",
      required: true,
      describe: "the folder that simulate, load, demo, plan or replay wrote",
    },
  ],
  options: {
    compare: option.text("DIR", "show the run in DIR beside this one: the simulation beside the measurement"),
    out: option.text("FILE", "write the page to FILE instead"),
    open: openOption,
    pictures: option.flag("write each picture beside the page, too, as SVG and CSV", {
      default: true,
      negatable: true,
    }),
  },
  examples: {
    "$0 report reports/ci-fleet-load": "make the folder's documents again",
    "$0 report reports/ci-fleet-plan": "make those of a plan",
    "$0 report reports/herd-load --compare reports/herd-simulated":
      "show the measurement with the prediction beside it",
    "$0 report reports/herd-load --out herd.html": "write the page elsewhere, herd-pictures/ beside it",
  },
  handler: async ({ folder, compare, out, open: isWanted, pictures, json }) => {
    const terminal = openTerminal(json);
    // The folder's other files hold what was measured.
    if (out !== undefined && dirname(resolve(out)) === resolve(folder) && !out.endsWith(".html"))
      throw new SpillwayError("USAGE", "the page could replace a file of its folder", {
        problem: { path: "--out", got: quote(out), allowed: "a name that ends in .html, in this folder" },
      });
    const open = await reportOpener(isWanted);
    const { readResult } = await import("../report/result-report.ts");
    const kept = await readResult(folder);
    if (kept !== null && compare !== undefined)
      throw new SpillwayError("USAGE", `a ${kept.kind} cannot be compared with a run`, {
        problem: { path: "--compare", got: compare, allowed: "only where FOLDER is a run's" },
      });
    const options = { out, pictures };
    const made =
      kept === null ? await ofRun(folder, { ...options, compare }) : await ofResult(folder, kept, options);
    const color = { good: pc.green, bad: pc.red, none: pc.yellow }[made.outcome];
    terminal.say(`${pc.bold(shortName(made.name))}: ${color(made.words)}`);
    const { html, markdown, junit } = made.paths;
    for (const path of [html, markdown, junit]) terminal.say(`  ${path}`);
    terminal.result({ html, markdown, junit, pictures: made.paths.pictures });
    await open(html);
  },
});

/** A report that was made, and the words on it. */
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
  const { replayView } = await import("../report/replay-view.ts");
  const view = replayView(kept.result);
  return { name: replayName(view), outcome: replayOutcome(view), words: replayAnswer(view), paths };
}
