// Promises of every behaviour and policy to its driver, whatever the answers: no call in the past, no more calls at
// once than declared, an end that is an end, and the same life for the same seed.
import fc from "fast-check";
import { describe, expect } from "vitest";
import type { Behaviour, PlannedCall, RefusalPolicy } from "../../src/scenario/client.ts";
import {
  burst,
  exponential,
  none,
  pager,
  pipelinesQuery,
  poller,
  rest,
  sessions,
  together,
  waitReset,
  worker,
} from "../../src/scenario/index.ts";
import { property } from "../support/property.ts";
import { type AnswerShown, Rig } from "./rig.ts";

const call = fc.constantFrom(rest("/v2/user"), pipelinesQuery(50));
const ms = fc.integer({ min: 0, max: 5_000 });
const span = fc.tuple(ms, ms).map(([a, b]) => ({ least: Math.min(a, b), most: Math.max(a, b) }));
const every = fc.integer({ min: 1, max: 20_000 });
const some = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
/** Options without the members that are left out. */
const given = <T extends object>(options: T) =>
  Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]: Exclude<T[K], undefined>;
  };

const pollers = fc.record({ call, every }).map(poller);
const bursts = fc
  .record({ call, size: fc.integer({ min: 1, max: 6 }), every: some(every) })
  .map((options) => burst(given(options)));
const small = fc.integer({ min: 1, max: 4 });
const pagers = fc
  .record({ call, pages: fc.integer({ min: 1, max: 9 }), parallel: some(small), every: some(every) })
  .map((options) => pager(given(options)));
const workers = fc
  .record({
    calls: fc.array(fc.record({ call, weight: small }), { minLength: 1, maxLength: 3 }),
    think: some(span),
    jobs: some(small),
  })
  .map((options) => worker(given(options)));
const lone: fc.Arbitrary<Behaviour> = fc.oneof(pollers, bursts, pagers, workers);
const bounds = { of: lone, calls: some(small), length: some(every) };
const comings = fc.oneof(
  fc.record({ ...bounds, away: span }).map((options) => sessions(given(options))),
  fc
    .record({ ...bounds, at: fc.constant("* * * * *"), within: ms })
    .map((options) => sessions(given(options))),
);
const joined = fc.array(fc.oneof(lone, comings), { minLength: 1, maxLength: 3 }).map(together);
const behaviours: fc.Arbitrary<Behaviour> = fc.oneof(lone, comings, joined);

const attempts = some(small);
const policies: fc.Arbitrary<RefusalPolicy> = fc.oneof(
  fc.constant(none()),
  fc
    .record({ of: fc.constantFrom("organization" as const, "both" as const), jitter: some(span), attempts })
    .map((options) => waitReset(given(options))),
  fc
    .record({
      first: every,
      most: every,
      attempts,
      jitter: some(fc.constantFrom("none" as const, "full" as const)),
    })
    .map((options) => exponential(given(options))),
);

const points = fc.integer({ min: -5, max: 100 });
const seconds = fc.integer({ min: -1, max: 90 });
const answers: fc.Arbitrary<AnswerShown> = fc.record({
  status: fc.constantFrom(200, 200, 429, 429, 500, 0),
  hasNextPage: fc.boolean(),
  limit: points,
  remaining: points,
  reset: seconds,
  userLimit: points,
  userRemaining: points,
  userReset: seconds,
});
/** The open call that is answered next, its time, and the answer's readings. */
const turns = fc.array(fc.record({ pick: fc.nat(20), tookMs: fc.nat(30_000), answer: answers }), {
  maxLength: 60,
});
const lives = fc.record({
  behaviour: behaviours,
  policy: policies,
  seed: fc.nat(),
  startMs: fc.nat(100_000),
  turns,
});

interface Step {
  readonly nowMs: number;
  readonly planned: readonly PlannedCall[];
  readonly answered: PlannedCall | null;
  readonly stopped: boolean;
  /** Calls planned or on the way after this step. */
  readonly open: number;
}

type Life = typeof lives extends fc.Arbitrary<infer T> ? T : never;

/** Lives a client's life: time never runs back, no answer comes before its call was due. */
function live({ behaviour, policy, seed, startMs, turns }: Life): Step[] {
  const rig = new Rig(behaviour, policy, seed);
  let nowMs = startMs;
  const open = rig.start(nowMs);
  const steps: Step[] = [
    { nowMs, planned: [...open], answered: null, stopped: rig.stopped, open: open.length },
  ];
  for (const { pick, tookMs, answer } of turns) {
    const [call] = open.splice(pick % Math.max(1, open.length), 1);
    if (call === undefined || rig.stopped) break;
    nowMs = Math.max(nowMs, call.atMs + tookMs);
    const planned = rig.answer(call, nowMs, answer);
    open.push(...planned);
    steps.push({ nowMs, planned, answered: call, stopped: rig.stopped, open: open.length });
  }
  return steps;
}

describe("whatever the answers", () => {
  property([lives])("nothing is planned in the past, and times are whole milliseconds", (life) => {
    for (const { nowMs, planned } of live(life))
      for (const { atMs, wantedMs } of planned) {
        expect(atMs).toBeGreaterThanOrEqual(nowMs);
        expect(Number.isSafeInteger(atMs)).toBe(true);
        expect(wantedMs).toBeLessThanOrEqual(atMs);
      }
  });

  property([lives])("no more than inFlightMost calls are planned or on the way", (life) => {
    for (const { open } of live(life)) expect(open).toBeLessThanOrEqual(life.behaviour.inFlightMost);
  });

  property([lives])(
    "a client that is not over has something planned, one that is over has nothing",
    (life) => {
      for (const { open, stopped } of live(life)) expect(open === 0).toBe(stopped);
    },
  );

  property([lives])("a retry is the same call, wanted when it first was, one attempt on", (life) => {
    for (const { answered, planned } of live(life)) {
      if (answered === null || !planned.some(({ attempt }) => attempt > 0)) continue;
      const { template, page, wantedMs, attempt } = answered;
      expect(planned).toEqual([expect.objectContaining({ template, page, wantedMs, attempt: attempt + 1 })]);
    }
  });

  property([lives])("the same seed gives the same life", (life) => {
    expect(live(life)).toEqual(live(life));
  });

  property([lives])("a record keeps its shape, all of it numbers", (life) => {
    const rig = new Rig(life.behaviour, life.policy, life.seed);
    const names = Object.keys(rig.record);
    const [first] = rig.start(life.startMs);
    if (first !== undefined) rig.answer(first, first.atMs);
    expect(Object.keys(rig.record)).toEqual(names);
    for (const value of Object.values(rig.record)) expect(Number.isSafeInteger(value)).toBe(true);
  });
});
