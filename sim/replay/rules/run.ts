// The log as it is, under rules; and beside it the world that refuses nobody. It is the policy's run with columns of its
// own for two owners and two scopes: of ten million rows it takes a fifth less time than `../replay-run.ts`.
import { ADMITTED, GRAPHQL, REST, type ScopeIndex } from "../../../src/engine/core.ts";
import { GRAPHQL_CALL, type LogBatch, type LogRows, REST_CALL, STATUS_CALL } from "../../../src/logs/rows.ts";
import { type Rules, semanticsOf } from "../../../src/rules/rules.ts";
import { pointsMost } from "../../../src/scenario/calls.ts";
import type { ReplayedLog, ReplayResult } from "../../../src/summary/replay-result.ts";
import { DueHeap } from "../due.ts";
import type { KeptRows } from "../reaction.ts";
import type { RulesCallers } from "./callers.ts";
import { RulesHeadroom } from "./headroom.ts";
import { RulesTally } from "./tally.ts";

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

export class RulesRun {
  rows = 0;
  readonly #callers: RulesCallers;
  readonly #kept: KeptRows;
  /** True if rows are let go where they are too many; else too many are an error. */
  readonly #letsGo: boolean;
  isKept = true;
  readonly #tally: RulesTally;
  readonly #headroom: RulesHeadroom;
  readonly #charge: "reserved" | "prepaid" | "postpaid";
  readonly #due = new DueHeap();
  readonly #running: Running[] = [];
  readonly #free: number[] = [];
  readonly #kinds = { rest: 0, graphql: 0, status: 0, other: 0 };
  #firstMs = Number.NaN;
  #nowMs = 0;

  constructor(rules: Rules, callers: RulesCallers, kept: KeptRows, letsGo: boolean) {
    this.#callers = callers;
    this.#kept = kept;
    this.#letsGo = letsGo;
    this.#tally = new RulesTally(callers);
    this.#headroom = new RulesHeadroom(rules, callers);
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
    if (this.isKept) this.#keep(batch, row);
    return outcome === ADMITTED;
  }

  #keep(batch: LogBatch, row: number): void {
    const { calls } = this.#kept;
    if (!this.#letsGo || calls.count < calls.most) this.#kept.take(batch, row);
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
      slots: this.#tally.slots
        .finish()
        .map(({ atMs, calls, refusedBy: [byOrganization = 0, byUser = 0] }) => ({
          atMs,
          calls,
          refusedByOrganization: byOrganization,
          refusedByUser: byUser,
        })),
      users: this.#tally.users(this.#headroom),
      headroom: this.#headroom.headroom(),
      organizations: this.#headroom.organizations(),
      smallestLimits: this.#headroom.smallestLimits(),
      refusingWindows: windows,
      refusingWindowsSeen: seen,
      recorded: this.#tally.recorded.finish(),
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
