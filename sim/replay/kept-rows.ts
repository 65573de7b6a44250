// Rows of a log that quotas count, kept in memory, and what is read from them together.
import type { LogBatch, LogCaller } from "../../src/logs/rows.ts";
import type { Policy } from "../../src/policy/policy.ts";
import { isRefusal } from "../../src/wire/outcome.ts";
import { ReplayCallers } from "./callers.ts";
import { ReplayCalls } from "./calls.ts";
import { clockedCalls } from "./clocked.ts";
import { Completions } from "./completions.ts";
import { type UntoldAs, type Wishes, wishesIn } from "./wishes.ts";

export class KeptRows {
  readonly callers: ReplayCallers;
  calls: ReplayCalls;
  readonly #completions: Completions;
  readonly #clocked = new WeakMap<ReplayCalls, Uint8Array>();
  #wishesBy: ((untoldAs: UntoldAs) => Wishes) | null = null;
  #told: Wishes | null = null;

  /** @param most greatest number of rows */
  constructor(policy: Policy, log: readonly LogCaller[], most: number) {
    this.callers = new ReplayCallers(policy, log);
    this.#completions = new Completions(this.callers.core);
    this.calls = new ReplayCalls(most);
  }

  /** @throws SpillwayError `USAGE` if there are too many calls */
  take(batch: LogBatch, row: number): void {
    const caller = batch.caller[row] as number;
    const operation = batch.kind[row] as number;
    const cost = batch.cost[row] as number;
    const handle = this.callers.handle(caller, operation);
    this.calls.push(
      batch.atMs[row] as number,
      batch.durationMs[row] as number,
      this.callers.user(caller),
      handle,
      operation,
      cost,
      this.#completions.actual(operation, cost, batch.actual[row] as number),
      isRefusal(batch.status[row] as number),
      batch.attempt?.[row],
      batch.wantedMs?.[row],
    );
  }

  drop(): void {
    this.calls = new ReplayCalls(0);
  }

  /** Returns the wishes of all rows by one reading. Ask only once all rows are taken. */
  wishes(untoldAs: UntoldAs): Wishes {
    this.#wishesBy ??= wishesIn(this.calls, this.callers);
    if (untoldAs !== "none") return this.#wishesBy(untoldAs);
    this.#told ??= this.#wishesBy("none");
    return this.#told;
  }

  /** Returns the marks of `clockedCalls`, found once for each reading of the rows. */
  clockedOf({ calls, untoldUsers }: Wishes): Uint8Array {
    const marks = this.#clocked.get(calls) ?? clockedCalls(calls, this.callers, untoldUsers);
    this.#clocked.set(calls, marks);
    return marks;
  }
}
