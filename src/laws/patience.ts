// Bounds the wait for a limiter's answers. A promise that never settles would hang a check, and the test runner's
// time-out cannot say which call hangs. The timers are injected, like every clock.
import { proxyable, withMembers } from "../engine/frozen.ts";

/** The timer functions that a wait needs; `globalThis` has them. */
export type Timers = Readonly<
  Record<"setTimeout", (run: () => void, ms: number) => unknown> &
    Record<"clearTimeout", (timer: never) => void>
>;

/** Longest wait for an answer, ms, after which it is taken as missing. */
const answerMsMost = 5_000;
/** Longest wait after a first missing answer, ms: shorter, since a counterexample is then made smaller. */
const nextMsMost = 200;

/** Returns a factory whose limiters' promises reject with a `TimeoutError` if they do not settle in time, by `timers`. */
export function patient<F extends Maker>(factory: F, timers: Timers | undefined, msMost = answerMsMost): F {
  if (timers === undefined) return factory;
  const { create, restore } = factory;
  const wait = waiter(timers, msMost);
  const made = async (limiter: unknown): Promise<unknown> => patientLimiter(await wait(limiter), wait);
  return withMembers(factory, {
    create: (...args: never[]) => made(create.apply(factory, args)),
    ...(restore && { restore: (...args: never[]) => made(restore.apply(factory, args)) }),
  });
}

/** A factory of limiters, by rules or by a policy. */
interface Maker {
  create(...args: never[]): unknown;
  restore?(...args: never[]): unknown;
}

type Wait = <T>(answer: T | PromiseLike<T>) => T | Promise<T>;

function patientLimiter(limiter: unknown, wait: Wait): unknown {
  if (typeof limiter !== "object" || limiter === null) return limiter;
  return new Proxy(proxyable(limiter), {
    get(_, name) {
      const member: unknown = Reflect.get(limiter, name);
      if (typeof member !== "function") return member;
      return (...args: unknown[]): unknown => wait(member.apply(limiter, args));
    },
  });
}

/** Makes a function that waits for a promise at most `msMost`, and passes on anything else. */
function waiter(timers: Timers, msMost: number): Wait {
  let ms = msMost;
  return <T>(answer: T | PromiseLike<T>): T | Promise<T> => {
    if (typeof (answer as PromiseLike<T> | null | undefined)?.then !== "function") return answer as T;
    let timer: unknown;
    const late = new Promise<never>((_, reject) => {
      const giveUp = (): void => {
        const first = ms === msMost ? "" : ` (${msMost / 1000} s at first)`;
        reject(Object.assign(new Error(`no answer within ${ms / 1000} s${first}`), { name: "TimeoutError" }));
        ms = Math.min(ms, nextMsMost);
      };
      timer = timers.setTimeout(giveUp, ms);
    });
    return Promise.race([answer, late]).finally(() => timers.clearTimeout(timer as never));
  };
}
