// `twice-at-most` while windows are judged, against the same with every call looked at: what is not looked at never matters.
//   SPANS=20000 npx vitest run --config test/vitest.config.ts test/verify/span-totals.test.ts
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { outOfOrderMsMost } from "../../src/trace/read.ts";
import { AmountsTally } from "../../src/verify/amounts.ts";
import { TraceTime } from "../../src/verify/clock.ts";
import { Docket } from "../../src/verify/docket.ts";
import { Enforcement } from "../../src/verify/enforcement.ts";
import type { Mark } from "../../src/verify/mark.ts";
import { NONE } from "../../src/verify/mark-rows.ts";
import { OpenWindows } from "../../src/verify/open-windows.ts";
import { rulesQuota } from "../../src/verify/quota-name.ts";
import { SpanTotals } from "../../src/verify/span-totals.ts";
import { WindowColumns } from "../../src/verify/window-columns.ts";
import { markOf } from "./marks.ts";

const runs = Number(process.env["SPANS"] ?? 2000);
const windowMs = 1000;
const limit = 6;
const name = rulesQuota("acme", null, "rest");

interface Drawn {
  readonly gapMs: number;
  readonly tripMs: number;
  readonly points: number;
  /** Ms by which the shown window ends later or earlier; `null` if the answer shows none. */
  readonly off: number | null;
}

const drawn: fc.Arbitrary<Drawn> = fc.record({
  gapMs: fc.integer({ min: 0, max: 300 }),
  tripMs: fc.integer({ min: 0, max: 60 }),
  points: fc.integer({ min: 0, max: 3 }),
  off: fc.oneof(
    { weight: 30, arbitrary: fc.constant(0) },
    { weight: 2, arbitrary: fc.constantFrom(-1000, 1000, 2000) },
    { weight: 1, arbitrary: fc.constant(null) },
  ),
});

function marksOf(calls: readonly Drawn[]): readonly (Mark & { readonly shows: boolean })[] {
  let sent = 10_000;
  const marks = calls.map(({ gapMs, tripMs, points, off }) => {
    sent += gapMs;
    const end = (Math.floor(sent / windowMs) + 1) * windowMs + (off ?? 0);
    const charge = { cost: points, asked: points, actual: null, least: points, most: points, held: points };
    const counted = { role: "admitted", refusedBy: null, sure: true, ...charge } as const;
    const shown = { limit, count: points, clamped: false, reset: 1, resetAt: null, echoesUser: false };
    const times = { sent, received: sent + tripMs, end: { from: end - 1, to: end + 1 } };
    return { line: 0, ...counted, ...shown, ...times, shows: off !== null };
  });
  marks.sort((a, b) => a.received - b.received);
  return marks.map((mark, index) => ({ ...mark, line: index + 2 }));
}

const docketOf = (totals: SpanTotals): unknown => {
  const docket = new Docket({ amounts: new AmountsTally(), violationsMost: 100, accept: null });
  totals.finish(new Enforcement(true), docket, { windows: 0, resets: 0 });
  return docket.verdict({ records: 0, windows: 0, voidReason: () => null, inferred: null });
};

const totalsOf = (errorMs: number): SpanTotals =>
  new SpanTotals(name, new TraceTime({ kind: "wall", resolutionMs: 1, errorMs }), limit, windowMs, false);

function byWindows(marks: ReturnType<typeof marksOf>, errorMs: number, judgedEvery: number): unknown {
  const [open, columns, totals] = [new OpenWindows(), new WindowColumns(), totalsOf(errorMs)];
  const quota = open.addQuota();
  let [previous, over]: [number, number] = [NONE, 0];
  const judge = (watermark: number): void => {
    for (let window = open.first(quota); window !== NONE; window = open.first(quota)) {
      if (open.endTo(window) + windowMs / 2 >= watermark) break;
      open.shift(quota);
      columns.load(open, window);
      totals.judge(open, window, previous, open.first(quota), columns, watermark);
      if (previous !== NONE) open.release(previous);
      over = open.endTo(window);
      previous = window;
    }
    totals.close(watermark);
  };
  for (const [index, mark] of marks.entries()) {
    const { line, sent, received, least, shows, end } = mark;
    const known = open.meeting(quota, end.from, end.to);
    if (shows && end.from > over) known === NONE ? open.open(quota, mark) : open.add(known, mark);
    else if (least > 0) totals.outside(line, sent, received, least, open, previous);
    if (index % judgedEvery === 0) judge(received);
  }
  judge(Number.POSITIVE_INFINITY);
  return docketOf(totals);
}

function byCalls(marks: ReturnType<typeof marksOf>, errorMs: number): unknown {
  const [open, totals] = [new OpenWindows(), totalsOf(errorMs)];
  for (const { line, sent, received, least } of marks)
    if (least > 0) totals.outside(line, sent, received, least, open, NONE);
  return docketOf(totals);
}

test("what is looked at of windows says the same as all calls", () => {
  let broken = 0;
  const calls = fc.array(drawn, { minLength: 1, maxLength: 60 });
  fc.assert(
    fc.property(calls, fc.constantFrom(0, 20), fc.constantFrom(1, 5), (each, errorMs, judgedEvery) => {
      const marks = marksOf(each);
      const slow = byCalls(marks, errorMs);
      if (JSON.stringify(slow).includes('"violated"')) broken += 1;
      expect(byWindows(marks, errorMs, judgedEvery)).toEqual(slow);
    }),
    { numRuns: runs },
  );
  expect(broken).toBeGreaterThan(runs / 20);
  expect(broken).toBeLessThan(0.9 * runs);
});

describe("calls that show no window", () => {
  interface Given {
    readonly of?: typeof name;
    readonly always?: boolean;
    readonly on?: boolean;
    readonly throughout?: (from: number, to: number) => boolean | null;
    /** Watermark of a closing before the last call. */
    readonly closed?: number;
  }
  /** Calls as line, sending, receipt and points, and what is said of them at the end. */
  function told(calls: readonly (readonly [number, number, number, number])[], given: Given = {}) {
    const { of = name, always = false, on = true, throughout = () => true, closed } = given;
    const time = new TraceTime({ kind: "wall", resolutionMs: 1, errorMs: 0 });
    const totals = new SpanTotals(of, time, limit, windowMs, always);
    for (const [at, call] of calls.entries()) {
      if (at === calls.length - 1 && closed !== undefined) totals.close(closed);
      totals.outside(...call, new OpenWindows(), NONE);
    }
    const docket = new Docket({ amounts: new AmountsTally(), violationsMost: 100, accept: null });
    const enforcement = { wasOn: on, throughout } as unknown as Enforcement;
    totals.finish(enforcement, docket, { windows: 3, resets: 2 });
    const facts = { records: 0, windows: 0, voidReason: () => null, inferred: null };
    const { violations, evidence } = docket.verdict(facts);
    return { violations, tested: evidence?.["twice-at-most"] };
  }
  /** A span from 10 s on lasts to 10.9979 s, less what clocks drift and two ms. */
  const seven = [2, 10_000, 10_005, 7] as const;
  const until = (received: number, points = 6) => [3, 10_500, received, points] as const;

  test("are accused where a span of a length surely holds more than twice the limit", () => {
    expect(told([seven, until(10_996)])).toEqual({
      tested: { readings: 2, refusals: 0, windows: 3, resets: 2 },
      violations: [
        {
          law: "twice-at-most",
          suspects: ["per-instance-counters", "race-read-then-write", "double-roll", "skewed-nodes"],
          ...{ org: "acme", user: null, scope: "rest", window: null, count: 1, lines: [2, 3] },
          explanation:
            "within 1.0 s, from line 2 to line 3, 13 were admitted, which is more than twice the limit of 6",
        },
      ],
    });
    const graphql = told([seven, until(10_996)], { of: rulesQuota("acme", null, "graphql") });
    expect(graphql.violations[0]?.suspects[0]).toBe("cost-ignored");
  });

  test.each<[string, readonly (readonly [number, number, number, number])[], number]>([
    ["as much as twice the limit", [seven, until(10_996, 5)], 0],
    ["a call that ends a ms after it", [seven, until(10_997)], 0],
    ["a call that began a ms before it", [[2, 9_999, 10_005, 7], until(10_996)], 0],
    ["one call that belongs to four spans", [[2, 10_000, 10_001, 13]], 4],
    [
      "calls whose receipt lies before their sending",
      [
        [2, 10_005, 10_000, 7],
        [3, 10_996, 10_500, 6],
      ],
      1,
    ],
  ])("%s", (_name, calls, count) => {
    expect(told(calls).violations.map((each) => each.count)).toEqual(count === 0 ? [] : [count]);
  });

  test("are told by the first line and the last of a span, in whatever order they came", () => {
    const lines = told([
      [5, 10_000, 10_005, 5],
      [3, 10_700, 10_705, 5],
      [9, 12_500, 12_505, 1],
      [4, 10_200, 10_205, 5],
    ]).violations.map((each) => each.lines);
    expect(lines).toEqual([[3, 5]]);
  });

  test("hinge on limits that were enforced for two lengths, unless this one always is", () => {
    const asked: number[][] = [];
    const off = (from: number, to: number): null => {
      asked.push([from, to]);
      return null;
    };
    const calls = [seven, until(10_996)];
    expect(told(calls, { throughout: off }).violations).toEqual([]);
    expect(asked).toEqual([[expect.closeTo(9002.1, 6), expect.closeTo(10_997.9, 6)]]);
    expect(told(calls, { on: false })).toMatchObject({ violations: [], tested: { readings: 0, windows: 0 } });
    expect(told(calls, { on: false, throughout: off, always: true })).toMatchObject({
      violations: [{ count: 1 }],
      tested: { readings: 2, windows: 3 },
    });
    expect(told([]).tested?.windows).toBe(0);
  });

  test("are added to a span until no call of it can come", () => {
    const at = (closed: number): number => told([seven, until(10_996)], { closed }).violations.length;
    const last = 10_998 + 2 * windowMs + outOfOrderMsMost;
    expect([at(last - 1), at(last)]).toEqual([1, 0]);
  });
});

describe("calls of windows are looked at", () => {
  const mark = (sent: number, points: number, received = sent): Mark =>
    markOf({ sent, received, limit, cost: points, asked: points, least: points, most: points, held: points });
  /** Tells whether they are, once windows were judged that hold one call each, and which rows were asked for. */
  function looks(judged: readonly Mark[], later: readonly Mark[] = [], watermark = 90_000): boolean {
    const [open, columns, totals] = [new OpenWindows(), new WindowColumns(), totalsOf(0)];
    const quota = open.addQuota();
    for (const [at, each] of [...judged, ...later].entries())
      open.open(quota, { ...each, end: { from: 20_000 + 1000 * at, to: 20_010 + 1000 * at } });
    expect(totals.looks).toBe(false);
    let previous: number = NONE;
    for (const _ of judged) {
      const window = open.shift(quota);
      columns.load(open, window);
      totals.judge(open, window, previous, open.first(quota), columns, watermark);
      previous = window;
    }
    return totals.looks;
  }

  test("where one holds more than its limit", () => {
    expect([looks([mark(10_000, 6)]), looks([mark(10_000, 7)])]).toEqual([false, true]);
  });

  test("where a later call may lie within a length of the window before", () => {
    const two = [mark(10_000, 1), mark(10_500, 1)];
    expect([looks(two, [], 10_998), looks(two, [], 10_997)]).toEqual([false, true]);
    expect([looks(two, [mark(10_998, 1)]), looks(two, [mark(10_997, 1)])]).toEqual([false, true]);
    expect([looks(two, [mark(10_900, 1, 10_998)]), looks(two, [mark(10_900, 1, 10_997)])]).toEqual([
      ...[false, true],
    ]);
    expect(looks(two, [mark(30_000, 1), mark(10_997, 1)])).toBe(true);
    expect(looks(two.slice(0, 1), [mark(10_001, 1)], 10_001)).toBe(false);
  });
});
