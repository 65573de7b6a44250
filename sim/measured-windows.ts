// Which windows the answers of a simulated run tell of, by numbers alone: what `WindowTracker` does with a trace, less
// what only pictures ask for.
import { organizationLimit, type Rules, type Scope, userLimit } from "../src/rules/rules.ts";
import type { Seat } from "../src/scenario/seats.ts";
import { narrowed, spanBeforeMs, takeOver, type WindowEnd } from "../src/summary/window-ends.ts";

/** One window as it is narrowed down. */
export interface MeasuredWindow extends WindowEnd {
  /** The populations that it refused calls of, by place; `null` where it refused none. */
  refused: boolean[] | null;
}

/** One owner's windows of one scope, those that answers may still tell of. */
export class OwnerWindows {
  readonly windows: MeasuredWindow[] = [];
  readonly #windowMs: number;
  readonly #beforeMs: number;

  constructor(windowSeconds: number, beforeMs: number) {
    this.#windowMs = 1000 * windowSeconds;
    this.#beforeMs = beforeMs;
  }

  /** The window that a reset of so many seconds tells of, made if it is a new one. */
  place(reset: number, sentMs: number, receivedMs: number): MeasuredWindow {
    const earliestEnd = sentMs + reset * 1000 - this.#beforeMs;
    const latestEnd = receivedMs + reset * 1000 + 1000 - this.#beforeMs;
    const { windows } = this;
    const known = narrowed(windows, earliestEnd, latestEnd);
    if (known !== undefined) return known;
    while (takeOver(windows, receivedMs) !== undefined);
    const window = { windowMs: this.#windowMs, earliestEnd, latestEnd, refused: null };
    windows.push(window);
    return window;
  }
}

/** The windows of who calls. */
export interface CallerWindows {
  readonly organization: Readonly<Record<Scope, OwnerWindows>>;
  readonly user: Readonly<Record<Scope, OwnerWindows>>;
}

export class MeasuredWindows {
  readonly #rules: Rules;
  readonly #organizations = new Map<string, CallerWindows["organization"]>();

  constructor(rules: Rules) {
    this.#rules = rules;
  }

  /** Those of a caller that was not asked for before. */
  of({ organization, user }: Seat): CallerWindows {
    const rules = this.#rules;
    let shared = this.#organizations.get(organization);
    if (shared === undefined) {
      shared = this.#pair((scope) => organizationLimit(rules, organization, scope).windowSeconds);
      this.#organizations.set(organization, shared);
    }
    const own = this.#pair((scope) => userLimit(rules, organization, user, scope).windowSeconds);
    return { organization: shared, user: own };
  }

  #pair(secondsOf: (scope: Scope) => number): CallerWindows["user"] {
    const windows = (scope: Scope): OwnerWindows =>
      new OwnerWindows(secondsOf(scope), spanBeforeMs(this.#rules, scope));
    return { rest: windows("rest"), graphql: windows("graphql") };
  }
}
