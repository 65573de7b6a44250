// Asks a limiter of somebody else's: guards against its mistakes, and waits only if it returns a promise.
import { quote } from "../rules/errors.ts";
import { copyOf, isObject, type Mistake } from "./answer-form.ts";
import { callText, innerFailure, LimiterFailure, thrown } from "./limiter-failure.ts";

/** A value now, or once a promise has settled. */
export type Eventually<T> = T | Promise<T>;

const isThenable = (value: unknown): value is PromiseLike<unknown> =>
  (typeof value === "object" || typeof value === "function") &&
  value !== null &&
  typeof (value as { then?: unknown }).then === "function";

/** Goes on with a value, at once if it is there, so that a synchronous limiter stays synchronous. */
export function after<T, U>(value: T | PromiseLike<T>, next: (value: T) => Eventually<U>): Eventually<U> {
  return isThenable(value) ? Promise.resolve(value).then(next) : next(value);
}

/** Runs code of the limiter's. The `LimiterFailure` of a throw or a rejection names the innermost call. */
export function guarded<T>(
  name: string,
  args: readonly unknown[],
  run: () => T | PromiseLike<T>,
): Eventually<T> {
  const failed = (cause: unknown): never => {
    const inner = innerFailure(cause);
    if (inner !== null) throw inner;
    throw new LimiterFailure(callText(name, args), thrown(cause), "an answer", cause);
  };
  try {
    const answer = run();
    return isThenable(answer) ? Promise.resolve(answer).catch(failed) : answer;
  } catch (cause) {
    return failed(cause);
  }
}

/** Runs code of the limiter's, and returns a copy of its answer. A wrong form of it is a `LimiterFailure`, too. */
export const answered = <T>(
  name: string,
  args: readonly unknown[],
  mistake: Mistake,
  run: () => T | PromiseLike<T>,
  copy?: (answer: Readonly<Record<string, unknown>>) => unknown,
): Eventually<T> =>
  after(guarded(name, args, run), (answer) => {
    const [value, wrong] = received(name, args, answer, mistake, copy);
    if (wrong === null) return value;
    const [path, got, allowed] = wrong;
    throw new LimiterFailure(callText(name, args), `${path} = ${quote(got)}`, allowed);
  });

/** Returns a copy of an answer, since the limiter may change its own, and the first mistake in its form. */
function received<T>(
  name: string,
  args: readonly unknown[],
  answer: T,
  mistake: Mistake,
  copy: (answer: Readonly<Record<string, unknown>>) => unknown = copyOf,
): readonly [T, ReturnType<Mistake>] {
  try {
    const value = isObject(answer) ? (copy(answer) as T) : answer;
    return [value, mistake(value)];
  } catch (cause) {
    const got = `an answer that throws ${thrown(cause)}`;
    throw new LimiterFailure(callText(name, args), got, "plain data", cause);
  }
}

/** Copies a value through JSON, as a limiter promises it to be plain JSON. A live reference in it does not survive. */
export function throughJson(what: string, call: string, value: unknown): unknown {
  try {
    return JSON.parse(JSON.stringify(value ?? null));
  } catch (cause) {
    throw new LimiterFailure(call, `${what}: ${thrown(cause)}`, "plain JSON", cause);
  }
}

/**
 * Makes a limiter at a time, ms.
 * @param word what it is made by, `rules` or `policy`; `shown` is that, or its name, for errors
 * @throws LimiterFailure if `create` throws, or returns something without `decide`
 */
export async function madeLimiter<L extends { decide: unknown }>(
  factory: Parameters<typeof tellTime>[0],
  word: string,
  shown: unknown,
  nowMs: number,
  create: () => L | PromiseLike<L>,
): Promise<L> {
  await tellTime(factory, nowMs);
  const limiter = await guarded("create", [shown], create);
  if (isObject(limiter) && typeof limiter.decide === "function") return limiter;
  throw new LimiterFailure(`create(${word})`, quote(limiter), "a limiter with `decide`");
}

/** Tells the time, in ms, to a limiter or factory that has `setNow`. */
export function tellTime(told: { setNow?(nowMs: number): unknown }, nowMs: number): Eventually<unknown> {
  const { setNow } = told;
  return setNow && guarded("setNow", [nowMs], () => setNow.call(told, nowMs));
}
