// Counters of which a fault strikes some windows: which ones is drawn, or depends on who asks.
import type { Reading } from "../engine/decision.ts";
import type { Policy } from "../policy/policy.ts";
import {
  type CountBefore,
  type CountedCaller,
  Counter,
  type CounterWindow,
  type CountKey,
  type NextWindow,
} from "./counter.ts";
import type { FaultWorld } from "./fault.ts";

/** Draws, at the first charge of a window, whether the fault strikes it. */
class StruckCounter extends Counter {
  readonly world: FaultWorld;

  constructor(policy: Policy, world: FaultWorld) {
    super(policy);
    this.world = world;
  }

  override charge(key: CountKey, amount: number, nowMs: number, found: CountBefore): void {
    const isFirst = found.count === 0;
    super.charge(key, amount, nowMs, found);
    if (!this.isWindow(key)) return;
    const window = this.window(key, nowMs);
    if (isFirst && this.mayStrike(key, window)) window.struck = this.world.random() < this.world.rate;
  }

  mayStrike(_key: CountKey, _window: CounterWindow): boolean {
    return true;
  }

  /** Returns the next window, with the previous one's count. */
  carried(key: CountKey, { count }: CounterWindow, nowMs: number): NextWindow {
    return { count, resetAtMs: this.openedAt(key, nowMs), struck: false };
  }
}

export class NewResetOldCount extends StruckCounter {
  override next(key: CountKey, window: CounterWindow, nowMs: number): NextWindow {
    return window.struck ? this.carried(key, window, nowMs) : super.next(key, window, nowMs);
  }
}

/** Keeps a key's count for ever if the key lost its time to live. */
export class LostExpiry extends StruckCounter {
  override next(key: CountKey, window: CounterWindow, nowMs: number): NextWindow {
    return window.struck
      ? { ...this.carried(key, window, nowMs), struck: true }
      : super.next(key, window, nowMs);
  }
}

/** Writes an organization's window again without a time to live if a status is read shortly before its end. */
export class ImmortalByPolling extends StruckCounter {
  override mayStrike(): boolean {
    return false;
  }

  override status(caller: CountedCaller, quotas: readonly string[], nowMs: number): readonly Reading[] {
    for (const quota of quotas) {
      const window = this.windows.get(this.nameOf({ quota, caller }, nowMs));
      const leftMs = (window?.resetAtMs ?? 0) - nowMs;
      if (window !== undefined && window.count > 0 && leftMs > 0 && leftMs <= this.world.rate * 1000)
        window.struck = true;
    }
    return super.status(caller, quotas, nowMs);
  }

  override next(key: CountKey, window: CounterWindow, nowMs: number): NextWindow {
    return window.struck ? this.carried(key, window, nowMs) : super.next(key, window, nowMs);
  }
}

/** Empties a window at its end, and once more in between by a timer that began with the key. */
export class DoubleRoll extends StruckCounter {
  readonly #phases = new Map<string, number>();

  /** Returns the time of a key's timer in this window: the same share, a fifth to four fifths, before each end. */
  #timerMs(key: CountKey, { resetAtMs }: CounterWindow): number {
    const name = this.nameOf(key, resetAtMs);
    let phase = this.#phases.get(name);
    if (phase === undefined) {
      phase = 0.2 + 0.6 * this.world.random();
      this.#phases.set(name, phase);
    }
    return resetAtMs - this.lengthOf(key) * phase;
  }

  override mayStrike(key: CountKey, window: CounterWindow): boolean {
    return window.seenMs < this.#timerMs(key, window);
  }

  override isOver(key: CountKey, window: CounterWindow, nowMs: number): boolean {
    return super.isOver(key, window, nowMs) || (window.struck && nowMs >= this.#timerMs(key, window));
  }

  override next(key: CountKey, window: CounterWindow, nowMs: number): NextWindow {
    return nowMs < window.resetAtMs
      ? { count: 0, resetAtMs: window.resetAtMs, struck: false }
      : super.next(key, window, nowMs);
  }
}
