// The bound on the wait for a limiter. A promise that never settles would hang a check, and the runner's own
// time-out cannot say which call it was; the timers are injected, as every clock is.

/** `globalThis` is one. */
export type Timers = Readonly<
  Record<"setTimeout", (run: () => void, ms: number) => unknown> &
    Record<"clearTimeout", (timer: never) => void>
>;

/** An answer that takes longer than this is taken for one that never comes, ms. */
const answerMsMost = 5_000;
/** Once one did not come, others are given up sooner: a counterexample is being made smaller. */
const nextMsMost = 200;

/** The same kind of limiter; a promise of it that does not settle in time rejects with a `TimeoutError`. */
export function patient<F extends Maker>(factory: F, timers: Timers, msMost = answerMsMost): F {
  const { create, restore } = factory;
  const wait = waiter(timers, msMost);
  const made = async (limiter: unknown): Promise<unknown> => patientLimiter(await wait(limiter), wait);
  return Object.assign(Object.create(factory) as F, {
    create: (...args: never[]) => made(create.apply(factory, args)),
    ...(restore && { restore: (...args: never[]) => made(restore.apply(factory, args)) }),
  });
}

/** The maker of limiters, by rules or by a policy. */
interface Maker {
  create(...args: never[]): unknown;
  restore?(...args: never[]): unknown;
}

type Wait = <T>(answer: T | PromiseLike<T>) => T | Promise<T>;

function patientLimiter(limiter: unknown, wait: Wait): unknown {
  if (typeof limiter !== "object" || limiter === null) return limiter;
  return new Proxy(limiter, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== "function") return member;
      return (...args: unknown[]): unknown => wait(member.apply(target, args));
    },
  });
}

/** Waits for a promise at most so long; anything else is passed on as it is. */
function waiter(timers: Timers, msMost: number): Wait {
  let ms = msMost;
  return <T>(answer: T | PromiseLike<T>): T | Promise<T> => {
    if (typeof (answer as PromiseLike<T> | null | undefined)?.then !== "function") return answer as T;
    let timer: unknown;
    const late = new Promise<never>((_, reject) => {
      const giveUp = (): void => {
        reject(Object.assign(new Error(`no answer within ${ms / 1000} s`), { name: "TimeoutError" }));
        ms = Math.min(ms, nextMsMost);
      };
      timer = timers.setTimeout(giveUp, ms);
    });
    return Promise.race([answer, late]).finally(() => timers.clearTimeout(timer as never));
  };
}
