// `check --adapter FILE`: runs a user's limiter under a clock that the scripts move. The limiter may read the time that
// it is told, `Date.now`, or timers of its own.
import type { LimiterClock } from "../../sim/adapter/asker.ts";
import { proxyable, withMembers } from "../engine/frozen.ts";
import type { JobLimiter } from "./job.ts";

/** Returns the same kind of limiter. While its code runs, and only then, it sees the scripts' clocks and timers. */
export function clockedFactory<F extends Made>({ factory, clock }: JobLimiter<F>): F {
  const { setNow, create, restore } = factory;
  const made = (limiter: unknown): unknown =>
    limiter instanceof Promise
      ? limiter.then((one: unknown) => clockedLimiter(one, clock))
      : clockedLimiter(limiter, clock);
  return withMembers(factory, {
    async setNow(nowMs: number): Promise<void> {
      await clock.set(nowMs);
      await setNow?.call(factory, nowMs);
    },
    create: (...args: never[]) => {
      clock.clear?.();
      return made(clock.during(() => create.apply(factory, args)));
    },
    ...(restore && {
      restore: (...args: never[]) => made(clock.during(() => restore.apply(factory, args))),
    }),
  });
}

/** Makes limiters, by rules or by a policy. */
interface Made {
  setNow?(nowMs: number): unknown;
  create(...args: never[]): unknown;
  restore?(...args: never[]): unknown;
}

/**
 * Returns the same limiter. All of its methods run under the clock, except the one that tells it the time. Its timers
 * end with it: the clock may move by years before the next limiter is made.
 */
function clockedLimiter(limiter: unknown, clock: LimiterClock): unknown {
  if (typeof limiter !== "object" || limiter === null) return limiter;
  return new Proxy(proxyable(limiter), {
    get(_, name) {
      const member: unknown = Reflect.get(limiter, name);
      if (name === "close")
        return async (): Promise<void> => {
          if (typeof member === "function") await clock.during(() => member.call(limiter) as unknown);
          clock.clear?.();
        };
      if (typeof member !== "function" || name === "setNow") return member;
      return (...args: unknown[]): unknown => clock.during(() => member.apply(limiter, args) as unknown);
    },
  });
}
