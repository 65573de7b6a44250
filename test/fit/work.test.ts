// Work of sessions that begins with several calls at once, and goes on by paces of one.
import { expect, test } from "vitest";
import type { FittedPaces } from "../../sim/fit/paces.ts";
import { sessionsOf } from "../../sim/fit/sessions.ts";
import { workOf } from "../../sim/fit/work.ts";

/** Ten sessions of 41 spells, with pauses of 0.1 s and 5 s by turns; the first of each has so many calls. */
const sessions = (first: number) => {
  const spells = Array.from({ length: 410 }, (_, place) => {
    const [session, own] = [Math.floor(place / 41), place % 41];
    const startMs = session * 1e9 + Math.ceil(own / 2) * 100 + Math.floor(own / 2) * 5_000;
    return { startMs, endMs: startMs, jobs: own === 0 ? first : 1 };
  });
  return sessionsOf(spells, 60_000);
};
const pacesOf = (first: number): readonly unknown[] =>
  (workOf(sessions(first), 1, "time").of.think as FittedPaces).paces.map(({ atOnce }) => atOnce);

test("paces say that one call follows where the first are several: a pace that says nothing has as many as these", () => {
  expect(workOf(sessions(3), 1, "time").of.atOnce).toEqual({ kind: "constant", ms: 3 });
  expect(pacesOf(3)).toEqual([
    { kind: "constant", ms: 1 },
    { kind: "constant", ms: 1 },
  ]);
  expect(pacesOf(1)).toEqual([null, null]);
});
