// Paces of callers, by a clock or by pauses, from calls that are set, at both sides of each bound.
import { describe, expect, test } from "vitest";
import type { RecordedJob } from "../../sim/fit/jobs.ts";
import { type Profile, profileOfJobs } from "../../sim/fit/profile.ts";

const slackMs = 6;
const many = <Value>(count: number, of: (index: number) => Value): Value[] =>
  Array.from({ length: count }, (_, index) => of(index));

/** The caller of calls that begin at these times, and take so long. */
function callerOf(starts: readonly number[], lastsMs = 50) {
  const jobs = starts.map((startMs) => {
    const answered = { status: 200, atMs: startMs, endMs: startMs + lastsMs };
    return {
      ...{ startMs, endMs: startMs + lastsMs, jobs: 1, attempts: 1, key: "rest" },
      ...{ first: answered, last: answered },
    } as unknown as RecordedJob;
  });
  const caller = { organization: "acme", user: "ann", calls: [] };
  const { shape, pace, clients } = profileOfJobs({ caller } as unknown as Profile, jobs, slackMs);
  expect(shape).toEqual({ kind: "call" });
  return { pace, clients };
}
/** Starts that lie so many ms apart. */
const apart = (...gaps: readonly number[]): number[] => {
  let atMs = 5_000;
  return [atMs, ...gaps.map((gapMs) => (atMs += gapMs))];
};
const one = (everyMs: number) => ({ pace: { kind: "ticks", everyMs, offMs: 0 }, clients: 1 });
const several = (clients: number, everyMs = 60_000) => ({
  pace: { kind: "ticks", everyMs, offMs: 0 },
  clients,
});
const pauses = { pace: { kind: "pause" }, clients: 1 };
const seconds = (count: number): number[] => many(count, () => 1_000);

describe("a clock", () => {
  test.each<[string, readonly number[], object]>([
    ["is shown by four calls", apart(...seconds(3)), one(1_000)],
    ["is not shown by three", apart(...seconds(2)), pauses],
    ["is not shown by one", apart(), { pace: { kind: "once" }, clients: 1 }],
    // Single periods are three gaps in five, and all of them are three times the gaps at most.
    ["misses ticks", apart(...many(10, (gap) => (gap % 5 < 3 ? 1_000 : 2_000))), one(1_000)],
    ["misses too many", apart(...many(10, (gap) => (gap % 2 === 0 ? 1_000 : 2_000))), pauses],
    ["misses two ticks of three", apart(...many(10, (gap) => (gap % 5 < 3 ? 1_000 : 6_000))), one(1_000)],
    ["misses more", apart(...many(9, (gap) => (gap % 5 < 3 ? 1_000 : 6_000)), 7_000), pauses],
    // A call within a quarter of a period is none by the clock.
    ["has a call soon after another", apart(...seconds(10), 249, 751, ...seconds(5)), one(1_000)],
    ["has none a quarter later", apart(...seconds(10), 250, 750, ...seconds(5)), pauses],
    ["is longer than twice the slack", apart(...many(39, () => 13)), one(13)],
    ["is no longer than that", apart(...many(39, () => 12)), pauses],
    ["is not kept where pauses differ", apart(...many(40, (gap) => 1_000 + ((gap * 7_919) % 40))), pauses],
  ])("%s", (_, starts, expected) => {
    expect(callerOf(starts, 1)).toEqual(expected);
  });

  test.each([
    [900, 721, pauses],
    [900, 720, one(900)],
    [999, 900, pauses],
    [1_000, 900, one(1_000)],
  ])("of %i ms and calls of %i ms is told from calls that follow answers", (everyMs, lastsMs, expected) => {
    expect(callerOf(apart(...many(20, () => everyMs)), lastsMs)).toEqual(expected);
  });

  const uneven = (everyMs: number, offMs: number) =>
    callerOf(
      many(40, (place) => 5_000 + everyMs * place + (place % 2) * offMs),
      20,
    );

  // Nine in ten starts lie within a twentieth of the period, or twice the slack, about 0.87 of what is uneven.
  test("is kept to within a twentieth of its period, or twice the slack", () => {
    expect(uneven(1_000, 57).pace).toMatchObject({ kind: "ticks" });
    expect(uneven(1_000, 58).pace).toEqual({ kind: "pause" });
    expect(uneven(100, 13)).toMatchObject({ pace: { kind: "ticks" }, clients: 1 });
    expect(uneven(100, 14)).toEqual(several(4, 400));
  });
});

describe("clients of one period under one name", () => {
  const clients = (count: number, gapMs: number, each = 12, offMs = 0) =>
    callerOf(
      many(count * each, (place) => {
        const round = Math.floor(place / count);
        return 5_000 + 60_000 * round + gapMs * (place % count) + offMs * (round % 2);
      }),
    );

  test("are found up to twelve, of which each has six calls", () => {
    expect([2, 3].map((count) => clients(count, 3_000))).toEqual([several(2), several(3)]);
    // Each begins later after the one before, so that all together keep to no clock.
    const crowd = (count: number) =>
      callerOf(many(12 * count, (place) => 60_000 * Math.floor(place / count) + 300 * (place % count) ** 2));
    expect([crowd(12), crowd(13)]).toEqual([several(12), pauses]);
    expect(clients(2, 20_000, 6)).toEqual(several(2));
    expect(clients(2, 20_000, 5)).toEqual(pauses);
  });

  test("are apart by a tenth of their share of the period", () => {
    expect([2_999, 3_000].map((gapMs) => clients(2, gapMs))).toEqual([pauses, several(2)]);
  });

  test("keep to the clock but for the slack and a five-hundredth, or are twice as many of twice the period", () => {
    expect(clients(2, 20_000, 20, 149)).toMatchObject({ pace: { kind: "ticks" }, clients: 2 });
    expect(clients(2, 20_000, 20, 150)).toEqual(several(4, 120_000));
  });
});
