// Calls that may have been charged at an unknown time: how many, and how many points, a span may hold.
import { expect, test } from "vitest";
import { Unknowns } from "../../src/verify/unknowns.ts";

const span = (from: number, to: number) => ({ from, to });

test("a call counts from its sending to its answer", () => {
  const unknowns = new Unknowns();
  expect(unknowns.within(span(0, 99))).toEqual({ points: 0, calls: 0 });
  unknowns.add(50, 60, 7);
  unknowns.add(10, 20, 2);
  unknowns.add(30, null, 3);
  const asked = [
    span(0, 10),
    span(0, 11),
    span(20, 30),
    span(21, 30),
    span(0, 99),
    span(21, 51),
    span(61, 99),
  ];
  expect(asked.map((each) => unknowns.within(each))).toEqual([
    { points: 0, calls: 0 },
    { points: 2, calls: 1 },
    { points: 2, calls: 1 },
    { points: 0, calls: 0 },
    { points: 12, calls: 3 },
    { points: 10, calls: 2 },
    { points: 3, calls: 1 },
  ]);
  unknowns.add(5, null, 1);
  expect(unknowns.within(span(0, 10))).toEqual({ points: 1, calls: 1 });
});

test("a call of unknown cost may have taken any points", () => {
  const unknowns = new Unknowns();
  const any = Number.POSITIVE_INFINITY;
  unknowns.add(10, 20, any);
  unknowns.add(12, null, 4);
  expect(
    [span(0, 10), span(0, 11), span(0, 13), span(20, 30), span(21, 30)].map((each) => unknowns.within(each)),
  ).toEqual([
    { points: 0, calls: 0 },
    { points: any, calls: 1 },
    { points: any, calls: 2 },
    { points: any, calls: 2 },
    { points: 4, calls: 1 },
  ]);
});
