// What is kept of marks that a long window let go, and the first calls of a window, of which it is not known yet whether
// they are its own.
import { describe, expect, test } from "vitest";
import { TraceTime } from "../../src/verify/clock.ts";
import type { Mark } from "../../src/verify/mark.ts";
import { CLAMPED, roleBits } from "../../src/verify/mark-rows.ts";
import { firstHolding, leastWithin, openingOf, Screened } from "../../src/verify/screened.ts";
import type { MarkColumns } from "../../src/verify/window-sums.ts";

interface Call {
  readonly sent: number;
  readonly received?: number;
  readonly count?: number;
  readonly least?: number;
  readonly most?: number;
  readonly held?: number;
  readonly bits?: number;
}
const admitted = roleBits("admitted", null);
function columnsOf(...calls: readonly Call[]): MarkColumns {
  const whole = calls.map(
    ({ sent, received = sent, count = 0, least = 0, most = least, held = most, bits = admitted }) => ({
      ...{ sent, received, count, least, most, held, bits },
    }),
  );
  const of = (name: Exclude<keyof (typeof whole)[number], "bits">): Float64Array<ArrayBuffer> =>
    Float64Array.from(whole, (each) => each[name]);
  return {
    ...{
      size: whole.length,
      all: whole.length,
      sent: of("sent"),
      received: of("received"),
      count: of("count"),
    },
    ...{
      least: of("least"),
      most: of("most"),
      held: of("held"),
      bits: Int32Array.from(whole, ({ bits }) => bits),
    },
  };
}

describe("sums of marks that were let go", () => {
  test("hold while they were made by the same facts, or by later certain calls than are asked for", () => {
    const sums = new Screened();
    expect([sums.fits(0, true), sums.fits(0, false)]).toEqual([false, false]);
    sums.note(100, true);
    expect([sums.fits(100, true), sums.fits(101, true), sums.fits(100, false)]).toEqual([true, false, false]);
    sums.note(200, true);
    expect([sums.fits(100, true), sums.fits(101, true)]).toEqual([true, false]);
    sums.note(90, false);
    expect([sums.fits(90, false), sums.fits(91, false), sums.fits(90, true)]).toEqual([true, false, false]);
  });

  test("know the earliest answer, the charges, and the latest that shows itself alone", () => {
    const columns = columnsOf(
      { sent: 30, received: 34, count: 2, least: 2 },
      { sent: 20, received: 29, count: 5, least: 3 },
      { sent: 40, received: 41, count: 1, least: 1 },
      { sent: 50, received: 60, count: 1, least: 1, bits: roleBits("refused", null) },
      { sent: 70, received: 80 },
    );
    const sums = new Screened();
    for (let mark = 0; mark < columns.size; mark++) sums.take(columns, mark);
    expect(sums).toMatchObject({
      ...{ firstReceived: 29, charges: 3, charged: 6, lastSent: 40, highest: 5, lowest: 0, firstCharge: 40 },
    });
    expect(sums.roles).toMatchObject({ size: 5, admitted: 4, refused: 1 });
  });

  test.each<[string, Call, boolean, number?]>([
    ["one that shows its own charge alone", { sent: 5, count: 2, least: 2 }, true],
    ["one that was sent before the first so far", { sent: 5, count: 2, least: 2 }, true, 6],
    ["not one that was sent with it", { sent: 5, count: 2, least: 2 }, false, 5],
    ["not one that shows more", { sent: 5, count: 3, least: 2 }, false],
    ["not one that may have charged more", { sent: 5, count: 2, least: 2, most: 3 }, false],
    ["not one that may hide its count", { sent: 5, count: 2, least: 2, bits: admitted | CLAMPED }, false],
    ["not one that charged nothing", { sent: 5 }, false],
  ])("know the first charge: %s", (_name, call, expected, opener) => {
    const sums = new Screened();
    if (opener !== undefined) sums.opener = { sent: opener } as Mark;
    expect(sums.take(columnsOf({ sent: 0 }, call), 1)).toBe(expected);
  });
});

describe("a window's opening", () => {
  const time = new TraceTime({ kind: "wall", resolutionMs: 1, errorMs: 0 });
  const opening = (from: number, ...calls: readonly Call[]) => {
    const found = openingOf(columnsOf(...calls), from, time);
    return found && { until: found.until, last: found.last, sent: [...found.marks.sent] };
  };

  test("is none where all calls surely are its own", () => {
    expect(opening(10, { sent: 10 }, { sent: 11 })).toBeNull();
    expect(opening(10)).toBeNull();
  });

  test("has the uncertain calls, those under way with them, and those under way with these", () => {
    const calls = [
      { sent: 9, received: 20 },
      { sent: 5, received: 12 },
      { sent: 20, received: 40 },
      { sent: 21, received: 90 },
      { sent: 40, received: 50 },
      { sent: 41, received: 44 },
    ];
    expect(opening(10, ...calls)).toEqual({ until: 20, last: 40, sent: [9, 5, 20, 21, 40] });
    expect(opening(9, ...calls)).toEqual({ until: 12, last: 20, sent: [9, 5, 20] });
  });

  test("keeps all that is known of its calls", () => {
    const call = { sent: 5, received: 8, count: 7, least: 1, most: 2, held: 3, bits: 9 };
    const marks = openingOf(columnsOf({ sent: 90 }, call), 10, time)?.marks;
    expect(marks).toEqual({ ...columnsOf(call) });
  });
});

test("the points that calls of a span surely left, and the first call that may hold any", () => {
  const columns = columnsOf(
    { sent: 9, least: 1 },
    { sent: 10, least: 2 },
    { sent: 19, least: 4, most: 9 },
    { sent: 20, least: 8 },
    { sent: 3, least: 0, held: 0 },
    { sent: 4, least: 0, held: 5 },
  );
  expect([leastWithin(columns, 10, 20), leastWithin(columns, 0, 9), leastWithin(columns, 0, 99)]).toEqual([
    ...[6, 0, 15],
  ]);
  expect([firstHolding(columns), firstHolding(columnsOf({ sent: 1 }))]).toEqual([
    4,
    Number.POSITIVE_INFINITY,
  ]);
});
