// The interface behind which any limiter can be checked by a policy: all that laws know of it.
import type { Policy } from "../policy/policy.ts";
import type { LimiterLawName } from "../rules/laws.ts";
import type { HttpAnswer } from "../wire/answer.ts";
import type { Seam } from "./adapter.ts";
import type { PolicyCall } from "./decision.ts";

type Awaitable<T> = T | PromiseLike<T>;
type Caller = PolicyCall["caller"];

/** Reading of a quota. What is left out is not judged. */
export interface PartialQuotaReading {
  readonly quota: string;
  readonly limit?: number | null | undefined;
  readonly remaining?: number | null | undefined;
  readonly used?: number | null | undefined;
  /** ms since the epoch. */
  readonly resetAtMs?: number | null | undefined;
}

/** An answer of a limiter: readings of its own, or the answer that it sends, which is read by the policy's wire. */
export interface QuotaSaid {
  readonly readings?: readonly PartialQuotaReading[] | undefined;
  /** Left out, or `null`: nothing is sent yet. */
  readonly http?: HttpAnswer | null | undefined;
}

/** Decision on a call. With an answer, the members that it tells may be left out. */
export interface QuotaDecision extends QuotaSaid {
  readonly admitted?: boolean | undefined;
  /** The quota that refused. Left out: nobody tells. */
  readonly refusedBy?: string | null | undefined;
  /** When to come back, ms since the epoch. */
  readonly retryAtMs?: number | null | undefined;
  /** Plain JSON; handed back to `settle` as it is. */
  readonly reservation?: unknown;
}

/** Any limiter by named quotas, sync or async. */
export interface QuotaLimiter {
  decide(call: PolicyCall, nowMs: number): Awaitable<QuotaDecision>;
  /** Completes an admitted call. */
  settle?(reservation: unknown, actual: number, nowMs: number): Awaitable<QuotaSaid>;
  /** Shows a caller's quotas, free of charge. */
  status?(caller: Caller, nowMs: number): Awaitable<QuotaSaid>;
  /** Everything it remembers, as plain JSON. */
  snapshot?(): Awaitable<unknown>;
  /** Drops idle counts; earlier times count as `nowMs` from then on. */
  sweep?(nowMs: number): Awaitable<unknown>;
  /** Switches a quota's refusing on or off, for those who share its count with a caller. */
  setEnforced?(quota: string, caller: Caller, enforced: boolean): Awaitable<void>;
  /** Tells a limiter that reads a clock of its own what time it is, before each of the calls above. */
  setNow?(nowMs: number): unknown;
  /** Lets go of what it holds: it is not asked again. */
  close?(): Awaitable<unknown>;
}

/** Makes fresh limiters of one kind by a policy. */
export interface QuotaLimiterFactory {
  readonly name: string;
  /** `any`: laws also draw smaller limits, which are used up sooner. `given`: it has the policy's own alone. */
  readonly limits: "any" | "given";
  /** The laws that it promises; the others are reported as not claimed. */
  readonly claims: "all" | readonly LimiterLawName[];
  /** A bucket is counted in whole numbers, not in fractions that round. Default: `false`. */
  readonly isExact?: boolean;
  /** The operations that it is asked; all unless told. */
  readonly operations?: readonly string[];
  /** The callers that it knows; without them any attributes will do. */
  readonly callers?: readonly Caller[];
  /** Sets a clock that all limiters of this kind read. */
  setNow?(nowMs: number): unknown;
  /** @param seam way of an asynchronous limiter to its store, by which its calls are interleaved */
  create(policy: Policy, seam?: Seam): Awaitable<QuotaLimiter>;
  restore?(policy: Policy, snapshot: unknown): Awaitable<QuotaLimiter>;
}
