// Refusals that a log tells beside those of its replay, row by row.
import type { RecordedRefusals } from "../../src/summary/replay-result.ts";
import { isRefusal } from "../../src/wire/outcome.ts";

export class RecordedTally {
  #calls = 0;
  #refused = 0;
  #both = 0;
  #onlyInReplay = 0;

  /** @param status the log's */
  add(status: number, isRefusedHere: boolean): void {
    const isRefusedInLog = isRefusal(status);
    this.#calls += 1;
    if (isRefusedInLog) this.#refused += 1;
    if (isRefusedInLog && isRefusedHere) this.#both += 1;
    if (!isRefusedInLog && isRefusedHere) this.#onlyInReplay += 1;
  }

  /** `null` where no row had a status. */
  finish(): RecordedRefusals | null {
    const [calls, refused, both, onlyInReplay] = [this.#calls, this.#refused, this.#both, this.#onlyInReplay];
    return calls === 0 ? null : { calls, refused, both, onlyInLog: refused - both, onlyInReplay };
  }
}
