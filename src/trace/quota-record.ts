// The trace record, version 2 (FORMAT.md, "Version 2"): calls and readings by the quotas of any policy.
import type { Policy } from "../policy/policy.ts";
import type { WireOutcomeKind } from "../policy/wire-data.ts";
import type { ReadTime } from "../wire/times.ts";
import type { TraceHeader } from "./record.ts";

/** Line 1. */
export interface QuotaTraceHeader extends Omit<TraceHeader, "version" | "rules" | "lost"> {
  readonly version: 2;
  /** The policy that the target claims to follow, complete. */
  readonly policy: Policy;
  /** Upper bound of calls that were sent and have no line; each may or may not have been charged. */
  readonly lost: number;
}

/** One quota as an answer showed it; `null` where it did not tell. */
export interface QuotaReading {
  readonly quota: string;
  readonly limit: number | null;
  readonly remaining: number | null;
  readonly used: number | null;
  readonly reset: ReadTime | null;
}

/** One call with its answer; the members in this order. */
export interface QuotaCall {
  /** Milliseconds since the epoch, just before sending. */
  readonly sent: number;
  /** Just after the answer, or when the client gave up. */
  readonly received: number;
  /** `population/index`. */
  readonly client: string;
  /** The client's running number, from 0. */
  readonly call: number;
  /** The attributes that quotas' keys are made of. */
  readonly caller: Readonly<Record<string, string>>;
  /** An operation of the policy; `status`, which is free; `other`, which no quota counts. */
  readonly operation: string;
  /** The cost that the call declares, 1 where it declares none; `null` if unknown. */
  readonly cost: number | null;
  /** HTTP status; 0 when no answer came. */
  readonly status: number;
  readonly outcome: WireOutcomeKind;
  readonly readings: readonly QuotaReading[];
  /** Cost that was charged in the end, at most `cost`. */
  readonly actual?: number | undefined;
  /** The quota that refused, or a word for what did. */
  readonly by?: string | undefined;
  /** When to come back: ms from the answer on, or ms since the epoch by the target's clock. */
  readonly retryAfterMs?: number | undefined;
  readonly retryAt?: number | undefined;
  /** The target's clock, ms since the epoch, to the second: the `Date` header. */
  readonly date?: number | undefined;
  /** A cache answered: nothing is read of it. */
  readonly via?: "cache" | undefined;
  /** Headers and pointers whose values have none of the documented forms; the values are not kept. */
  readonly unread?: readonly string[] | undefined;
  /** `timeout`, `reset`, ... */
  readonly error?: string | undefined;
  /** When the client wanted this call, and which attempt it is (FORMAT.md). */
  readonly wanted?: number | undefined;
  readonly attempt?: number | undefined;
}
