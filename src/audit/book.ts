// The state of every count, as answers have shown it: who has room left, and when windows end. Arithmetic alone.
import { quotaFor, usedQuotas } from "../policy/effective.ts";
import type { Policy } from "../policy/policy.ts";
import type { QuotaReading } from "../trace/quota-record.ts";
import type { Answer } from "./step.ts";

/** A count at one answer. */
export interface SeenCount {
  readonly answer: Answer;
  readonly limit: number;
  readonly used: number;
  readonly left: number;
  /** The window's end on the clients' clock, as far as is known; `null` where nothing tells. */
  readonly end: { readonly least: number; readonly most: number } | null;
}

type Attributes = Readonly<Record<string, string>>;

/** Resets of instants are read by the `Date` header, which tells whole seconds. */
const dateGridMs = 1000;

/** Length of a quota's windows, ms; `null` where it has none, or they are a calendar's. */
export function windowMs(policy: Policy, quota: string, attributes: Attributes): number | null {
  const { algorithm } = quotaFor(policy, quota, attributes);
  if (algorithm.kind !== "fixed-window" || algorithm.windowSeconds === undefined) return null;
  if (typeof algorithm.anchor === "object" && "calendar" in algorithm.anchor) return null;
  return algorithm.windowSeconds * 1000;
}

/** The reading of a quota that an answer shows; the first where it shows two. */
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

function endOf({ call }: Answer, { reset }: QuotaReading): SeenCount["end"] {
  if (reset === null) return null;
  const { afterMs, atMs, gridMs } = reset;
  if (afterMs !== null)
    return { least: call.sent + afterMs - gridMs, most: call.received + afterMs + gridMs };
  if (atMs === null) return null;
  const ahead = atMs - (call.date ?? call.sent);
  return { least: call.sent + ahead - dateGridMs - gridMs, most: call.received + ahead + gridMs };
}

/** Tells whether two readings of one count surely show one window. Unknown ends show nothing. */
export function isSameWindow(one: SeenCount, other: SeenCount, lengthMs: number | null): boolean {
  if (one.end === null || other.end === null || lengthMs === null) return false;
  const apart = Math.max(one.end.least - other.end.most, other.end.least - one.end.most);
  const spread = Math.max(one.end.most, other.end.most) - Math.min(one.end.least, other.end.least);
  return apart <= 0 && spread < lengthMs;
}

/** Rises of a count from look to look; none where they may be of two windows. */
export function risesOf(looks: readonly Answer[], quota: string, lengthMs: number | null): number[] {
  return looks.slice(1).flatMap((look, at) => {
    const [one, other] = [seenIn(looks[at] as Answer, quota), seenIn(look, quota)];
    return one !== null && other !== null && isSameWindow(one, other, lengthMs)
      ? [other.used - one.used]
      : [];
  });
}

/** Counts by key. */
export class Book {
  readonly #policy: Policy;
  readonly #latest = new Map<string, SeenCount>();
  readonly #empty = new Map<string, { readonly seen: SeenCount; readonly fromMs: number }>();
  readonly #used = new Map<string, number>();

  constructor(policy: Policy) {
    this.#policy = policy;
  }

  /** Key of a count: a quota, and the values of its key. */
  keyOf(quota: string, attributes: Attributes): string {
    const key = this.#policy.quotas[quota]?.key ?? [];
    return JSON.stringify([quota, ...key.map((name) => attributes[name] ?? null)]);
  }

  /** The time of the last answer to a call of a caller that uses a quota, whatever its route says; `null` where there was none. */
  usedAt(quota: string, attributes: Attributes): number | null {
    return this.#used.get(this.#ownKey(quota, attributes)) ?? null;
  }

  /** Key of a caller's counts of a quota: of what its token stands for alone. */
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

  /** The latest reading of a count; `null` where there is none. */
  latest(quota: string, attributes: Attributes): SeenCount | null {
    return this.#latest.get(this.keyOf(quota, attributes)) ?? null;
  }

  /** The latest reading, if its window surely lasts at that time. */
  current(quota: string, attributes: Attributes, nowMs: number): SeenCount | null {
    const seen = this.latest(quota, attributes);
    if (seen === null) return null;
    const end = this.endOf(quota, attributes, nowMs);
    return end !== null && end > nowMs ? seen : null;
  }

  /** The earliest time at which the window that was shown last may end; `null` where nobody knows. */
  endOf(quota: string, attributes: Attributes, nowMs: number): number | null {
    const seen = this.latest(quota, attributes);
    const lengthMs = windowMs(this.#policy, quota, attributes);
    if (seen === null || lengthMs === null) return null;
    const { received } = seen.answer.call;
    const isTold = seen.end !== null && seen.end.most > received && seen.end.least < received + lengthMs;
    if (isTold) return seen.end?.least ?? null;
    // Nothing that can be true is told: the clock's grid, if there is one.
    const { algorithm } = quotaFor(this.#policy, quota, attributes);
    if (algorithm.kind === "fixed-window" && algorithm.anchor === "epoch")
      return (Math.floor(received / lengthMs) + 1) * lengthMs;
    return Math.min(received, nowMs) + lengthMs;
  }

  /** Tells whether a count was used up in this window, or in the one before. */
  wasEmptied(quota: string, attributes: Attributes, nowMs: number): boolean {
    const empty = this.#empty.get(this.keyOf(quota, attributes));
    const lengthMs = windowMs(this.#policy, quota, attributes);
    return empty !== undefined && lengthMs !== null && nowMs < empty.fromMs + 2 * lengthMs;
  }
}
