// Events that wake clients: which there are from an instant on, when each is over, and which inputs are refused.
import { describe, expect, test } from "vitest";
import { Mistakes } from "../../src/scenario/mistakes.ts";
import { nextWake, parseWakes, type Wakes, wakeEnd } from "../../src/scenario/wakes.ts";

const [minuteMs, hourMs, dayMs] = [60_000, 3_600_000, 86_400_000];
/** A Monday, 00:00. */
const startMs = Date.UTC(2026, 0, 5);
const days = 200;
const endMs = startMs + days * dayMs;
const seed = 7;

function parsed(value: unknown): Wakes {
  const mistakes = new Mistakes();
  const wakes = parseWakes("wakes", value, mistakes);
  mistakes.finish("these wakes cannot be made");
  return wakes;
}
/** Every event of the span, each from one ms after the one before. */
function eventsOf(value: object, ownSeed = seed): number[] {
  const wakes = parsed(value);
  const events: number[] = [];
  for (let at = startMs; at < endMs; ) {
    const next = nextWake(wakes, ownSeed, at, endMs);
    if (next < endMs) events.push(next);
    at = next + 1;
  }
  return events;
}

test.each<[input: object, wanted: object]>([
  [{ perDay: 12 }, { cron: null, lateMs: 0, perHour: 0.5, within: { least: 0, most: 0 }, lasts: null }],
  [{ perDay: 1000 }, { share: 1, group: 0, byUser: false }],
  [
    { perDay: 1, share: 0.5, group: 999, by: "user", within: "5s", lasts: "2m" },
    { share: 0.5, group: 999, byUser: true, within: { least: 0, most: 5_000 } },
  ],
  [{ perDay: 1, within: { least: "1s", most: "2s" } }, { within: { least: 1_000, most: 2_000 } }],
  [{ perDay: 1, lasts: 1 }, { lasts: { least: 1, most: 1 } }],
  [{ at: "0 9 * * *", late: "3s" }, { lateMs: 3_000 }],
  [{ at: "0 9 * * *" }, { lateMs: 0, share: 1 }],
])("%j is parsed as %j", (input, wanted) => {
  expect(parsed(input)).toMatchObject(wanted);
});

test.each([
  [{}, "perDay"],
  [{ perDay: 0 }, "perDay"],
  [{ perDay: 1001 }, "perDay"],
  [{ perDay: 1, late: "1s" }, "late"],
  [{ at: "0 9 * * *", perDay: 1 }, "perDay"],
  [{ at: "0 9 * * *", rhythm: {} }, "rhythm"],
  [{ at: "never" }, "at"],
  [{ perDay: 1, share: 0 }, "share"],
  [{ perDay: 1, share: 1.1 }, "share"],
  [{ perDay: 1, group: -1 }, "group"],
  [{ perDay: 1, group: 0.5 }, "group"],
  [{ perDay: 1, group: 1000 }, "group"],
  [{ perDay: 1, by: "client" }, "by"],
  [{ perDay: 1, lasts: 0 }, "lasts"],
  [{ perDay: 1, often: 1 }, "often"],
])("%j is refused for its %s", (input, member) => {
  expect(() => parsed(input)).toThrow(
    expect.objectContaining({ problems: [expect.objectContaining({ path: `wakes.${member}` })] }),
  );
});

test.each([
  [{ at: "0 9 * * *", perDay: 1 }, "nothing beside at"],
  [{ perDay: 1, late: "1s" }, "nothing without at"],
])("%j may have %s", (input, allowed) => {
  expect(() => parsed(input)).toThrow(
    expect.objectContaining({ problems: [expect.objectContaining({ allowed })] }),
  );
});

describe("events by chance", () => {
  test("come as often as they say, one as likely in any hour", () => {
    const events = eventsOf({ perDay: 48 });
    expect(Math.abs(events.length / days - 48)).toBeLessThan(1.5);
    const gaps = events.slice(1).map((at, place) => at - (events[place] as number));
    // Of independent events, one gap in e is longer than the mean.
    expect(gaps.filter((ms) => ms > dayMs / 48).length / gaps.length).toBeCloseTo(Math.exp(-1), 1);
    const halves = events.filter((at) => at % hourMs < hourMs / 2).length;
    expect(halves / events.length).toBeCloseTo(0.5, 1);
  });

  test("are the same from whichever instant they are asked for", () => {
    const [wakes, events] = [parsed({ perDay: 30 }), eventsOf({ perDay: 30 })];
    for (let place = 1; place < 300; place++) {
      const [before, at] = [events[place - 1] as number, events[place] as number];
      const between = before + 1 + Math.floor((at - before) / 2);
      for (const from of [before + 1, Math.min(at, between), at])
        expect(nextWake(wakes, seed, from, endMs)).toBe(at);
      expect(nextWake(wakes, seed, at, at)).toBe(at);
      expect(nextWake(wakes, seed, before + 1, at - 1)).toBe(at - 1);
    }
  });

  test("come in the hours of their rhythm alone, by its zone", () => {
    const hours = Array.from({ length: 24 }, (_, hour) => (hour === 9 ? 1 : 0));
    const events = eventsOf({ perDay: 48, rhythm: { hours, zone: "+02:00" } });
    expect(events.length).toBeGreaterThan(days);
    expect(new Set(events.map((at) => new Date(at).getUTCHours()))).toEqual(new Set([7]));
  });

  test("are others for another group or seed", () => {
    const input = { perDay: 20 };
    const all = [eventsOf(input), eventsOf({ ...input, group: 1 }), eventsOf(input, seed + 1)];
    const shared = all.flat().length - new Set(all.flat()).size;
    expect(shared).toBeLessThan(5);
    expect(eventsOf({ ...input, group: 0, within: "9s", share: 0.1 })).toEqual(all[0]);
  });
});

test("events of a seed are the same in every version", () => {
  const first = (seed: number, value: object): number =>
    nextWake(parsed(value), seed, startMs, endMs) - startMs;
  expect([first(7, { perDay: 12 }), first(7, { perDay: 12, group: 1 }), first(8, { perDay: 12 })]).toEqual([
    1_365_983, 1_817_012, 34_508_299,
  ]);
  const spread = parsed({ perDay: 1, lasts: { least: "1m", most: "9m" } });
  expect([7, 8].map((own) => wakeEnd(spread, own, startMs) - startMs)).toEqual([496_193, 87_675]);
});

describe("events by the clock", () => {
  const at = "30 9 * * 1-5";
  const weekdays = Array.from({ length: days }, (_, day) => day)
    .filter((day) => day % 7 < 5)
    .map((day) => startMs + day * dayMs + 9.5 * hourMs);

  test("come at each minute that they name", () => {
    expect(eventsOf({ at })).toEqual(weekdays);
    expect(eventsOf({ at, group: 3 }, 1)).toEqual(weekdays);
  });

  test("may be late by any time up to the longest", () => {
    const late = eventsOf({ at, late: "10m" }).map((ms, place) => ms - (weekdays[place] as number));
    expect(late).toHaveLength(weekdays.length);
    expect(Math.min(...late)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...late)).toBeLessThanOrEqual(10 * minuteMs);
    const mean = late.reduce((sum, ms) => sum + ms, 0) / late.length;
    expect(Math.abs(mean / minuteMs - 5)).toBeLessThan(1);
    const few = eventsOf({ at, late: 1 }).map((ms, place) => ms - (weekdays[place] as number));
    expect(new Set(few)).toEqual(new Set([0, 1]));
  });

  test("are found until they come, and not from one ms later on", () => {
    const wakes = parsed({ at, late: "10m" });
    const [first, second] = eventsOf({ at, late: "10m" }) as [number, number];
    expect(nextWake(wakes, seed, first, endMs)).toBe(first);
    expect(nextWake(wakes, seed, first + 1, endMs)).toBe(second);
    expect(nextWake(wakes, seed, startMs, first - 1)).toBe(first - 1);
  });
});

describe("an event", () => {
  const ends = (lasts: object | string, group = 0): number[] =>
    weekly.map((at) => wakeEnd(parsed({ perDay: 1, lasts, group }), seed, at) - at);
  const weekly = Array.from({ length: 300 }, (_, week) => startMs + 7 * week * dayMs);

  test("has no end where none is said", () => {
    expect(wakeEnd(parsed({ perDay: 1 }), seed, startMs)).toBe(Number.MAX_SAFE_INTEGER);
  });

  test("lasts as long as its spread says, other ones otherwise, and other groups' otherwise", () => {
    expect(new Set(ends("2m"))).toEqual(new Set([2 * minuteMs]));
    const spread = { least: "1m", most: "3m" };
    const [own, others] = [ends(spread), ends(spread, 1)];
    for (const ms of own) expect(ms).toBe(Math.min(3 * minuteMs, Math.max(minuteMs, ms)));
    expect(new Set(own).size).toBeGreaterThan(280);
    expect(ends(spread)).toEqual(own);
    expect(own.filter((ms, place) => ms === others[place]).length).toBeLessThan(5);
  });
});
