// The counts of callers that react: tries, waits, and calls that never got through.
import { NONE_REFUSED } from "../../src/engine/policy-core.ts";
import type { QuotaReaction } from "../../src/summary/quota-replay-result.ts";
import { type AddedWaits, type ReactingUser, replayUsersMost } from "../../src/summary/replay-result.ts";
import { quantile } from "../../src/summary/waits.ts";
import type { ReplayCaller, ReplayCallers } from "./callers.ts";
import type { ReplayCalls } from "./calls.ts";
import { ReplaySlots } from "./slots.ts";

/** Number of doubles for each user; their places follow. */
const NUMBERS = 7;
const CALLS = 0;
const REFUSALS = 1;
const GAVE_UP = 2;
const ADMITTED_CALLS = 3;
const WAIT_MOST = 4;
/** End of the last call, here and by the log, ms since the epoch. */
const ENDED = 5;
const ENDED_IN_LOG = 6;

export class ReactionTally {
  readonly #callers: ReplayCallers;
  readonly #calls: ReplayCalls;
  readonly #slots: ReplaySlots;
  readonly #users: Float64Array;
  /** Wait of each call, ms; -1 if it was not admitted, and -2 - wait if it was refused first. */
  readonly #waits: Float64Array;
  /** Time from each call's time in the log to its admission, ms; -1 if it was not admitted. */
  readonly #delays: Float64Array;
  #attempts = 0;
  readonly #refusedBy: number[];
  #atOnce = 0;
  #later = 0;
  #gaveUp = 0;

  constructor(callers: ReplayCallers, calls: ReplayCalls) {
    this.#callers = callers;
    this.#calls = calls;
    this.#slots = new ReplaySlots(callers.names.length);
    this.#refusedBy = callers.names.map(() => 0);
    this.#users = new Float64Array(NUMBERS * callers.users.length);
    this.#waits = new Float64Array(calls.count).fill(-1);
    this.#delays = new Float64Array(calls.count).fill(-1);
    for (let call = 0; call < calls.count; call++) {
      const at = NUMBERS * (calls.user[call] as number);
      this.#add(at + CALLS, 1);
      this.#raise(at + ENDED_IN_LOG, calls.endMs(call));
    }
  }

  /** Number of calls whose fate is known. */
  get settled(): number {
    return this.#atOnce + this.#later + this.#gaveUp;
  }

  /** @param refusing place of the quota that refused, or `NONE_REFUSED` */
  attempt(user: number, refusing: number, nowMs: number): void {
    this.#attempts += 1;
    this.#slots.add(nowMs, refusing);
    if (refusing === NONE_REFUSED) return;
    this.#add(NUMBERS * user + REFUSALS, 1);
    this.#refusedBy[refusing] = (this.#refusedBy[refusing] as number) + 1;
  }

  /** @param dueMs instant at which the call was first due, behind its caller's earlier ones */
  admitted(call: number, nowMs: number, dueMs: number, wasRefused: boolean): void {
    const at = NUMBERS * (this.#calls.user[call] as number);
    const waitMs = nowMs - dueMs;
    // A caller that gives up at once may go on sooner than in the log.
    this.#delays[call] = Math.max(0, nowMs - (this.#calls.atMs[call] as number));
    this.#waits[call] = wasRefused ? -2 - waitMs : waitMs;
    this.#add(at + ADMITTED_CALLS, 1);
    this.#raise(at + WAIT_MOST, waitMs);
    if (wasRefused) this.#later += 1;
    else this.#atOnce += 1;
  }

  gaveUp(user: number): void {
    this.#gaveUp += 1;
    this.#add(NUMBERS * user + GAVE_UP, 1);
  }

  over(call: number, atMs: number): void {
    this.#raise(NUMBERS * (this.#calls.user[call] as number) + ENDED, atMs);
  }

  #add(at: number, amount: number): void {
    this.#users[at] = (this.#users[at] as number) + amount;
  }

  #raise(at: number, value: number): void {
    if (value > (this.#users[at] as number)) this.#users[at] = value;
  }

  finish(): Omit<QuotaReaction, "onRefused" | "seed" | "independent" | "retries" | "leftOut" | "byClock"> {
    const all = this.#waits.filter((wait) => wait !== -1).map((wait) => (wait < 0 ? -2 - wait : wait));
    const ofRefused = this.#waits.filter((wait) => wait < -1).map((wait) => -2 - wait);
    const { count } = this.#calls;
    return {
      calls: count,
      attempts: this.#attempts,
      refusals: this.#refusedBy.reduce((sum, refused) => sum + refused, 0),
      refusedBy: this.#refusedBy,
      admittedAtOnce: this.#atOnce,
      admittedLater: this.#later,
      gaveUp: this.#gaveUp,
      unfinished: count - this.settled,
      waits: waitsOf(all),
      waitsOfRefused: waitsOf(ofRefused),
      delays: waitsOf(this.#delays.filter((delay) => delay >= 0)),
      waitedMs: all.reduce((sum, wait) => sum + wait, 0),
      endsLaterMs: Math.max(0, this.#latest(ENDED) - this.#latest(ENDED_IN_LOG)),
      slotMs: this.#slots.widthMs,
      slots: this.#slots.finish(),
      users: this.#describeUsers(),
    };
  }

  #latest(member: number): number {
    let latest = 0;
    for (let at = member; at < this.#users.length; at += NUMBERS)
      latest = Math.max(latest, this.#users[at] as number);
    return latest;
  }

  #describeUsers(): ReactingUser[] {
    const number = (user: number, member: number): number => this.#users[NUMBERS * user + member] as number;
    return [...this.#callers.users.keys()]
      .filter((user) => number(user, CALLS) > 0)
      .sort(
        (a, b) =>
          number(b, WAIT_MOST) - number(a, WAIT_MOST) || number(b, REFUSALS) - number(a, REFUSALS) || a - b,
      )
      .slice(0, replayUsersMost)
      .map((handle) => {
        const { org, user } = this.#callers.users[handle] as ReplayCaller;
        const calls = number(handle, CALLS);
        const gaveUp = number(handle, GAVE_UP);
        return {
          org,
          user,
          calls,
          refusals: number(handle, REFUSALS),
          gaveUp,
          unfinished: calls - gaveUp - number(handle, ADMITTED_CALLS),
          waitMaxMs: number(handle, WAIT_MOST),
          endsLaterMs: Math.max(0, number(handle, ENDED) - number(handle, ENDED_IN_LOG)),
        };
      });
  }
}

function waitsOf(waits: Float64Array): AddedWaits {
  const sorted = waits.sort();
  const [p50, p95, p99, max] = [0.5, 0.95, 0.99, 1].map((share) => quantile(sorted, share));
  return { p50: p50 ?? null, p95: p95 ?? null, p99: p99 ?? null, max: max ?? null };
}
