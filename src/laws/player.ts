// Plays scripts against a limiter, by rules or by a policy. Every answer's form is checked here, so that laws judge
// numbers and never meet a NaN, a string or a promise that nobody awaited.

import { copyOf, isObject, type Mistake } from "../engine/answer-form.ts";
import { callText, LimiterFailure, thrown } from "../engine/limiter-failure.ts";
import { quote } from "../rules/errors.ts";
import type { LawKind } from "./script.ts";

/** Failure of a limiter: no law is broken, but there is nothing to judge. */
export class AdapterFailure extends LimiterFailure {
  override name = "AdapterFailure";
  /** Answers before the failure; `op` is the operation that failed, `null` before the first. */
  history: LawKind["history"] = [];
  op: LawKind["op"] | null = null;

  /** True if the limiter threw an `AbortError`, which ends the check: it may not be asked again. */
  get ended(): boolean {
    return (this.cause as { name?: unknown } | undefined)?.name === "AbortError";
  }

  /** True if the limiter gave no answer in time. To play again would only wait again. */
  get hung(): boolean {
    return (this.cause as { name?: unknown } | undefined)?.name === "TimeoutError";
  }
}

/** Runs one call of the adapter. An error becomes an `AdapterFailure` with the call. Awaits only promises. */
export async function ask<T>(
  name: string,
  args: readonly unknown[],
  run: () => T | PromiseLike<T>,
): Promise<T> {
  try {
    const answer = run();
    return isObject(answer) && typeof (answer as { then?: unknown }).then === "function"
      ? await answer
      : (answer as T);
  } catch (cause) {
    throw new AdapterFailure(callText(name, args), thrown(cause), "an answer", cause);
  }
}

/**
 * Runs one call of the adapter, and returns a copy of its answer.
 * @throws AdapterFailure if the adapter throws, or if the answer's form is wrong
 */
export async function answered<T>(
  name: string,
  args: readonly unknown[],
  mistake: Mistake,
  run: () => T | PromiseLike<T>,
  copy?: (answer: Readonly<Record<string, unknown>>) => unknown,
): Promise<T> {
  const answer = await ask(name, args, run);
  const [value, wrong] = received(name, args, answer, mistake, copy);
  if (wrong === null) return value;
  const [path, got, allowed] = wrong;
  throw new AdapterFailure(callText(name, args), `${path} = ${quote(got)}`, allowed);
}

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
    throw new AdapterFailure(
      callText(name, args),
      `an answer that throws ${thrown(cause)}`,
      "plain data",
      cause,
    );
  }
}

/** Copies a value through JSON, as a limiter promises it to be plain JSON. A live reference in it does not survive. */
function throughJson(what: string, call: string, value: unknown): unknown {
  try {
    return JSON.parse(JSON.stringify(value ?? null));
  } catch (cause) {
    throw new AdapterFailure(call, `${what}: ${thrown(cause)}`, "plain JSON", cause);
  }
}

/** Tells the time, in ms, to a limiter or factory that has `setNow`. */
export async function tellTime(told: Pick<Playable, "setNow">, nowMs: number): Promise<void> {
  const { setNow } = told;
  if (setNow !== undefined) await ask("setNow", [nowMs], () => setNow.call(told, nowMs));
}

/** Members of a limiter that playing needs, by rules or by a policy. */
interface Playable {
  setNow?(nowMs: number): unknown;
  sweep?(nowMs: number): unknown;
  snapshot?(): unknown;
  close?(): unknown;
}

interface PlayableFactory<L, D> {
  setNow?(nowMs: number): unknown;
  restore?(description: D, snapshot: unknown): L | PromiseLike<L>;
}

/** An admitted call, with the limiter's reservation for its completion. */
interface Held<C> {
  readonly call: C;
  readonly reservation: unknown;
}

/** One limiter with its open reservations. */
export abstract class Player<L extends Playable, D, C> {
  protected limiter: L;
  /** Rules or policy that the limiter was made with. */
  protected readonly description: D;
  readonly #factory: PlayableFactory<L, D>;
  readonly #inFlight = new Map<number, Held<C>>();

  constructor(factory: PlayableFactory<L, D>, description: D, limiter: L) {
    this.#factory = factory;
    this.description = description;
    this.limiter = limiter;
  }

  /** True if the limiter or its factory has `setNow`. */
  protected get isTold(): boolean {
    return this.#factory.setNow !== undefined || this.limiter.setNow !== undefined;
  }

  /** Tells the time to the factory and the limiter. */
  async setNow(nowMs: number): Promise<void> {
    await tellTime(this.#factory, nowMs);
    await tellTime(this.limiter, nowMs);
  }

  /** Keeps a call's reservation until the call completes. @param args arguments of `decide`, for errors */
  protected hold(id: number, call: C, reservation: unknown, args: readonly unknown[]): void {
    if (reservation === undefined || reservation === null) return;
    const kept = throughJson("the reservation", callText("decide", args), reservation);
    this.#inFlight.set(id, { call, reservation: kept });
  }

  /** Removes and returns the call that completes; `null` if it has no reservation, such as a refused call. */
  protected release(id: number): Held<C> | null {
    const held = this.#inFlight.get(id) ?? null;
    this.#inFlight.delete(id);
    return held;
  }

  protected async sweep(atMs: number): Promise<void> {
    await ask("sweep", [atMs], () => this.limiter.sweep?.(atMs));
  }

  /** Replaces the limiter by one restored from its snapshot. */
  protected async restart(): Promise<void> {
    const taken = await ask("snapshot", [], () => this.limiter.snapshot?.());
    const snapshot = throughJson("the snapshot", "snapshot()", taken);
    const { restore } = this.#factory;
    if (restore === undefined) return;
    this.limiter = await ask("restore", [snapshot], () =>
      restore.call(this.#factory, this.description, snapshot),
    );
  }

  async close(): Promise<void> {
    await ask("close", [], () => this.limiter.close?.());
  }
}

/**
 * Plays operations, one after the other, and closes the limiter.
 * @throws AdapterFailure if the limiter throws, or an answer's form is wrong
 */
export async function playAll<O extends LawKind["op"], E extends LawKind["history"][number]>(
  player: { play(op: O): Promise<E>; close(): Promise<void> },
  ops: readonly O[],
): Promise<E[]> {
  const history: E[] = [];
  let at: O | null = null;
  try {
    for (const op of ops) {
      at = op;
      history.push(await player.play(op));
    }
  } catch (error) {
    if (error instanceof AdapterFailure) Object.assign(error, { history, op: at });
    throw error;
  } finally {
    await player.close();
  }
  return history;
}

/**
 * Plays some of a script's operations on a fresh limiter, as `playAll` does; with none, it makes no limiter. The limiter
 * is made at the time of the script's first operation, even if that is left out: its windows may begin with the limiter.
 * @param script all operations of the script
 * @param fresh makes a limiter at a time, ms, and its player
 */
export async function playFresh<O extends LawKind["op"], E extends LawKind["history"][number]>(
  ops: readonly O[],
  script: readonly O[],
  fresh: (nowMs: number) => Promise<Parameters<typeof playAll<O, E>>[0]>,
): Promise<E[]> {
  const [first] = ops;
  if (first === undefined) return [];
  const { atMs } = (script.includes(first) ? script[0] : first) as O;
  return playAll(await fresh(atMs), ops);
}
