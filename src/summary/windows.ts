// The windows that a trace shows, for pictures and tables: which one each answer tells of, and what it came to.

import { quotaNames } from "../policy/names.ts";
import { type Owner, organizationLimit, type Rules, type Scope, scopes, userLimit } from "../rules/rules.ts";
import type { TraceCall } from "../trace/record.ts";
import { readStatus } from "../wire/bodies.ts";
import { headersOf, integerOf } from "../wire/fields.ts";
import { type WindowSummary, windowsMost } from "./summary.ts";
import { endedJustBefore, endOf, narrowed, spanBeforeMs, takeOver, type WindowEnd } from "./window-ends.ts";

/** The reading of one window in one answer. */
export interface Reading {
  readonly org: string;
  /** `null` for the organization's window. */
  readonly user: string | null;
  readonly scope: Scope;
  readonly limit: number | null;
  readonly count: number | null;
  /** Seconds. */
  readonly reset: number;
  readonly sent: number;
  readonly received: number;
}

/** Reads an owner's window from the headers; `null` where they show none. */
export function headerReading(call: TraceCall, owner: Owner): Reading | null {
  const user = owner === "user" ? call.user : null;
  if (owner === "user" && user === null) return null;
  const { org, scope, sent, received } = call;
  const shown = headersOf(call, owner);
  const reset = integerOf(shown.reset);
  if (shown.scopeName !== quotaNames[scope][owner] || reset === null) return null;
  const limit = integerOf(shown.limit);
  const remaining = integerOf(shown.remaining);
  const count = limit === null || remaining === null ? null : limit - remaining;
  return { org, user, scope, limit, count, reset, sent, received };
}

/** Reads the organization's windows from a status body. */
export function statusReadings(call: TraceCall): Reading[] {
  const { org, sent, received } = call;
  return scopes.flatMap((scope) => {
    const { limit, current: count, reset } = readStatus(call.body, scope);
    return reset === null ? [] : [{ org, user: null, scope, limit, count, reset, sent, received }];
  });
}

/** One window as it is narrowed down. */
export interface WindowEntry extends WindowEnd {
  readonly org: string;
  readonly user: string | null;
  readonly scope: Scope;
  firstSeen: number;
  limit: number | null;
  highest: number | null;
  admitted: number;
  refused: number;
}

export class WindowTracker {
  readonly #rules: Rules | null;
  readonly #open = new Map<string, Map<string | null, Record<Scope, WindowEntry[]>>>();
  #kept: WindowSummary[] = [];
  /** The least of those kept when they were last thinned: what weighs less need not be kept at all. */
  #least: WindowSummary | null = null;
  #seen = 0;

  constructor(rules: Rules | null) {
    this.#rules = rules;
  }

  /** The window that a reading shows, made if it is a new one, with the reading's count taken in. */
  place(reading: Reading): WindowEntry {
    const entry = this.#find(reading);
    entry.firstSeen = Math.min(entry.firstSeen, reading.sent);
    entry.limit = reading.limit ?? entry.limit;
    if (reading.count !== null) entry.highest = Math.max(entry.highest ?? 0, reading.count);
    return entry;
  }

  /** Tells whether an earlier window of the same owner ended at this instant, or less than a second before. */
  resetJustBefore(entry: WindowEntry, atMs: number): boolean {
    return endedJustBefore(this.#entriesOf(entry), atMs);
  }

  #find(reading: Reading): WindowEntry {
    const { scope, reset, sent, received } = reading;
    const beforeMs = spanBeforeMs(this.#rules, scope);
    const earliest = sent + reset * 1000 - beforeMs;
    const latest = received + reset * 1000 + 1000 - beforeMs;
    const entries = this.#entriesOf(reading);
    return narrowed(entries, earliest, latest) ?? this.#add(entries, reading, earliest, latest);
  }

  #entriesOf({ org, user, scope }: Pick<Reading, "org" | "user" | "scope">): WindowEntry[] {
    const users = this.#open.get(org) ?? new Map<string | null, Record<Scope, WindowEntry[]>>();
    this.#open.set(org, users);
    const windows = users.get(user) ?? { rest: [], graphql: [] };
    users.set(user, windows);
    return windows[scope];
  }

  #add(entries: WindowEntry[], reading: Reading, earliestEnd: number, latestEnd: number): WindowEntry {
    let over = takeOver(entries, reading.received);
    for (; over !== undefined; over = takeOver(entries, reading.received)) this.#close(over);
    const { org, user, scope, sent } = reading;
    const counts = { limit: null, highest: null, admitted: 0, refused: 0 };
    const windowMs = windowMsOf(reading, this.#rules);
    const entry: WindowEntry = {
      ...{ org, user, scope, windowMs, earliestEnd, latestEnd, firstSeen: sent },
      ...counts,
    };
    entries.push(entry);
    return entry;
  }

  #close(entry: WindowEntry): void {
    this.#seen += 1;
    const window = describeWindow(entry);
    if (this.#least !== null && byWeight(window, this.#least) > 0) return;
    this.#kept.push(window);
    if (this.#kept.length >= 2 * windowsMost) this.#thin();
  }

  #thin(): void {
    if (this.#kept.length <= windowsMost) return;
    this.#kept.sort(byWeight);
    this.#kept.length = windowsMost;
    this.#least = this.#kept.at(-1) ?? null;
  }

  /** Closes every window; the tracker is used up then. */
  finish(): { readonly windows: readonly WindowSummary[]; readonly windowsSeen: number } {
    for (const users of this.#open.values())
      for (const windows of users.values())
        for (const scope of scopes) for (const entry of windows[scope]) this.#close(entry);
    this.#open.clear();
    this.#thin();
    return { windows: this.#kept.sort(byPlace), windowsSeen: this.#seen };
  }
}

/** A window as far as the readings taken in so far tell. */
export function describeWindow(entry: WindowEntry): WindowSummary {
  const { org, user, scope, windowMs, limit, highest, admitted, refused } = entry;
  const endsAt = endOf(entry);
  const opensAt = windowMs === null ? entry.firstSeen : endsAt - windowMs;
  return { org, user, scope, opensAt, endsAt, limit, highest, admitted, refused };
}

function windowMsOf({ org, user, scope }: Reading, rules: Rules | null): number | null {
  if (rules === null) return null;
  const { windowSeconds } =
    user === null ? organizationLimit(rules, org, scope) : userLimit(rules, org, user, scope);
  return windowSeconds * 1000;
}

/** Organizations' windows first, then the most refused, the fullest, the latest. */
function byWeight(a: WindowSummary, b: WindowSummary): number {
  return (
    Number(a.user !== null) - Number(b.user !== null) ||
    b.refused - a.refused ||
    b.admitted - a.admitted ||
    b.endsAt - a.endsAt ||
    byPlace(a, b)
  );
}

const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

function byPlace(a: WindowSummary, b: WindowSummary): number {
  return (
    compareText(a.org, b.org) ||
    scopes.indexOf(a.scope) - scopes.indexOf(b.scope) ||
    compareText(a.user ?? "", b.user ?? "") ||
    a.endsAt - b.endsAt
  );
}
