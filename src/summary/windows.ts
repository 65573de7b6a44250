// The windows that a trace shows. A reset of R seconds, seen in an answer to a call sent at s and received at
// e, puts the window's end in (s + R - 1 s, e + R] of the client's clock; readings whose spans overlap are of
// one window, and their intersection narrows its end. This is for pictures and tables; the judge has its own.
import { organizationLimit, type Rules, type Scope, scopes, semanticsOf, userLimit } from "../rules/rules.ts";
import type { TraceCall } from "../trace/record.ts";
import { integer, member } from "./answer.ts";
import { type WindowSummary, windowsMost } from "./summary.ts";

/** What one answer shows of one window. */
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

const otherNumber = (value: unknown): number | null => (typeof value === "number" ? value : null);

function headerReading(call: TraceCall, owner: "organization" | "user"): Reading | null {
  const organization = owner === "organization";
  if (!organization && call.user === null) return null;
  const name = organization ? call.scopeName : call.userScopeName;
  if (name !== (organization ? call.scope : `${call.scope}_user`)) return null;
  const reset = integer(organization ? call.reset : call.userReset);
  if (reset === null) return null;
  const limit = integer(organization ? call.limit : call.userLimit);
  const remaining = integer(organization ? call.remaining : call.userRemaining);
  const count = limit === null || remaining === null ? null : limit - remaining;
  const { org, scope, sent, received } = call;
  return { org, user: organization ? null : call.user, scope, limit, count, reset, sent, received };
}

/** What the headers show of the organization's window; `null` where they show none. */
export const organizationReading = (call: TraceCall): Reading | null => headerReading(call, "organization");

/** What the headers show of the user's window; `null` where they show none. */
export const userReading = (call: TraceCall): Reading | null => headerReading(call, "user");

/** What a status body shows of the organization's windows. */
export function statusReadings(call: TraceCall): Reading[] {
  const { org, sent, received } = call;
  return scopes.flatMap((scope) => {
    const shown = member(call.body, scope);
    const reset = otherNumber(member(shown, "reset"));
    if (reset === null) return [];
    const limit = otherNumber(member(shown, "limit"));
    const count = otherNumber(member(shown, "current"));
    return [{ org, user: null, scope, limit, count, reset, sent, received }];
  });
}

/** One window as it is narrowed down. */
export interface WindowEntry {
  readonly org: string;
  readonly user: string | null;
  readonly scope: Scope;
  /** The end lies in `[earliestEnd, latestEnd]`. */
  earliestEnd: number;
  latestEnd: number;
  firstSeen: number;
  limit: number | null;
  highest: number | null;
  admitted: number;
  refused: number;
}

/** Lines of a trace may come this much out of order (FORMAT.md). */
const disorderMs = 120_000;
/** Rounding that the rules do not tell of, and clocks that drift, part readings of one window by less. */
const slackMs = 500;

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

  /** Whether an earlier window of the same owner ended at this instant, or less than a second before. */
  resetJustBefore(entry: WindowEntry, atMs: number): boolean {
    return this.#entriesOf(entry).some((earlier) => {
      if (earlier.earliestEnd > atMs || earlier.latestEnd <= atMs - 1000) return false;
      const endsAt = endOf(earlier, windowMsOf(earlier, this.#rules));
      return endsAt <= atMs && atMs < endsAt + 1000;
    });
  }

  #find(reading: Reading): WindowEntry {
    const [earliest, latest] = this.#endSpan(reading);
    const entries = this.#entriesOf(reading);
    let best: WindowEntry | undefined;
    let mostOverlap = -slackMs;
    for (const entry of entries) {
      const overlap = Math.min(latest, entry.latestEnd) - Math.max(earliest, entry.earliestEnd);
      if (overlap < mostOverlap) continue;
      mostOverlap = overlap;
      best = entry;
    }
    if (best === undefined) return this.#add(entries, reading, earliest, latest);
    if (mostOverlap >= 0) {
      best.earliestEnd = Math.max(best.earliestEnd, earliest);
      best.latestEnd = Math.min(best.latestEnd, latest);
    }
    return best;
  }

  #endSpan({ scope, reset, sent, received }: Reading): [earliest: number, latest: number] {
    const rounding = this.#rules === null ? "ceil" : semanticsOf(this.#rules, scope).reset;
    const before = { ceil: 1000, floor: 0, round: 500 }[rounding];
    return [sent + reset * 1000 - before, received + reset * 1000 + 1000 - before];
  }

  #entriesOf({ org, user, scope }: Pick<Reading, "org" | "user" | "scope">): WindowEntry[] {
    const users = this.#open.get(org) ?? new Map<string | null, Record<Scope, WindowEntry[]>>();
    this.#open.set(org, users);
    const windows = users.get(user) ?? { rest: [], graphql: [] };
    users.set(user, windows);
    return windows[scope];
  }

  #add(entries: WindowEntry[], reading: Reading, earliestEnd: number, latestEnd: number): WindowEntry {
    while ((entries[0]?.latestEnd ?? Infinity) < reading.received - disorderMs) {
      const over = entries.shift();
      if (over !== undefined) this.#close(over);
    }
    const { org, user, scope, sent } = reading;
    const counts = { limit: null, highest: null, admitted: 0, refused: 0 };
    const entry: WindowEntry = { org, user, scope, earliestEnd, latestEnd, firstSeen: sent, ...counts };
    entries.push(entry);
    return entry;
  }

  #close(entry: WindowEntry): void {
    this.#seen += 1;
    const window = describeWindow(entry, this.#rules);
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
export function describeWindow(entry: WindowEntry, rules: Rules | null): WindowSummary {
  const { org, user, scope, limit, highest, admitted, refused } = entry;
  const windowMs = windowMsOf(entry, rules);
  const endsAt = endOf(entry, windowMs);
  const opensAt = windowMs === null ? entry.firstSeen : endsAt - windowMs;
  return { org, user, scope, opensAt, endsAt, limit, highest, admitted, refused };
}

function windowMsOf({ org, user, scope }: WindowEntry, rules: Rules | null): number | null {
  if (rules === null) return null;
  const { windowSeconds } =
    user === null ? organizationLimit(rules, org, scope) : userLimit(rules, org, user, scope);
  return windowSeconds * 1000;
}

/**
 * A window ends on a whole second under either anchor (SPEC.md §3), and under `epoch` on a multiple of its
 * length: where one of these lies in the span, it is taken; else the span's middle.
 */
function endOf({ earliestEnd, latestEnd }: WindowEntry, windowMs: number | null): number {
  const multiple = (step: number): number => Math.floor(latestEnd / step) * step;
  if (windowMs !== null && multiple(windowMs) >= earliestEnd) return multiple(windowMs);
  const middle = Math.round((earliestEnd + latestEnd) / 2);
  const second = Math.round(middle / 1000) * 1000;
  return second >= earliestEnd && second <= latestEnd ? second : middle;
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
