// `twice-at-most` while windows are judged, against the same with every call looked at: what is not looked at never matters.
//   SPANS=20000 npx vitest run --config test/vitest.config.ts test/verify/span-totals.test.ts
import fc from "fast-check";
import { expect, test } from "vitest";
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
  gapMs: fc.integer({ min: 0, max: 400 }),
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
