// Evidence of windows by whether limits were enforced while they were open, once that is known.
import type { Enforcement } from "./enforcement.ts";
import { addAll, addWindow, nothingTested, type Tested } from "./evidence.ts";

/**
 * Windows of one organization's scope by whether limits were enforced. A later status body may make that unknown, so
 * that windows wait until a later body agrees or the trace ends.
 */
export class EnforcedEvidence {
  readonly #enforcement: Enforcement;
  readonly #on = nothingTested();
  readonly #off = nothingTested();
  /** Evidence of windows in a row that no later body has confirmed, and the span of the last one. */
  #waiting = nothingTested();
  #value = true;
  #from = 0;
  #to = 0;
  #isWaiting = false;

  constructor(enforcement: Enforcement) {
    this.#enforcement = enforcement;
  }

  /** Adds a window from its opening to its end, with what it tests. */
  add(value: boolean, from: number, to: number, readings: number, refusals: number, isNext: boolean): void {
    if (this.#enforcement.isConfirmed(value, to)) {
      addWindow(value ? this.#on : this.#off, readings, refusals, isNext);
      return;
    }
    if (value !== this.#value) this.#settle();
    this.#value = value;
    this.#from = from;
    this.#to = to;
    this.#isWaiting = true;
    addWindow(this.#waiting, readings, refusals, isNext);
  }

  #settle(): void {
    if (this.#isWaiting && this.#enforcement.throughout(this.#from, this.#to) === this.#value)
      addAll(this.#value ? this.#on : this.#off, this.#waiting);
    this.#waiting = nothingTested();
    this.#isWaiting = false;
  }

  /** Returns the evidence of windows that were surely enforced throughout, and of windows that surely were not. */
  finish(): { readonly on: Tested; readonly off: Tested } {
    this.#settle();
    return { on: this.#on, off: this.#off };
  }
}
