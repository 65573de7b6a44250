// Drawn fleets, a line each: what they call, what the oracle says, what is measured, and what is fitted to a record of
// them. A change that no other pin meets shows here. `npm run test:long -- test/sim/pinned-fleets.test.ts -u` writes the
// lines anew; read the difference.
// @module-tag long
import { expect, test } from "vitest";
import { checkSteps } from "../../sim/fit/check.ts";
import { fitTo } from "../../sim/fit/fit.ts";
import type { Recording } from "../../sim/fit/recording.ts";
import { fittedSource } from "../../sim/fit/source.ts";
import { simulate } from "../../sim/simulate.ts";
import type { Scenario } from "../../src/scenario/scenario.ts";
import { summarize } from "../../src/summary/summarizer.ts";
import type { TraceCall } from "../../src/trace/record.ts";
import { judge } from "../../src/verify/judge.ts";
import { logged, traced, tracedNameless } from "../fit/recordings.ts";
import { digestOf } from "../support/digest.ts";
import { resultOf } from "../support/result-of.ts";
import { drawnFleet } from "./drawn-fleets.ts";

const ways: readonly ((scenario: Scenario) => Recording)[] = [
  ...[traced, tracedNameless, (scenario: Scenario) => logged(scenario)],
  (scenario) => logged(scenario, { resolutionMs: 1000 }),
];

/** Returns what a fit to a record finds, the script that says so, and what its check says. */
function fitted(recording: Recording): unknown[] {
  const fit = fitTo(recording);
  return [fit.model, fittedSource(fit.model), resultOf(checkSteps(fit, 2))];
}

/** Numbers of calls that are worth a line, and soon fitted. */
const [callsLeast, callsMost] = [30, 4_000];

/** Returns the calls of a run; `null` if they are too few or too many. */
function callsOf(calls: Iterable<TraceCall>): TraceCall[] | null {
  const all: TraceCall[] = [];
  for (const call of calls) {
    if (all.length === callsMost) return null;
    all.push(structuredClone(call));
  }
  return all.filter(({ status }) => status > 0).length < callsLeast ? null : all;
}

test("drawn fleets call, are judged, measured and fitted as ever", async () => {
  const rows: string[] = [];
  for (let seed = 1; seed <= 120; seed++) {
    const scenario = drawnFleet(seed);
    const { header, calls } = simulate(scenario);
    const trace = callsOf(calls);
    if (trace === null) continue;
    const refused = trace.filter(({ status }) => status === 429).length;
    const verdict = await judge(
      header,
      trace.map((call, at) => ({ line: at + 2, call })),
    );
    const way = ways[seed % ways.length] as (typeof ways)[0];
    const digests = [trace, verdict, summarize(header, trace), ...fitted(way(scenario))].map((value) =>
      digestOf(value),
    );
    rows.push(`${seed}: ${trace.length} calls, ${refused} refused, ${verdict.verdict}; ${digests.join(" ")}`);
  }
  await expect(`${rows.join("\n")}\n`).toMatchFileSnapshot("./pinned/fleets.txt");
});
