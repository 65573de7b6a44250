// Runs for the report's tests: a small world played against the limiter, as a driver would hand it over.

import type { Run, RunRecord } from "../../src/report/run.ts";
import type { ReportSource } from "../../src/report/source.ts";
import { lawNames } from "../../src/rules/laws.ts";
import { SeriesCollector, windowsWorthDrawing } from "../../src/summary/series.ts";
import { summarize } from "../../src/summary/summarizer.ts";
import { tellerOf } from "../../src/summary/told.ts";
import type { TraceCall, TraceHeader } from "../../src/trace/record.ts";
import { encodeCall, encodeHeader } from "../../src/trace/write.ts";
import type { CountPlace, Evidence, LawVerdict, Verdict, Violation } from "../../src/verify/verdict.ts";
import { playWorld, type WorldOptions } from "../summary/traces.ts";
import { callByQuotas, headerByQuotas } from "../verify/as-quotas.ts";

export interface FixtureOptions extends WorldOptions {
  readonly record?: Partial<RunRecord>;
  readonly violations?: readonly Violation[];
  /** Changes each call before it is summed up. */
  readonly change?: (call: TraceCall) => void;
}

export interface Fixture extends ReportSource {
  readonly header: TraceHeader;
  readonly calls: readonly TraceCall[];
  /** The trace's lines. */
  readonly lines: readonly string[];
}

export function fixture(options: FixtureOptions = {}): Fixture {
  const { header, calls } = playWorld(options);
  for (const call of calls) options.change?.(call);
  const summary = summarize(header, calls);
  const record: RunRecord = {
    format: "spillway-run",
    version: 1,
    driver: "k6",
    scenario: { name: "fleet", description: "Agents, a bot and a poller share a quota", file: "fleet.ts" },
    seed: header.seed ?? 0,
    startedAt: summary.startedAt,
    endedAt: summary.endedAt,
    durationMs: 24_000,
    target: "http://127.0.0.1:4100",
    command: "spillway load fleet.ts --seed 7",
    versions: { spillway: "0.1.0", node: "20.19.0", k6: "1.8.1" },
    rules: header.rules,
    expect: { refusedShare: "<40%", "agents.waitP95Ms": "<3s" },
    interrupted: false,
    notes: [],
    ...options.record,
  };
  const verdict = verdictOf(calls.length, summary.windowsSeen, options.violations ?? []);
  const run: Run = { record, summary, verdict };
  const collector = new SeriesCollector(summary, tellerOf(header), windowsWorthDrawing(summary));
  for (const call of calls) collector.add(call);
  const lines = [encodeHeader(header), ...calls.map(encodeCall)];
  return { run, series: collector.finish(), header, calls, lines };
}

/** The same world, told and judged by the quotas of its rules as a policy. */
export function quotasFixture(): ReportSource {
  const world = playWorld({ latencyMs: 30 });
  const { rules } = world.header;
  if (rules === null) throw new RangeError("the world has rules");
  const header = headerByQuotas(world.header, rules);
  const calls = world.calls.map(callByQuotas);
  const summary = summarize(header, calls);
  const collector = new SeriesCollector(summary, tellerOf(header), windowsWorthDrawing(summary));
  for (const call of calls) collector.add(call);
  const { run } = fixture();
  const record: RunRecord = {
    ...run.record,
    driver: "node",
    scenario: { name: "quotas", description: null, file: null },
    rules: null,
    policy: header.policy,
    lateness: { calls: 900, p50Ms: 0, p99Ms: 3, maxMs: 14 },
    expect: { refused: "<1", "agents.calls": ">0" },
    interrupted: true,
    notes: ["the target stopped answering after 12 s"],
  };
  return { run: { record, summary, verdict: null }, series: collector.finish() };
}

function verdictOf(records: number, windows: number, violations: readonly Violation[]): Verdict {
  const broken = new Set(violations.map(({ law }) => law));
  const state = (index: number, law: (typeof lawNames)[number]): LawVerdict =>
    broken.has(law) ? "violated" : index >= 14 ? { skipped: "a trace cannot show it" } : "held";
  const laws = Object.fromEntries(lawNames.map((law, index) => [law, state(index, law)]));
  const verdict = broken.size > 0 ? "violated" : "ok";
  return { verdict, records, windows, laws: laws as Verdict["laws"], violations };
}

/** The same evidence for every law. */
export function evidenceOf(evidence: Evidence): NonNullable<Verdict["evidence"]> {
  const laws = Object.fromEntries(lawNames.map((law) => [law, evidence]));
  return laws as NonNullable<Verdict["evidence"]>;
}

/** A violation with text that would be markup if it were not escaped. */
export const sampleViolation: Violation = {
  law: "conserved",
  suspects: ["race-read-then-write", "double-count"],
  org: "acme",
  user: null,
  scope: "rest",
  window: { opensAt: Date.UTC(2026, 0, 1), endsAt: Date.UTC(2026, 0, 1, 0, 0, 5) },
  count: 3,
  lines: [12, 15],
  explanation: "2 calls <took> the place 17 & both were admitted",
};

const opensAt = sampleViolation.window?.opensAt ?? 0;
/** Twenty calls, one after the other, of which lines 12 and 15 took the same place; and two that only read. */
const placesShown: readonly CountPlace[] = Array.from({ length: 22 }, (_, index) => {
  const line = index + 2;
  const reads = index >= 20;
  const to = reads ? 19 : line >= 15 ? index - 1 : index + 1;
  const sent = opensAt + index * 40;
  return {
    line,
    role: reads ? "refused" : "admitted",
    sent,
    received: sent + 60,
    from: reads ? to : to - 1,
    to,
  };
});

/** The same violation with all that a verdict may say beside it. */
export const fullVerdict: Verdict = {
  ...verdictOf(200, 14, [
    { ...sampleViolation, lines: [12, 15], places: { limit: 20, answers: placesShown } },
    sampleViolation,
  ]),
  violationsFound: 1_250,
  evidence: evidenceOf({ readings: 1_204, refusals: 32, windows: 12, resets: 9 }),
  methods: { places: 12, bounds: 2, readings: 400, pinned: 380 },
  inferred: [
    {
      switch: "reset",
      scope: "rest",
      value: "floor",
      explanation: "reset was 0 in line 7",
      lines: [7],
    },
  ],
  amounts: {
    admitted: 180,
    refused: 20,
    overAdmitted: 3,
    overAdmission: 3 / 180,
    wronglyRefused: 1,
    stalenessMs: 240,
    windows: [
      {
        org: "acme",
        user: null,
        scope: "rest",
        window: { opensAt, endsAt: opensAt + 5000 },
        limit: 20,
        admitted: 23,
        refused: 4,
        overAdmitted: 3,
        overAdmission: 3 / 23,
        wronglyRefused: 1,
        stalenessMs: 240,
      },
    ],
  },
  accepted: [{ expectation: "overAdmission <2%", explanation: "3 of 180 requests went in above a limit" }],
};
