// The least and the most that is used of a sliding log or counter. A log holds each charge for a length. A counter holds
// those of its window, and of the window before the share that the last length still covers. Nobody knows where its
// windows begin: a charge that is `age` old weighs from `1 - age / length` to `2 - age / length`, and from 0 to 1.
import { driftShare, grainMs } from "./clock.ts";
import type { UnreadCall } from "./unread.ts";
import { CallsUnderWay, type LeastUsed, type MostUsed } from "./use-bounds.ts";

export interface SlidingShape {
  readonly kind: "sliding-log" | "sliding-counter";
  readonly lengthMs: number;
  /** Step of the clock that a limiter may read, ms. */
  readonly stepMs: number;
}

/** Amounts, each at an instant, in the order of these. */
class TimedAmounts {
  /** Sum of the amounts. */
  sum = 0;
  /** Sum of each times its instant. */
  #moment = 0;
  #instants: number[] = [];
  #amounts: number[] = [];
  #first = 0;

  add(instant: number, amount: number): void {
    let at = this.#instants.length;
    while (at > this.#first && (this.#instants[at - 1] as number) > instant) at -= 1;
    this.#instants.splice(at, 0, instant);
    this.#amounts.splice(at, 0, amount);
    this.#count(instant, amount);
  }

  /** Takes out the amounts up to an instant. */
  takeUntil(instant: number, onTaken: (instant: number, amount: number) => void = () => undefined): void {
    for (; (this.#instants[this.#first] as number) <= instant; this.#first++) {
      const [at, amount] = [this.#instants[this.#first] as number, this.#amounts[this.#first] as number];
      this.#count(at, -amount);
      onTaken(at, amount);
    }
    if (this.#first < 1000 || 2 * this.#first < this.#instants.length) return;
    this.#instants = this.#instants.slice(this.#first);
    this.#amounts = this.#amounts.slice(this.#first);
    this.#first = 0;
  }

  /** Returns the sum of the amounts, each times its age in lengths. */
  aged(now: number, lengthMs: number): number {
    return this.sum === 0 ? 0 : (now * this.sum - this.#moment) / lengthMs;
  }

  #count(instant: number, amount: number): void {
    this.sum += amount;
    this.#moment += amount * instant;
  }
}

export class SlidingLeast implements LeastUsed {
  readonly #isLog: boolean;
  /** Least length, ms: what is older may be forgotten. */
  readonly #lengthMs: number;
  readonly #over = new TimedAmounts();
  readonly #underWay = new CallsUnderWay();
  /** Instant that others are told from, so that sums stay exact enough. */
  #origin = Number.NaN;

  constructor({ kind, lengthMs, stepMs }: SlidingShape) {
    this.#isLog = kind === "sliding-log";
    this.#lengthMs = Math.max(0, lengthMs * (1 - driftShare) - grainMs - stepMs);
  }

  add(call: UnreadCall): number {
    const { from, to, least } = call;
    if (Number.isNaN(this.#origin)) this.#origin = from;
    const over = this.#over;
    const isKnown = this.#underWay.add(call, (each) => over.add(each.from - this.#origin, each.least));
    if (!isKnown) return 0;
    const now = to - this.#origin;
    over.takeUntil(now - this.#lengthMs);
    const age = to - from;
    if (this.#isLog) return over.sum + (age < this.#lengthMs ? least : 0);
    const own = least * Math.max(0, 1 - age / this.#lengthMs);
    return over.sum - over.aged(now, this.#lengthMs) + own;
  }
}

export class SlidingMost implements MostUsed {
  readonly knownFrom: number;
  readonly #isLog: boolean;
  /** Greatest length, ms. */
  readonly #lengthMs: number;
  readonly #beganBy: number;
  /** Charges by the latest instant of their calls: at most a length old, and at most two. */
  readonly #recent = new TimedAmounts();
  readonly #older = new TimedAmounts();
  #from = Number.NEGATIVE_INFINITY;
  #unknown = 0;

  /** @param beganBy latest begin of the trace, ms since the epoch */
  constructor({ kind, lengthMs, stepMs }: SlidingShape, beganBy: number) {
    this.#isLog = kind === "sliding-log";
    this.#lengthMs = lengthMs * (1 + driftShare) + grainMs + stepMs;
    this.#beganBy = beganBy;
    this.knownFrom = beganBy + (this.#isLog ? 1 : 2) * this.#lengthMs;
  }

  /** Nothing is known of a call that was sent before an earlier one: what weighed then may be forgotten. */
  add({ from, to, most }: UnreadCall): number {
    const used = from < Math.max(this.#from, this.knownFrom) ? Number.POSITIVE_INFINITY : this.#usedAt(from);
    if (most > 0) this.#recent.add(to - this.#beganBy, most);
    return used;
  }

  #usedAt(from: number): number {
    this.#from = from;
    const now = from - this.#beganBy;
    const [recent, older] = [this.#recent, this.#older];
    recent.takeUntil(now - this.#lengthMs, (instant, amount) => {
      if (!this.#isLog) older.add(instant, amount);
    });
    older.takeUntil(now - 2 * this.#lengthMs);
    return recent.sum + 2 * older.sum - older.aged(now, this.#lengthMs) + this.#unknown;
  }

  addUnknown(most: number): void {
    this.#unknown += most;
  }
}
