// The calls of a log in memory, for callers that react: growing columns, and the calls that each call releases.
import { SpillwayError } from "../../src/rules/errors.ts";

/** Greatest number of calls kept in memory for callers that react. Each takes about 110 bytes. */
export const reactingCallsMost = 5_000_000;

/** No call: it waits for none, or none follows. */
export const NONE = -1;

const longestMs = 0x7fffffff;

/** Calls in the order of their time. */
export class ReplayCalls {
  count = 0;
  atMs = new Float64Array(0);
  /** Durations, whole ms; 0 if the log does not say. */
  durationMs = new Int32Array(0);
  user = new Int32Array(0);
  /** Handles of the limiter's callers. */
  handle = new Int32Array(0);
  cost = new Int32Array(0);
  /** Units used; unlike a cost of the log, the most that an operation may use passes 31 bits. */
  actual = new Float64Array(0);
  operation = new Uint8Array(0);
  /** 1 if the log says that the call was refused. */
  refused = new Uint8Array(0);
  /** Number of the attempt, from 0, and when it was wanted, ms since the epoch; below 0 if unknown. */
  attempt = new Int32Array(0);
  wantedMs = new Float64Array(0);
  /** End of the call by the log, its last try included; ms since the epoch. */
  overMs = new Float64Array(0);
  readonly most: number;

  /** @param most greatest number of calls */
  constructor(most: number = reactingCallsMost) {
    this.most = most;
  }

  /**
   * @param durationMs `NaN` if unknown
   * @throws SpillwayError `USAGE` if there are too many calls
   */
  push(
    atMs: number,
    durationMs: number,
    user: number,
    handle: number,
    operation: number,
    cost: number,
    actual: number,
    refused = false,
    attempt = NONE,
    wantedMs = NONE,
  ): void {
    const call = this.count++;
    if (call === this.atMs.length) this.#grow();
    this.refused[call] = Number(refused);
    this.attempt[call] = attempt;
    this.wantedMs[call] = wantedMs;
    this.atMs[call] = atMs;
    this.durationMs[call] = durationMs > 0 ? Math.min(longestMs, Math.round(durationMs)) : 0;
    this.user[call] = user;
    this.handle[call] = handle;
    this.cost[call] = cost;
    this.actual[call] = actual;
    this.operation[call] = operation;
    this.overMs[call] = atMs + (this.durationMs[call] as number);
  }

  /** Adds a call that was wanted when row `first` was sent, and took as long as row `last` did. */
  copy(from: ReplayCalls, first: number, last: number): void {
    const columns = [from.durationMs, from.user, from.handle, from.operation, from.cost, from.actual];
    const values = columns.map((column) => column[last] as number);
    this.push(from.atMs[first] as number, ...(values as [number, number, number, number, number, number]));
    this.overMs[this.count - 1] = from.endMs(last);
  }

  /** Returns when a call was over by the log, ms since the epoch. */
  endMs(call: number): number {
    return this.overMs[call] as number;
  }

  #grow(): void {
    if (this.count > this.most)
      throw new SpillwayError("USAGE", "this log is too long for callers that react", {
        problem: {
          path: "--on-refused",
          got: `more than ${this.most} calls`,
          allowed: `at most ${this.most}, which are kept in memory`,
        },
        hint: "replay a part of the log (fewer files, or a filter), or leave --on-refused out",
      });
    const size = Math.min(this.most, Math.max(1024, 2 * this.atMs.length));
    this.atMs = grown(this.atMs, new Float64Array(size));
    this.durationMs = grown(this.durationMs, new Int32Array(size));
    this.user = grown(this.user, new Int32Array(size));
    this.handle = grown(this.handle, new Int32Array(size));
    this.cost = grown(this.cost, new Int32Array(size));
    this.actual = grown(this.actual, new Float64Array(size));
    this.operation = grown(this.operation, new Uint8Array(size));
    this.attempt = grown(this.attempt, new Int32Array(size));
    this.wantedMs = grown(this.wantedMs, new Float64Array(size));
    this.refused = grown(this.refused, new Uint8Array(size));
    this.overMs = grown(this.overMs, new Float64Array(size));
  }
}

function grown<T extends Float64Array | Int32Array | Uint8Array>(from: T, to: T): T {
  to.set(from);
  return to;
}

/** Chains of calls: each call's end releases others, in order. */
export interface Chains {
  readonly firstReleased: Int32Array;
  /** Next call that the same call releases. */
  readonly next: Int32Array;
  /** 1 if a call waits for none, so that it is sent at its time in the log. */
  readonly isFree: Uint8Array;
}

/** Returns the chains of callers that send each call at its time in the log, even if earlier ones were refused. */
export function unchained({ count }: ReplayCalls): Chains {
  const isFree = new Uint8Array(count).fill(1);
  return { firstReleased: new Int32Array(0), next: new Int32Array(0), isFree };
}

/**
 * Returns the chains of callers that wait. Each call follows, at its distance in the log, its user's latest call to end
 * before it began. Overlapping calls do not wait for each other: a user that runs three at a time goes on running
 * three.
 * @param clocked 1 for each call that comes at its time, as its caller's clock has it; it waits for none
 */
export function chained(calls: ReplayCalls, clocked: Uint8Array): Chains {
  const { count } = calls;
  const released = { firstReleased: new Int32Array(count).fill(NONE), next: new Int32Array(count) };
  const isFree = new Uint8Array(count);
  // Until the lists are made, `next` holds the call that each one waits for.
  for (const own of byUser(calls)) {
    const byEnd = inOrderOfEnd(own, calls);
    let over = NONE;
    let place = 0;
    for (const call of own) {
      const atMs = calls.atMs[call] as number;
      for (; place < byEnd.length; place++) {
        const other = byEnd[place] as number;
        if (other >= call || calls.endMs(other) > atMs) break;
        over = other;
      }
      released.next[call] = clocked[call] === 1 ? NONE : over;
    }
  }
  for (let call = count - 1; call >= 0; call--) {
    const over = released.next[call] as number;
    isFree[call] = Number(over === NONE);
    released.next[call] = over === NONE ? NONE : (released.firstReleased[over] as number);
    if (over !== NONE) released.firstReleased[over] = call;
  }
  return { ...released, isFree };
}

/** Yields each user's calls, in order. */
export function* byUser({ count, user }: ReplayCalls): Generator<Int32Array, void> {
  let users = 0;
  for (let call = 0; call < count; call++) users = Math.max(users, (user[call] as number) + 1);
  const starts = new Int32Array(users + 1);
  for (let call = 0; call < count; call++) {
    const after = (user[call] as number) + 1;
    starts[after] = (starts[after] as number) + 1;
  }
  for (let one = 0; one < users; one++)
    starts[one + 1] = (starts[one + 1] as number) + (starts[one] as number);
  const order = new Int32Array(count);
  const places = starts.slice();
  for (let call = 0; call < count; call++) {
    const one = user[call] as number;
    const place = places[one] as number;
    order[place] = call;
    places[one] = place + 1;
  }
  for (let one = 0; one < users; one++) yield order.subarray(starts[one], starts[one + 1]);
}

/** Returns a user's calls in the order of their ends, then of their starts. */
function inOrderOfEnd(own: Int32Array, calls: ReplayCalls): Int32Array {
  const isSorted = own.every((call, place) => {
    const before = own[place - 1];
    return before === undefined || calls.endMs(before) <= calls.endMs(call);
  });
  return isSorted ? own : own.slice().sort((a, b) => calls.endMs(a) - calls.endMs(b) || a - b);
}
