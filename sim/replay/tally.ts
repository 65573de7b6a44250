// The counts of a replay, over each call that it decides: by user, over time, and by the window that refused.
import { emptyCountReading } from "../../src/engine/count-reading.ts";
import { NONE_REFUSED, type PolicyCore } from "../../src/engine/policy-core.ts";
import type {
  QuotaRefusingWindow,
  QuotaReplayTotals,
  QuotaReplayUser,
} from "../../src/summary/quota-replay-result.ts";
import {
  type RecordedRefusals,
  replayUsersMost,
  replayWindowsMost,
} from "../../src/summary/replay-result.ts";
import { isRefusal } from "../../src/wire/outcome.ts";
import { opensAt, type ReplayCaller, type ReplayCallers } from "./callers.ts";
import type { ReplayHeadroom } from "./headroom.ts";
import { ReplaySlots } from "./slots.ts";

export class ReplayTally {
  readonly slots: ReplaySlots;
  readonly #callers: ReplayCallers;
  readonly #quotas: number;
  /** Number of doubles for each user: admitted calls, refusals by quota, times of the first and the last refusal. */
  readonly #width: number;
  #users: Float64Array;
  readonly #costs: Float64Array;
  #hopeless = 0;
  readonly #refusing: RefusingWindows;
  /** Tally of rows with a status. */
  readonly recorded = new RecordedTally();

  constructor(callers: ReplayCallers) {
    this.#callers = callers;
    this.#quotas = callers.names.length;
    this.slots = new ReplaySlots(this.#quotas);
    this.#width = this.#quotas + 3;
    this.#users = new Float64Array(64 * this.#width);
    this.#costs = new Float64Array(callers.core.operations.length);
    this.#refusing = new RefusingWindows(callers);
  }

  /**
   * Counts a call of a user.
   * @param refusing place of the quota that refused, or `NONE_REFUSED`
   * @param status status in the log; 0 if it has none
   */
  add(user: number, refusing: number, status: number, nowMs: number): void {
    if ((user + 1) * this.#width > this.#users.length) this.#grow(user);
    const users = this.#users;
    const from = user * this.#width;
    const at = from + refusing + 1;
    users[at] = (users[at] as number) + 1;
    this.slots.add(nowMs, refusing);
    if (status > 0) this.recorded.add(status, refusing !== NONE_REFUSED);
    if (refusing === NONE_REFUSED) return;
    const first = from + this.#quotas + 1;
    if (users[first] === 0) users[first] = nowMs;
    users[first + 1] = nowMs;
  }

  /** Adds the cost that an admitted call declared. */
  charge(operation: number, cost: number): void {
    this.#costs[operation] = (this.#costs[operation] as number) + cost;
  }

  /** Counts a call that was refused just now. */
  refuse(handle: number, operation: number, cost: number, refusing: number, nowMs: number): void {
    if (this.#callers.isHopeless(handle, operation, cost)) this.#hopeless += 1;
    this.#refusing.add(handle, refusing, nowMs);
  }

  #grow(user: number): void {
    const larger = new Float64Array(2 * (user + 1) * this.#width);
    larger.set(this.#users);
    this.#users = larger;
  }

  totals(): QuotaReplayTotals {
    const refusedBy = new Array<number>(this.#quotas).fill(0);
    const organizations = new Set<string>();
    let [admitted, refused, users, usersRefused] = [0, 0, 0, 0];
    for (const one of this.#seen()) {
      admitted += one.calls - one.refused;
      refused += one.refused;
      users += 1;
      if (one.refused > 0) usersRefused += 1;
      for (const [quota, amount] of one.refusedBy.entries())
        refusedBy[quota] = (refusedBy[quota] as number) + amount;
      organizations.add((this.#callers.users[one.user] as ReplayCaller).org);
    }
    const { operations } = this.#callers.core;
    return {
      calls: admitted + refused,
      admitted,
      refused,
      refusedBy,
      hopeless: this.#hopeless,
      costs: Object.fromEntries(operations.map(({ name }, place) => [name, this.#costs[place] as number])),
      users,
      usersRefused,
      organizations: organizations.size,
    };
  }

  users(headroom: ReplayHeadroom): QuotaReplayUser[] {
    return [...this.#seen()]
      .sort((a, b) => b.refused - a.refused || b.calls - a.calls || a.user - b.user)
      .slice(0, replayUsersMost)
      .map(({ user: number, calls, refused, refusedBy }) => {
        const { org, user, handles } = this.#callers.users[number] as ReplayCaller;
        const first = number * this.#width + this.#quotas + 1;
        return {
          org,
          user,
          calls,
          refused,
          refusedBy,
          firstRefusedAt: refused === 0 ? null : (this.#users[first] as number),
          lastRefusedAt: refused === 0 ? null : (this.#users[first + 1] as number),
          useMax: refusedBy.map((_, quota) => headroom.useMax(handles, quota)),
        };
      });
  }

  /** Yields the users that made a call. */
  *#seen(): Generator<{ user: number; calls: number; refused: number; refusedBy: number[] }, void> {
    for (const user of this.#callers.users.keys()) {
      const at = user * this.#width;
      const [admitted = 0, ...refusedBy] = this.#users.subarray(at, at + this.#quotas + 1);
      const refused = refusedBy.reduce((sum, amount) => sum + amount, 0);
      if (admitted + refused > 0) yield { user, calls: admitted + refused, refused, refusedBy };
    }
  }

  /** Returns the windows that refused most, and the number of all. */
  refusingWindows(): { readonly windows: readonly QuotaRefusingWindow[]; readonly seen: number } {
    return this.#refusing.finish();
  }
}

export class RecordedTally {
  #calls = 0;
  #refused = 0;
  #both = 0;
  #onlyInReplay = 0;

  /** @param status the log's status */
  add(status: number, isRefusedHere: boolean): void {
    const isRefusedInLog = isRefusal(status);
    this.#calls += 1;
    if (isRefusedInLog) this.#refused += 1;
    if (isRefusedInLog && isRefusedHere) this.#both += 1;
    if (!isRefusedInLog && isRefusedHere) this.#onlyInReplay += 1;
  }

  /**
   * Returns `null` if no row had a status.
   * @param isCutOff true if windows pile up at a limit
   */
  finish(isCutOff: boolean): RecordedRefusals | null {
    const [calls, refused, both, onlyInReplay] = [this.#calls, this.#refused, this.#both, this.#onlyInReplay];
    const seemsFiltered = isCutOff && refused === 0;
    return calls === 0
      ? null
      : { calls, refused, both, onlyInLog: refused - both, onlyInReplay, seemsFiltered };
  }
}

/** Number of doubles for each open window that has refused: its end, its refusals, and the first one's time. */
const REFUSALS = 3;
const END = 0;
const COUNT = 1;
const SINCE = 2;

/** Counts refusals of each count's open window. */
export class RefusingWindows {
  readonly #callers: ReplayCallers;
  readonly #core: PolicyCore;
  readonly #isBucket: readonly boolean[];
  readonly #numbers: Float64Array[];
  readonly #reading = emptyCountReading();
  #windows: QuotaRefusingWindow[] = [];
  #seen = 0;

  constructor(callers: ReplayCallers) {
    this.#callers = callers;
    this.#core = callers.core;
    this.#isBucket = callers.core.quotas.map(({ grid }) => grid === null);
    this.#numbers = callers.names.map(() => new Float64Array(64 * REFUSALS));
  }

  /** Adds a refusal. A window that is not open (its first call is refused) is left out: only its limit refused. */
  add(handle: number, quota: number, nowMs: number): void {
    const row = this.#callers.rowOf(handle, quota);
    const isBucket = this.#isBucket[quota] as boolean;
    const endsAtMs = isBucket ? this.#fullAt(quota, row, nowMs) : this.#core.windowOf(handle, quota);
    if (endsAtMs === 0 || endsAtMs === nowMs) return;
    const at = row * REFUSALS;
    const numbers = this.#numbersFor(quota, at);
    const known = numbers[at + END] as number;
    // A bucket's window lasts until the bucket is full again; each charge delays that.
    if (isBucket ? nowMs >= known : known !== endsAtMs) {
      this.#flush(quota, row);
      numbers[at + COUNT] = 0;
      numbers[at + SINCE] = nowMs;
    }
    numbers[at + END] = endsAtMs;
    numbers[at + COUNT] = (numbers[at + COUNT] as number) + 1;
  }

  #fullAt(quota: number, row: number, nowMs: number): number {
    this.#core.read(quota, row, nowMs, this.#reading);
    return this.#reading.resetAtMs;
  }

  #numbersFor(quota: number, at: number): Float64Array {
    const numbers = this.#numbers[quota] as Float64Array;
    if (at < numbers.length) return numbers;
    const larger = new Float64Array(2 * (at + REFUSALS));
    larger.set(numbers);
    this.#numbers[quota] = larger;
    return larger;
  }

  #flush(quota: number, row: number): void {
    const at = row * REFUSALS;
    const numbers = this.#numbers[quota] as Float64Array;
    const refused = numbers[at + COUNT] ?? 0;
    if (refused === 0) return;
    const [endsAt, firstRefusedAt] = [numbers[at + END] as number, numbers[at + SINCE] as number];
    const { key, limit, algorithm } = this.#callers.count(quota, row);
    const name = this.#callers.names[quota] as string;
    const opened = opensAt(algorithm, endsAt) ?? firstRefusedAt;
    this.#seen += 1;
    this.#windows.push({ quota: name, key, opensAt: opened, endsAt, limit, refused, firstRefusedAt });
    if (this.#windows.length >= 4 * replayWindowsMost) this.#cut();
  }

  #cut(): void {
    this.#windows.sort((a, b) => b.refused - a.refused || a.firstRefusedAt - b.firstRefusedAt);
    this.#windows = this.#windows.slice(0, replayWindowsMost);
  }

  /** Returns the windows that refused most, first, and the number of all. */
  finish(): { readonly windows: readonly QuotaRefusingWindow[]; readonly seen: number } {
    for (const [quota, numbers] of this.#numbers.entries())
      for (let row = 0; row * REFUSALS < numbers.length; row++) this.#flush(quota, row);
    this.#cut();
    return { windows: this.#windows, seen: this.#seen };
  }
}
