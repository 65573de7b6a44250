// Sums over one window's marks: whole, from the first mark on and after sums that were kept.
import { expect, test } from "vitest";
import { CLAMPED, roleBits, SURE } from "../../src/verify/mark-rows.ts";
import { isFirstCharge, type MarkColumns, WindowSums } from "../../src/verify/window-sums.ts";

const admitted = roleBits("admitted", null);
type Added = Parameters<WindowSums["add"]>;
const marks: readonly Added[] = [
  [admitted, 300, 4, 3],
  [admitted, 100, 7, 2],
  [admitted, 900, 9, 0],
  [roleBits("refused", "user"), 950, 9, 1],
  [roleBits("refused", "organization"), 960, 8, 0],
  [roleBits("refused", null), 970, 8, 0],
  [roleBits("status", null), 980, 8, 0],
  [roleBits("other", null), 990, 8, 0],
];
const sumsOf = (all: readonly Added[], from = new WindowSums()): WindowSums => {
  const sums = new WindowSums();
  sums.begin(from);
  for (const mark of all) sums.add(...mark);
  return sums;
};

test("only calls that were let through with points are charges; each mark's count may be the highest", () => {
  const { roles, ...sums } = sumsOf(marks);
  expect({ ...roles }).toEqual({
    ...{ size: 8, admitted: 3, refused: 3, refusedByOrganization: 1, refusedByUser: 1, status: 1 },
  });
  expect(sums).toEqual({
    ...{ highest: 9, lowest: 1, charges: 2, charged: 5, lastSent: 300 },
    firstCharge: Number.NEGATIVE_INFINITY,
  });
});

test("of nothing are nothing", () => {
  const none = { highest: 0, lowest: Number.POSITIVE_INFINITY, charges: 0, charged: 0 };
  expect(new WindowSums()).toMatchObject({ ...none, lastSent: Number.NEGATIVE_INFINITY });
});

test("go on where others ended, and leave those alone", () => {
  for (let at = 0; at <= marks.length; at++) {
    const first = sumsOf(marks.slice(0, at));
    first.firstCharge = 40 + at;
    const kept = structuredClone(first);
    const whole = sumsOf(marks.slice(at), first);
    expect(structuredClone(first)).toEqual(kept);
    expect({ ...whole }).toEqual({ ...sumsOf(marks), firstCharge: 40 + at });
  }
});

test.each([
  ["as many as its points", 3, 3, admitted, true],
  ["with other bits", 3, 3, admitted | SURE, true],
  ["more than its points", 4, 3, admitted, false],
  ["none, of a call without points", 0, 0, admitted, false],
  ["a hidden count", 3, 3, admitted | CLAMPED, false],
  ["that of a refusal", 3, 3, roleBits("refused", "user"), false],
  ["that of a status", 3, 3, roleBits("status", null), false],
])("a mark's count is its own charge alone: %s", (_name, count, least, bits, expected) => {
  const [counts, leasts] = [Float64Array.of(9, count), Float64Array.of(1, least)];
  const columns = { count: counts, least: leasts, bits: Int32Array.of(0, bits) };
  expect(isFirstCharge(columns as unknown as MarkColumns, 1)).toBe(expected);
});
