// A log under rules: who would have been refused, when, how often; and how large limits would have had to be. Rows
// come in columns and callers are handles, so that nothing is allocated per row.
import { ADMITTED, GRAPHQL, REST, type ScopeIndex } from "../../src/engine/core.ts";
import { type Rules, semanticsOf } from "../../src/rules/rules.ts";
import { pointsMost } from "../../src/scenario/calls.ts";
import { judgeReplay, requireReplayFigures } from "../../src/summary/replay-figures.ts";
import type { ReplayedLog, ReplayResult } from "../../src/summary/replay-result.ts";
import {
  GRAPHQL_CALL,
  type LogBatch,
  type LogRows,
  REST_CALL,
  STATUS_CALL,
} from "../../src/trace/logs/rows.ts";
import { ReplayCallers } from "./callers.ts";
import { reactingCallsMost } from "./calls.ts";
import { DueHeap } from "./due.ts";
import { ReplayHeadroom } from "./headroom.ts";
import { putBack } from "./put-back.ts";
import { KeptRows, type Reaction } from "./reaction.ts";
import { ReplayTally } from "./tally.ts";

export interface ReplayOptions {
  /** As the log is called, for the result. */
  readonly files?: readonly string[];
  /** Bounds by figure, `{refusedShare: "<1%"}`; of callers that react where there is a reaction. */
  readonly expect?: Readonly<Record<string, string>>;
  /** The reaction of callers that are refused; where it is left out the log is replayed as it is alone. */
  readonly reaction?: Reaction | undefined;
  /** Once it is aborted nothing more is read; what was read is told. */
  readonly signal?: { readonly aborted: boolean } | undefined;
  /** Told after each batch; what it returns is waited for. */
  readonly onProgress?: ((progress: ReplayProgress) => void | Promise<void>) | undefined;
}

export interface ReplayProgress {
  /** Rows replayed so far; or, while callers react, calls of `of` that are settled. */
  readonly rows: number;
  /** Their number; `null` while the log is read. */
  readonly of: number | null;
}

/**
 * Replays a log under rules (SPEC.md §2): each call is decided when the log says it began. Status calls are free;
 * what no quota counts, queries above 50,000 points among them, is passed over. A query holds or is charged its
 * requested points, and is settled when the log says that it was over, by the actual points where the log has them.
 *
 * With a `reaction` the same calls are replayed once more by callers that do something about a refusal
 * (`ReplayResult.reaction`); for this all calls are kept in memory.
 *
 * @param log rows in the order of `atMs`
 * @throws SpillwayError `SCENARIO_INVALID` where an expectation cannot be read; `USAGE` where callers are to react and
 *   the log is too long for it; what reading the log throws
 * @throws RangeError where rows go back in time, or a number is none
 *
 * @example
 * const { totals, smallestLimits } = await replay(log, parseRules({}));
 */
export async function replay(log: LogRows, rules: Rules, options: ReplayOptions = {}): Promise<ReplayResult> {
  const { files = [], expect = {}, signal, onProgress } = options;
  requireReplayFigures(expect);
  const callers = new ReplayCallers(rules, log.callers);
  const most = options.reaction === undefined ? demandRowsMost : reactingCallsMost;
  const kept = new KeptRows(rules, log.callers, most);
  const run = new ReplayRun(rules, callers, kept, options.reaction === undefined);
  let interrupted = false;
  for await (const batch of log.batches) {
    run.take(batch);
    await onProgress?.({ rows: run.rows, of: null });
    interrupted = signal?.aborted === true;
    if (interrupted) break;
  }
  const plain = run.finish(files, log);
  const isWhole = !interrupted && run.isKept;
  const demand =
    isWhole && (plain.recorded?.refused ?? 0) > 0 ? putBack(kept.calls, kept.callers, rules) : null;
  const reaction =
    options.reaction === undefined || interrupted
      ? null
      : await kept.react(options.reaction, onProgress, signal);
  interrupted ||= signal?.aborted === true;
  const result = {
    format: "spillway-replay",
    version: 1,
    ...plain,
    interrupted,
    rules,
    demand,
    reaction,
  } as const;
  return { ...result, expectations: judgeReplay(expect, result) };
}

/** The demand of a log of more rows is not put back, unless callers are to react. */
export const demandRowsMost = 1_000_000;

/** A query that is not settled yet. */
interface Running {
  user: number;
  cost: number;
  actual: number;
  admitted: boolean;
  organizationWindow: number;
  userWindow: number;
  /** In the world that refuses nobody. */
  demandOrganizationWindow: number;
  demandUserWindow: number;
}

/** The log as it is, under the rules; and beside it the world that refuses nobody. */
class ReplayRun {
  rows = 0;
  readonly #callers: ReplayCallers;
  readonly #kept: KeptRows;
  /** True if rows are let go where they are too many; else too many are an error. */
  readonly #letsGo: boolean;
  isKept = true;
  readonly #tally: ReplayTally;
  readonly #headroom: ReplayHeadroom;
  readonly #charge: "reserved" | "prepaid" | "postpaid";
  readonly #due = new DueHeap();
  readonly #running: Running[] = [];
  readonly #free: number[] = [];
  readonly #kinds = { rest: 0, graphql: 0, status: 0, other: 0 };
  #firstMs = Number.NaN;
  #nowMs = 0;

  constructor(rules: Rules, callers: ReplayCallers, kept: KeptRows, letsGo: boolean) {
    this.#callers = callers;
    this.#kept = kept;
    this.#letsGo = letsGo;
    this.#tally = new ReplayTally(callers);
    this.#headroom = new ReplayHeadroom(rules, callers);
    this.#charge = semanticsOf(rules, "graphql").graphqlCharge;
  }

  take(batch: LogBatch): void {
    const { count, atMs, kind, cost } = batch;
    const kinds = this.#kinds;
    if (this.rows === 0 && count > 0) this.#firstMs = atMs[0] as number;
    for (let row = 0; row < count; row++) {
      const nowMs = atMs[row] as number;
      if (!(nowMs >= this.#nowMs)) throw new RangeError(`a row at ${nowMs} follows one at ${this.#nowMs}`);
      this.#nowMs = nowMs;
      if (kind[row] === REST_CALL) {
        kinds.rest += 1;
        this.#call(batch, row, REST, 1, nowMs);
      } else if (kind[row] === GRAPHQL_CALL && (cost[row] as number) <= pointsMost) {
        kinds.graphql += 1;
        this.#query(batch, row, cost[row] as number, nowMs);
      } else if (kind[row] === STATUS_CALL) kinds.status += 1;
      else kinds.other += 1;
    }
    this.rows += count;
  }

  /** @returns whether it was admitted */
  #call(batch: LogBatch, row: number, scope: ScopeIndex, cost: number, nowMs: number): boolean {
    const callers = this.#callers;
    const user = callers.user(batch.caller[row] as number);
    if (this.#due.firstMs <= nowMs) this.#settleUntil(nowMs);
    const outcome = callers.core.decide(user, scope, cost, nowMs);
    this.#headroom.decide(user, callers.organizationOf(user), scope, cost, nowMs);
    this.#tally.add(user, scope, cost, outcome, batch.status[row] as number, nowMs);
    if (this.isKept) this.#keep(batch, row, scope);
    return outcome === ADMITTED;
  }

  #keep(batch: LogBatch, row: number, scope: ScopeIndex): void {
    const { calls } = this.#kept;
    if (!this.#letsGo || calls.count < calls.most) this.#kept.take(batch, row, scope);
    else {
      this.isKept = false;
      this.#kept.drop();
    }
  }

  #query(batch: LogBatch, row: number, cost: number, nowMs: number): void {
    const admitted = this.#call(batch, row, GRAPHQL, cost, nowMs);
    const user = this.#callers.user(batch.caller[row] as number);
    this.#run(user, cost, batch.actual[row] as number, admitted, batch.durationMs[row] as number);
  }

  /** A query runs; where it has nothing to settle, or the log does not say how long it took, not at all. */
  #run(user: number, cost: number, known: number, admitted: boolean, durationMs: number): void {
    const actual = known < 0 ? cost : Math.min(known, cost);
    if (this.#charge === "prepaid" || (this.#charge === "reserved" && actual === cost)) return;
    const item = this.#free.pop() ?? this.#running.push(emptyRunning()) - 1;
    const running = this.#running[item] as Running;
    running.user = user;
    running.cost = cost;
    running.actual = actual;
    running.admitted = admitted;
    running.organizationWindow = this.#callers.core.windowOf("organization", user, GRAPHQL);
    running.userWindow = this.#callers.core.windowOf("user", user, GRAPHQL);
    running.demandOrganizationWindow = this.#headroom.windowOf(
      "organization",
      this.#callers.organizationOf(user),
    );
    running.demandUserWindow = this.#headroom.windowOf("user", user);
    if (durationMs >= 1) this.#due.push(this.#nowMs + Math.round(durationMs), item);
    else this.#settle(item, this.#nowMs);
  }

  /** Settles the calls that are over when another one begins: they were over before it. */
  #settleUntil(nowMs: number): void {
    while (this.#due.firstMs <= nowMs) {
      const atMs = this.#due.firstMs;
      this.#settle(this.#due.pop(), atMs);
    }
  }

  #settle(item: number, nowMs: number): void {
    const running = this.#running[item] as Running;
    const { user, cost, actual, organizationWindow, userWindow } = running;
    if (running.admitted)
      this.#callers.core.settle(user, cost, actual, organizationWindow, userWindow, nowMs);
    const { demandOrganizationWindow, demandUserWindow } = running;
    this.#headroom.settle(user, cost, actual, demandOrganizationWindow, demandUserWindow, nowMs);
    this.#free.push(item);
  }

  finish(
    files: readonly string[],
    { unread, examples, unplaced }: LogRows,
  ): Omit<
    ReplayResult,
    "format" | "version" | "interrupted" | "rules" | "demand" | "reaction" | "expectations"
  > {
    this.#settleUntil(Number.MAX_SAFE_INTEGER);
    this.#headroom.finish();
    const { windows, seen } = this.#tally.refusingWindows();
    const log: ReplayedLog = {
      files,
      rows: this.rows,
      unread,
      examples: [...examples],
      unplaced,
      ...this.#kinds,
      firstAt: this.rows === 0 ? null : this.#firstMs,
      lastAt: this.rows === 0 ? null : this.#nowMs,
    };
    return {
      log,
      totals: this.#tally.totals(),
      slotMs: this.#tally.slots.widthMs,
      slots: this.#tally.slots.finish(),
      users: this.#tally.users(this.#headroom),
      headroom: this.#headroom.headroom(),
      organizations: this.#headroom.organizations(),
      smallestLimits: this.#headroom.smallestLimits(),
      refusingWindows: windows,
      refusingWindowsSeen: seen,
      recorded: this.#tally.recorded(),
    };
  }
}

const emptyRunning = (): Running => ({
  user: 0,
  cost: 0,
  actual: 0,
  admitted: false,
  organizationWindow: 0,
  userWindow: 0,
  demandOrganizationWindow: 0,
  demandUserWindow: 0,
});
