// The target's clock and the grid of its windows, as answers tell them, and contradictions.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Scope } from "../../src/rules/rules.ts";
import { AmountsTally } from "../../src/verify/amounts.ts";
import { type Span, TraceTime } from "../../src/verify/clock.ts";
import { judgeCommonGrid, type LastWindow } from "../../src/verify/common-grid.ts";
import { Docket } from "../../src/verify/docket.ts";
import { EpochGrid } from "../../src/verify/epoch-grid.ts";
import { rulesQuota } from "../../src/verify/quota-name.ts";
import type { Suspect } from "../../src/verify/suspects.ts";
import { TargetClock } from "../../src/verify/target-clock.ts";
import { TargetOffset } from "../../src/verify/target-offset.ts";
import { TargetPhase } from "../../src/verify/target-phase.ts";

const name = rulesQuota("acme", null, "rest");
/** An instant on the grid of minutes. */
const minute = Date.UTC(2026, 0, 5, 10, 0);

const docketOf = (): Docket => new Docket({ amounts: new AmountsTally(), violationsMost: 100, accept: null });

/** Returns the accusations of a judge. */
function accused(judge: (docket: Docket) => void) {
  const docket = docketOf();
  judge(docket);
  const facts = { records: 0, windows: 0, voidReason: () => null, inferred: null };
  return docket.verdict(facts).violations.map((violation) => {
    if (!("scope" in violation)) throw new RangeError("a quota of the rules");
    const { law, suspects, count, lines, explanation, org, scope } = violation;
    return { law, suspects, count, lines, explanation, org, scope };
  });
}

/** Returns a judge's clue for or against a fault. */
function weightOf(fault: Suspect, judge: (docket: Docket) => void): number {
  const docket = docketOf();
  judge(docket);
  return docket.clues.weight(fault);
}

describe("ends that status bodies date, under windows on the grid of Unix time", () => {
  const off = (...ends: (readonly [offMs: number, reset: number])[]) =>
    accused((docket) => {
      const grid = new EpochGrid(name, 60_000);
      for (const [at, [offMs, reset]] of ends.entries()) grid.observe(at + 2, minute + offMs, reset);
      grid.finish(docket);
    });

  test("on the grid accuse nobody", () => {
    expect(off([0, 30], [60_000, 30], [3_600_000, 1])).toEqual([]);
  });

  test("beside it are accused once, by the first, with their number", () => {
    expect(off([0, 30], [7_000, 30], [9_000, 30])).toEqual([
      {
        law: "reset-agrees",
        suspects: ["reset-disagrees", "two-interleaved-windows", "reset-at-drifts"],
        count: 2,
        lines: [3],
        explanation: "line 3 shows reset_at 2026-01-05T10:00:07.000Z, which is no multiple of 60 s",
        org: "acme",
        scope: "rest",
      },
    ]);
  });

  test("speak for one clock where they are on the grid, and against skewed nodes where they are not", () => {
    const seen =
      (...offsMs: number[]) =>
      (docket: Docket): void => {
        const grid = new EpochGrid(name, 60_000);
        for (const offMs of offsMs) grid.observe(2, minute + offMs, 30);
        grid.finish(docket);
      };
    expect(weightOf("two-interleaved-windows", seen(0))).toBe(0.4);
    expect(weightOf("two-interleaved-windows", seen(0, 7000))).toBe(1);
    expect(weightOf("skewed-nodes", seen(7000))).toBe(0.4);
  });

  const own = "organization-off-grid";
  test.each([
    [
      "always by as much: a grid of its own",
      [
        [7_000, 30],
        [67_000, 30],
      ],
      own,
    ],
    ["by as much, once", [[7_000, 30]], "reset-disagrees"],
    [
      "by as much, but for one on the grid",
      [
        [7_000, 30],
        [7_000, 30],
        [0, 30],
      ],
      "reset-disagrees",
    ],
    [
      "by more and less",
      [
        [7_000, 30],
        [9_000, 30],
      ],
      "reset-disagrees",
    ],
    [
      "always a whole window away: armed by each call",
      [
        [7_000, 60],
        [9_000, 59],
      ],
      "rearmed-per-hit",
    ],
    [
      "a second less than that",
      [
        [7_000, 60],
        [9_000, 58],
      ],
      "reset-disagrees",
    ],
    ["a whole window away, once", [[7_000, 60]], "reset-disagrees"],
    [
      "up to two seconds behind it: a drift",
      [
        [1_000, 30],
        [2_000, 30],
      ],
      "reset-at-drifts",
    ],
    [
      "up to two seconds before it",
      [
        [59_000, 30],
        [58_000, 30],
      ],
      "reset-at-drifts",
    ],
    [
      "more than two behind it",
      [
        [1_000, 30],
        [2_001, 30],
      ],
      "reset-disagrees",
    ],
    [
      "more than two before it",
      [
        [57_999, 30],
        [59_000, 30],
      ],
      "reset-disagrees",
    ],
  ] as const)("%s", (_name, ends, first) => {
    expect(off(...ends)[0]?.suspects[0]).toBe(first);
  });
});

describe("the target's clock, by reset and reset_at", () => {
  /** Bodies: when they were read, by how much the target's clock was ahead, and of which scope. */
  const jumps = (...bodies: (readonly [at: number, aheadMs: number, scope?: Scope])[]) =>
    accused((docket) => {
      const clock = new TargetClock();
      for (const [index, [at, aheadMs, scope = "rest"]] of bodies.entries()) {
        const end = { from: minute - 500, to: minute + 500 };
        const reading = { resetAt: minute + aheadMs } as Parameters<TargetClock["observe"]>[1];
        clock.observe({ line: index + 2, at, org: "acme", scope }, reading, end);
      }
      clock.finish(docket);
    });

  test.each([
    [
      "may be off by any constant",
      [
        [0, 90_000],
        [1000, 90_000],
        [2000, 90_000],
      ],
    ],
    [
      "may differ by what answers leave open",
      [
        [0, 0],
        [1000, 1000],
      ],
    ],
    [
      "may drift, 50 ms in 500 s",
      [
        [0, 0],
        [500_000, 1050],
        [1_000_000, 1100],
      ],
    ],
    [
      "is not compared over more than ten minutes",
      [
        [0, 0],
        [600_001, 9000],
      ],
    ],
  ] as const)("%s", (_name, bodies) => {
    expect(jumps(...bodies)).toEqual([]);
  });

  test.each([
    [
      "by more than answers leave open, the target's ahead",
      [
        [0, 0],
        [1000, 1101],
      ],
      "0.1",
      ["clock-step", "skewed-nodes", "reset-disagrees"],
    ],
    [
      "so much back",
      [
        [0, 1101],
        [1000, 0],
      ],
      "0.1",
      ["clock-step", "skewed-nodes", "reset-disagrees"],
    ],
    [
      "in ten minutes",
      [
        [0, 0],
        [600_000, 9000],
      ],
      "8.0",
      ["clock-step", "skewed-nodes", "reset-disagrees"],
    ],
    [
      "again and again: nodes",
      [
        [0, 0],
        [1000, 9000],
        [2000, 0],
      ],
      "8.0",
      ["skewed-nodes", "reset-at-drifts", "reset-disagrees"],
    ],
    [
      "from scope to scope: no clock",
      [
        [0, 0, "rest"],
        [1000, 9000, "graphql"],
        [2000, 0, "rest"],
      ],
      "8.0",
      ["reset-disagrees", "reset-at-drifts"],
    ],
    [
      "from scope to scope, and within one",
      [
        [0, 0, "rest"],
        [1000, 9000, "graphql"],
        [2000, 9000, "rest"],
      ],
      "8.0",
      ["clock-step", "skewed-nodes", "reset-disagrees"],
    ],
    [
      "bit by bit, which each body narrows",
      [
        [0, 0],
        [1000, 600],
        [2000, 1200],
      ],
      "0.2",
      ["clock-step", "skewed-nodes", "reset-disagrees"],
    ],
  ] as const)("may not jump %s", (_name, bodies, seconds, suspects) => {
    const [violation, ...others] = jumps(...bodies);
    expect(others).toEqual([]);
    expect([...(violation?.suspects ?? [])].sort()).toEqual([...suspects].sort());
    expect(violation?.explanation).toContain(`jumped by at least ${seconds} s between`);
  });

  test("a jump speaks against a grid of one organization's own", () => {
    const read =
      (aheadMs: number) =>
      (docket: Docket): void => {
        const clock = new TargetClock();
        for (const [at, ahead] of [0, aheadMs].entries())
          clock.observe(
            { line: at + 2, at: 1000 * at, org: "acme", scope: "rest" },
            { resetAt: minute + ahead } as Parameters<TargetClock["observe"]>[1],
            { from: minute - 500, to: minute + 500 },
          );
        clock.finish(docket);
      };
    expect([0, 9000].map((ahead) => weightOf("organization-off-grid", read(ahead)))).toEqual([1, 0.2]);
  });

  test("its first jump is told with both lines and scopes, and the number of all", () => {
    expect(jumps([0, 0], [1000, 9000, "graphql"], [2000, 0])).toMatchObject([
      { law: "reset-agrees", lines: [2, 3], count: 2, scope: "graphql", org: "acme" },
    ]);
    expect(jumps([0, 0], [1000, 9000, "graphql"])[0]?.explanation).toContain(
      "line 2 (rest) and line 3 (graphql)",
    );
  });
});

describe("how far the target's clock is from the clients'", () => {
  const time = new TraceTime({ kind: "wall", resolutionMs: 1, errorMs: 10 });
  const here = { from: 100_000, to: 100_000 };

  test("is not known before an answer tells it", () => {
    const offset = new TargetOffset(time, false);
    expect(offset.clientsTime(here)).toEqual({
      from: Number.NEGATIVE_INFINITY,
      to: Number.POSITIVE_INFINITY,
    });
  });

  test("is nothing but clocks' error where there is one clock, whatever dates say", () => {
    const offset = new TargetOffset(time, true);
    offset.date(0, 5, 90_000);
    expect(offset.clientsTime(here)).toEqual({ from: 100_000 - 20, to: 100_000 + 20 });
  });

  test("is told by a date to two seconds, and to the answer's way", () => {
    const offset = new TargetOffset(time, false);
    offset.date(1000, 1030, 61_000);
    // Read between 980 and 1,051; the target's clock was at 61,000 to 63,000 then.
    expect(offset.clientsTime(here)).toEqual({
      from: 100_000 - (63_000 - 980),
      to: 100_000 - (61_000 - 1051),
    });
  });

  test("is told by an end that lies ahead, to the window's length and the grid", () => {
    const offset = new TargetOffset(time, false);
    offset.end(1000, 1030, 61_000, 500, 60_000);
    expect(offset.clientsTime(here)).toEqual({
      from: 100_000 - (61_500 - 980),
      to: 100_000 - (61_000 - 500 - 60_000 - 1051),
    });
  });

  test("is narrowed by each answer, less what clocks drift in between", () => {
    const offset = new TargetOffset(time, false);
    offset.date(1000, 1000, 1000);
    const second = 1_001_000;
    offset.date(second, second, second + 1500);
    // By the first from -21 to 2,020, which is 100 ms wider by now; by the second from 1,479 to 3,520.
    const { from, to } = offset.clientsTime(here);
    expect([from, to]).toEqual([expect.closeTo(100_000 - 2120, 6), expect.closeTo(100_000 - 1479, 6)]);
  });

  test("is as the last answer says, where it contradicts what was known", () => {
    const offset = new TargetOffset(time, false);
    offset.date(1000, 1000, 1000);
    offset.date(2000, 2000, 90_000);
    expect(offset.clientsTime(here)).toEqual({ from: 100_000 - 90_020, to: 100_000 - 87_979 });
  });
});

describe("windows of one short length end at one phase", () => {
  const span = (from: number, to: number): Span => ({ from, to });

  test("each answer narrows down the others', whole lengths away", () => {
    const phase = new TargetPhase(2000);
    expect(phase.narrow(span(10_000, 11_000), 0)).toEqual(span(10_000, 11_000));
    const { from, to } = phase.narrow(span(14_600, 15_600), 0);
    // 4,000 ms further, with a drift of 0.4 ms in two lengths.
    expect([from, to]).toEqual([14_600, expect.closeTo(15_000.4, 6)]);
    const before = phase.narrow(span(8_000, 8_900), 0);
    expect([before.from, before.to]).toEqual([expect.closeTo(8_599.6, 6), 8_900]);
  });

  test("an answer's drift adds up with the time since the last", () => {
    const phase = new TargetPhase(2000);
    phase.narrow(span(10_000, 10_100), 0);
    const { from, to } = phase.narrow(span(1_009_000, 1_010_900), 1_000_000);
    expect([from, to]).toEqual([expect.closeTo(1_009_899.6, 6), expect.closeTo(1_010_200.4, 6)]);
  });

  test.each([
    ["as wide as a length tells nothing", span(10_000, 12_000)],
    ["that holds two ends tells nothing", span(11_900, 13_890)],
  ])("a span %s", (_name, wide) => {
    const phase = new TargetPhase(2000);
    phase.narrow(span(10_000, 11_950), 0);
    expect(phase.narrow(wide, 0)).toBe(wide);
    expect(phase.narrow(span(13_000, 13_500), 0)).toEqual(span(13_000, 13_500));
  });

  test("no phase is told any more once two answers disagree", () => {
    const phase = new TargetPhase(2000);
    phase.narrow(span(10_000, 10_100), 0);
    for (const shown of [span(11_000, 11_100), span(12_050, 12_060), span(10_050, 10_150)])
      expect(phase.narrow(shown, 0)).toBe(shown);
  });

  test("of right answers none disagrees, and each keeps its end", () => {
    const answers = fc.array(
      fc.record({
        turn: fc.integer({ min: -50, max: 50 }),
        before: fc.integer({ min: 0, max: 900 }),
        behind: fc.integer({ min: 0, max: 900 }),
      }),
      { maxLength: 20 },
    );
    fc.assert(
      fc.property(answers, (all) => {
        const phase = new TargetPhase(2000);
        for (const { turn, before, behind } of all) {
          const end = 100_700 + 2000 * turn;
          const { from, to } = phase.narrow(span(end - before, end + behind), 0);
          expect(from).toBeLessThanOrEqual(end);
          expect(to).toBeGreaterThanOrEqual(end);
        }
      }),
      { numRuns: 50 },
    );
  });
});

describe("one grid for all quotas of one length", () => {
  const window = (user: string, from: number, to: number, lengthMs = 60_000): LastWindow => ({
    name: rulesQuota(user, null, "rest"),
    lengthMs,
    end: { from: minute + from, to: minute + to },
    lines: [from + 10, 2],
  });
  const off = (...windows: LastWindow[]): string[] =>
    accused((docket) => judgeCommonGrid(windows, docket)).map(({ org }) => org);

  test.each([
    ["ends that meet", [window("a", 0, 1000), window("b", 900, 1500), window("c", 950, 2000)], []],
    [
      "ends whole lengths apart",
      [window("a", 0, 100), window("b", 60_050, 60_100), window("c", 600_050, 600_090)],
      [],
    ],
    ["two against one", [window("a", 0, 100), window("b", 50, 100), window("c", 30_000, 30_100)], ["c"]],
    [
      "two against one before them",
      [window("c", 0, 100), window("a", 30_050, 30_150), window("b", 30_000, 30_100)],
      ["c"],
    ],
    ["one against one says nothing", [window("a", 0, 100), window("c", 30_000, 30_100)], []],
    [
      "two against two say nothing",
      [window("a", 0, 100), window("b", 50, 100), window("c", 30_000, 30_100), window("d", 30_050, 30_060)],
      [],
    ],
    [
      "two against one of another length",
      [window("a", 0, 100), window("b", 50, 100), window("c", 30_000, 30_100, 30_500)],
      [],
    ],
    [
      "three against one and one",
      [
        window("a", 0, 100),
        window("b", 50, 100),
        window("e", 60, 100),
        window("c", 20_000, 20_100),
        window("d", 40_000, 40_100),
      ],
      ["c", "d"],
    ],
    [
      "what clocks drift in two lengths is allowed",
      [window("a", 0, 100), window("b", 50, 100), window("c", 112, 200)],
      [],
    ],
    ["and no more", [window("a", 0, 100), window("b", 50, 100), window("c", 113, 200)], ["c"]],
    [
      "a length further, what they drift in three",
      [window("a", 0, 100), window("b", 50, 100), window("c", 60_118, 60_200)],
      [],
    ],
    ["and no more there", [window("a", 0, 100), window("b", 50, 100), window("c", 60_119, 60_200)], ["c"]],
    [
      "a group's end is what all of it tell",
      [window("a", 0, 2000), window("b", 100, 500), window("c", 1000, 1500)],
      ["c"],
    ],
  ] as const)("%s", (_name, windows, expected) => {
    expect(off(...windows)).toEqual(expected);
  });

  test("is told by the window's lines, and those of two others", () => {
    const windows = [
      window("a", 0, 100),
      window("b", 50, 100),
      window("e", 60, 100),
      window("c", 30_000, 30_100),
    ];
    expect(accused((docket) => judgeCommonGrid(windows, docket))).toMatchObject([
      {
        law: "reset-agrees",
        lines: [2, 10, 60, 30_010],
        explanation:
          "by line 30010 a window of 60 s ends beside the grid that 3 other quotas keep, by lines 10 and 60 among others: " +
          "all of them lie on the grid of Unix time by one clock",
      },
    ]);
  });
});
