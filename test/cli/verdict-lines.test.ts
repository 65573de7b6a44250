// Verdicts in words, line by line: of a trace, and of a live target.
import { expect, test } from "vitest";
import { sayLive } from "../../src/cli/check-target.ts";
import { uncolored } from "../../src/cli/colors.ts";
import type { Terminal } from "../../src/cli/terminal.ts";
import { sayVerdict } from "../../src/cli/verify.ts";
import { lawNames } from "../../src/rules/laws.ts";
import type { Verdict } from "../../src/verify/verdict.ts";
import { evidenceOf, fixture, fullVerdict, sampleViolation } from "../report/fixtures.ts";

function linesOf(say: (terminal: Terminal) => void): string[] {
  const lines: string[] = [];
  say({ say: (...more: string[]) => lines.push(...more.map(uncolored)) } as unknown as Terminal);
  return lines;
}
const said = (verdict: Verdict, trace = "run.ndjson") =>
  linesOf((terminal) => sayVerdict(trace, verdict, terminal));
const evidence = { readings: 1_204, refusals: 32, windows: 12, resets: 9 };

test("a verdict with all that it may have", () => {
  expect(said(fullVerdict)).toMatchInlineSnapshot(`
    [
      "violated run.ndjson: 200 calls, 14 windows",
      "  12 windows judged by places, 2 windows by bounds; 380 of 400 readings could have had one value alone.",
      "  At least 3 (1.7% of what was admitted) went in above a limit; 1 call was refused although there was room; one reading was 240 ms old when it was shown. The law bounded held all the same: no answer showed a count above its limit, so the counts shown were too low.",
      "  accepted overAdmission <2%: 3 of 180 requests went in above a limit",
      "  violated conserved acme, rest, the window until 2026-01-01 00:00:05 UTC, 3 times",
      "    2 calls <took> the place 17 & both were admitted",
      "    lines 12, 15; likely race-read-then-write, double-count",
      "  violated conserved acme, rest, the window until 2026-01-01 00:00:05 UTC, 3 times",
      "    2 calls <took> the place 17 & both were admitted",
      "    lines 12, 15; likely race-read-then-write, double-count",
      "  and 1,248 violations more: --out verdict.json, --json",
      "  held bounded, remaining-agrees, reset-agrees, status-free, all-or-nothing, refusal-justified, isolated, monotone, recovers, unenforced-never-refuses, time-translates, never-rolls-back, twice-at-most; tested on",
      "    bounded                   1,204 readings, 32 refusals, 12 windows, 9 resets",
      "    remaining-agrees          1,204 readings, 32 refusals, 12 windows, 9 resets",
      "    reset-agrees              1,204 readings, 32 refusals, 12 windows, 9 resets",
      "    status-free               1,204 readings, 32 refusals, 12 windows, 9 resets",
      "    all-or-nothing            1,204 readings, 32 refusals, 12 windows, 9 resets",
      "    refusal-justified         1,204 readings, 32 refusals, 12 windows, 9 resets",
      "    isolated                  1,204 readings, 32 refusals, 12 windows, 9 resets",
      "    monotone                  1,204 readings, 32 refusals, 12 windows, 9 resets",
      "    recovers                  1,204 readings, 32 refusals, 12 windows, 9 resets",
      "    unenforced-never-refuses  1,204 readings, 32 refusals, 12 windows, 9 resets",
      "    time-translates           1,204 readings, 32 refusals, 12 windows, 9 resets",
      "    never-rolls-back          1,204 readings, 32 refusals, 12 windows, 9 resets",
      "    twice-at-most             1,204 readings, 32 refusals, 12 windows, 9 resets",
      "  skipped snapshot-equals, headers-present, limit-agrees, refusal-agrees: a trace cannot show it",
      "  inferred rest.reset is floor: reset was 0 in line 7",
    ]
  `);
});

test("a verdict with little", () => {
  const { verdict } = fixture().run;
  expect(said(verdict as Verdict, "-")).toMatchInlineSnapshot(`
    [
      "ok standard input: 598 calls, 97 windows",
      "  held bounded, conserved, remaining-agrees, reset-agrees, status-free, all-or-nothing, refusal-justified, isolated, monotone, recovers, unenforced-never-refuses, time-translates, never-rolls-back, twice-at-most",
      "  skipped snapshot-equals, headers-present, limit-agrees, refusal-agrees: a trace cannot show it",
    ]
  `);
});

test("a verdict on little evidence, and one on none", () => {
  const verdict = fixture().run.verdict as Verdict;
  const first = (refusals: number) =>
    said({ ...verdict, evidence: evidenceOf({ ...evidence, refusals }) })[0];
  expect([first(1), first(0)]).toEqual([
    "ok run.ndjson: 598 calls, 97 windows",
    "ok run.ndjson: 598 calls, 97 windows, on little evidence: no refusal was seen, so load more",
  ]);
  const none = said({ ...verdict, verdict: "unknown" });
  expect(none.at(-1)).toBe("  Nothing in this trace could be judged.");
});

test("a violation is of a window or an answer, with at most twelve lines and three suspects", () => {
  const lines = Array.from({ length: 13 }, (_, at) => at + 2);
  const own = { ...sampleViolation, count: 1, suspects: ["a", "b", "c", "d"] };
  const violations = [
    { ...own, user: "ann", window: null, suspects: [], lines: [2] },
    { ...own, lines: lines.slice(1) },
    { ...own, lines },
  ];
  expect(said({ ...fullVerdict, violationsFound: 3, violations }).slice(4, 13)).toEqual([
    "  violated conserved acme, ann, rest",
    "    2 calls <took> the place 17 & both were admitted",
    "    line 2",
    "  violated conserved acme, rest, the window until 2026-01-01 00:00:05 UTC",
    "    2 calls <took> the place 17 & both were admitted",
    "    lines 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14; likely a, b, c",
    "  violated conserved acme, rest, the window until 2026-01-01 00:00:05 UTC",
    "    2 calls <took> the place 17 & both were admitted",
    "    lines 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, ...; likely a, b, c",
  ]);
});

test.each([
  [20, undefined, null],
  [21, undefined, "  and 1 violation more: --out verdict.json, --json"],
  [20, 25, "  and 5 violations more: --out verdict.json, --json"],
  [21, 25, "  and 5 violations more: --out verdict.json, --json"],
])("of %i violations, of %s that were found, twenty are printed", (kept, found, more) => {
  const violations = Array.from({ length: kept }, () => sampleViolation);
  const lines = said({ ...fullVerdict, violations, violationsFound: found as number });
  expect(lines.filter((line) => line.startsWith("  violated"))).toHaveLength(20);
  expect(lines.find((line) => line.startsWith("  and ")) ?? null).toBe(more);
});

const report = {
  target: "http://localhost:4100",
  ...{ seed: 7, runs: 3, calls: 1_200, ended: null, counterexample: null, ok: true },
  laws: Object.fromEntries(lawNames.map((law) => [law, "held"])),
  evidence: evidenceOf(evidence),
};
const live = (more: object) => linesOf((terminal) => sayLive({ ...report, ...more } as never, terminal));

test("a live target that held some laws, ended early", () => {
  const laws = { ...report.laws, conserved: undefined, monotone: { skipped: "no window was seen twice" } };
  expect(live({ laws, ended: { why: "budget", reason: "the calls are used up" } })).toMatchInlineSnapshot(`
    [
      "http://localhost:4100 in real time, seed 7, 3 runs, 1,200 calls: 16 of 18 laws judged; could not judge conserved, monotone",
      "  bounded                   no counterexample in 1,204 readings, 32 refusals, 12 windows, 9 resets",
      "  conserved                 skipped: no run was judged",
      "  remaining-agrees          no counterexample in 1,204 readings, 32 refusals, 12 windows, 9 resets",
      "  reset-agrees              no counterexample in 1,204 readings, 32 refusals, 12 windows, 9 resets",
      "  status-free               no counterexample in 1,204 readings, 32 refusals, 12 windows, 9 resets",
      "  all-or-nothing            no counterexample in 1,204 readings, 32 refusals, 12 windows, 9 resets",
      "  refusal-justified         no counterexample in 1,204 readings, 32 refusals, 12 windows, 9 resets",
      "  isolated                  no counterexample in 1,204 readings, 32 refusals, 12 windows, 9 resets",
      "  monotone                  skipped: no window was seen twice",
      "  recovers                  no counterexample in 1,204 readings, 32 refusals, 12 windows, 9 resets",
      "  unenforced-never-refuses  no counterexample in 1,204 readings, 32 refusals, 12 windows, 9 resets",
      "  time-translates           no counterexample in 1,204 readings, 32 refusals, 12 windows, 9 resets",
      "  never-rolls-back          no counterexample in 1,204 readings, 32 refusals, 12 windows, 9 resets",
      "  twice-at-most             no counterexample in 1,204 readings, 32 refusals, 12 windows, 9 resets",
      "  snapshot-equals           no counterexample in 1,204 readings, 32 refusals, 12 windows, 9 resets",
      "  headers-present           no counterexample in 1,204 readings, 32 refusals, 12 windows, 9 resets",
      "  limit-agrees              no counterexample in 1,204 readings, 32 refusals, 12 windows, 9 resets",
      "  refusal-agrees            no counterexample in 1,204 readings, 32 refusals, 12 windows, 9 resets",
      "",
      "ended early: the calls are used up",
      "",
      "none of the 16 laws that could be judged is violated",
    ]
  `);
});

test("a live target that held all laws, on much evidence and on little", () => {
  expect(live({}).filter((_, at) => at < 2 || at > lawNames.length)).toMatchInlineSnapshot(`
    [
      "http://localhost:4100 in real time, seed 7, 3 runs, 1,200 calls: 18 of 18 laws judged",
      "  bounded                   no counterexample in 1,204 readings, 32 refusals, 12 windows, 9 resets",
      "",
      "none of the 18 laws that could be judged is violated",
    ]
  `);
  expect(live({ evidence: evidenceOf({ ...evidence, refusals: 0, resets: 0 }) })[0]).toMatchInlineSnapshot(
    `"http://localhost:4100 in real time, seed 7, 3 runs, 1,200 calls: 18 of 18 laws judged, on little evidence: no refusal was seen, so load more; no window ended before another was seen, so run longer"`,
  );
});

test("a live target that was not judged", () => {
  const lines = live({ laws: {}, runs: 1, calls: 1 });
  expect([lines[0], lines.at(-1)]).toMatchInlineSnapshot(`
    [
      "http://localhost:4100 in real time, seed 7, 1 run, 1 call: 0 of 18 laws judged; could not judge bounded, conserved, remaining-agrees, reset-agrees, status-free, all-or-nothing, refusal-justified, isolated, monotone, recovers, unenforced-never-refuses, time-translates, never-rolls-back, twice-at-most, snapshot-equals, headers-present, limit-agrees, refusal-agrees",
      "no law could be judged: allow more --calls and --seconds",
    ]
  `);
});

test("a live target that broke a law, with the run that shows it", () => {
  const startedAt = 1_000;
  const call = (sent: number, more: object = {}) => ({
    ...{
      sent,
      user: "ann",
      kind: "call",
      status: 200,
      remaining: 4,
      limit: 5,
      userRemaining: 1,
      userLimit: 2,
    },
    ...more,
  });
  const counterexample = {
    header: { startedAt },
    lines: [
      { line: 2, call: call(1_000) },
      { line: 3, call: call(13_345, { user: null, kind: "status", remaining: 3 }) },
    ],
    verdict: { violations: [{ ...sampleViolation, lines: [3] }] },
  };
  const lines = live({ ok: false, laws: { ...report.laws, conserved: "violated" }, counterexample });
  expect(lines.filter((_, at) => at < 2 || at > lawNames.length)).toMatchInlineSnapshot(`
    [
      "http://localhost:4100 in real time, seed 7, 3 runs, 1,200 calls: 18 of 18 laws judged",
      "  bounded                   no counterexample in 1,204 readings, 32 refusals, 12 windows, 9 resets",
      "",
      "conserved is violated: 2 calls <took> the place 17 & both were admitted",
      "     +0.000 s  line 2: ann call 200, remaining 4 of 5, user 1 of 2",
      ">   +12.345 s  line 3: nobody status 200, remaining 3 of 5, user 1 of 2",
      "",
      "real time is not repeated exactly: run it again, or keep the trace with --json",
      "",
      "a law is violated",
    ]
  `);
});
