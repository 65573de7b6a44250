// The trace record, version 2 (FORMAT.md, "Version 2"): calls and readings by the quotas of any policy.
import type { Policy } from "../policy/policy.ts";
import type { WireOutcomeKind } from "../policy/wire-data.ts";
import { REFUSED } from "../wire/outcome.ts";
import type { AnswerReading } from "../wire/read-answer.ts";
import type { ReadTime } from "../wire/times.ts";
import type { TraceHeader } from "./record.ts";

/** Header of a trace, line 1. */
export interface QuotaTraceHeader extends Omit<TraceHeader, "version" | "rules" | "lost"> {
  readonly version: 2;
  /** Policy that the target claims to follow, complete. */
  readonly policy: Policy;
  /** Upper bound of the calls that were sent and have no line; each may or may not have been charged. */
  readonly lost: number;
}

/** One quota as an answer showed it; `null` for what it did not show. */
export interface QuotaReading extends Pick<AnswerReading, "limit" | "remaining" | "used"> {
  readonly quota: string;
  readonly reset: ReadTime | null;
}

/** A call with its answer; the members in this order. */
export interface QuotaCall {
  /** Instant just before sending, ms since the epoch. */
  readonly sent: number;
  /** Instant just after the answer, or when the client gave up. */
  readonly received: number;
  /** Name of the client: `population/index`. */
  readonly client: string;
  /** Running number of the client's call, from 0. */
  readonly call: number;
  /** Attributes that quotas' keys are made of. */
  readonly caller: Readonly<Record<string, string>>;
  /** Operation of the policy; or `status`, which is free; or `other`, which no quota counts. */
  readonly operation: string;
  /** Cost that the call declares, 1 if it declares none; `null` if unknown. */
  readonly cost: number | null;
  /** HTTP status; 0 if no answer came. */
  readonly status: number;
  readonly outcome: WireOutcomeKind;
  readonly readings: readonly QuotaReading[];
  /** Cost that was charged in the end, at most `cost`. */
  readonly actual?: number | undefined;
  /** Quota that refused, or a word for what refused. */
  readonly by?: string | undefined;
  /** Time to come back: ms after the answer, or ms since the epoch on the target's clock. */
  readonly retryAfterMs?: number | undefined;
  readonly retryAt?: number | undefined;
  /** Value of the `Date` header: the target's clock, ms since the epoch, to the second. */
  readonly date?: number | undefined;
  /** Present if a cache answered; its readings are not used. */
  readonly via?: "cache" | undefined;
  /** Headers and pointers whose values have none of the documented forms; the values are not kept. */
  readonly unread?: readonly string[] | undefined;
  /** Kind of error: `timeout`, `reset`, ... */
  readonly error?: string | undefined;
  /** Instant at which the client wanted this call, and number of the attempt (FORMAT.md). */
  readonly wanted?: number | undefined;
  readonly attempt?: number | undefined;
}

/** Returns the status by which version 1 tells the same outcome: every refusal is 429, and 0 says that it is unknown. */
export const statusOf = ({ outcome, status }: Pick<QuotaCall, "outcome" | "status">): number =>
  outcome === "refused" ? REFUSED : outcome === "unknown" ? 0 : status === REFUSED ? 200 : status;
