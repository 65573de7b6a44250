// Playing scripts against a limiter, whatever its limits are described by. Every answer is checked for its form here, so
// that laws judge numbers and never meet a NaN, a string or a promise that nobody awaited.

import { copyOf, isObject, type Mistake } from "../engine/answer-form.ts";
import { callText, LimiterFailure, thrown } from "../engine/limiter-failure.ts";
import { quote } from "../rules/errors.ts";
import type { LawKind } from "./script.ts";

/** Not a broken law, but nothing to judge. */
export class AdapterFailure extends LimiterFailure {
  override name = "AdapterFailure";
  /** Answers until then, and the operation at which it failed; `null` before the first. */
  history: LawKind["history"] = [];
  op: LawKind["op"] | null = null;

  /** True if the limiter ended the check: it may not be asked any more. */
  get ended(): boolean {
    return (this.cause as { name?: unknown } | undefined)?.name === "AbortError";
  }

  /** True if the limiter gave no answer in time; playing again would only wait again. */
  get hung(): boolean {
    return (this.cause as { name?: unknown } | undefined)?.name === "TimeoutError";
  }
}

/** Runs one call of the adapter; what it throws names the call. Only promises are awaited. */
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
 * Runs one call of the adapter, and returns a copy of its answer as it is now.
 * @throws AdapterFailure where its form is wrong, too
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

/** An answer as it is now, which the limiter may go on to change, and what is wrong with its form. */
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

/** Stores what is promised to be plain JSON as JSON: a live reference in it does not survive. */
function throughJson(what: string, call: string, value: unknown): unknown {
  try {
    return JSON.parse(JSON.stringify(value ?? null));
  } catch (cause) {
    throw new AdapterFailure(call, `${what}: ${thrown(cause)}`, "plain JSON", cause);
  }
}

/** Tells who reads a clock of its own what time it is. */
export async function tellTime(told: Pick<Playable, "setNow">, nowMs: number): Promise<void> {
  const { setNow } = told;
  if (setNow !== undefined) await ask("setNow", [nowMs], () => setNow.call(told, nowMs));
}

/** As much of a limiter as playing needs, whatever it decides by. */
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

/** A call that was admitted, and what the limiter handed out for its completion. */
interface Held<C> {
  readonly call: C;
  readonly reservation: unknown;
}

/** One limiter with the reservations that are open on it. */
export abstract class Player<L extends Playable, D, C> {
  protected limiter: L;
  /** The limits that it was made with. */
  protected readonly description: D;
  readonly #factory: PlayableFactory<L, D>;
  readonly #inFlight = new Map<number, Held<C>>();

  constructor(factory: PlayableFactory<L, D>, description: D, limiter: L) {
    this.#factory = factory;
    this.description = description;
    this.limiter = limiter;
  }

  /** True if somebody wants to know what time it is. */
  protected get isTold(): boolean {
    return this.#factory.setNow !== undefined || this.limiter.setNow !== undefined;
  }

  /** Tells the limiter what time it is. */
  async setNow(nowMs: number): Promise<void> {
    await tellTime(this.#factory, nowMs);
    await tellTime(this.limiter, nowMs);
  }

  /** Keeps what a call was handed out until it completes. @param args those of `decide` */
  protected hold(id: number, call: C, reservation: unknown, args: readonly unknown[]): void {
    if (reservation === undefined || reservation === null) return;
    const kept = throughJson("the reservation", callText("decide", args), reservation);
    this.#inFlight.set(id, { call, reservation: kept });
  }

  /** Takes the call that completes; `null` where it had been refused, and nothing happens. */
  protected release(id: number): Held<C> | null {
    const held = this.#inFlight.get(id) ?? null;
    this.#inFlight.delete(id);
    return held;
  }

  protected async sweep(atMs: number): Promise<void> {
    await ask("sweep", [atMs], () => this.limiter.sweep?.(atMs));
  }

  /** Goes on with a limiter that is made of the snapshot of this one. */
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
 * @throws AdapterFailure where the limiter throws or answers something of the wrong form
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
 * Plays operations of a script on a fresh limiter, as `playAll` does. Without the first ones it is made no later: its windows
 * may begin with it. Where there are none, no limiter is made.
 * @param script all operations of the script that they are of
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
