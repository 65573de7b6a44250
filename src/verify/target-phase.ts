// The phase at which windows of one short length end, on the clients' clock. An answer shows a window's end only within
// a second and its own duration: too wide to tell windows of 2 s apart. But on the epoch's grid all windows end at one
// phase of their length, whichever quota they are of. Each answer narrows it.
import { driftShare, type Span } from "./clock.ts";

/** Greatest length of windows with a phase, ms: longer windows are told apart by each answer alone. */
export const phasedMsMost = 5000;

export class TargetPhase {
  readonly #lengthMs: number;
  /** End of one window, as far as it is known; `null` before the first answer. */
  #end: { from: number; to: number } | null = null;
  #at = 0;
  #isLost = false;

  constructor(lengthMs: number) {
    this.#lengthMs = lengthMs;
  }

  /**
   * Narrows the end that an answer shows, and learns from it.
   * @param at receipt of the answer: the target's clock may have drifted since the last one
   */
  narrow(shown: Span, at: number): Span {
    if (this.#isLost || shown.to - shown.from >= this.#lengthMs) return shown;
    const known = this.#end;
    if (known === null) {
      this.#end = { from: shown.from, to: shown.to };
      this.#at = at;
      return shown;
    }
    const drift = (Math.abs(at - this.#at) + 2 * this.#lengthMs) * driftShare;
    const all = this.#meetings({ from: known.from - drift, to: known.to + drift }, shown);
    const [end] = all;
    if (end === undefined) {
      // The target's clock jumped, or its nodes differ. Other laws accuse that.
      this.#isLost = true;
      return shown;
    }
    if (all.length > 1) return shown;
    this.#end = end;
    this.#at = at;
    return end;
  }

  /** Returns the ends in a span that lie whole lengths from a known one. */
  #meetings(known: Span, { from, to }: Span): Span[] {
    const length = this.#lengthMs;
    const found: Span[] = [];
    for (let turn = Math.ceil((from - known.to) / length); known.from + turn * length <= to; turn++)
      found.push({
        from: Math.max(from, known.from + turn * length),
        to: Math.min(to, known.to + turn * length),
      });
    return found;
  }
}
