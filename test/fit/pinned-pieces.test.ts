// Pieces of a fit, on small values that are drawn near their bounds: what each finds shows in `pinned/drawn-pieces.txt`,
// a line for each drawing. `npm test -- test/fit/pinned-pieces.test.ts -u` writes the file anew; read the difference.
import { expect, test } from "vitest";
import { adaptingCallers } from "../../sim/fit/adapting.ts";
import { closedArrivals, openArrivals, timetableOf } from "../../sim/fit/arrivals.ts";
import { clockedAmong, clockedIn } from "../../sim/fit/clocked-wakes.ts";
import { Crowd, isCrowd } from "../../sim/fit/crowds.ts";
import { endsByTime, surelyEndByTime } from "../../sim/fit/ends.ts";
import { eventsByChance } from "../../sim/fit/events.ts";
import { RecordedJob } from "../../sim/fit/jobs.ts";
import { knotsOf } from "../../sim/fit/knots.ts";
import { fittedNetwork } from "../../sim/fit/network.ts";
import { outagesIn } from "../../sim/fit/outages.ts";
import { overlapByChance } from "../../sim/fit/overlaps.ts";
import { atOnceOf, pacesOf } from "../../sim/fit/paces.ts";
import { type Profile, profileOfJobs } from "../../sim/fit/profile.ts";
import type { Recording } from "../../sim/fit/recording.ts";
import { guessRetry, UsualPauses } from "../../sim/fit/retries.ts";
import { busyBetween, Calendar, daysApart, evenRhythm, rhythmOf } from "../../sim/fit/rhythm.ts";
import { risesIn } from "../../sim/fit/rises.ts";
import { queueOf, runsOf, shapeOf, volleysOf } from "../../sim/fit/runs.ts";
import { absencesIn, joinedMs, type Sessions, sessionsOf, tickOf } from "../../sim/fit/sessions.ts";
import { absencesOf, spanOf, spreadOf, withMean } from "../../sim/fit/spread.ts";
import { isMemoryless, mode, PearsonSum, roundestWithin, SortedSample } from "../../sim/fit/statistics.ts";
import { timetablesOf } from "../../sim/fit/timetables.ts";
import { visitsWoken } from "../../sim/fit/visit-events.ts";
import { visitsIn } from "../../sim/fit/visits.ts";
import { wakesIn } from "../../sim/fit/wakes.ts";
import { weekdaysDoubt } from "../../sim/fit/weekdays.ts";
import { beginningOf, workdaysOf } from "../../sim/fit/workdays.ts";
import { type Chance, chanceOf, whole } from "../worlds/chance.ts";
import { dayMs, hourMs, minuteMs, mondayMs } from "../worlds/world.ts";

const pick = <Value>(chance: Chance, ...of: readonly Value[]): Value =>
  of[Math.floor(chance.next() * of.length)] as Value;
const many = <Value>(count: number, of: (index: number) => Value): Value[] =>
  Array.from({ length: count }, (_, index) => of(index));
/** A whole number, both ends included. */
const rising = (values: readonly number[]): number[] => values.toSorted((a, b) => a - b);
const over = (days: number, fromMs = mondayMs): Recording =>
  ({ startedAtMs: fromMs, endedAtMs: fromMs + days * dayMs, resolutionMs: 1 }) as unknown as Recording;

/** A job of one call. */
function job(startMs: number, tookMs: number, status = 200, sentMs = startMs): RecordedJob {
  const answered = { atMs: sentMs, endMs: sentMs + tookMs, wantedMs: startMs, status, kind: { key: "rest" } };
  return new RecordedJob(answered as RecordedJob["first"]);
}
const pausesOf = (jobs: readonly RecordedJob[]): number[] =>
  jobs.slice(1).map(({ startMs }, place) => Math.max(0, startMs - (jobs[place] as RecordedJob).endMs));

/** Jobs of drawn sessions: by a number of calls or by a time, with pauses of one or two kinds. */
function jobsInSessions(chance: Chance, count: number): RecordedJob[] {
  const [pauseMs, size] = [pick(chance, 1_000, 7_000), pick(chance, 4, 9)];
  const [lasts, sigma, second] = [chance.next() < 0.5, pick(chance, 0.05, 0.3, 0.8), pick(chance, 0, 9, 9)];
  const jobs: RecordedJob[] = [];
  let atMs = mondayMs;
  for (let session = 0; session < count; session++) {
    const endMs = atMs + size * pauseMs;
    const calls = lasts ? 40 : whole(chance, size - 1, size + 1);
    for (let call = 0; call < calls && (!lasts || atMs < endMs); call++) {
      jobs.push(job(Math.round(atMs), 50));
      atMs += 50 + chance.lognormal(second > 0 && call % 3 === 2 ? second * pauseMs : pauseMs, sigma);
    }
    atMs += chance.lognormal(600_000, 0.5);
  }
  return jobs;
}

/** Values of a spread, of one of its kinds. */
function valuesOf(chance: Chance): number[] {
  const kind = pick(chance, "even", "log", "two", "same");
  return many(pick(chance, 1, 2, 5, 12, 40, 130), () => {
    if (kind === "even") return whole(chance, 900, 1_900);
    if (kind === "log") return Math.round(chance.lognormal(700, 1));
    if (kind === "two") return pick(chance, 30, 30, 5_000, 5_200);
    return 800 + whole(chance, 0, pick(chance, 0, 7));
  });
}

type Piece = (chance: Chance) => unknown;
const pieces: Readonly<Record<string, readonly [count: number, piece: Piece]>> = {
  "statistics of a sample": [
    60,
    (chance) => {
      const values = many(whole(chance, 0, 14), () => whole(chance, 1, 6));
      const sample = new SortedSample(values);
      const sum = new PearsonSum();
      for (const value of values) sum.add(value * value, pick(chance, 2, 9), pick(chance, undefined, 3));
      const least = whole(chance, 1, 9_000);
      return [
        ...[0, 0.05, 0.5, 0.6, 0.9, 1].map((share) => sample.quantile(share)),
        ...[sample.mean, sample.deviation, sample.breadth, sample.least, sample.most],
        ...[mode(values), isMemoryless(sample), sum.excess],
        roundestWithin(least, least * pick(chance, 1, 1.002, 1.2)),
      ];
    },
  ],
  "spreads of values": [
    80,
    (chance) => {
      const values = valuesOf(chance);
      const slackMs = pick(chance, 0, 6, 1_005);
      const spread = spreadOf(values, pick(chance, 0, 1), slackMs);
      return [
        ...[spread, absencesOf(values), spanOf(values, slackMs), withMean(spread, whole(chance, 1, 4_000))],
        ...[knotsOf(new SortedSample(values)), atOnceOf(values.map((value) => 1 + (value % 3)))],
      ];
    },
  ],
  "absences among pauses": [
    120,
    (chance) => {
      const kinds = pick(chance, [1_000], [1_000, 60_000], [1_000, 9_000], [500, 9_000, 400_000]);
      const sigma = pick(chance, 0.2, 0.6, 1.1);
      return absencesIn(
        kinds.flatMap((ms, place) =>
          many(pick(chance, 2, 4, 9, 30) * (place === 0 ? 4 : 1), () => chance.lognormal(ms, sigma)),
        ),
      );
    },
  ],
  "ends, clocks and paces of sessions": [
    70,
    (chance) => {
      const cut = many(pick(chance, 1, 5, 8), () =>
        sessionsOf(jobsInSessions(chance, whole(chance, 8, 20)), 120_000),
      );
      const [first] = cut as [Sessions];
      const offMs = pick(chance, 6, 12, 30);
      const ticks = many(whole(chance, 19, 40), () => 1_000 + whole(chance, -offMs, offMs));
      return [
        ...[undefined, true, false].map((otherwise) => endsByTime(first, otherwise)),
        ...[surelyEndByTime(cut), tickOf({ ...first, gapsMs: ticks }, pick(chance, 0, 2))],
      ];
    },
  ],
  "paces of pauses": [
    40,
    (chance) => {
      const [short, long] = [pick(chance, 2, 3), pick(chance, 1, 2)];
      const [noise, sigma, again] = [pick(chance, 0, 0.1, 0.3), pick(chance, 0.02, 0.2), pick(chance, 1, 2)];
      const pauses = many(pick(chance, 30, 50), () =>
        many(again + pick(chance, 0, 0, 1), () => [
          ...many(short + (chance.next() < noise ? 1 : 0), () => chance.lognormal(1_000, sigma)),
          ...many(long + (chance.next() < noise ? 1 : 0), () => chance.lognormal(9_000, sigma)),
          ...many(chance.next() < noise ? 1 : 0, () => chance.lognormal(60_000, sigma)),
        ]).flat(),
      );
      const sizes = pauses.flatMap((own) => [1, ...own.map((ms) => (ms > 5_000 ? pick(chance, 1, 3) : 1))]);
      const cut = pauses.map((own) => ({
        startMs: 0,
        endMs: 0,
        lastMs: 0,
        jobs: own.length + 1,
        spells: own.length + 1,
      }));
      return pacesOf({ sessions: cut, pausesMs: pauses.flat(), sizes, gapsMs: [] }, 6, chance.next() < 0.5);
    },
  ],
  "rises of callers who call all day": [
    24,
    (chance) => {
      const hours = pick(chance, 6, 8);
      const events = many(pick(chance, 2, 4), () => whole(chance, 30, 60 * hours - 90));
      const profiles = many(pick(chance, 3, 6), () => {
        const [usual, more, joins] = [pick(chance, 1, 3), pick(chance, 2, 4, 6), pick(chance, 0.8, 1)];
        const own = events
          .filter(() => chance.next() < joins)
          .map((minute) => [minute + pick(chance, 0, 2), pick(chance, 12, 40)] as const);
        const jobs = many(60 * hours, (minute) => minute).flatMap((minute) => {
          const risen = own.some(([from, lasts]) => minute >= from && minute < from + lasts);
          return rising(
            many(chance.poisson(risen ? usual * more : usual), () => (minute + chance.next()) * minuteMs),
          ).map((ms) => job(mondayMs + Math.round(ms), 40));
        });
        return { jobs } as unknown as Profile;
      });
      return risesIn(profiles, over(hours / 24), []).map(({ eventsMs, lastsMs, woken }) => [
        ...[eventsMs.map((ms) => ms - mondayMs), lastsMs],
        [...woken.values()].map((sessions) => sessions.map(({ jobs }) => jobs.length)),
      ]);
    },
  ],
  "events that wake callers": [
    16,
    (chance) => {
      const days = pick(chance, 1, 4);
      const events = rising(
        many(pick(chance, 2, 3, 12), () => Math.round(chance.between(0.03, days - 0.05) * dayMs)),
      );
      const others = chance.next() < 0.3 ? events.map((ms) => ms + 3 * hourMs) : [];
      const lasts = events.map(() => pick(chance, 20_000, 60_000));
      const together = chance.next() < 0.4;
      const share = pick(chance, 0.4, 0.9);
      const profiles = many(pick(chance, 4, 7, 10), (place) => {
        const hourly = many(24 * days, (hour) => hour * hourMs + (9 + 4 * place) * minuteMs + 20_000);
        const own = (place % 2 === 1 && others.length > 0 ? others : events).flatMap((ms, event) => {
          if (chance.next() > share) return [];
          const lateMs = chance.between(0, pick(chance, 4_000, 14_000));
          return many(
            whole(chance, 1, 9),
            (call) => ms + lateMs + (together ? (call * (lasts[event] as number)) / 9 : call * 2_500),
          );
        });
        const jobs = rising([...hourly, ...own]).map((ms) => job(mondayMs + Math.round(ms), 50));
        return {
          jobs,
          pausesMs: pausesOf(jobs),
          shape: { kind: "call" },
          pace: { kind: "pause" },
        } as unknown as Profile;
      });
      return wakesIn(profiles, over(days)).map(({ group, clock, eventsMs, lastsMs, woken }) => [
        ...[group, clock, eventsMs.map((ms) => ms - mondayMs), lastsMs],
        [...woken.values()].map((sessions) => sessions.map(({ jobs }) => jobs.length)),
      ]);
    },
  ],
  "visits that events bring": [
    5,
    (chance) => {
      const events = many(pick(chance, 2, 3), () => chance.between(0.1, 0.9) * dayMs);
      const apart = chance.next() < 0.4;
      const profiles = many(2, (place) => {
        const jobs: RecordedJob[] = [];
        const visit = (ms: number): void => {
          for (let call = 0, at = ms; call < 3; call++, at += 60 + chance.exponential(900))
            jobs.push(job(mondayMs + Math.round(at), 60));
        };
        for (let ms = 0; ms < dayMs; ms += chance.exponential(250_000)) visit(ms);
        for (const [event, ms] of events.entries())
          if (!apart || event % 2 === place)
            for (let woken = 0; woken < 40; woken++) visit(ms + chance.exponential(90_000));
        jobs.sort((a, b) => a.startMs - b.startMs);
        return { jobs, pausesMs: [] } as unknown as Profile;
      });
      return [...visitsWoken(profiles, over(1), 2).values()].map(({ wakes, rest }) => [
        ...wakes.map(({ group, byUser, eventsMs, sessions }) => [
          group,
          byUser,
          eventsMs.map((ms) => ms - mondayMs),
          sessions.map(({ jobs }) => jobs.length),
        ]),
        rest.length,
      ]);
    },
  ],
  "callers who slow down": [
    40,
    (chance) => {
      const profiles = many(2, (place) => {
        const slower = pick(chance, 1, 1.4, 1.6, 3);
        let [atMs, pauseMs] = [mondayMs, 1_000];
        const jobs = many(pick(chance, 320, 360), (call) => {
          const refused = call % 11 === 5;
          const one = job(Math.round(atMs), 30, refused ? 429 : 200);
          pauseMs = refused ? 1_000 * slower : call % 11 === 0 ? 1_000 : pauseMs;
          atMs += 30 + pauseMs * chance.between(0.9, 1.1) + (call % 97 === 96 ? pick(chance, 0, 900_000) : 0);
          return one;
        });
        const refused = jobs.filter(({ first }) => first.status === 429).length;
        return {
          caller: { user: `u${place}` },
          jobs,
          pausesMs: pausesOf(jobs),
          refused,
        } as unknown as Profile;
      });
      return adaptingCallers(profiles);
    },
  ],
  "weekdays that differ": [
    40,
    (chance) => {
      const days = pick(chance, 1.9, 3, 6, 7.1, 13.97);
      const fromMs = mondayMs + pick(chance, 0, 0.4, 3, 5) * dayMs;
      const busy = many(20, () => pick(chance, 1, 1, 1, 1.2, 2.5));
      const calls = many(Math.floor(days * 24), (hour) => hour).flatMap((hour) =>
        many(Math.round(4 * (busy[Math.floor(hour / 24)] as number)), () => ({
          atMs: fromMs + (hour + chance.next()) * hourMs,
        })),
      );
      return weekdaysDoubt({ ...over(days, fromMs), callers: [{ calls }] } as unknown as Recording, days);
    },
  ],
  "trips and executions": [
    40,
    (chance) => {
      const [rest, query] = [pick(chance, 0.4, 90), pick(chance, 60, 400)];
      const knowsAttempts = chance.next() < 0.5;
      const calls = many(whole(chance, 1, 60), (place) => {
        const operation = pick(chance, "rest", "rest", "graphql");
        const status = pick(chance, 200, 200, 200, 429, 503, 0);
        const wantedMs = mondayMs + place * 5_000;
        const atMs = wantedMs + (knowsAttempts ? pick(chance, 0, whole(chance, 0, 30)) : 0);
        const tookMs = chance.lognormal(
          operation === "rest" || status === 429 ? rest : query,
          pick(chance, 0.01, 0.6),
        );
        return {
          atMs,
          wantedMs,
          endMs: atMs + tookMs,
          attempt: place % 4 === 3 ? 1 : 0,
          status,
          kind: { operation, free: false },
        };
      });
      return fittedNetwork({
        callers: [{ calls }],
        knowsAttempts,
        knowsDurations: true,
      } as unknown as Recording);
    },
  ],
  "a caller's first call": [
    40,
    (chance) => {
      const fromMs = mondayMs + chance.between(0.9, 7) * dayMs;
      const jobs = many(whole(chance, 19, 22), (place) =>
        job(fromMs + place * pick(chance, 1, 6) * hourMs, 9),
      );
      return (
        joinedMs(
          jobs.sort((a, b) => a.startMs - b.startMs),
          { startedAtMs: mondayMs, endedAtMs: mondayMs + 8 * dayMs },
        ) - mondayMs
      );
    },
  ],
  "shapes and paces of runs": [
    140,
    (chance) => {
      const [size, together] = [whole(chance, 1, 6), pick(chance, 1, 2, 6)];
      const [tookMs, everyMs] = [pick(chance, 50, 700), pick(chance, 900, 3_000, 60_000)];
      const [offMs, refused] = [pick(chance, 0, 3, 0.04 * everyMs, 0.3 * everyMs), pick(chance, 0, 0, 0.4)];
      const slackMs = pick(chance, 6, 1_005);
      const jobs = many(whole(chance, 2, 26), (run) => {
        const atMs = Math.round(mondayMs + run * everyMs + chance.between(0, offMs));
        const own = chance.next() < 0.15 ? whole(chance, 1, 6) : size;
        return many(own, (call) =>
          job(
            atMs + Math.floor(call / together) * (tookMs + pick(chance, 0, 1, 30)),
            tookMs + whole(chance, 0, 9),
            chance.next() < refused ? 429 : 200,
          ),
        );
      })
        .flat()
        .sort((a, b) => a.startMs - b.startMs);
      const caller = { organization: "acme", user: "ann", calls: [] };
      const { shape, pace, clients, pausesMs } = profileOfJobs(
        { caller } as unknown as Profile,
        jobs,
        slackMs,
      );
      const runs = runsOf(jobs, slackMs);
      return [shape, pace, clients, pausesMs, shapeOf(runs), runs.length, volleysOf(jobs, slackMs)?.length];
    },
  ],
  "clients of one clock, and queues": [
    60,
    (chance) => {
      const everyMs = pick(chance, 10_000, 60_000);
      const offs = many(whole(chance, 1, 5), () => chance.between(0, everyMs));
      const jobs = rising(
        offs.flatMap((offMs) =>
          many(whole(chance, 6, 14), (tick) =>
            Math.round(offMs + tick * everyMs + chance.between(0, pick(chance, 0, 5, 40))),
          ),
        ),
      ).map((startMs) => job(startMs, 80));
      const caller = { organization: "acme", user: "ann", calls: [] };
      const { pace, clients } = profileOfJobs({ caller } as unknown as Profile, jobs, 6);
      const workers = whole(chance, 1, 4);
      const waiting = many(whole(chance, 4, 9), (place) =>
        job(
          whole(chance, 0, 7),
          100,
          200,
          place < workers ? pick(chance, 0, 9) : 100 * Math.floor(place / workers),
        ),
      );
      return [pace, clients, queueOf(waiting, 6)];
    },
  ],
  timetables: [
    220,
    (chance) => {
      const periodMs = pick(chance, 5, 10, 15, 20, 30, 60, 60, 1_440) * minuteMs;
      const offMs = Math.floor(chance.next() * (periodMs / minuteMs)) * minuteMs + pick(chance, 0, 0, 20_000);
      const [lateMs, misses] = [pick(chance, 0, 8_000, 14_900, 16_000), pick(chance, 0, 0.1, 0.2, 0.3)];
      const [working, size, nightly] = [chance.next() < 0.4, pick(chance, 1, 1, 3), chance.next() < 0.3];
      const periods = whole(chance, 3, periodMs === dayMs ? 16 : periodMs === 60 * minuteMs ? 200 : 20);
      const fromMs = mondayMs + whole(chance, 0, 6) * dayMs;
      const rests = (ms: number): boolean => [0, 6].includes(new Date(ms).getUTCDay());
      const own = many(periods, (period) => fromMs + period * periodMs + offMs)
        .filter((ms) => chance.next() >= misses && !(working && rests(ms) && chance.next() > 0.05))
        .flatMap((ms) => {
          const startMs = ms + chance.between(0, lateMs);
          const calls =
            nightly && Math.floor((ms % dayMs) / hourMs) === 3 ? size + whole(chance, 4, 9) : size;
          return many(calls, (call) => startMs + 1_500 * call);
        });
      const others = many(Math.floor(periods * pick(chance, 0, 0.5, 3)), () =>
        chance.between(fromMs, fromMs + periods * periodMs),
      );
      const jobs = rising([...own, ...others]).map((ms) => job(Math.round(ms), 100));
      const recording = over((periods * periodMs) / dayMs, fromMs);
      const { timetables, rest } = timetablesOf(
        { jobs, pausesMs: pausesOf(jobs) } as unknown as Profile,
        recording,
      );
      return [
        ...timetables.map(({ timetable, startsMs, sizes, pausesMs }) => [
          ...[timetable.schedule, timetable.spreadMs, startsMs.map((ms) => ms - fromMs), sizes, pausesMs],
        ]),
        rest.length,
      ];
    },
  ],
  arrivals: [
    60,
    (chance) => {
      const days = pick(chance, 0.01, 0.2, 1, 3);
      const recording = over(days);
      const rush = chance.next() < 0.4;
      const times = rising(
        many(whole(chance, 1, 90), () => {
          const ms = chance.between(0, days * dayMs);
          return (
            mondayMs +
            Math.round(rush && days > 0.9 ? Math.floor(ms / dayMs) * dayMs + (ms % (8 * hourMs)) : ms)
          );
        }),
      );
      const even = times.map(
        (_, place) => mondayMs + place * 60_000 + whole(chance, 0, pick(chance, 9, 60_000)),
      );
      const everyMs = pick(chance, 60_000, 300_000, 420_000, hourMs, dayMs);
      return [
        ...[openArrivals(times, recording), openArrivals(rising(even), recording)],
        closedArrivals(times.slice(0, whole(chance, 1, 7)), 5, everyMs, recording, 6),
        timetableOf(
          [
            times.map(
              (ms) => Math.floor(ms / everyMs) * everyMs + whole(chance, -90, pick(chance, 90, 14_000)),
            ),
          ],
          everyMs,
          chance.next() < 0.5,
        ),
      ];
    },
  ],
  rhythms: [
    40,
    (chance) => {
      const [days, callers] = [pick(chance, 0.3, 2, 5, 9, 15), pick(chance, 1, 4, 5, 7)];
      const [opens, off] = [pick(chance, 0, 9), pick(chance, -1, 1, 2)];
      const lives = many(callers, () => {
        const sessions = [];
        for (
          let ms = mondayMs + chance.exponential(hourMs);
          ms < mondayMs + days * dayMs;
          ms += chance.exponential(pick(chance, 2, 5) * hourMs)
        ) {
          const hour = (ms % dayMs) / hourMs;
          if (hour < opens || Math.floor((ms - mondayMs) / dayMs) === off) continue;
          sessions.push({
            startMs: ms,
            endMs: ms + 60_000,
            lastMs: ms,
            jobs: whole(chance, 1, 4),
            spells: 1,
          });
        }
        return { joinedMs: mondayMs, sessions };
      });
      const calendar = new Calendar(lives, mondayMs, mondayMs + days * dayMs);
      const rhythm = rhythmOf(calendar);
      const fromMs = mondayMs + chance.between(0, dayMs);
      const busyMs = busyBetween(
        rhythm ?? evenRhythm,
        fromMs,
        fromMs + chance.between(0, 4 * dayMs),
        calendar.daysOff,
      );
      return [rhythm, busyMs, [...calendar.daysOff], daysApart([{ calendar, rhythm: rhythm ?? evenRhythm }])];
    },
  ],
  events: [
    60,
    (chance) => {
      const days = pick(chance, 0.5, 4, 7, 10);
      const recording = over(days, mondayMs + pick(chance, 0, 3, 5) * dayMs);
      const { startedAtMs, endedAtMs } = recording;
      const clocked = chance.next() < 0.6;
      const hours = many(pick(chance, 1, 1, 3), () => whole(chance, 0, 23) + pick(chance, 0, 0.25));
      const starts = rising(
        clocked
          ? many(Math.ceil(days), (day) => day)
              .filter(() => chance.next() < 0.95)
              .flatMap((day) =>
                hours.flatMap((hour) =>
                  many(
                    whole(chance, 1, 6),
                    () =>
                      startedAtMs +
                      day * dayMs +
                      hour * hourMs +
                      Math.round(chance.between(-20_000, pick(chance, 20_000, 90_000))),
                  ),
                ),
              )
          : many(whole(chance, 4, 24), () => Math.round(chance.between(startedAtMs, endedAtMs))),
      );
      const crowd = new Crowd(
        starts.map((atMs) => ({ atMs, isLong: false, isAfterRefusal: chance.next() < 0.1 })),
        recording,
      );
      return [
        ...[clockedIn(crowd, recording), clockedAmong(starts, recording), eventsByChance(starts, recording)],
        ...starts.slice(0, 6).map((ms) => [crowd.usualIn(ms, 10_000), crowd.countIn(ms, 60_000)]),
        many(12, (count) => isCrowd(0.1 * whole(chance, 1, 20), count, pick(chance, 1, 20, 5_000))),
      ];
    },
  ],
  "visits of many": [
    12,
    (chance) => {
      const [meanMs, pauseMs] = [pick(chance, 20_000, 60_000), pick(chance, 500, 4_000)];
      const jobs: RecordedJob[] = [];
      for (
        let ms = mondayMs;
        ms < mondayMs + 2 * dayMs && jobs.length < 1_500;
        ms += chance.exponential(meanMs * (Math.floor((ms % dayMs) / hourMs) < 8 ? 4 : 1))
      )
        for (
          let call = 0, at = ms;
          call < whole(chance, 1, 4);
          call++, at += 60 + chance.exponential(pauseMs)
        )
          jobs.push(job(Math.round(at), 60));
      jobs.sort((a, b) => a.startMs - b.startMs);
      const { sessions, pausesMs } = visitsIn(jobs);
      return [sessions.length, pausesMs, overlapByChance(jobs, 6)];
    },
  ],
  "days at work": [
    60,
    (chance) => {
      const [everyMs, withinHours] = [
        pick(chance, 500_000, 700_000, 900_000),
        pick(chance, 0.5, 2, 3.9, 4.3),
      ];
      const [weekends, stays, skips] = [
        chance.next() < 0.5,
        pick(chance, 14, 30, 44),
        pick(chance, 0, 0.1, 0.2),
      ];
      const jobs = many(whole(chance, 3, 9), (day) => mondayMs + day * dayMs)
        .filter((ms) => (weekends || ![0, 6].includes(new Date(ms).getUTCDay())) && chance.next() >= skips)
        .flatMap((ms) => {
          const opensMs = ms + chance.between(7.5, 7.5 + withinHours) * hourMs;
          return many(
            stays + whole(chance, -3, 3),
            (call) => opensMs + call * everyMs + chance.between(0, 60_000),
          );
        })
        .map((ms) => job(Math.round(ms), 60));
      const days = workdaysOf(jobs);
      return days === null ? null : [days.sessions.length, beginningOf(days), days.pausesMs];
    },
  ],
  outages: [
    50,
    (chance) => {
      const failsFrom = chance.between(0, 500_000);
      const callers = many(whole(chance, 1, 3), () => {
        const [lastsMs, usual, took] = [
          pick(chance, 9_000, 40_000),
          pick(chance, 0, 0.01, 0.04),
          pick(chance, 900, 1_001),
        ];
        const calls = many(160, (place) => {
          const atMs = mondayMs + place * 4_000 + whole(chance, 0, 900);
          const out = atMs - mondayMs >= failsFrom && atMs - mondayMs < failsFrom + lastsMs;
          const failed = chance.next() < (out ? pick(chance, 0.6, 1) : usual);
          return { atMs, endMs: atMs + (failed ? took : 60), status: failed ? 503 : 200 };
        });
        return { calls };
      });
      const recording = { callers, calls: 160 * callers.length, startedAtMs: mondayMs + 100 };
      return outagesIn(recording as unknown as Recording);
    },
  ],
  "reactions to refusals": [
    80,
    (chance) => {
      const kind = pick(chance, "reset", "after", "fixed", "grows", "any");
      const slackMs = pick(chance, 5, 6, 1_005);
      const cost = pick(chance, 1, 3);
      const samples = many(whole(chance, 1, 24), () => {
        const nowMs = mondayMs + whole(chance, 0, 59_999);
        const attempt = whole(chance, 0, 4);
        const [reset, userReset] = [60 - Math.floor((nowMs / 1_000) % 60), pick(chance, -1, 10)];
        const waits = {
          ...{
            reset: 1_000 * reset - (nowMs % 1_000),
            after: 7_000 + whole(chance, 0, 400),
            fixed: pick(chance, 5_000, 5_300),
          },
          ...{ grows: 500 * 2 ** attempt * chance.between(0.5, 1), any: chance.exponential(9_000) },
        };
        const waitMs = Math.round(waits[kind] + whole(chance, 0, 6));
        const remaining = whole(chance, 0, 2);
        return {
          waitMs,
          nowMs,
          attempt,
          beforeMs: attempt === 0 ? 0 : 250 * 2 ** attempt,
          cost,
          userCost: cost,
          reset,
          userReset,
          remaining,
          userRemaining: 2 - remaining,
          retryAfter: kind === "after" ? 7 : -1,
        };
      });
      const usual = new UsualPauses(
        many(whole(chance, 0, 30), () => chance.exponential(9_000)),
        slackMs,
      );
      return [guessRetry(samples, slackMs, null), guessRetry(samples, slackMs, usual)];
    },
  ],
};

/** Writes lists of many numbers as their number, their sum, and the sum of each times its place. */
const brief = (_name: string, value: unknown): unknown => {
  if (value instanceof Float64Array) return brief("", [...value]);
  if (!Array.isArray(value) || value.length < 9 || typeof value[0] !== "number") return value;
  const numbers: readonly number[] = value;
  const sum = numbers.reduce((all, number) => all + number, 0);
  return [numbers.length, sum, numbers.reduce((all, number, place) => all + number * (place + 1), 0)];
};

test("pieces find in drawn values what they ever did", async () => {
  const lines = Object.entries(pieces).flatMap(([name, [count, piece]], place) => [
    `# ${name}`,
    ...many(count, (index) => JSON.stringify(piece(chanceOf(index + 1, place)), brief)),
  ]);
  await expect(`${lines.join("\n")}\n`).toMatchFileSnapshot("./pinned/drawn-pieces.txt");
});
