// One window of which a client knows every charge: its last reading, its end, and what it may show next.

/** Claimed rules of a window; `null` for what nobody claims. */
export interface WindowTerms {
  /** Names of its headers. */
  readonly names: Readonly<Record<"remaining" | "reset", string>>;
  readonly reset: "ceil" | "floor" | "round" | null;
  /** `false` also if the anchor is unknown. */
  readonly isEpoch: boolean;
  readonly isSigned: boolean | null;
  readonly windowSeconds: number | null;
}

/** Reading of a window. It was taken between `sentMs` and `receivedMs`, ms on the client's clock. */
export interface WindowShown {
  readonly limit: number;
  readonly remaining: number;
  readonly reset: number;
  readonly sentMs: number;
  readonly receivedMs: number;
}

/** Effect of a call on the window, as far as it is known. */
export interface LoneCharge {
  readonly by: "admitted" | "refused" | "status" | "body" | "other";
  /** Bounds of the points that were added (for REST: of the calls). */
  readonly least: number;
  readonly most: number;
  /** Points that had to be left for the call to be admitted; 0 if unknown. */
  readonly needs: number;
  /** True if the window may have rolled between decision and reading, so that it shows nothing of this call. */
  readonly mayRoll: boolean;
}

/** Span of ms on the client's clock, or of counts. */
export interface LoneSpan {
  readonly least: number;
  readonly most: number;
}

/** Slack of clocks, which are read in whole ms and drift apart by at most 100 ppm (FORMAT.md, "The verdict"). */
export const slackMs = 2;
export const drift = 1e-4;

export class LoneWindow {
  readonly #terms: WindowTerms;
  #limit = Number.NaN;
  #remaining = Number.NaN;
  /** End of the window that was shown last; `null` if no window is known to have been open. */
  #end: LoneSpan | null = null;
  #resetAtMs = Number.NaN;

  constructor(terms: WindowTerms) {
    this.#terms = terms;
  }

  forget(): void {
    this.#limit = Number.NaN;
    this.#end = null;
    this.#resetAtMs = Number.NaN;
  }

  /** Returns the mistake in a reading, or `null`. Later readings are compared with this one. */
  read(shown: WindowShown, charge: LoneCharge): string | null {
    const last = { limit: this.#limit, remaining: this.#remaining, end: this.#end };
    const end = this.#endOf(shown);
    const isSame = last.end !== null && shown.receivedMs + 1 < last.end.least;
    const isNew = last.end !== null && shown.sentMs > last.end.most;
    const known = isSame ? last.end : null;
    const isMoved = known !== null && end !== null && apart(end, known);
    this.#limit = shown.limit;
    this.#remaining = shown.remaining;
    this.#end = known !== null && end !== null && !isMoved ? both(end, known) : end;
    if (!isSame) this.#resetAtMs = Number.NaN;
    if (isMoved) return `reset-agrees: ${this.#terms.names.reset} moved within a window`;
    if (last.limit !== shown.limit) return null;
    if (isSame && charge.needs > 0 && last.remaining < charge.needs)
      return `bounded: admitted with too little left in ${this.#terms.names.remaining}`;
    return this.#countFault(shown, charge, last.remaining, isSame, isNew);
  }

  #countFault(
    { limit, remaining }: WindowShown,
    charge: LoneCharge,
    before: number,
    isSame: boolean,
    isNew: boolean,
  ): string | null {
    const after = (from: number): LoneSpan => ({ least: from - charge.most, most: from - charge.least });
    // If nothing was counted, it does not matter whether the window rolled.
    const goesOn = after(before);
    const begins = after(limit);
    const may: LoneSpan[] = isSame ? [goesOn] : isNew ? [begins] : [goesOn, begins];
    if (!isSame && charge.mayRoll) may.push({ least: limit, most: limit });
    if (may.some((span) => this.#holds(remaining, span))) return null;
    const nearest = isSame || !isNew ? goesOn : begins;
    return this.#nameOf(remaining < nearest.least, charge, isNew);
  }

  /** Tells whether a reading fits a span. A clamped reading shows 0 for less. If the form is unknown, either fits. */
  #holds(remaining: number, { least, most }: LoneSpan): boolean {
    const shown = (count: number): number => (this.#terms.isSigned === true ? count : Math.max(0, count));
    return shown(remaining) >= shown(least) && shown(remaining) <= shown(most);
  }

  #nameOf(isLess: boolean, { by }: LoneCharge, isNew: boolean): string {
    const name = this.#terms.names.remaining;
    if (by === "body") return `conserved: the status shows another count than ${name}`;
    if (by === "status" && isLess) return `status-free: ${name} fell by a status call`;
    if (by === "refused" && isLess) return `all-or-nothing: ${name} fell by a refused call`;
    if (isNew)
      return isLess ? `recovers: ${name} did not recover at its reset` : `conserved: ${name} begins too high`;
    if (isLess) return `conserved: ${name} fell by more than the call's cost`;
    return by === "admitted"
      ? `conserved: ${name} fell by less than the call's cost`
      : `monotone: ${name} rose within a window`;
  }

  /** Returns the window's end, by its reset (FORMAT.md, "The verdict"); `null` if perhaps no window is open. */
  #endOf({ limit, remaining, reset, sentMs, receivedMs }: WindowShown): LoneSpan | null {
    // An idle first-request window reads as one that would open now, so each reading shows a later end.
    if (!this.#terms.isEpoch && remaining >= limit) return null;
    const { least, most } = this.secondsLeft(reset);
    const slack = slackMs + most * 1000 * drift;
    return { least: sentMs + least * 1000 - slack, most: receivedMs + 1 + most * 1000 + slack };
  }

  /** Returns the span of seconds that a reset may mean, by its rounding. */
  secondsLeft(reset: number): LoneSpan {
    switch (this.#terms.reset) {
      case "ceil":
        return { least: reset - 1, most: reset };
      case "floor":
        return { least: reset, most: reset + 1 };
      case "round":
        return { least: reset - 0.5, most: reset + 0.5 };
      case null:
        return { least: reset - 1, most: reset + 1 };
    }
  }

  /** Returns the mistake in a status's `reset_at` for the window read last, or `null`. */
  resetAtFault(resetAtMs: number): string | null {
    const last = this.#resetAtMs;
    this.#resetAtMs = this.#end === null ? Number.NaN : resetAtMs;
    const { isEpoch, windowSeconds } = this.#terms;
    if (isEpoch && windowSeconds !== null && resetAtMs % (windowSeconds * 1000) !== 0)
      return "reset-agrees: reset_at of the status is no multiple of the window's length";
    return last === resetAtMs || Number.isNaN(last) || this.#end === null
      ? null
      : "reset-agrees: reset_at of the status changed within a window";
  }
}

/** Tells whether two spans have no instant in common. */
export const apart = (a: LoneSpan, b: LoneSpan): boolean => a.least > b.most || b.least > a.most;

export const both = (a: LoneSpan, b: LoneSpan): LoneSpan => ({
  least: Math.max(a.least, b.least),
  most: Math.min(a.most, b.most),
});
