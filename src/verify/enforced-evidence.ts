// Windows by whether limits were enforced while they were open, once that is known.
import type { Span } from "./clock.ts";
import type { Enforcement } from "./enforcement.ts";
import { addAll, nothingTested, type Tested } from "./evidence.ts";

/**
 * The windows of one organization's scope by whether limits were enforced. A status body that comes later may say that
 * this is not known: windows wait until a later body agrees, or the trace ends.
 */
export class EnforcedEvidence {
  readonly #enforcement: Enforcement;
  readonly #on = nothingTested();
  readonly #off = nothingTested();
  /** Windows in a row that no later body has agreed with, and the span of the last. */
  #waiting = nothingTested();
  #value = true;
  #last: Span | null = null;

  constructor(enforcement: Enforcement) {
    this.#enforcement = enforcement;
  }

  add(value: boolean, span: Span, tested: Tested): void {
    if (this.#enforcement.isConfirmed(value, span.to)) {
      addAll(value ? this.#on : this.#off, tested);
      return;
    }
    if (value !== this.#value) this.#settle();
    this.#value = value;
    this.#last = span;
    addAll(this.#waiting, tested);
  }

  #settle(): void {
    const { from, to } = this.#last ?? { from: 0, to: 0 };
    if (this.#last !== null && this.#enforcement.throughout(from, to) === this.#value)
      addAll(this.#value ? this.#on : this.#off, this.#waiting);
    this.#waiting = nothingTested();
    this.#last = null;
  }

  /** Windows that were surely enforced all the while, and those that surely were not. */
  finish(): { readonly on: Tested; readonly off: Tested } {
    this.#settle();
    return { on: this.#on, off: this.#off };
  }
}
