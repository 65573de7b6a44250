// The window that has the least left, by the last answers: for people who watch a run.
import type { Scope } from "../rules/rules.ts";

/** A window as the last answer showed it. */
export interface SeenWindow {
  readonly org: string;
  /** `null` for the organization's window. */
  readonly user: string | null;
  readonly scope: Scope;
  readonly limit: number;
  readonly remaining: number;
}

class Window implements SeenWindow {
  limit = Number.NaN;
  remaining = Number.NaN;
  endsMs = Number.NEGATIVE_INFINITY;
  readonly org: string;
  readonly user: string | null;
  readonly scope: Scope;

  constructor(org: string, user: string | null, scope: Scope) {
    this.org = org;
    this.user = user;
    this.scope = scope;
  }

  get share(): number {
    return this.remaining / this.limit;
  }

  /** Takes what an answer shows. A member that is no number, or below 0, shows nothing. */
  see(limit: unknown, remaining: unknown, reset: unknown, receivedMs: number): void {
    if (typeof limit !== "number" || typeof remaining !== "number" || typeof reset !== "number") return;
    if (limit <= 0 || reset < 0) return;
    this.limit = limit;
    this.remaining = Math.max(0, remaining);
    this.endsMs = receivedMs + reset * 1_000;
  }
}

/** The two windows of one user's calls of one scope. */
export interface WindowPair {
  readonly organization: Window;
  readonly user: Window;
}

export class TightestWindow {
  readonly #windows = new Map<string, Window>();

  pair(org: string, user: string, scope: Scope): WindowPair {
    return { organization: this.#window(org, null, scope), user: this.#window(org, user, scope) };
  }

  /** @returns the open window with the least share left; `null` if none is known */
  read(nowMs: number): SeenWindow | null {
    let least: Window | null = null;
    for (const window of this.#windows.values())
      if (window.endsMs > nowMs && (least === null || window.share < least.share)) least = window;
    if (least === null) return null;
    const { org, user, scope, limit, remaining } = least;
    return { org, user, scope, limit, remaining };
  }

  #window(org: string, user: string | null, scope: Scope): Window {
    const key = JSON.stringify([org, user, scope]);
    const window = this.#windows.get(key) ?? new Window(org, user, scope);
    this.#windows.set(key, window);
    return window;
  }
}
