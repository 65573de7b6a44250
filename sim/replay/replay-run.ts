// The log as it is, under a policy, and beside it the world that refuses nobody. A batch goes through both, step by
// step: short loops are much faster than one that does all for each row.
import type { CompiledOperation } from "../../src/engine/compiled-policy.ts";
import { NONE_REFUSED } from "../../src/engine/policy-core.ts";
import { type LogBatch, type LogRows, type RoutedRows, STATUS_CALL } from "../../src/logs/rows.ts";
import type { QuotaReplayedLog, QuotaReplayResult } from "../../src/summary/quota-replay-result.ts";
import type { ReplayCallers } from "./callers.ts";
import { Completions } from "./completions.ts";
import { ReplayHeadroom } from "./headroom.ts";
import type { KeptRows } from "./kept-rows.ts";
import { RunningCalls } from "./running.ts";
import { ReplayTally } from "./tally.ts";

/** Result of a log as it is. */
export type PlainReplay = Omit<
  QuotaReplayResult,
  "format" | "version" | "interrupted" | "policy" | "demand" | "reaction" | "expectations"
>;

export class ReplayRun {
  rows = 0;
  isKept = true;
  readonly #callers: ReplayCallers;
  readonly #kept: KeptRows;
  /** True if rows are dropped when they are too many; otherwise too many are an error. */
  readonly #letsGo: boolean;
  readonly #tally: ReplayTally;
  readonly #headroom: ReplayHeadroom;
  readonly #completions: Completions;
  readonly #costMost: number;
  // Running calls of each of the two worlds.
  readonly #limited: RunningCalls;
  readonly #unlimited: RunningCalls;
  /** Number of rows by operation. */
  readonly #counts: Float64Array;
  #status = 0;
  #other = 0;
  #firstMs = Number.NaN;
  #nowMs = 0;
  // The calls of a batch: their rows, their callers, and the quotas that refuse them.
  #row = new Int32Array(0);
  #handle = new Int32Array(0);
  #refusing = new Int32Array(0);

  /** @param costMost greatest cost of a call that a quota counts */
  constructor(callers: ReplayCallers, kept: KeptRows, costMost: number, letsGo: boolean) {
    const completions = new Completions(callers.core);
    this.#callers = callers;
    this.#costMost = costMost;
    this.#kept = kept;
    this.#letsGo = letsGo;
    this.#tally = new ReplayTally(callers);
    this.#headroom = new ReplayHeadroom(callers);
    this.#completions = completions;
    const { core } = callers;
    const { width } = completions;
    const own = new Float64Array(width);
    this.#limited = new RunningCalls(width, (handle, operation, cost, actual, windows, at, nowMs) => {
      for (let place = 0; place < width; place++) own[place] = windows[at + place] as number;
      core.settle(handle, operation, cost, actual, own, nowMs);
    });
    this.#unlimited = new RunningCalls(width, this.#headroom.settle.bind(this.#headroom));
    this.#counts = new Float64Array(core.operations.length);
  }

  take(batch: LogBatch): void {
    const calls = this.#callsOf(batch);
    this.#decide(batch, calls);
    this.#ask(batch, calls);
    this.#count(batch, calls);
    if (this.isKept) this.#keep(batch, calls);
    this.rows += batch.count;
  }

  #callsOf({ count, atMs, kind, cost, caller }: LogBatch): number {
    const counts = this.#counts;
    if (count > this.#row.length) {
      this.#row = new Int32Array(count);
      this.#handle = new Int32Array(count);
      this.#refusing = new Int32Array(count);
    }
    if (this.rows === 0 && count > 0) this.#firstMs = atMs[0] as number;
    let lastMs = this.#nowMs;
    let calls = 0;
    for (let row = 0; row < count; row++) {
      const nowMs = atMs[row] as number;
      if (!(nowMs >= lastMs)) throw new RangeError(`a row at ${nowMs} follows one at ${lastMs}`);
      lastMs = nowMs;
      const operation = kind[row] as number;
      if (operation < counts.length && (cost[row] as number) <= this.#costMost) {
        counts[operation] = (counts[operation] as number) + 1;
        this.#row[calls] = row;
        this.#handle[calls] = this.#callers.handle(caller[row] as number, operation);
        calls += 1;
      } else if (operation === STATUS_CALL) this.#status += 1;
      else this.#other += 1;
    }
    this.#nowMs = lastMs;
    return calls;
  }

  /** Decides calls under the policy. */
  #decide({ atMs, kind, cost, actual, durationMs }: LogBatch, calls: number): void {
    const { core } = this.#callers;
    const [running, completions] = [this.#limited, this.#completions];
    for (let call = 0; call < calls; call++) {
      const row = this.#row[call] as number;
      const nowMs = atMs[row] as number;
      const handle = this.#handle[call] as number;
      const operation = kind[row] as number;
      const asked = cost[row] as number;
      if (running.firstMs <= nowMs) running.settleUntil(nowMs);
      const refusing = core.decide(handle, operation, asked, nowMs);
      this.#refusing[call] = refusing;
      if (refusing !== NONE_REFUSED) {
        this.#tally.refuse(handle, operation, asked, refusing, nowMs);
        continue;
      }
      if (completions.changes[operation] !== true) continue;
      const used = completions.actual(operation, asked, actual[row] as number);
      if (!completions.matters(operation, asked, used)) continue;
      const at = running.start(handle, operation, asked, used, endOf(nowMs, durationMs[row] as number));
      const { quotas } = core.operations[operation] as CompiledOperation;
      for (let place = 0; place < quotas.length; place++)
        running.windows[at + place] = core.windowOf(handle, quotas[place] as number);
      // A call that took no time is over before anything else begins.
      if (running.firstMs <= nowMs) running.settleUntil(nowMs);
    }
  }

  /** Notes what calls ask of windows in the world that refuses nobody. */
  #ask({ atMs, kind, cost, actual, durationMs }: LogBatch, calls: number): void {
    const headroom = this.#headroom;
    const [running, completions] = [this.#unlimited, this.#completions];
    for (let call = 0; call < calls; call++) {
      const row = this.#row[call] as number;
      const nowMs = atMs[row] as number;
      const handle = this.#handle[call] as number;
      const operation = kind[row] as number;
      const asked = cost[row] as number;
      if (running.firstMs <= nowMs) running.settleUntil(nowMs);
      headroom.decide(handle, operation, asked, nowMs);
      if (completions.changes[operation] !== true) continue;
      const used = completions.actual(operation, asked, actual[row] as number);
      if (!completions.matters(operation, asked, used)) continue;
      const at = running.start(handle, operation, asked, used, endOf(nowMs, durationMs[row] as number));
      headroom.noteWindows(handle, operation, running.windows, at);
      if (running.firstMs <= nowMs) running.settleUntil(nowMs);
    }
  }

  #count({ atMs, kind, cost, caller, status }: LogBatch, calls: number): void {
    const [callers, tally] = [this.#callers, this.#tally];
    for (let call = 0; call < calls; call++) {
      const row = this.#row[call] as number;
      const user = callers.user(caller[row] as number);
      const refusing = this.#refusing[call] as number;
      tally.add(user, refusing, status[row] as number, atMs[row] as number);
      if (refusing === NONE_REFUSED) tally.charge(kind[row] as number, cost[row] as number);
    }
  }

  #keep(batch: LogBatch, calls: number): void {
    const kept = this.#kept;
    if (this.#letsGo && kept.calls.count + calls > kept.calls.most) {
      this.isKept = false;
      kept.drop();
      return;
    }
    for (let call = 0; call < calls; call++) kept.take(batch, this.#row[call] as number);
  }

  finish(
    files: readonly string[],
    { unread, examples, unplaced, anonymous, notes, unrouted = 0, paths = [] }: LogRows & Partial<RoutedRows>,
  ): PlainReplay {
    this.#limited.settleUntil(Number.MAX_SAFE_INTEGER);
    this.#unlimited.settleUntil(Number.MAX_SAFE_INTEGER);
    this.#headroom.finish();
    const { windows, seen } = this.#tally.refusingWindows();
    const { operations } = this.#callers.core;
    const log: QuotaReplayedLog = {
      files,
      rows: this.rows,
      unread,
      examples: [...examples],
      unplaced,
      anonymous,
      notes: [...notes],
      operations: Object.fromEntries(
        operations.map(({ name }, place) => [name, this.#counts[place] as number]),
      ),
      status: this.#status,
      other: this.#other,
      unrouted,
      paths: [...paths],
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
      counts: this.#headroom.counts(),
      smallestLimits: this.#headroom.smallestLimits(),
      refusingWindows: windows,
      refusingWindowsSeen: seen,
      recorded: this.#tally.recorded.finish(this.#headroom.isCutOff),
    };
  }
}

/** Returns when a call is over; at once if the log has no duration. */
const endOf = (nowMs: number, durationMs: number): number =>
  durationMs >= 1 ? nowMs + Math.round(durationMs) : nowMs;
