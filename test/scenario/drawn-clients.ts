// Drawn clients of every kind, their reactions to refusals, and their arrivals.
import type { Behaviour, RefusalPolicy } from "../../src/scenario/client.ts";
import {
  aimd,
  burst,
  exponential,
  fixed,
  looker,
  none,
  paced,
  pager,
  pipelinesQuery,
  poller,
  queue,
  type RhythmInput,
  rest,
  retryAfter,
  type SpreadInput,
  sessions,
  waitReset,
  worker,
} from "../../src/scenario/index.ts";
import { type Chance, pick, whole } from "../worlds/chance.ts";

const many = <Value>(count: number, of: () => Value): Value[] => Array.from({ length: count }, of);

function spreadOf(chance: Chance, most = 20_000): SpreadInput {
  const least = whole(chance, 1, most);
  return pick<SpreadInput>(chance, [
    ...[least, { least, most: least + whole(chance, 0, most) }],
    { median: least, p95: 3 * least },
    { quantiles: [1, least, 2 * least] },
    { quantiles: [1, least, 4 * least], shares: [0, 0.8, 1] },
  ]);
}

const factors = (chance: Chance, count: number): number[] =>
  many(count, () => pick(chance, [0, 0.2, 1, 2.5]));
function rhythmOf(chance: Chance): RhythmInput {
  return {
    hours: factors(chance, 24),
    ...pick(chance, [{}, { weekend: factors(chance, 24) }]),
    ...pick(chance, [{}, { weekdays: factors(chance, 7) }]),
    ...pick(chance, [{}, { zone: "+05:30" }, { zone: "-03:00" }]),
    ...pick<object>(chance, [{}, { days: 0.5 }, { days: [0.2, 1, 3] }]),
  };
}

const calls = (chance: Chance) =>
  pick(chance, [
    [rest("/v2/user")],
    [{ call: rest("/v2/user"), weight: 3 }, { call: pipelinesQuery(20), weight: 2 }, rest("/v2/agents")],
  ]);

/** A behaviour that goes on and on. */
export function loopOf(chance: Chance): Behaviour {
  const [call, every] = [rest("/v2/user"), whole(chance, 200, 9_000)];
  const think = spreadOf(chance);
  const jobs = pick(chance, [{}, { jobs: whole(chance, 1, 12) }]);
  const paces = {
    first: [2, 1, 1],
    paces: [
      { think: spreadOf(chance), times: { least: 1, most: 4 }, next: [1, 3, 1] },
      { think: spreadOf(chance), atOnce: whole(chance, 1, 3), next: [2, 0, 1] },
    ],
  };
  return pick<() => Behaviour>(chance, [
    () => poller({ call, every }),
    () => burst({ call, size: whole(chance, 1, 5), ...pick(chance, [{}, { every }]) }),
    () =>
      queue({
        call,
        workers: whole(chance, 1, 3),
        jobs: whole(chance, 3, 20),
        ...pick(chance, [{}, { every }]),
      }),
    () =>
      pager({
        ...{ call, pages: whole(chance, 1, 9), parallel: whole(chance, 1, 4), perPage: 10 },
        ...pick(chance, [{}, { every }]),
        ...pick(chance, [{}, { entries: whole(chance, 0, 80) }]),
      }),
    () => worker({ calls: calls(chance), think, atOnce: whole(chance, 1, 3), ...jobs }),
    () => worker({ calls: calls(chance), think: paces, ...jobs }),
    () =>
      worker({
        calls: calls(chance),
        think,
        ...jobs,
        adapt: pick(chance, [{}, { decrease: 0.7, increase: 0.4, least: 0.2 }]),
      }),
    () =>
      aimd({
        call,
        start: whole(chance, 1, 90),
        ...pick(chance, [{}, { increase: 7, decrease: 0.8, least: 3, most: 80 }]),
      }),
    () => looker({ calls: [call], think, ...pick(chance, [{}, { leave: 5, callsPerLook: 3 }]) }),
    () =>
      paced({
        calls: calls(chance),
        ...jobs,
        ...pick(chance, [{}, { sharedBy: 3, userSharedBy: 2, least: 100 }]),
      }),
  ])();
}

/** Sessions, by pauses, a timetable or events. */
export function comingOf(chance: Chance): Behaviour {
  const bounds = {
    of: loopOf(chance),
    ...pick(chance, [{}, { calls: { least: 1, most: 6 } }]),
    ...pick(chance, [{}, { length: spreadOf(chance, 60_000) }]),
  };
  const away = spreadOf(chance, 7_200_000);
  const woken = {
    ...pick(chance, [{}, { within: spreadOf(chance) }]),
    ...pick(chance, [{}, { share: 0.6, group: 3 }]),
    ...pick(chance, [{}, { lasts: spreadOf(chance, 90_000) }]),
    ...pick<{ by?: "user" }>(chance, [{}, { by: "user" }]),
  };
  return pick<() => Behaviour>(chance, [
    () => sessions({ ...bounds, away, ...pick(chance, [{}, { rhythm: rhythmOf(chance) }]) }),
    () =>
      sessions({
        ...bounds,
        at: pick(chance, ["*/20 * * * *", "5 1-9/2 * * 1-5"]),
        ...pick(chance, [{}, { within: 90_000 }]),
      }),
    () =>
      sessions({
        ...bounds,
        wakes: {
          ...woken,
          perDay: whole(chance, 1, 90),
          ...pick(chance, [{}, { rhythm: rhythmOf(chance) }]),
        },
      }),
    () =>
      sessions({
        ...bounds,
        wakes: { ...woken, at: "*/30 * * * *", ...pick(chance, [{}, { late: 300_000 }]) },
      }),
  ])();
}

export function policyOf(chance: Chance): RefusalPolicy {
  const jitter = pick(chance, [{}, { jitter: { least: whole(chance, 0, 50), most: 900 } }]);
  const attempts = pick(chance, [{}, { attempts: whole(chance, 1, 4) }]);
  return pick<() => RefusalPolicy>(chance, [
    none,
    () => waitReset({ of: pick(chance, ["organization", "both"] as const), ...jitter, ...attempts }),
    () => retryAfter({ ...jitter, ...attempts }),
    () => fixed({ wait: spreadOf(chance), ...attempts }),
    () =>
      exponential({
        ...{ first: 400, most: 9_000, ...attempts },
        jitter: pick(chance, ["none", "full", "equal", "half", "decorrelated"] as const),
      }),
  ])();
}

/** Arrivals of each executor. */
export function arrivalsOf(chance: Chance): object {
  const [preAllocatedVUs, rate] = [5, whole(chance, 1, 30)];
  const timeUnit = pick(chance, [1_000, 7_000, 60_000]);
  const stages = many(whole(chance, 1, 3), () => ({
    target: whole(chance, 0, 9),
    duration: whole(chance, 1, 40) * 500,
  }));
  return pick<object>(chance, [
    { executor: "constant-arrival-rate", rate, timeUnit, preAllocatedVUs },
    { executor: "ramping-arrival-rate", startRate: whole(chance, 0, 9), stages, timeUnit, preAllocatedVUs },
    { executor: "poisson-arrival-rate", rate, timeUnit, preAllocatedVUs },
    {
      executor: "cron",
      schedule: pick(chance, ["*/7 * * * *", "3 */2 * * 1-5", "0 0 1,15 * *"]),
      clients: 3,
      spread: pick(chance, [0, 600_000]),
      preAllocatedVUs,
    },
    {
      executor: "business-day",
      rates: many(24, () => pick(chance, [0, 1, 9])),
      shape: pick(chance, ["steps", "lines"]),
      preAllocatedVUs,
    },
    { executor: "ramping-vus", startVUs: whole(chance, 0, 4), stages },
  ]);
}
