// Queues: they delay what is beyond the limit, and refuse nothing. A call that begins at once is let through; one that
// waits is a refusal here, and takes up room when it begins.
import { setImmediate } from "node:timers/promises";
import type { LimiterFactory } from "../../../src/engine/adapter.ts";
import type { LimiterLawName } from "../../../src/rules/laws.ts";
import { load } from "../strangers.ts";
import { type Asks, answering, byKey, type Limit, restLimiter } from "./keyed.ts";

/** Hands a job to a queue. */
type Submit = (job: () => void) => unknown;

/** A queue a key. */
const queueFactory = (
  name: string,
  claims: readonly LimiterLawName[],
  make: (limit: Limit) => Submit,
): LimiterFactory =>
  restLimiter(
    name,
    claims,
    (limit) => {
      const queueOf = byKey(() => make(limit));
      return answering(async (key) => {
        let began = false;
        queueOf(key)(() => {
          began = true;
        });
        await setImmediate();
        return began;
      });
    },
    { algorithm: "sliding-log" },
  );

type Throttle = (options: {
  limit: number;
  interval: number;
  strict: true;
}) => (run: (job: () => void) => void) => Submit;

/** p-throttle, `strict`. */
export function pThrottle(claims: readonly LimiterLawName[], name = "p-throttle"): LimiterFactory {
  const { default: throttle } = load<{ default: Throttle }>(name);
  return queueFactory(name, claims, ({ limit, windowMs: interval }) =>
    throttle({ limit, interval, strict: true })((job) => job()),
  );
}

type RateLimit = (callsPerUnit: number, options: { timeUnit: number }) => () => Promise<void>;

/** async-sema: its RateLimit. */
export function asyncSema(claims: readonly LimiterLawName[]): LimiterFactory {
  const { RateLimit } = load<{ RateLimit: RateLimit }>("async-sema");
  return queueFactory("async-sema", claims, ({ limit, windowMs: timeUnit }) => {
    const turn = RateLimit(limit, { timeUnit });
    return (job) => turn().then(job);
  });
}

type PRateLimit = (quota: { interval: number; rate: number }) => (run: () => Promise<void>) => Promise<void>;

/** p-ratelimit: its quota of calls, without one of concurrency. */
export function pRatelimit(claims: readonly LimiterLawName[]): LimiterFactory {
  const { pRateLimit } = load<{ pRateLimit: PRateLimit }>("p-ratelimit");
  return queueFactory("p-ratelimit", claims, ({ limit: rate, windowMs: interval }) => {
    const run = pRateLimit({ interval, rate });
    return (job) => run(async () => job());
  });
}

interface Queue {
  add(job: () => void): Promise<void>;
  clear(): void;
}

/** p-queue, `intervalCap` jobs an interval. A job that waits is let go of. */
export function pQueue(claims: readonly LimiterLawName[], alias: string): LimiterFactory {
  const { default: PQueue } = load<{
    default: new (options: { intervalCap: number; interval: number }) => Queue;
  }>(alias);
  const create = ({ limit: intervalCap, windowMs: interval }: Limit): Asks => {
    const queueOf = byKey(() => new PQueue({ intervalCap, interval }));
    return answering(async (key) => {
      const queue = queueOf(key);
      let began = false;
      queue.add(() => {
        began = true;
      });
      await setImmediate();
      queue.clear();
      return began;
    });
  };
  return restLimiter(alias, claims, create, { refused: "uncounted", endsLate: true });
}
