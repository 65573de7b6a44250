// A simulation that leaves no trace: shows its progress, its figures, and whether they meet the expectations.
import type { Measurement } from "../../sim/measure.ts";
import { share } from "../report/format.ts";
import { isJudgedFigure } from "../rules/figures.ts";
import { counted } from "../rules/words.ts";
import { resultOf } from "../runs/job-events.ts";
import type { EventOf } from "../runs/jobs.ts";
import { Pace, paceText } from "../runs/pace.ts";
import type { MeasureFacts } from "../runs/simulate-job.ts";
import { judgeExpectations } from "../summary/expectations.ts";
import type { MeasuredRun } from "./say-run.ts";
import type { Terminal } from "./terminal.ts";

/** Runs the job, and shows its progress. @throws what the job throws */
export async function measuredRun(
  events: AsyncGenerator<EventOf<"measure">, Measurement, undefined>,
  terminal: Terminal,
  signal: { readonly aborted: boolean },
): Promise<MeasuredRun & { readonly measured: Measurement }> {
  const facts: MeasureFacts[] = [];
  const pace = new Pace(Date.now);
  const measured = await resultOf(events, (event) => {
    if (event.kind === "facts") {
      facts.push(event);
      return;
    }
    const { startAtMs, durationMs } = (facts[0] as MeasureFacts).scenario;
    const done = Math.min(1, (event.nowMs - startAtMs) / durationMs);
    const speed = paceText(pace.at(done, event.calls), "call");
    terminal.progress(`simulating: ${share(done)}, ${counted(event.calls, "call")}${speed}`);
  });
  const first = facts[0] as MeasureFacts;
  const { name, seed, startAtMs, durationMs, expect } = first.scenario;
  const unjudged = expect.filter((one) => isJudgedFigure(one.name)).map(({ figure }) => figure);
  const counts = expect.filter((one) => !isJudgedFigure(one.name));
  const bounds = Object.fromEntries(counts.map(({ figure, bound }) => [figure, bound]));
  return {
    name,
    seed,
    durationMs: signal.aborted ? Math.max(0, measured.endedAt - startAtMs) : durationMs,
    measured,
    expectations: judgeExpectations(bounds, measured),
    notes: [
      ...first.notes,
      ...unjudged.map((figure) => `${figure} is a verdict's: without a trace it is not expected`),
    ],
    interrupted: signal.aborted,
  };
}
