// Answers of one count without windows to drawn calls, decided at any instant of each call: of a token bucket, a sliding
// log or counter, each written from its description.
import fc from "fast-check";
import type { UnreadCall } from "../../src/verify/unread.ts";

export const startedAt = Date.parse("2026-03-02T10:00:00Z");

export interface Answer {
  readonly sent: number;
  readonly received: number;
  readonly points: number;
  readonly fate: "admitted" | "refused" | "unnamed" | "failed" | "unknown";
  /** Units that are used when the answer is written. */
  readonly used?: number;
}

export const name = {
  told: { quota: "bursts", key: { user: "ann" } },
  scope: "rest",
  owner: "user",
  isNarrowest: true,
  isMixable: false,
  unit: "request",
} as const;

export const plans = fc.array(
  fc.record({
    gapMs: fc.oneof(fc.integer({ min: 0, max: 60 }), fc.integer({ min: 0, max: 5000 })),
    toMs: fc.integer({ min: 0, max: 300 }),
    backMs: fc.oneof(fc.integer({ min: 0, max: 300 }), fc.integer({ min: 0, max: 20_000 })),
    points: fc.integer({ min: 1, max: 3 }),
    isLost: fc.integer({ min: 0, max: 40 }).map((drawn) => drawn === 0),
    isNamed: fc.boolean(),
    /** Share of the way back after which the level is read. */
    readAfter: fc.constantFrom(0, 0, 0.5, 1),
  }),
  { minLength: 30, maxLength: 120 },
);
export type Plan = typeof plans extends fc.Arbitrary<infer Plans> ? Plans : never;

/** A count without windows, at instants that never fall. */
export interface Count {
  readonly limit: number;
  /** True if a refused call is charged, too. */
  readonly countsRefused: boolean;
  usedAt(instant: number): number;
  charge(points: number, instant: number): void;
}

export interface Bucket {
  readonly capacity: number;
  readonly perMs: number;
  /** Step in which room comes back, ms. */
  readonly stepMs: number;
  readonly countsRefused: boolean;
  /** Units that are used at the begin. */
  readonly used: number;
}

export const right: Bucket = { capacity: 6, perMs: 0.002, stepMs: 1, countsRefused: false, used: 0 };

function countOf({ capacity, perMs, stepMs, countsRefused, used: usedAtFirst }: Bucket): Count {
  let [used, at] = [usedAtFirst, startedAt];
  const usedAt = (instant: number): number => {
    const now = Math.floor(instant / stepMs) * stepMs;
    used = Math.max(0, used - perMs * Math.max(0, now - at));
    at = Math.max(at, now);
    return used;
  };
  const charge = (points: number, instant: number): void => {
    used = Math.min(capacity, usedAt(instant) + points);
  };
  return { limit: capacity, countsRefused, usedAt, charge };
}

export interface Sliding {
  readonly kind: "sliding-log" | "sliding-counter";
  readonly limit: number;
  readonly lengthMs: number;
  /** Step of the clock, ms. */
  readonly stepMs: number;
  readonly countsRefused: boolean;
  /** Begin of one of the counter's windows, ms. */
  readonly phaseMs: number;
  /** Units that were charged just before the begin. */
  readonly used: number;
}

/** Keeps all charges, and weighs each by its age. */
export function slidingCount({
  kind,
  limit,
  lengthMs,
  stepMs,
  countsRefused,
  phaseMs,
  used,
}: Sliding): Count {
  const charges = used === 0 ? [] : [{ at: startedAt - 1, points: used }];
  const clock = (instant: number): number => Math.floor(instant / stepMs) * stepMs;
  const windowOf = (instant: number): number => Math.floor((instant - phaseMs) / lengthMs);
  const weight = (at: number, now: number): number => {
    if (kind === "sliding-log") return now - at < lengthMs ? 1 : 0;
    const before = windowOf(now) - windowOf(at);
    if (before === 0) return 1;
    return before === 1 ? 1 - (now - phaseMs - lengthMs * windowOf(now)) / lengthMs : 0;
  };
  return {
    limit,
    countsRefused,
    usedAt: (instant) =>
      Math.floor(
        charges.reduce((sum, { at, points }) => sum + points * weight(at, clock(instant)), 0) + 1e-9,
      ),
    charge: (points, instant) => {
      charges.push({ at: clock(instant), points });
    },
  };
}

export const answersOf = (bucket: Bucket, plan: Plan): readonly Answer[] => answersBy(countOf(bucket), plan);

/** Returns the answers by a count. Each shows what is used at some instant from its decision to its receipt. */
export function answersBy(count: Count, plan: Plan): readonly Answer[] {
  let clock = startedAt;
  const answers: Answer[] = [];
  const events = plan.flatMap((call) => {
    clock += call.gapMs;
    const [sent, decided] = [clock, clock + call.toMs];
    const answer = {
      sent,
      received: decided + call.backMs,
      points: call.points,
      fate: "unknown" as Answer["fate"],
    };
    const decide = (at: number): void => {
      const isAdmitted = count.usedAt(at) + call.points <= count.limit;
      if (isAdmitted || count.countsRefused) count.charge(call.points, at);
      if (!call.isLost) answer.fate = isAdmitted ? "admitted" : call.isNamed ? "refused" : "unnamed";
    };
    const read = (at: number): void => {
      answers.push({ ...answer, used: count.usedAt(at) });
    };
    return [
      { at: decided, run: decide },
      { at: decided + Math.floor(call.backMs * call.readAfter), run: read },
    ];
  });
  for (const event of events.sort((a, b) => a.at - b.at)) event.run(event.at);
  return answers;
}

/** Returns the calls as a judge sees them, in the order of their answers; those of unknown outcome apart. */
export function toldCalls(
  answers: readonly Answer[],
  { rounded = Math.ceil, limit = 6 }: { rounded?: (used: number) => number; limit?: number } = {},
): readonly { call: UnreadCall; isUnknown: boolean }[] {
  return [...answers]
    .sort((a, b) => a.received - b.received)
    .map(({ sent, received, points, fate, used }, at) => {
      const isRefused = fate === "refused" || fate === "unnamed";
      return {
        isUnknown: fate === "unknown",
        call: {
          ...{ line: at + 2, from: sent, to: received },
          least: fate === "admitted" ? points : 0,
          most: isRefused ? 0 : points,
          level: used === undefined ? null : { used: rounded(used), limit, mayOverstate: isRefused },
          refused: isRefused ? { cost: points, isNamed: fate === "refused" } : null,
        },
      };
    });
}
