// The state of every count, as answers have shown it: which have room left, and when windows end. Arithmetic alone.
import { quotaFor, usedQuotas } from "../policy/effective.ts";
import type { Policy } from "../policy/policy.ts";
import type { QuotaReading } from "../trace/quota-record.ts";
import type { Answer } from "./step.ts";

/** A count as one answer shows it. */
export interface SeenCount {
  readonly answer: Answer;
  readonly limit: number;
  readonly used: number;
  readonly left: number;
  /** Bounds of the window's end on the clients' clock, ms; `null` if nothing tells it. */
  readonly end: { readonly least: number; readonly most: number } | null;
}

type Attributes = Readonly<Record<string, string>>;

/** Resolution of the `Date` header, ms. Resets that are instants are read by it. */
const dateGridMs = 1000;

/** Returns the length of a quota's windows, ms; 0 if it has none, or if a calendar sets them. */
export function windowMs(policy: Policy, quota: string, attributes: Attributes): number {
  const { algorithm } = quotaFor(policy, quota, attributes);
  if (algorithm.kind !== "fixed-window" || algorithm.windowSeconds === undefined) return 0;
  if (typeof algorithm.anchor === "object" && "calendar" in algorithm.anchor) return 0;
  return algorithm.windowSeconds * 1000;
}

/** Returns an answer's reading of a quota; the first if it shows two. */
export function seenIn(answer: Answer, quota: string): SeenCount | null {
  for (const reading of answer.call.readings) {
    if (reading.quota !== quota) continue;
    const { limit, remaining, used } = reading;
    const counted = used ?? (limit === null || remaining === null ? null : limit - remaining);
    const left = remaining ?? (limit === null || used === null ? null : limit - used);
    if (counted === null || left === null) continue;
    return { answer, limit: limit ?? counted + left, used: counted, left, end: endOf(answer, reading) };
  }
  return null;
}

/** Returns the units that an answer shows left of a quota; NaN if it shows no count. */
export const leftIn = (answer: Answer, quota: string): number => seenIn(answer, quota)?.left ?? Number.NaN;

function endOf({ call }: Answer, { reset }: QuotaReading): SeenCount["end"] {
  if (reset === null) return null;
  const { afterMs, atMs, gridMs } = reset;
  if (afterMs !== null)
    return { least: call.sent + afterMs - gridMs, most: call.received + afterMs + gridMs };
  if (atMs === null) return null;
  const ahead = atMs - (call.date ?? call.sent);
  return { least: call.sent + ahead - dateGridMs - gridMs, most: call.received + ahead + gridMs };
}

/** Tells whether two readings of one count surely show one window. Unknown ends prove nothing. */
export function isSameWindow(one: SeenCount, other: SeenCount, lengthMs: number): boolean {
  if (one.end === null || other.end === null) return false;
  const apart = Math.max(one.end.least - other.end.most, other.end.least - one.end.most);
  const spread = Math.max(one.end.most, other.end.most) - Math.min(one.end.least, other.end.least);
  return apart <= 0 && spread < lengthMs;
}

/** Returns the rises of a count from look to look, without those that may span two windows. */
export function risesOf(looks: readonly Answer[], quota: string, lengthMs: number): number[] {
  return looks.slice(1).flatMap((look, at) => {
    const [one, other] = [seenIn(looks[at] as Answer, quota), seenIn(look, quota)];
    return one !== null && other !== null && isSameWindow(one, other, lengthMs)
      ? [other.used - one.used]
      : [];
  });
}

/** Latest readings of counts, by key. */
export class Book {
  readonly #policy: Policy;
  readonly #latest = new Map<string, SeenCount>();
  readonly #empty = new Map<string, { readonly seen: SeenCount; readonly fromMs: number }>();
  readonly #used = new Map<string, number>();

  constructor(policy: Policy) {
    this.#policy = policy;
  }

  /** Returns the key of a count: its quota, and the values of the quota's key. */
  keyOf(quota: string, attributes: Attributes): string {
    const key = this.#policy.quotas[quota]?.key ?? [];
    return JSON.stringify([quota, ...key.map((name) => attributes[name] ?? null)]);
  }

  /** Tells whether two callers have counts of their own in a quota. */
  areApart(quota: string, one: Attributes, other: Attributes): boolean {
    return this.keyOf(quota, one) !== this.keyOf(quota, other);
  }

  /** Returns the time of the last answer to a caller's calls that use a quota, on any route; `null` if there was none. */
  usedAt(quota: string, attributes: Attributes): number | null {
    return this.#used.get(this.#ownKey(quota, attributes)) ?? null;
  }

  /** Returns the key of a caller's counts in a quota, by the attributes of its token alone. */
  #ownKey(quota: string, attributes: Attributes): string {
    const own = this.#policy.auth.attributes.map((name) => [name, attributes[name] ?? null]);
    return this.keyOf(quota, Object.fromEntries(own));
  }

  note(answer: Answer): void {
    const { attributes, operation } = answer.shot;
    for (const quota of usedQuotas(this.#policy, operation, attributes))
      this.#used.set(this.#ownKey(quota, attributes), answer.call.received);
    for (const { quota } of answer.call.readings) {
      const seen = seenIn(answer, quota);
      if (seen === null) continue;
      const key = this.keyOf(quota, attributes);
      const before = this.#latest.get(key);
      if (before === undefined || before.answer.call.received <= answer.call.received)
        this.#latest.set(key, seen);
      if (seen.left <= 0) this.#empty.set(key, { seen, fromMs: answer.call.sent });
    }
  }

  /** Returns the latest reading of a count; `null` if there is none. */
  latest(quota: string, attributes: Attributes): SeenCount | null {
    return this.#latest.get(this.keyOf(quota, attributes)) ?? null;
  }

  /** Returns the latest reading if its window surely lasts at that time; otherwise `null`. */
  current(quota: string, attributes: Attributes, nowMs: number): SeenCount | null {
    const seen = this.latest(quota, attributes);
    if (seen === null) return null;
    const end = this.endOf(quota, attributes, nowMs);
    return end !== null && end > nowMs ? seen : null;
  }

  /** Returns the earliest time at which the window last shown may end; `null` if it is unknown. */
  endOf(quota: string, attributes: Attributes, nowMs: number): number | null {
    const seen = this.latest(quota, attributes);
    const lengthMs = windowMs(this.#policy, quota, attributes);
    if (seen === null || lengthMs === 0) return null;
    const { received } = seen.answer.call;
    const isTold = seen.end !== null && seen.end.most > received && seen.end.least < received + lengthMs;
    if (isTold) return seen.end?.least ?? null;
    // No plausible end was told: use the clock's grid, if there is one.
    const { algorithm } = quotaFor(this.#policy, quota, attributes);
    if (algorithm.kind === "fixed-window" && algorithm.anchor === "epoch")
      return (Math.floor(received / lengthMs) + 1) * lengthMs;
    return Math.min(received, nowMs) + lengthMs;
  }

  /** Tells whether a count was used up in this window or the previous one. */
  wasEmptied(quota: string, attributes: Attributes, nowMs: number): boolean {
    const empty = this.#empty.get(this.keyOf(quota, attributes));
    const lengthMs = windowMs(this.#policy, quota, attributes);
    return empty !== undefined && nowMs < empty.fromMs + 2 * lengthMs;
  }
}
