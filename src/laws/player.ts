// Plays scripts against a limiter, by rules or by a policy. Every answer's form is checked here, so that laws judge
// numbers and never meet a NaN, a string or a promise that nobody awaited.

import { type Eventually, guarded, tellTime, throughJson } from "../engine/asking.ts";
import { callText, LimiterFailure } from "../engine/limiter-failure.ts";
import type { LawKind, SnapshotOp, SweepOp } from "./script.ts";

/** Failure of a limiter in the middle of a script: no law is broken, but there is nothing to judge. */
export class PlayFailure extends LimiterFailure {
  /** Answers before the failure; `op` is the operation that failed. */
  readonly history: LawKind["history"];
  readonly op: LawKind["op"];

  constructor(
    { call, got, allowed, cause }: LimiterFailure,
    history: PlayFailure["history"],
    op: PlayFailure["op"],
  ) {
    super(call, got, allowed, cause);
    this.history = history;
    this.op = op;
  }
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
  #waits = 0;

  constructor(factory: PlayableFactory<L, D>, description: D, limiter: L) {
    this.#factory = factory;
    this.description = description;
    this.limiter = limiter;
  }

  /** Number of decisions that the limiter did not return at once: only these can overlap. */
  get waits(): number {
    return this.#waits;
  }

  /** Returns a decision, and notes whether it is yet to come. */
  protected decided<T>(decision: Eventually<T>): Eventually<T> {
    if (decision instanceof Promise) this.#waits += 1;
    return decision;
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

  /** Sweeps the limiter, or replaces it by one restored from its snapshot. */
  protected async maintain(op: SweepOp | SnapshotOp): Promise<void> {
    if (op.do === "sweep") {
      await guarded("sweep", [op.atMs], () => this.limiter.sweep?.(op.atMs));
      return;
    }
    const taken = await guarded("snapshot", [], () => this.limiter.snapshot?.());
    const snapshot = throughJson("the snapshot", "snapshot()", taken);
    const { restore } = this.#factory;
    if (restore === undefined) return;
    this.limiter = await guarded("restore", [snapshot], () =>
      restore.call(this.#factory, this.description, snapshot),
    );
  }

  async close(): Promise<void> {
    await guarded("close", [], () => this.limiter.close?.());
  }
}

/**
 * Plays some of a script's operations on a fresh limiter, and closes it; with none, it makes no limiter. The limiter is
 * made at the time of the script's first operation, even if that is left out: its windows may begin with the limiter.
 * @param script all operations of the script
 * @param fresh makes a limiter at a time, ms, and its player
 * @throws PlayFailure if the limiter throws, or an answer's form is wrong
 */
export async function playFresh<O extends LawKind["op"], E extends LawKind["history"][number]>(
  ops: readonly O[],
  script: readonly O[],
  fresh: (nowMs: number) => Promise<{ play(op: O): Promise<E>; close(): Promise<void> }>,
): Promise<E[]> {
  const [first] = ops;
  if (first === undefined) return [];
  const player = await fresh((script.includes(first) ? (script[0] as O) : first).atMs);
  const history: E[] = [];
  let at = first;
  try {
    for (const op of ops) {
      at = op;
      history.push(await player.play(op));
    }
  } catch (error) {
    throw error instanceof LimiterFailure ? new PlayFailure(error, history, at) : error;
  } finally {
    await player.close();
  }
  return history;
}
