// Answers of one token bucket to drawn calls, decided at any instant of each call, written from its description.
import fc from "fast-check";

export const startedAt = Date.parse("2026-03-02T10:00:00Z");

export interface Answer {
  readonly sent: number;
  readonly received: number;
  readonly points: number;
  readonly fate: "admitted" | "refused" | "unnamed" | "failed" | "unknown";
  /** Units that the bucket lacks when the answer is written. */
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

export interface Bucket {
  readonly capacity: number;
  readonly perMs: number;
  /** Step in which room comes back, ms. */
  readonly stepMs: number;
  /** True if a refused call is charged, too. */
  readonly countsRefused: boolean;
  /** Units that are used at the begin. */
  readonly used: number;
}

/** Returns the answers of a bucket. Each shows what is used at some instant from its decision to its receipt. */
export function answersOf(bucket: Bucket, plan: Plan): readonly Answer[] {
  let clock = startedAt;
  let [used, at] = [bucket.used, startedAt];
  const moveTo = (instant: number): void => {
    const now = Math.floor(instant / bucket.stepMs) * bucket.stepMs;
    used = Math.max(0, used - bucket.perMs * Math.max(0, now - at));
    at = Math.max(at, now);
  };
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
    const decide = (): void => {
      const isAdmitted = used + call.points <= bucket.capacity;
      if (isAdmitted || bucket.countsRefused) used = Math.min(bucket.capacity, used + call.points);
      if (!call.isLost) answer.fate = isAdmitted ? "admitted" : call.isNamed ? "refused" : "unnamed";
    };
    const read = (): void => {
      answers.push({ ...answer, used });
    };
    return [
      { at: decided, run: decide },
      { at: decided + Math.floor(call.backMs * call.readAfter), run: read },
    ];
  });
  for (const event of events.sort((a, b) => a.at - b.at)) {
    moveTo(event.at);
    event.run();
  }
  return answers;
}

export const right: Bucket = { capacity: 6, perMs: 0.002, stepMs: 1, countsRefused: false, used: 0 };
