// A log with callers that react to refusals. Each call is wanted at its time in the log. If its caller waited for an
// answer, it is wanted as long after that answer as in the log. A call that has to wait thus moves those behind it, but
// none that a clock begins.
import type { CompiledOperation } from "../../src/engine/compiled-policy.ts";
import { NONE_REFUSED } from "../../src/engine/policy-core.ts";
import type { Policy } from "../../src/policy/policy.ts";
import { SpillwayError } from "../../src/rules/errors.ts";
import {
  ABSENT,
  ANSWERED,
  type ClientRecord,
  createEvent,
  GIVE_UP,
  type RefusalPolicy,
} from "../../src/scenario/client.ts";
import { drawsOf } from "../../src/scenario/random.ts";
import type { QuotaReaction } from "../../src/summary/quota-replay-result.ts";
import { REFUSED } from "../../src/wire/outcome.ts";
import { EventQueue, NOTHING } from "../event-queue.ts";
import { NO_QUOTA, ToldQuotas } from "../told-quotas.ts";
import type { ReplayCaller, ReplayCallers } from "./callers.ts";
import { type Chains, chained, NONE, type ReplayCalls, unchained } from "./calls.ts";
import { Completions } from "./completions.ts";
import type { KeptRows } from "./kept-rows.ts";
import { ReactionTally } from "./reaction-tally.ts";
import type { ReplayProgress, ReplayWay } from "./way.ts";
import { rowsAsWishes } from "./wishes.ts";

export interface Reaction {
  readonly onRefused: RefusalPolicy;
  /** Words that it was asked for by, for the result. Default: the policy's name. */
  readonly words?: string;
  /** Seed of the policy's draws. Default: 1. */
  readonly seed?: number;
  /** True if callers send each call at its time in the log, even if earlier ones were refused. */
  readonly independent?: boolean;
  /**
   * True if each refused row of the log is a wish of its own. Default: a refused row and its retries are one wish, as
   * far as that can be told.
   */
  readonly keepRefused?: boolean;
}

// Kinds of an event. An event is a kind plus twice the call's place.
const SEND = 0;
/** An admitted call is over. */
const END = 1;

/** Time until a refusal reaches its caller, ms. No log tells it; at 0 a caller could retry for ever at one instant. */
const refusalMs = 1;
/** Least time after the log's span in which calls may still get through, ms. It is otherwise the span once more. */
const drainLeastMs = 3_600_000;
/** Number of events before the rest of the process has its turn. */
const turn = 100_000;

/** Runs the kept calls once more, with callers that react. */
export async function react(
  policy: Policy,
  kept: KeptRows,
  reaction: Reaction,
  way: ReplayWay,
  onProgress: ((progress: ReplayProgress) => void | Promise<void>) | undefined,
  signal: { readonly aborted: boolean } | undefined,
): Promise<QuotaReaction> {
  const { onRefused, words = onRefused.name, seed = 1, independent = false, keepRefused = false } = reaction;
  const wishes = keepRefused ? rowsAsWishes(kept.calls) : kept.wishes("none");
  const { calls, retries, untold: leftOut } = wishes;
  const clocked = independent ? null : kept.clockedOf(wishes);
  const chains = clocked === null ? unchained(calls) : chained(calls, clocked);
  const run = new ReactingRun(policy, kept.callers, calls, chains, { onRefused, seed }, way.isInOrder);
  while (run.happen(turn)) {
    await onProgress?.({ rows: run.tally.settled, of: calls.count });
    if (signal?.aborted === true) break;
  }
  const byClock = clocked?.reduce((sum, mark) => sum + mark, 0) ?? 0;
  return { onRefused: words, seed, independent, retries, leftOut, byClock, ...run.tally.finish() };
}

class ReactingRun {
  readonly tally: ReactionTally;
  readonly #callers: ReplayCallers;
  readonly #operations: readonly CompiledOperation[];
  readonly #completions: Completions;
  readonly #told: ToldQuotas;
  readonly #isInOrder: boolean;
  readonly #calls: ReplayCalls;
  readonly #chains: Chains;
  readonly #policy: RefusalPolicy;
  readonly #seed: number;
  readonly #queue = new EventQueue(0);
  /** Records by user, made when the user's first call is refused. */
  readonly #records: (ClientRecord | undefined)[] = [];
  readonly #startMs: number;
  readonly #endMs: number;
  /** Next call that waits for none. */
  #free = 0;
  // Time when each call was first due, delay that the policy chose last, and number of the try.
  readonly #wantedMs: Float64Array;
  readonly #delayMs: Float64Array;
  readonly #attempt: Int32Array;
  /** Windows of running calls, of each quota. */
  readonly #windows: Float64Array;
  // Both are filled in again for each refusal.
  readonly #event = createEvent();
  readonly #numbers = new Float64Array(6);

  constructor(
    policy: Policy,
    callers: ReplayCallers,
    calls: ReplayCalls,
    chains: Chains,
    { onRefused, seed }: Required<Pick<Reaction, "onRefused" | "seed">>,
    isInOrder: boolean,
  ) {
    const { count, atMs } = calls;
    this.#callers = callers;
    this.#operations = callers.core.operations;
    this.#completions = new Completions(callers.core);
    this.#told = new ToldQuotas(policy, callers.core);
    this.#isInOrder = isInOrder;
    this.#calls = calls;
    this.#chains = chains;
    this.#policy = onRefused;
    this.#seed = seed;
    this.#startMs = atMs[0] ?? 0;
    const spanMs = (atMs[count - 1] ?? 0) - this.#startMs;
    this.#endMs = this.#startMs + spanMs + Math.max(spanMs, drainLeastMs);
    this.#wantedMs = new Float64Array(count);
    this.#delayMs = new Float64Array(count);
    this.#attempt = new Int32Array(count);
    this.#windows = new Float64Array(this.#completions.any ? this.#completions.width * count : 0);
    this.tally = new ReactionTally(callers, calls);
    this.#event.kind = ANSWERED;
    this.#event.status = REFUSED;
    this.#event.endMs = this.#endMs;
    this.#sendNextFree();
  }

  /** Carries out a number of events; `false` if nothing is left. */
  happen(events: number): boolean {
    for (let left = events; left > 0; left--) {
      const event = this.#queue.pop();
      if (event === NOTHING) return false;
      const call = event >>> 1;
      if ((event & 1) === END) this.#end(call);
      else this.#send(call);
    }
    return true;
  }

  get #nowMs(): number {
    return this.#startMs + this.#queue.nowMs;
  }

  #push(atMs: number, kind: typeof SEND | typeof END, call: number): void {
    this.#queue.push(atMs - this.#startMs, (call << 1) | kind);
  }

  /** Schedules the next call that waits for none. These are in order of time: each one sent schedules the next. */
  #sendNextFree(): void {
    const { isFree } = this.#chains;
    while (this.#free < isFree.length && isFree[this.#free] === 0) this.#free += 1;
    if (this.#free === isFree.length) return;
    const call = this.#free++;
    this.#want(call, this.#calls.atMs[call] as number);
  }

  #want(call: number, atMs: number): void {
    this.#wantedMs[call] = atMs;
    if (atMs < this.#endMs) this.#push(atMs, SEND, call);
  }

  #send(call: number): void {
    const nowMs = this.#nowMs;
    if (this.#attempt[call] === 0 && this.#chains.isFree[call] === 1) this.#sendNextFree();
    const { core } = this.#callers;
    const { user, handle, operation, cost, actual } = this.#calls;
    const [who, what, asked] = [handle[call] as number, operation[call] as number, cost[call] as number];
    const refusing = core.decide(who, what, asked, nowMs);
    this.tally.attempt(user[call] as number, refusing, nowMs);
    if (refusing !== NONE_REFUSED) {
      this.#refused(call, refusing, nowMs);
      return;
    }
    if (this.#completions.matters(what, asked, actual[call] as number)) {
      const at = this.#completions.width * call;
      for (const [place, quota] of (this.#operations[what] as CompiledOperation).quotas.entries())
        this.#windows[at + place] = core.windowOf(who, quota);
    }
    this.tally.admitted(call, nowMs, this.#wantedMs[call] as number, (this.#attempt[call] as number) > 0);
    this.#push(nowMs + (this.#calls.durationMs[call] as number), END, call);
  }

  #end(call: number): void {
    const nowMs = this.#nowMs;
    const { handle, operation, cost, actual } = this.#calls;
    const [what, asked, used] = [operation[call] as number, cost[call] as number, actual[call] as number];
    const at = this.#completions.width * call;
    if (this.#completions.matters(what, asked, used)) {
      const windows = this.#windows.subarray(at, at + this.#completions.width);
      this.#callers.core.settle(handle[call] as number, what, asked, used, windows, nowMs);
    }
    this.#over(call, nowMs);
  }

  /** Ends a call. Those that waited for it are wanted as long after it as in the log. */
  #over(call: number, atMs: number): void {
    this.tally.over(call, atMs);
    const { firstReleased, next } = this.#chains;
    const endedMs = this.#calls.endMs(call);
    for (let one = firstReleased[call] ?? NONE; one !== NONE; one = next[one] ?? NONE)
      this.#want(one, atMs + (this.#calls.atMs[one] as number) - endedMs);
  }

  #refused(call: number, refusing: number, nowMs: number): void {
    const user = this.#calls.user[call] as number;
    const answeredMs = nowMs + refusalMs;
    this.#tell(call, refusing, nowMs);
    const atMs = this.#retryAt(user);
    if (atMs === GIVE_UP) {
      this.tally.gaveUp(user);
      // The wait of a refusal is made up if the log has none, and must not move other calls.
      this.#over(call, Math.min(answeredMs, nowMs + (this.#calls.durationMs[call] as number)));
      return;
    }
    const sendMs = Math.max(atMs, answeredMs);
    this.#attempt[call] = (this.#attempt[call] as number) + 1;
    this.#delayMs[call] = sendMs - answeredMs;
    if (sendMs < this.#endMs) this.#push(sendMs, SEND, call);
  }

  /** Fills in the event of a refusal, as a client is told it. */
  #tell(call: number, refusing: number, nowMs: number): void {
    const [event, numbers] = [this.#event, this.#numbers];
    const handle = this.#calls.handle[call] as number;
    const cost = this.#calls.cost[call] as number;
    const operation = this.#calls.operation[call] as number;
    const { quotas } = this.#operations[operation] as CompiledOperation;
    const [first, next] = this.#toldOf(handle, quotas, refusing, nowMs);
    this.#told.write(numbers, 0, handle, first, "refused", nowMs);
    this.#told.write(numbers, 3, handle, next, "refused", nowMs);
    event.nowMs = nowMs + refusalMs;
    event.cost = this.#told.costOf(operation, first, cost);
    event.userCost = this.#told.costOf(operation, next, cost);
    event.attempt = this.#attempt[call] as number;
    event.wantedMs = this.#wantedMs[call] as number;
    event.delayMs = this.#delayMs[call] as number;
    [event.limit, event.remaining, event.reset] = numbers as unknown as [number, number, number];
    [event.userLimit, event.userRemaining, event.userReset] = [3, 4, 5].map(
      (place) => numbers[place] as number,
    ) as [number, number, number];
    event.retryAfter = this.#isInOrder
      ? this.#resetOf(refusing, first)
      : this.#told.retryAfter(handle, operation, refusing, cost, nowMs);
  }

  /** Returns the reset of the window that refused, among the two told just now, if it advises to wait. */
  #resetOf(refusing: number, first: number): number {
    const reset = this.#numbers[refusing === first ? 2 : 5] as number;
    return this.#told.advises(refusing) ? reset : ABSENT;
  }

  #toldOf(
    handle: number,
    quotas: readonly number[],
    refusing: number,
    nowMs: number,
  ): readonly [number, number] {
    const [broad = NO_QUOTA, narrow = NO_QUOTA] = quotas;
    if (this.#isInOrder) return [broad, narrow];
    const first = this.#told.tightest(handle, quotas, refusing, NO_QUOTA, "refused", nowMs);
    const next = this.#told.tightest(handle, quotas, refusing, first, "refused", nowMs);
    return [first, next === NO_QUOTA ? first : next];
  }

  #retryAt(user: number): number {
    let record = this.#records[user];
    if (record === undefined) {
      record = { ...drawsOf(this.#seed, 0, user) };
      this.#records[user] = record;
    }
    const atMs = this.#policy.retryAt(record, this.#event);
    if (Number.isSafeInteger(atMs)) return atMs;
    const { org, user: name } = this.#callers.users[user] as ReplayCaller;
    throw new SpillwayError("SCENARIO_FAILED", "a caller of this replay failed", {
      problem: {
        path: `${org}/${name} (${this.#policy.name})`,
        got: `a retry at ${atMs}`,
        allowed: "a time in whole ms since the epoch",
      },
      hint: "look at the policy's retryAt",
    });
  }
}
