// Compares a log's refusals with those of its replay, row by row.
import type { RecordedRefusals } from "../../src/summary/replay-result.ts";
import { isRefusal } from "../../src/wire/outcome.ts";

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
