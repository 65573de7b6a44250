// Steps back of a log's clock: local time at the end of summer time, a clock that is set, logs put one behind the other.
// Rows of long requests and of several writers also stand behind later ones, but time then jumps forward again.
import { count } from "../rules/words.ts";

/** Least step that is told, ms. */
const stepLeastMs = 2000;
/** Number of rows in order that must stand behind a step. */
const rowsLeast = 3;
/** Number of such rows after which time need not come to where it was. */
const rowsEnough = 1000;
/** Most steps of a file that are told: nobody sets a clock so often, so that more are its writers' disorder. */
const stepsMost = 5;

interface ClockStep {
  /** Line of the first row behind the step. */
  readonly line: number;
  /** Latest time before the step, and the first one behind it, ms. */
  readonly fromMs: number;
  readonly toMs: number;
}

/** Watches the times of a file's rows, in the order of its lines. */
export class ClockSteps {
  readonly #steps: ClockStep[] = [];
  #latestMs = Number.NEGATIVE_INFINITY;
  /** Step that further rows have to confirm; the latest time behind it; numbers of rows in order and out of it. */
  #open: ClockStep | null = null;
  #behindMs = 0;
  #inOrder = 0;
  #outOfOrder = 0;

  /** Takes in the time that a row shows. */
  add(ms: number, line: number): void {
    if (this.#open !== null && this.#isBehind(this.#open, ms)) return;
    if (ms < this.#latestMs - stepLeastMs) {
      this.#open = { line, fromMs: this.#latestMs, toMs: ms };
      this.#behindMs = ms;
      [this.#inOrder, this.#outOfOrder] = [1, 0];
    } else if (ms > this.#latestMs) this.#latestMs = ms;
  }

  /** Tells whether a row stands behind the open step; settles the step if it does not. */
  #isBehind(step: ClockStep, ms: number): boolean {
    if (ms < this.#behindMs - stepLeastMs) this.#outOfOrder += 1;
    else if (ms < step.fromMs) {
      this.#inOrder += 1;
      if (ms > this.#behindMs) this.#behindMs = ms;
    } else {
      // A clock that was set back comes to the old time by and by. Rows of another writer jump back to it.
      if (ms - this.#behindMs <= (step.fromMs - step.toMs) / 2) this.#settle(step);
      this.#open = null;
      return false;
    }
    if (this.#inOrder >= rowsEnough) {
      this.#settle(step);
      this.#latestMs = this.#behindMs;
      this.#open = null;
    }
    return true;
  }

  /** Keeps a step if enough rows behind it are in order. */
  #settle(step: ClockStep): void {
    if (this.#inOrder >= rowsLeast && 4 * this.#outOfOrder <= this.#inOrder) this.#steps.push(step);
  }

  /** Returns words on each step. Call it once, behind the last row. @param file name of the log */
  notes(file: string): string[] {
    if (this.#open !== null) this.#settle(this.#open);
    if (this.#steps.length > stepsMost) return [];
    return this.#steps.map(({ line, fromMs, toMs }) => {
      const back = `${count(Math.round((fromMs - toMs) / 1000))} s`;
      return `Times go back by ${back} at ${file}:${line}, from ${new Date(fromMs).toISOString()} on. If a clock was set back, calls before and behind are read as of the same time.`;
    });
  }
}
