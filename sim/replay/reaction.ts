// A log with callers that do something about a refusal: each call is wanted when the log has it, or, where its caller
// waited for an answer, as long after that answer as in the log; so a call that has to wait moves those behind it.
import {
  ADMITTED,
  emptyReading,
  GRAPHQL,
  type Outcome,
  REFUSED_BY_ORGANIZATION,
  REST,
  type ScopeIndex,
} from "../../src/engine/core.ts";
import { SpillwayError } from "../../src/rules/errors.ts";
import { type Rules, type Scope, scopes } from "../../src/rules/rules.ts";
import {
  ABSENT,
  ANSWERED,
  type ClientRecord,
  createEvent,
  GIVE_UP,
  type RefusalPolicy,
} from "../../src/scenario/client.ts";
import { seedRandom } from "../../src/scenario/random.ts";
import type { ReplayReaction } from "../../src/summary/replay-result.ts";
import type { LogBatch, LogCaller } from "../../src/trace/logs/rows.ts";
import { isRefusal, REFUSED } from "../../src/wire/outcome.ts";
import { EventQueue, NOTHING } from "../event-queue.ts";
import { ReplayCallers, type ReplayOwner } from "./callers.ts";
import { type Chains, chained, NONE, ReplayCalls, unchained } from "./calls.ts";
import { ReactionTally } from "./reaction-tally.ts";
import type { ReplayProgress } from "./replay.ts";
import { wishesOf } from "./wishes.ts";

/** The reaction of callers to a refusal. */
export interface Reaction {
  readonly onRefused: RefusalPolicy;
  /** As it was asked for, for the result; the policy's name where it is left out. */
  readonly words?: string;
  /** Of the policy's draws; 1 where it is left out. */
  readonly seed?: number;
  /** Callers send each call when the log has it, whatever became of those before. */
  readonly independent?: boolean;
  /**
   * True if each row that the log says was refused is a wish of its own. Where it is left out a refused row and its
   * retries are one wish, as far as that can be told.
   */
  readonly keepRefused?: boolean;
}

// The events of a call: an event is one of these, and the call's place times 2.
const SEND = 0;
/** An admitted call is over. */
const END = 1;

/** A refusal takes this long to reach its caller: no log says, and at no time at all a caller could retry for ever. */
const refusalMs = 1;
/** Calls that are not through are given up when the log's span has passed once more, and this at least. */
const drainLeastMs = 3_600_000;
/** So many events happen before the rest of the process has its turn. */
const turn = 100_000;

/** Rows of a log that quotas count, kept in memory. */
export class KeptRows {
  readonly callers: ReplayCallers;
  calls: ReplayCalls;
  readonly #rules: Rules;

  /** @param most rows at most */
  constructor(rules: Rules, log: readonly LogCaller[], most: number) {
    this.#rules = rules;
    this.callers = new ReplayCallers(rules, log);
    this.calls = new ReplayCalls(most);
  }

  /** @throws SpillwayError `USAGE` where there are too many calls */
  take(batch: LogBatch, row: number, scope: ScopeIndex): void {
    const cost = scope === REST ? 1 : (batch.cost[row] as number);
    const known = batch.actual[row] as number;
    const user = this.callers.user(batch.caller[row] as number);
    const actual = known < 0 ? cost : Math.min(known, cost);
    const [atMs, durationMs] = [batch.atMs[row] as number, batch.durationMs[row] as number];
    this.calls.push(atMs, durationMs, user, scope, cost, actual, isRefusal(batch.status[row] as number));
  }

  /** Lets go of all rows. */
  drop(): void {
    this.calls = new ReplayCalls(0);
  }

  /** Runs the calls once more, with callers that react. */
  async react(
    reaction: Reaction,
    onProgress: ((progress: ReplayProgress) => void | Promise<void>) | undefined,
    signal: { readonly aborted: boolean } | undefined,
  ): Promise<ReplayReaction> {
    const {
      onRefused,
      words = onRefused.name,
      seed = 1,
      independent = false,
      keepRefused = false,
    } = reaction;
    const { calls, retries, untold } = keepRefused
      ? { calls: this.calls, retries: 0, untold: 0 }
      : wishesOf(this.calls, this.callers, this.#rules, false);
    const run = new ReactingRun(this.#rules, this.callers, calls, reaction);
    while (run.happen(turn)) {
      await onProgress?.({ rows: run.settled, of: calls.count });
      if (signal?.aborted === true) break;
    }
    return { onRefused: words, seed, independent, retries, leftOut: untold, ...run.tally.finish() };
  }
}

class ReactingRun {
  readonly tally: ReactionTally;
  readonly #rules: Rules;
  readonly #callers: ReplayCallers;
  readonly #calls: ReplayCalls;
  readonly #chains: Chains;
  readonly #policy: RefusalPolicy;
  readonly #seed: number;
  readonly #queue = new EventQueue(0);
  /** By user; made when the first call is refused. */
  readonly #records: (ClientRecord | undefined)[] = [];
  readonly #startMs: number;
  readonly #endMs: number;
  /** The next call that waits for none. */
  #free = 0;
  // Of each call: when it was first due, what the policy chose last, and which try it is.
  readonly #wantedMs: Float64Array;
  readonly #delayMs: Float64Array;
  readonly #attempt: Int32Array;
  /** The windows of queries that run, two a call. */
  readonly #windows: Float64Array;
  // Filled in again for each refusal.
  readonly #event = createEvent();
  readonly #broad = emptyReading();
  readonly #narrow = emptyReading();

  constructor(rules: Rules, callers: ReplayCallers, calls: ReplayCalls, reaction: Reaction) {
    const { count, scope, atMs } = calls;
    this.#rules = rules;
    this.#callers = callers;
    this.#calls = calls;
    this.#chains = reaction.independent === true ? unchained(calls) : chained(calls);
    this.#policy = reaction.onRefused;
    this.#seed = reaction.seed ?? 1;
    this.#startMs = atMs[0] ?? 0;
    const spanMs = (atMs[count - 1] ?? 0) - this.#startMs;
    this.#endMs = this.#startMs + spanMs + Math.max(spanMs, drainLeastMs);
    this.#wantedMs = new Float64Array(count);
    this.#delayMs = new Float64Array(count);
    this.#attempt = new Int32Array(count);
    this.#windows = new Float64Array(scope.subarray(0, count).includes(GRAPHQL) ? 2 * count : 0);
    this.tally = new ReactionTally(callers, calls);
    this.#event.kind = ANSWERED;
    this.#event.status = REFUSED;
    this.#event.endMs = this.#endMs;
    this.#sendNextFree();
  }

  /** Calls whose fate is known. */
  get settled(): number {
    return this.tally.settled;
  }

  /** Goes on for so many events; `false` where nothing is left. */
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

  /** Calls that wait for none are in order of time already: one is scheduled when the one before it is sent. */
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
    const user = this.#calls.user[call] as number;
    const scope = this.#calls.scope[call] === REST ? REST : GRAPHQL;
    const outcome = core.decide(user, scope, this.#calls.cost[call] as number, nowMs);
    this.tally.attempt(user, outcome, nowMs);
    if (outcome !== ADMITTED) {
      this.#refused(call, scope, outcome, nowMs);
      return;
    }
    if (scope === GRAPHQL) {
      this.#windows[2 * call] = core.windowOf("organization", user, GRAPHQL);
      this.#windows[2 * call + 1] = core.windowOf("user", user, GRAPHQL);
    }
    this.tally.admitted(call, nowMs - (this.#wantedMs[call] as number), (this.#attempt[call] as number) > 0);
    this.#push(nowMs + (this.#calls.durationMs[call] as number), END, call);
  }

  #end(call: number): void {
    const nowMs = this.#nowMs;
    const { user, cost, actual, scope } = this.#calls;
    if (scope[call] === GRAPHQL)
      this.#callers.core.settle(
        user[call] as number,
        cost[call] as number,
        actual[call] as number,
        this.#windows[2 * call] as number,
        this.#windows[2 * call + 1] as number,
        nowMs,
      );
    this.#over(call, nowMs);
  }

  /** A call is over, one way or another: those that waited for it are wanted as long after it as in the log. */
  #over(call: number, atMs: number): void {
    this.tally.over(call, atMs);
    const { firstReleased, next } = this.#chains;
    const endedMs = this.#calls.endMs(call);
    for (let one = firstReleased[call] ?? NONE; one !== NONE; one = next[one] ?? NONE)
      this.#want(one, atMs + (this.#calls.atMs[one] as number) - endedMs);
  }

  #refused(call: number, scope: ScopeIndex, outcome: Outcome, nowMs: number): void {
    const user = this.#calls.user[call] as number;
    const answeredMs = nowMs + refusalMs;
    this.#tell(call, user, scope, outcome, nowMs);
    const atMs = this.#retryAt(user);
    if (atMs === GIVE_UP) {
      this.tally.gaveUp(user);
      // Nothing may move because of a duration that is made up where the log has none.
      this.#over(call, Math.min(answeredMs, nowMs + (this.#calls.durationMs[call] as number)));
      return;
    }
    const sendMs = Math.max(atMs, answeredMs);
    this.#attempt[call] = (this.#attempt[call] as number) + 1;
    this.#delayMs[call] = sendMs - answeredMs;
    if (sendMs < this.#endMs) this.#push(sendMs, SEND, call);
  }

  /** The event of a refusal, as a client is told. */
  #tell(call: number, user: number, scope: ScopeIndex, outcome: Outcome, nowMs: number): void {
    const { core } = this.#callers;
    const [event, broad, narrow] = [this.#event, this.#broad, this.#narrow];
    core.readOrganization(this.#callers.organizationOf(user), scope, nowMs, broad);
    core.readUser(user, scope, nowMs, narrow);
    event.nowMs = nowMs + refusalMs;
    event.cost = this.#calls.cost[call] as number;
    event.attempt = this.#attempt[call] as number;
    event.wantedMs = this.#wantedMs[call] as number;
    event.delayMs = this.#delayMs[call] as number;
    event.limit = broad.limit;
    event.remaining = broad.remaining;
    event.reset = broad.reset;
    event.userLimit = narrow.limit;
    event.userRemaining = narrow.remaining;
    event.userReset = narrow.reset;
    const refusing = outcome === REFUSED_BY_ORGANIZATION ? broad : narrow;
    const sends = this.#rules.semantics.retryAfter[scopes[scope] as Scope];
    event.retryAfter = sends ? refusing.reset : ABSENT;
  }

  #retryAt(user: number): number {
    let record = this.#records[user];
    if (record === undefined) {
      record = { random0: 0, random1: 0, random2: 0, random3: 0 };
      seedRandom(record, this.#seed, 0, user);
      this.#records[user] = record;
    }
    const atMs = this.#policy.retryAt(record, this.#event);
    if (Number.isSafeInteger(atMs)) return atMs;
    const { org, user: name } = this.#callers.users[user] as ReplayOwner;
    throw new SpillwayError("SCENARIO_FAILED", "a caller of this replay failed", {
      problems: [
        {
          path: `${org}/${name} (${this.#policy.name})`,
          got: `a retry at ${atMs}`,
          allowed: "a time in whole ms since the epoch",
        },
      ],
      hint: "look at the policy's retryAt",
    });
  }
}
