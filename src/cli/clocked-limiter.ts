// `check --adapter FILE`: a limiter of the user's under a clock that the scripts move, whatever it reads: what it is
// told, `Date.now`, or timers of its own.
import type { LimiterAdapter, LimiterFactory } from "../engine/adapter.ts";
import { loadLimiterFactory } from "./adapter-file.ts";
import { Clock } from "./virtual-clock.ts";

/**
 * Loads a limiter; while its code runs, and only then, the process's clocks and timers are the scripts'.
 * @throws SpillwayError as `loadLimiterFactory` does
 */
export async function openClockedLimiter(file: string): Promise<LimiterFactory> {
  const clock = new Clock();
  const factory = await loadLimiterFactory(file, (run) => clock.during(run));
  return clockedFactory(factory, clock);
}

function clockedFactory(factory: LimiterFactory, clock: Clock): LimiterFactory {
  const { setNow, create, restore } = factory;
  const made = (limiter: LimiterAdapter | PromiseLike<LimiterAdapter>) =>
    limiter instanceof Promise
      ? limiter.then((one: LimiterAdapter) => clockedLimiter(one, clock))
      : clockedLimiter(limiter as LimiterAdapter, clock);
  return Object.assign(Object.create(factory) as LimiterFactory, {
    async setNow(nowMs: number): Promise<void> {
      await clock.advance(nowMs);
      await setNow?.call(factory, nowMs);
    },
    create: (...args: Parameters<LimiterFactory["create"]>) => {
      clock.clear();
      return made(clock.yielding(() => create.apply(factory, args)));
    },
    ...(restore && {
      restore: (...args: Parameters<typeof restore>) =>
        made(clock.yielding(() => restore.apply(factory, args))),
    }),
  });
}

/** The same limiter; each of its methods but the one that tells it the time runs under the clock. */
function clockedLimiter(limiter: LimiterAdapter, clock: Clock): LimiterAdapter {
  if (typeof limiter !== "object" || limiter === null) return limiter;
  return new Proxy(limiter, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== "function" || name === "setNow") return member;
      return (...args: unknown[]): unknown => clock.yielding(() => member.apply(target, args) as unknown);
    },
  });
}
