// Events that wake people behind tokens, from calls that are set: one each half a minute, and more after each event.
import { describe, expect, test } from "vitest";
import { hourMs, minuteMs } from "../../sim/fit/days.ts";
import type { RecordedJob } from "../../sim/fit/jobs.ts";
import type { Profile } from "../../sim/fit/profile.ts";
import type { Recording } from "../../sim/fit/recording.ts";
import { visitsWoken } from "../../sim/fit/visit-events.ts";

const recording = { startedAtMs: 0, endedAtMs: 24 * hourMs } as unknown as Recording;
const many = <Value>(count: number, of: (index: number) => Value): Value[] =>
  Array.from({ length: count }, (_, index) => of(index));
const job = (startMs: number): RecordedJob =>
  ({ startMs, endMs: startMs + 50, jobs: 1, attempts: 1 }) as unknown as RecordedJob;

interface Event {
  readonly atMs: number;
  /** Calls that it brings, two seconds apart. */
  readonly calls: number;
}
const events = (counts: readonly number[], fromHour = 3): Event[] =>
  counts.map((calls, index) => ({ atMs: (fromHour + 4 * index) * hourMs + 10 * minuteMs, calls }));

/** @param phaseMs time of the first usual call */
function caller(brought: readonly Event[], phaseMs = 7_000): Profile {
  const usual = many(24 * 120, (index) => phaseMs + index * 30_000);
  const woken = brought.flatMap(({ atMs, calls }) => many(calls, (index) => atMs + 2_000 * index));
  const jobs = [...usual, ...woken].sort((a, b) => a - b).map(job);
  return { jobs } as unknown as Profile;
}

/** Usual calls of each caller, and the calls of each kind of event by its instant, to ten minutes. */
const told = (callers: readonly Profile[]) => {
  const woken = visitsWoken(callers, recording, 5);
  return callers.map((profile) => {
    const own = woken.get(profile);
    if (own === undefined) return null;
    const wakes = own.wakes.map(({ group, byUser, clock, eventsMs, lastsMs, sessions }) => {
      expect([clock, lastsMs]).toEqual([null, null]);
      expect(eventsMs).toEqual(sessions.map(({ eventMs }) => eventMs));
      const calls = sessions.map(({ eventMs, jobs }) => [
        10 * Math.round(eventMs / minuteMs / 10),
        jobs.length,
      ]);
      return { group, byUser, calls };
    });
    return { rest: own.rest.length, wakes };
  });
};
/** The first event is ten minutes past three, and each later one four hours after the one before. */
const at = (counts: readonly number[], from = 190) =>
  counts.map((calls, index) => [from + 240 * index, calls]);
const one = (counts: readonly number[], rest = 2_880) => [
  { rest, wakes: [{ group: 5, byUser: false, calls: at(counts) }] },
];

describe("of one token", () => {
  test.each<[readonly number[], ReturnType<typeof told>]>([
    // An event lasts for as long as more calls come: here three minutes, six and twenty.
    [[90, 90, 90], one([90, 90, 90])],
    [[180, 180, 180], one([180, 180, 180])],
    [[600, 600, 600], one([600, 600, 600])],
    [[90, 90], one([90, 90])],
    // One is no rate, and fewer calls than that are chance.
    [[90], [null]],
    [[15, 15, 15], [null]],
    // An event brings half of what is usual, or it is none: its calls are usual ones.
    [[90, 90, 90, 60], one([90, 90, 90, 60])],
    [[90, 90, 90, 43], one([90, 90, 90], 2_880 + 43)],
  ])("events of %j calls", (counts, expected) => {
    expect(told([caller(events(counts))])).toEqual(expected);
  });

  test("an event lasts half an hour at most", () => {
    // 90 calls in three minutes, then five a minute for forty minutes more: 135 of them within the half hour.
    const long = events([90, 90, 90]).flatMap(({ atMs, calls }) => [
      { atMs, calls },
      ...many(200, (index) => ({ atMs: atMs + 3 * minuteMs + 12_000 * index, calls: 1 })),
    ]);
    expect(told([caller(long)])).toEqual(one([225, 225, 225], 2_880 + 3 * 65));
  });

  test("an event lasts while a tenth as many calls come beyond the usual ones as at first", () => {
    // 90 calls in three minutes, then so many a minute, evenly, for ten minutes; the last one's half is too few.
    const tailed = (each: number) =>
      events([90, 90, 90]).flatMap(({ atMs, calls }) => [
        { atMs, calls },
        ...many(10 * each, (index) => ({ atMs: atMs + (3 + index / each) * minuteMs, calls: 1 })),
      ]);
    expect(told([caller(tailed(3))])).toEqual(one([117, 117, 117], 2_880 + 9));
    expect(told([caller(tailed(2))])).toEqual(one([90, 90, 90], 2_880 + 60));
  });

  test("events begin with their first calls", () => {
    const [own] = [...visitsWoken([caller(events([90, 90, 90]))], recording, 0).values()];
    expect(own?.wakes[0]?.eventsMs).toEqual(events([90, 90, 90]).map(({ atMs }) => atMs));
  });

  test("two events of more than twice as many calls are of another kind", () => {
    expect(told([caller(events([90, 90, 90, 300, 300]))])).toEqual([
      {
        rest: 2_880,
        wakes: [
          { group: 5, byUser: false, calls: at([90, 90, 90]) },
          { group: 6, byUser: false, calls: at([300, 300], 190 + 720) },
        ],
      },
    ]);
    expect(told([caller(events([90, 90, 90, 300]))])).toEqual(one([90, 90, 90, 300]));
  });
});

describe("of two tokens", () => {
  const both = (byUser: boolean, counts: readonly number[], from = 190) => ({
    rest: 2_880,
    wakes: [{ group: byUser ? 7 : 5, byUser, calls: at(counts, from) }],
  });
  const others = (counts: readonly number[]) =>
    told([caller(events([90, 90, 90])), caller(events(counts), 11_000)]);

  test("events that bring calls of each are of both", () => {
    expect(others([60, 60, 60])).toEqual([both(false, [90, 90, 90]), both(false, [60, 60, 60])]);
    // A caller of half of the usual calls has far more than three quarters of an event of its own.
    expect(others([30, 30, 30])).toEqual([both(false, [90, 90, 90]), both(false, [30, 30, 30])]);
    expect(others([20, 20, 20])).toEqual([both(true, [90, 90, 90]), both(true, [20, 20, 20])]);
    expect(others([])).toEqual([both(true, [90, 90, 90]), null]);
  });

  test("events that bring calls of one are its own", () => {
    const [first, second] = told([caller(events([90, 90, 90])), caller(events([60, 60, 60], 4), 11_000)]);
    expect([first, second]).toEqual([both(true, [90, 90, 90]), both(true, [60, 60, 60], 250)]);
  });

  test("each has its own beside those of both", () => {
    const own = events([200, 200, 200], 5);
    const [first, second] = told([
      caller([...events([90, 90, 90]), ...own]),
      caller(events([60, 60, 60]), 11_000),
    ]);
    const [shared] = both(false, [90, 90, 90]).wakes;
    const [alone] = both(true, [200, 200, 200], 310).wakes;
    expect([first, second]).toEqual([{ rest: 2_880, wakes: [shared, alone] }, both(false, [60, 60, 60])]);
  });
});
