// Faults in the times at which windows begin, end and are emptied.
import type { PolicyCall, Reading } from "../engine/decision.ts";
import type { Policy } from "../policy/policy.ts";
import {
  type CountBefore,
  type CountedCaller,
  Counter,
  type CounterWindow,
  type CountKey,
  type FoundAll,
  type NextWindow,
} from "./counter.ts";
import { counted, type FaultEntry, type FaultWorld } from "./fault.ts";
import { firstQuotas, hasStatus, hasWindows } from "./fits.ts";
import { movedWindows, Nodes } from "./nodes.ts";
import { DoubleRoll, ImmortalByPolling, LostExpiry, NewResetOldCount } from "./struck-windows.ts";

/** Hides calls from each other while their window is young: each sets the count anew. */
class FirstCallsLost extends Counter {
  readonly #youngMs: number;
  readonly #opened = new Map<string, { readonly number: number; readonly atMs: number }>();

  constructor(policy: Policy, { rate }: FaultWorld) {
    super(policy);
    this.#youngMs = rate;
  }

  override charge(key: CountKey, amount: number, nowMs: number, found: CountBefore): void {
    super.charge(key, amount, nowMs, this.#isYoung(key, nowMs) ? { ...found, count: 0 } : found);
  }

  #isYoung(key: CountKey, nowMs: number): boolean {
    if (!this.isWindow(key)) return false;
    const { number } = this.window(key, nowMs);
    const name = this.nameOf(key, nowMs);
    const known = this.#opened.get(name);
    const opened = known?.number === number ? known : { number, atMs: nowMs };
    this.#opened.set(name, opened);
    return nowMs < opened.atMs + this.#youngMs;
  }
}

/** Ends a window before its told end. */
class RollsEarly extends Counter {
  readonly #earlyMs: number;

  constructor(policy: Policy, { rate }: FaultWorld) {
    super(policy);
    this.#earlyMs = rate * 1000;
  }

  override endOf(key: CountKey, nowMs: number): number {
    return super.endOf(key, nowMs + this.#earlyMs);
  }

  override isOver(key: CountKey, window: CounterWindow, nowMs: number): boolean {
    return super.isOver(key, window, nowMs + this.#earlyMs);
  }
}

class RearmedPerHit extends Counter {
  override look(call: PolicyCall, nowMs: number): FoundAll {
    for (const { key } of this.usesOf(call)) {
      if (!this.isWindow(key)) continue;
      const window = this.window(key, nowMs);
      if (window.resetAtMs !== 0)
        window.resetAtMs = window.seenMs - (window.seenMs % 1000) + this.lengthOf(key);
    }
    return super.look(call, nowMs);
  }
}

/** Empties all keys at once by a timer. Its period is the shortest window, from a random beginning. */
class ResetAllSweep extends Counter {
  readonly #periodMs: number;
  #swept: number | null = null;

  constructor(policy: Policy) {
    super(policy);
    this.#periodMs = shortestMs(policy);
  }

  override window(key: CountKey, nowMs: number): CounterWindow {
    this.#sweepDue(nowMs);
    return super.window(key, nowMs);
  }

  override readOne(key: CountKey, nowMs: number): Reading {
    this.#sweepDue(nowMs);
    return super.readOne(key, nowMs);
  }

  #sweepDue(nowMs: number): void {
    const turn = Math.floor((nowMs - 0.4 * this.#periodMs) / this.#periodMs);
    if (this.#swept !== null && turn > this.#swept)
      for (const window of this.windows.values()) this.empty(window);
    this.#swept = Math.max(turn, this.#swept ?? turn);
  }
}

const shortestMs = ({ quotas }: Policy): number =>
  1000 *
  Math.min(
    ...Object.values(quotas).flatMap(({ algorithm }) =>
      algorithm.kind === "fixed-window" ? [algorithm.windowSeconds] : [],
    ),
  );

class BoundaryInclusive extends Counter {
  override isOver(_key: CountKey, { resetAtMs }: CounterWindow, nowMs: number): boolean {
    return nowMs > resetAtMs;
  }
}

/** Opens the windows that a status call shows, although it counts nothing. */
class StatusOpensWindow extends Counter {
  override status(caller: CountedCaller, quotas: readonly string[], nowMs: number): readonly Reading[] {
    for (const quota of quotas) {
      const key = { quota, caller };
      if (!this.isWindow(key)) continue;
      const window = this.window(key, nowMs);
      if (window.resetAtMs === 0) window.resetAtMs = this.openedAt(key, window.seenMs);
    }
    return super.status(caller, quotas, nowMs);
  }
}

/** Opens each window at the previous one's end, whether a call comes or not. */
class WindowsBackToBack extends Counter {
  override next(key: CountKey, window: CounterWindow, nowMs: number): NextWindow {
    if (window.resetAtMs === 0) return super.next(key, window, nowMs);
    const lengthMs = this.lengthOf(key);
    const over = Math.floor((nowMs - window.resetAtMs) / lengthMs);
    return { count: 0, resetAtMs: window.resetAtMs + (over + 1) * lengthMs, struck: false };
  }
}

/** Moves the broad windows of the first caller off the grid of all others. */
class OrganizationOffGrid extends Counter {
  readonly #besideMs: number;
  readonly #broad: ReadonlySet<string>;
  #first: string | null = null;

  constructor(policy: Policy, { rate }: FaultWorld) {
    super(policy);
    this.#besideMs = rate * 1000;
    this.#broad = firstQuotas(policy);
  }

  override endOf(key: CountKey, nowMs: number): number {
    const [attribute = ""] = this.policy.quotas[key.quota]?.key ?? [];
    const value = key.caller[attribute] ?? "";
    this.#first ??= value;
    if (!this.#broad.has(key.quota) || value !== this.#first) return super.endOf(key, nowMs);
    return super.endOf(key, nowMs + this.#besideMs) - this.#besideMs;
  }
}

const shareOfWindows = { default: 0.5, least: 0.001, most: 1, meaning: "share of the windows" } as const;

export const windowFaults: readonly FaultEntry[] = [
  {
    name: "new-reset-old-count",
    wrong: "the window rolls, its count does not",
    shows: "reset jumps up, remaining does not",
    seenIn: ["rate-limit-redis#216", "gubernator PR#225"],
    nets: ["P", "V"],
    rate: shareOfWindows,
    ...counted((policy, world) => new NewResetOldCount(policy, world), hasWindows),
  },
  {
    name: "two-interleaved-windows",
    wrong: "one key is answered from two windows",
    shows: "two resets in turn",
    seenIn: ["deb-get PR#1680"],
    nets: ["V"],
    ...counted((policy, { random }) => {
      // Whole seconds, at least one, but no whole number of windows.
      const apartMs = Math.max(1000, Math.floor(shortestMs(policy) / 2500) * 1000);
      return new Nodes([new Counter(policy), movedWindows(new Counter(policy), apartMs)], random);
    }, hasWindows),
  },
  {
    name: "lost-expiry",
    wrong: "a counter loses its time to live and keeps its count for ever",
    shows: "refused after the reset, for ever",
    seenIn: ["redis#4548", "limits#14"],
    nets: ["P", "V"],
    rate: shareOfWindows,
    ...counted((policy, world) => new LostExpiry(policy, world), hasWindows),
  },
  {
    name: "immortal-by-polling",
    wrong: "polled just before its end, a counter is written again without a time to live",
    shows: "refused after the reset, as long as someone polls the status",
    seenIn: ["redis-rate-limiter#1"],
    nets: ["P", "V"],
    rate: { default: 5, least: 0.001, most: 300, meaning: "how many seconds before the end a poll does it" },
    ...counted(
      (policy, world) => new ImmortalByPolling(policy, world),
      (policy) => hasWindows(policy) ?? hasStatus(policy),
    ),
  },
  {
    name: "rearmed-per-hit",
    wrong: "each call restarts the window",
    shows: "reset never falls below W under traffic",
    seenIn: ["grape-throttle PR#5"],
    nets: ["P", "V", "L"],
    ...counted((policy) => new RearmedPerHit(policy), hasWindows),
  },
  {
    name: "reset-all-sweep",
    wrong: "one timer empties every key at its own time",
    shows: "remaining recovers before the reset",
    seenIn: ["express-rate-limit#194"],
    nets: ["P", "V"],
    ...counted((policy) => new ResetAllSweep(policy), hasWindows),
  },
  {
    name: "double-roll",
    wrong: "timer and clock both roll the window",
    shows: "up to 2 x limit inside one window",
    seenIn: ["denoland/std PR#7237"],
    nets: ["V"],
    rate: shareOfWindows,
    ...counted((policy, world) => new DoubleRoll(policy, world), hasWindows),
  },
  {
    name: "status-opens-window",
    wrong: "a status call opens a window, where windows open with their first call",
    shows: "the next call is told a reset that is short of a full window",
    nets: ["V"],
    semantics: { anchor: ["first-request"] },
    ...counted(
      (policy) => new StatusOpensWindow(policy),
      (policy) => hasWindows(policy) ?? hasStatus(policy),
    ),
  },
  {
    name: "windows-back-to-back",
    wrong: "windows follow each other without a gap, where each opens with its first call",
    shows: "the first call of a window is told a reset that is short of a full one",
    nets: ["V"],
    semantics: { anchor: ["first-request"] },
    ...counted((policy) => new WindowsBackToBack(policy), hasWindows),
  },
  {
    name: "organization-off-grid",
    wrong: "one organization's windows lie beside the grid that all others keep",
    shows: "its windows end at other seconds than its users' and other organizations'",
    nets: ["V"],
    rate: { default: 3, least: 1, most: 3600, whole: true, meaning: "seconds beside the grid" },
    semantics: { anchor: ["epoch"] },
    ...counted((policy, world) => new OrganizationOffGrid(policy, world), hasWindows),
  },
  {
    name: "first-calls-lost",
    wrong: "while a window is young, each call sets its count anew, since none sees the others",
    shows: "the first calls of a window, made at once, are counted as one",
    nets: ["A"],
    rate: { default: 40, least: 1, most: 60_000, meaning: "ms for which a window is young" },
    ...counted((policy, world) => new FirstCallsLost(policy, world), hasWindows),
  },
  {
    name: "rolls-early",
    wrong: "a window ends before the end that it tells",
    shows: "the count is back at 0, and the next window is told, before the reset that was told",
    nets: ["A"],
    rate: { default: 1.5, least: 0.001, most: 3600, meaning: "seconds before the end that is told" },
    ...counted((policy, world) => new RollsEarly(policy, world), hasWindows),
  },
  {
    name: "boundary-inclusive",
    wrong: "the instant of the reset still belongs to the old window",
    shows: "the first call after the reset is refused or miscounted",
    seenIn: ["governor#107"],
    nets: ["P"],
    ...counted((policy) => new BoundaryInclusive(policy), hasWindows),
  },
];
