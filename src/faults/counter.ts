// The counter that faults in the counting are made of: the readable limiter, of which each such fault replaces a method.
// Unchanged it answers as the engine does, and tests require this under policies and rules. A fault made of it thus has
// no other error.
import type { PolicyCall, Reading } from "../engine/decision.ts";
import { ReferenceLimiter } from "../engine/reference.ts";
import type { CountBefore, CountKey, WindowCount } from "../engine/reference-counts.ts";
import type { QuotaStore } from "../engine/store.ts";

export type { FoundAll, Use } from "../engine/reference.ts";
export type { CountBefore, CountKey } from "../engine/reference-counts.ts";

export type CountedCaller = PolicyCall["caller"];

/** State of a window. */
export interface CounterWindow extends WindowCount {
  /** Number that no other window of this counter has. */
  number: number;
  /** True if a fault strikes this window. A correct counter never reads it. */
  struck: boolean;
}

/** State of a window at its beginning. */
export type NextWindow = CountBefore & Pick<CounterWindow, "struck">;

export class Counter extends ReferenceLimiter implements QuotaStore {
  declare protected readonly windows: Map<string, CounterWindow>;
  #opened = 0;

  protected override fresh(): CounterWindow {
    return { ...super.fresh(), number: 0, struck: false };
  }

  override window(key: CountKey, nowMs: number): CounterWindow {
    return super.window(key, nowMs) as CounterWindow;
  }

  protected override roll(key: CountKey, window: CounterWindow): void {
    super.roll(key, window);
    window.number = ++this.#opened;
  }

  override next(key: CountKey, window: CounterWindow, nowMs: number): NextWindow {
    return { ...super.next(key, window, nowMs), struck: false };
  }

  /** Returns the window's number, because a fault may move a window's end. */
  protected override numberOf({ number }: CounterWindow): number {
    return number;
  }

  /** Empties a window before its end, without giving back what its calls hold. A correct counter never does. */
  empty(window: CounterWindow): void {
    window.count = 0;
    window.number = ++this.#opened;
  }

  /** Returns the readings that a status shows. */
  status(caller: CountedCaller, quotas: readonly string[], nowMs: number): readonly Reading[] {
    return this.read(caller, quotas, nowMs);
  }

  override readOne(key: CountKey, nowMs: number): Reading {
    return { ...super.readOne(key, nowMs), clockMs: this.clockOf(key, nowMs) };
  }

  /** Moves the clock, but keeps all keys: a fault may lie in what the counter remembers. */
  override sweep(nowMs: number): void {
    this.floorMs = Math.max(this.floorMs, nowMs);
  }
}
