// The interface behind which any limiter can be checked by a policy, as the laws see it.
import type { Policy } from "../policy/policy.ts";
import type { LimiterLawName } from "../rules/laws.ts";
import type { HttpAnswer } from "../wire/answer.ts";
import type { Awaitable, Seam } from "./adapter.ts";
import type { PolicyCall } from "./decision.ts";

type Caller = PolicyCall["caller"];

/** Reading of a quota. Absent members are not judged. */
export interface PartialQuotaReading {
  readonly quota: string;
  readonly limit?: number | null | undefined;
  readonly remaining?: number | null | undefined;
  readonly used?: number | null | undefined;
  /** End of the window, ms since the epoch. */
  readonly resetAtMs?: number | null | undefined;
}

/** An answer of a limiter: its own readings, or the HTTP answer that it sends, read by the policy's wire. */
export interface QuotaSaid {
  readonly readings?: readonly PartialQuotaReading[] | undefined;
  /** HTTP answer. Absent or `null`: nothing is sent yet. */
  readonly http?: HttpAnswer | null | undefined;
}

/** Decision on a call. With an HTTP answer, members that it tells may be absent. */
export interface QuotaDecision extends QuotaSaid {
  readonly admitted?: boolean | undefined;
  /** Quota that refused. Absent if unknown. */
  readonly refusedBy?: string | null | undefined;
  /** Instant at which to come back, ms since the epoch. */
  readonly retryAtMs?: number | null | undefined;
  /** Plain JSON, which `settle` receives as it is. */
  readonly reservation?: unknown;
}

/** Any limiter by named quotas, sync or async. */
export interface QuotaLimiter {
  decide(call: PolicyCall, nowMs: number): Awaitable<QuotaDecision>;
  /** Completes an admitted call. */
  settle?(reservation: unknown, actual: number, nowMs: number): Awaitable<QuotaSaid>;
  /** Shows a caller's quotas, free of charge. */
  status?(caller: Caller, nowMs: number): Awaitable<QuotaSaid>;
  /** Returns everything that the limiter remembers, as plain JSON. */
  snapshot?(): Awaitable<unknown>;
  /** Drops idle counts. Earlier times count as `nowMs` from then on. */
  sweep?(nowMs: number): Awaitable<unknown>;
  /** Switches a quota's refusing on or off, for all that share its count with a caller. */
  setEnforced?(quota: string, caller: Caller, enforced: boolean): Awaitable<void>;
  /** Tells the time to a limiter that reads its own clock, before each of the calls above. */
  setNow?(nowMs: number): unknown;
  /** Releases what the limiter holds. It is not called again. */
  close?(): Awaitable<unknown>;
}

/** Makes fresh limiters of one kind by a policy. */
export interface QuotaLimiterFactory {
  readonly name: string;
  /** `any`: laws also draw smaller limits, which are used up sooner. `given`: it has the policy's limits alone. */
  readonly limits: "any" | "given";
  /** Laws that it promises; the others are reported as not claimed. */
  readonly claims: "all" | readonly LimiterLawName[];
  /** True if it counts a bucket in whole numbers, not in fractions that round. Default: `false`. */
  readonly isExact?: boolean;
  /** Operations that it takes. Default: all. */
  readonly operations?: readonly string[];
  /** Callers that it knows. Default: any attributes. */
  readonly callers?: readonly Caller[];
  /** Sets a clock that all limiters of this kind read. */
  setNow?(nowMs: number): unknown;
  /** @param seam access of an asynchronous limiter to its store, by which its calls are interleaved */
  create(policy: Policy, seam?: Seam): Awaitable<QuotaLimiter>;
  restore?(policy: Policy, snapshot: unknown): Awaitable<QuotaLimiter>;
}
