import { describe, expect, test } from "vitest";
import type { Behaviour, PlannedCall } from "../../../src/scenario/client.ts";
import { burst, poller, rest, sessions, worker } from "../../../src/scenario/index.ts";
import type { WakesInput } from "../../../src/scenario/wakes.ts";
import { Rig, times } from "../rig.ts";

const call = rest("/v2/user");
const hourMs = 3_600_000;
/** A Thursday, 00:00 UTC. */
const midnight = Date.parse("2026-01-01T00:00:00Z");
const work = worker({ calls: [{ call }], think: "1s" });

/** When a client that is always answered at once sends so many calls. */
function play(rig: Rig, startMs: number, count: number): number[] {
  let planned = rig.start(startMs);
  const sent: number[] = [];
  while (sent.length < count && planned.length > 0) {
    const next: PlannedCall[] = [];
    for (const each of planned) {
      sent.push(each.atMs);
      next.push(...rig.answer(each, each.atMs));
    }
    planned = next;
  }
  return sent;
}

describe("sessions with absences", () => {
  test("end after so many calls; the next begins an absence after the last answer", () => {
    const rig = new Rig(sessions({ of: work, calls: 3, away: "10m" }));
    const sent = play(rig, 0, 9);
    const [first = 0] = sent;
    // The first absence is a part of one.
    expect(first).toBeLessThan(600_000);
    const session = [0, 1_000, 2_000];
    expect(sent.map((ms) => ms - first)).toEqual(
      [0, 602_000, 1_204_000].flatMap((start) => session.map((ms) => start + ms)),
    );
  });

  test("begin in a long absence more often than such absences come", () => {
    // One in ten takes ten hours, the others a minute: nearly all time passes in the long ones.
    const away = { quantiles: ["1m", "1m", "10h", "10h"], shares: [0, 0.9, 0.900_001, 1] };
    const firsts = Array.from({ length: 500 }, (_, index) => {
      const rig = new Rig(sessions({ of: work, away }), undefined, 1, index);
      return rig.only(rig.start(midnight)).atMs - midnight;
    });
    // The mean of what is left is that of the squares by twice the mean: 4.93 hours, with a deviation of 0.13.
    const mean = firsts.reduce((sum, ms) => sum + ms, 0) / firsts.length;
    expect(Math.abs(mean / hourMs - 4.93)).toBeLessThan(0.4);
  });

  test("end after a time: what would begin later is not begun", () => {
    const rig = new Rig(sessions({ of: poller({ call, every: "4s" }), length: "10s", away: 0 }));
    // Polls at 0, 4 and 8; at 12 the session is over, and another begins at once.
    expect(play(rig, 50, 4)).toEqual([50, 4_050, 8_050, 8_050]);
  });

  test("begin the behaviour anew, one that is over by itself too", () => {
    const rig = new Rig(sessions({ of: worker({ calls: [{ call }], jobs: 2 }), away: 100 }));
    const sent = play(rig, 0, 6);
    const gaps = sent.slice(1).map((ms, index) => ms - (sent[index] ?? 0));
    expect(gaps).toEqual([0, 100, 0, 100, 0]);
  });

  test("begin with a new record of the behaviour, by the seed of the run and by the record before", () => {
    const starts: unknown[] = [];
    const own: Behaviour<{ made: number }> = {
      ...{ name: "own", calls: [call], inFlightMost: 1 },
      start(seed, _, before) {
        starts.push([seed, before?.made]);
        return { made: 0 };
      },
      next(record, { nowMs }, out) {
        record.made += 1;
        if (record.made <= 2) out.send(0, nowMs);
      },
    };
    expect(play(new Rig(sessions({ of: own, away: 0 }), undefined, 7), 50, 6)).toEqual([
      50, 50, 50, 50, 50, 50,
    ]);
    expect(starts.slice(0, 4)).toEqual([
      [7, undefined],
      [7, undefined],
      [7, 3],
      [7, 3],
    ]);
  });

  test("of a behaviour that asks for nothing stop the client", () => {
    const idle = new Rig(sessions({ of: { ...work, next: () => {} }, away: "1m" }));
    expect([idle.start(0), idle.stopped]).toEqual([[], true]);
    const busy = new Rig(sessions({ of: work, away: "1m" }));
    expect([busy.start(0).length, busy.stopped]).toEqual([1, false]);
  });

  test("are over when the last of several calls is answered", () => {
    const rig = new Rig(sessions({ of: burst({ call, size: 3 }), away: 0, calls: 3 }));
    const [a, b, c] = rig.start(0) as [PlannedCall, PlannedCall, PlannedCall];
    expect(rig.answer(a, 10)).toEqual([]);
    expect(rig.answer(b, 20)).toEqual([]);
    expect(times(rig.answer(c, 30))).toEqual([30, 30, 30]);
  });

  test("refused calls that are tried again count once", () => {
    const again = { name: "again", retryAt: (_: unknown, { nowMs }: { nowMs: number }) => nowMs + 5 };
    const rig = new Rig(sessions({ of: work, calls: 2, away: "1h" }), again);
    const first = rig.only(rig.start(0));
    const retried = rig.only(rig.answer(first, first.atMs, { status: 429 }));
    const second = rig.only(rig.answer(retried, retried.atMs));
    expect(second.atMs - retried.atMs).toBe(1_000);
    expect(rig.only(rig.answer(second, second.atMs)).atMs - second.atMs).toBe(hourMs);
  });
});

describe("a rhythm", () => {
  const hours = Array.from({ length: 24 }, (_, hour) => (hour >= 9 && hour < 17 ? 1 : 0));
  const lone = worker({ calls: [{ call }], jobs: 1 });

  test("lets absences pass by its hours alone", () => {
    const sent = play(new Rig(sessions({ of: lone, away: "3h", rhythm: { hours } })), midnight, 40);
    const hourOf = (ms: number): number => new Date(ms).getUTCHours();
    expect(sent.every((ms) => hourOf(ms) >= 9 && hourOf(ms) <= 17)).toBe(true);
    // Three busy hours each: 8 hours of a day hold two of them and two thirds.
    const days = ((sent.at(-1) ?? 0) - (sent[0] ?? 0)) / (24 * hourMs);
    expect(Math.abs(days - (39 * 3) / 8)).toBeLessThan(1);
  });

  test("is of the zone's clock, and has a weekend of its own", () => {
    const rhythm = { hours, weekend: hours.map((_, hour) => (hour === 3 ? 1 : 0)), zone: "-05:00" };
    const sent = play(new Rig(sessions({ of: lone, away: "30m", rhythm })), midnight, 100);
    for (const ms of sent) {
      const local = new Date(ms - 5 * hourMs);
      const weekend = [0, 6].includes(local.getUTCDay());
      const [from, to] = weekend ? [3, 4] : [9, 17];
      const hour = local.getUTCHours() + local.getUTCMinutes() / 60;
      expect(hour >= from && hour <= to).toBe(true);
    }
  });

  test("passes twice as fast where the factor is 2", () => {
    const rhythm = { hours: new Array<number>(24).fill(2) };
    const sent = play(new Rig(sessions({ of: lone, away: "1h", rhythm })), midnight, 3);
    expect((sent[2] ?? 0) - (sent[1] ?? 0)).toBe(hourMs / 2);
  });

  test("has busy days that are busy for everybody, and others for another seed", () => {
    const behaviour = sessions({ of: lone, away: "10m", rhythm: { days: 1 } });
    const countOf = (seed: number, fromMs: number): number =>
      play(new Rig(behaviour, undefined, seed), fromMs, 5_000).filter((ms) => ms < fromMs + 24 * hourMs)
        .length;
    const days = [0, 1, 2, 3].map((day) => midnight + day * 24 * hourMs);
    const counts = days.map((fromMs) => countOf(1, fromMs));
    expect(Math.max(...counts)).toBeGreaterThan(1.2 * Math.min(...counts));
    expect(days.map((fromMs) => countOf(1, fromMs))).toEqual(counts);
    expect(days.map((fromMs) => countOf(2, fromMs))).not.toEqual(counts);
  });

  test("draws days among those that were listed", () => {
    const countOf = (days: readonly number[], day: number): number => {
      const fromMs = midnight + day * 24 * hourMs;
      const rig = new Rig(sessions({ of: lone, away: "10m", rhythm: { days } }));
      return play(rig, fromMs, 2_000).filter((ms) => ms < fromMs + 24 * hourMs).length;
    };
    const alone = [0.5, 2].map((factor) => countOf([factor], 0));
    const drawn = [0, 1, 2, 3, 4, 5, 6, 7].map((day) => countOf([0.5, 2], day));
    expect(alone[1]).toBeGreaterThan(3 * (alone[0] ?? 0));
    // Each day is as one of the two, and both come.
    for (const count of drawn)
      expect(Math.min(...alone.map((one) => Math.abs(one - count)))).toBeLessThan(0.2 * count);
    expect(Math.max(...drawn)).toBeGreaterThan(2 * Math.min(...drawn));
  });
});

describe("sessions by a timetable", () => {
  test("begin with the minutes of the line of cron, within the span", () => {
    const rig = new Rig(sessions({ of: burst({ call, size: 2 }), at: "*/10 * * * *", within: "3s" }));
    const sent = play(rig, midnight + 1, 12);
    const starts = sent.filter((_, index) => index % 2 === 0);
    for (const [index, ms] of starts.entries()) {
      const lateMs = ms - midnight - (index + 1) * 600_000;
      expect(lateMs >= 0 && lateMs <= 3_000).toBe(true);
    }
    expect(new Set(starts.map((ms) => ms % 600_000)).size).toBeGreaterThan(1);
  });

  test("begin before the client's time is over, or not at all", () => {
    const startedBefore = (endMs: number) => {
      const rig = new Rig(sessions({ of: burst({ call, size: 1 }), at: "*/10 * * * *" }));
      return [times(rig.start(midnight + 1, endMs)), rig.stopped];
    };
    expect(startedBefore(midnight + 600_001)).toEqual([[midnight + 600_000], false]);
    expect(startedBefore(midnight + 600_000)).toEqual([[], true]);
  });

  test("miss what is due while one is under way", () => {
    const rig = new Rig(sessions({ of: worker({ calls: [{ call }], jobs: 1 }), at: "* * * * *" }));
    const first = rig.only(rig.start(midnight));
    expect(first.atMs).toBe(midnight);
    expect(times(rig.answer(first, midnight + 150_000))).toEqual([midnight + 180_000]);
  });
});

describe("sessions by events", () => {
  const dayMs = 24 * hourMs;
  const lone = worker({ calls: [{ call }], jobs: 1 });
  const daytime = Array.from({ length: 24 }, (_, hour) => (hour >= 6 && hour < 18 ? 2 : 0));
  const sentBy = (client: number, seed = 1, share = 1, group = 0): number[] => {
    const wakes = { perDay: 4, rhythm: { hours: daytime }, within: "10s", share, group };
    const rig = new Rig(sessions({ of: lone, wakes }), undefined, seed, client);
    return play(rig, midnight, 400).filter((ms) => ms < midnight + 60 * dayMs);
  };

  test("begin together for all clients, in the hours and as often as is said", () => {
    const [one, other] = [sentBy(0), sentBy(1)];
    expect(one.length).toBe(other.length);
    expect(one.every((ms, index) => Math.abs(ms - (other[index] ?? 0)) <= 10_000)).toBe(true);
    expect(one).not.toEqual(other);
    // Poisson of 240: a deviation of 15.5.
    expect(Math.abs(one.length - 240)).toBeLessThan(70);
    for (const ms of one) {
      const hour = (ms % dayMs) / hourMs;
      expect(hour >= 6 && hour < 18.01).toBe(true);
    }
  });

  test("are others for another seed, and may wake a share of the clients", () => {
    expect(sentBy(0, 2)).not.toEqual(sentBy(0));
    const all = sentBy(0);
    const half = sentBy(0, 1, 0.5);
    expect(half.length).toBeGreaterThan(0.3 * all.length);
    expect(half.length).toBeLessThan(0.7 * all.length);
    expect(half.every((ms) => all.some((known) => Math.abs(known - ms) <= 10_000))).toBe(true);
  });

  test("are those of the client's group", () => {
    const [one, other] = [sentBy(0, 1, 1, 7), sentBy(1, 1, 1, 7)];
    expect(one.length).toBeGreaterThan(150);
    expect(one.every((ms, index) => Math.abs(ms - (other[index] ?? 0)) <= 10_000)).toBe(true);
    const near = sentBy(0).filter((ms) => one.some((known) => Math.abs(known - ms) <= 10_000));
    expect(near.length).toBeLessThan(0.1 * one.length);
  });

  test("are those of the client's user, where each has its own", () => {
    const of = (client: number, user: number, seed = 1): number[] => {
      const wakes = { perDay: 4, rhythm: { hours: daytime }, within: "10s", by: "user" } as const;
      return play(new Rig(sessions({ of: lone, wakes }), undefined, seed, client, user), midnight, 200);
    };
    const isNear = (others: readonly number[]) => (ms: number) =>
      others.some((known) => Math.abs(known - ms) <= 10_000);
    const [one, other, stranger] = [of(0, 0), of(3, 0), of(1, 1)];
    expect(one.every(isNear(other))).toBe(true);
    expect(one).not.toEqual(other);
    for (const others of [stranger, of(0, 0, 2), sentBy(0)])
      expect(one.filter(isNear(others)).length).toBeLessThan(0.1 * one.length);
  });

  test("come by the clock, as late for all clients, within as much of their own", () => {
    const wakes = { at: "0 10 * * 1-5", late: "2m", within: "10s" };
    const of = (client: number, seed: number) =>
      play(new Rig(sessions({ of: lone, wakes }), undefined, seed, client), midnight, 40);
    const [one, other] = [of(0, 1), of(1, 1)];
    const late = (ms: number): number => (ms % dayMs) - 10 * hourMs;
    for (const [index, ms] of one.entries()) {
      expect([1, 2, 3, 4, 5]).toContain(new Date(ms).getUTCDay());
      expect(late(ms)).toBeGreaterThanOrEqual(0);
      expect(late(ms)).toBeLessThanOrEqual(130_000);
      expect(Math.abs(ms - (other[index] ?? 0))).toBeLessThanOrEqual(10_000);
    }
    expect(Math.max(...one.map(late)) - Math.min(...one.map(late))).toBeGreaterThan(60_000);
    expect(of(0, 2)).not.toEqual(one);
  });

  test("wake each client after a time of its own, from a spread", () => {
    const of = (within: WakesInput["within"]) =>
      play(
        new Rig(sessions({ of: lone, wakes: { at: "0 10 * * *", ...(within && { within }) } })),
        midnight,
        30,
      );
    const events = of(undefined);
    const after = of({ least: "20s", most: "30s" }).map((ms, index) => ms - (events[index] as number));
    expect(Math.min(...after)).toBeGreaterThanOrEqual(20_000);
    expect(Math.max(...after)).toBeLessThanOrEqual(30_000);
    expect(new Set(after).size).toBeGreaterThan(20);
    expect(new Set(of({ quantiles: ["7s", "7s"] }).map((ms) => ms % 60_000))).toEqual(new Set([7_000]));
    expect(() => of({ least: "2s", most: "1s" })).toThrow("sessions.wakes.within");
  });

  test("end for all clients at once, each after a time of its own; who comes later makes one call", () => {
    const wakes = { at: "0 10 * * *", within: "50s", lasts: { quantiles: ["1s", "20m"] } };
    const of = worker({ calls: [{ call }], think: "1s" });
    const days = [0, 1].map((client) => {
      const byDay = new Map<number, number[]>();
      for (const ms of play(new Rig(sessions({ of, wakes }), undefined, 1, client), midnight, 4_000)) {
        const day = Math.floor(ms / dayMs);
        byDay.set(day, [...(byDay.get(day) ?? []), ms % dayMs]);
      }
      return [...byDay.values()].slice(0, -1);
    });
    const [one = [], other = []] = days;
    const lengths = one.map((own, index) => {
      const [last, lastOther] = [own.at(-1) ?? 0, other[index]?.at(-1) ?? 0];
      const late = Math.min(own[0] ?? 0, other[index]?.[0] ?? 0) - 10 * hourMs;
      expect(late).toBeLessThanOrEqual(50_000);
      // Who wakes within 50 s may do so after the end.
      if (Math.min(last, lastOther) > 10 * hourMs + 52_000)
        expect(Math.abs(last - lastOther)).toBeLessThan(1_200);
      return last - 10 * hourMs;
    });
    expect(Math.min(...lengths)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...lengths)).toBeLessThanOrEqual(20 * 60_000);
    expect(Math.max(...lengths) - Math.min(...lengths)).toBeGreaterThan(5 * 60_000);
    const short = new Rig(
      sessions({ of, wakes: { ...wakes, within: { least: "1m", most: "1m" }, lasts: "1s" } }),
    );
    expect(play(short, midnight, 5).map((ms) => ms % dayMs)).toEqual(new Array(5).fill(10 * hourMs + 60_000));
    expect(() => sessions({ of, wakes: { ...wakes, lasts: "soon" } })).toThrow("sessions.wakes.lasts");
  });

  test("are missed while a session is under way", () => {
    const rig = new Rig(sessions({ of: lone, wakes: { perDay: 24 } }));
    const first = rig.only(rig.start(midnight));
    const after = rig.only(rig.answer(first, first.atMs + 10 * hourMs));
    expect(after.atMs).toBeGreaterThanOrEqual(first.atMs + 10 * hourMs);
  });
});

test.each([
  ["no behaviour", { of: 5, away: 1 }, "sessions.of"],
  ["sessions of sessions", { of: sessions({ of: work, away: 1 }), away: 1 }, "sessions.of"],
  ["an absence that is no time", { of: work, away: "soon" }, "sessions.away"],
  ["no call at all", { of: work, away: 1, calls: 0 }, "sessions.calls"],
  ["hours that are not 24", { of: work, away: 1, rhythm: { hours: [1] } }, "sessions.rhythm.hours"],
  ["no day to draw", { of: work, away: 1, rhythm: { days: [] } }, "sessions.rhythm.days"],
  ["a day of less than none", { of: work, away: 1, rhythm: { days: [1, -1] } }, "sessions.rhythm.days"],
  [
    "a clock that stands still",
    { of: work, away: 1, rhythm: { weekdays: [0, 0, 0, 0, 0, 0, 0] } },
    "sessions.rhythm.weekdays",
  ],
  ["a zone by name", { of: work, away: 1, rhythm: { zone: "Europe/Berlin" } }, "sessions.rhythm.zone"],
  ["a line that is no cron's", { of: work, at: "daily" }, "sessions.at"],
  ["no event at all", { of: work, wakes: { perDay: 0 } }, "sessions.wakes.perDay"],
  ["more clients than there are", { of: work, wakes: { perDay: 1, share: 2 } }, "sessions.wakes.share"],
  ["half a group", { of: work, wakes: { perDay: 1, group: 0.5 } }, "sessions.wakes.group"],
  ["a group too many", { of: work, wakes: { perDay: 1, group: 1000 } }, "sessions.wakes.group"],
  ["events of a team by name", { of: work, wakes: { perDay: 1, by: "team" } }, "sessions.wakes.by"],
  ["events by a line that is no cron's", { of: work, wakes: { at: "ten" } }, "sessions.wakes.at"],
  [
    "events by the clock and by chance",
    { of: work, wakes: { at: "* * * * *", perDay: 1 } },
    "sessions.wakes.perDay",
  ],
  ["late events without a clock", { of: work, wakes: { perDay: 1, late: "1m" } }, "sessions.wakes.late"],
  ["events with absences", { of: work, wakes: { perDay: 1 }, away: 1 }, "sessions.away"],
  ["a timetable with absences", { of: work, at: "* * * * *", away: 1 }, "sessions.away"],
])("%s is refused by its path", (_, options, path) => {
  expect(() => sessions(options as never)).toThrow(
    expect.objectContaining({ code: "SCENARIO_INVALID", problems: [expect.objectContaining({ path })] }),
  );
});
