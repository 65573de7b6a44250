// The trace record, version 1 (FORMAT.md): a judge gets nothing else from a run.
import type { Rules, Scope } from "../rules/rules.ts";
import type { HeaderValue, ShownHeaders } from "../wire/fields.ts";

export const traceSources = ["k6", "node", "simulator", "access-log", "har", "other"] as const;
export type TraceSource = (typeof traceSources)[number];

/** A reading t means an instant in `[t - errorMs, t + resolutionMs + errorMs)`; with resolution 0, both ends belong. */
export interface TraceClock {
  readonly kind: "wall" | "virtual";
  readonly resolutionMs: number;
  readonly errorMs: number;
}

/** Number of calls that were sent and have no line; each may or may not have been charged. */
export type Lost =
  | number
  | readonly { readonly org: string; readonly scope: Scope; readonly count: number }[];

/** Header of a trace, line 1. */
export interface TraceHeader {
  readonly format: "spillway-trace";
  readonly version: 1;
  readonly source: TraceSource;
  readonly scenario: string | null;
  readonly seed: number | null;
  /** Origin of the target's URL. */
  readonly target: string | null;
  /** Start of the run, ms since the Unix epoch, by the same clock as `sent`. */
  readonly startedAt: number;
  readonly clock: TraceClock;
  /** Rules that the target claims to follow; `null` if there are none. */
  readonly rules: Rules | null;
  /** True if every call that used these quotas since `startedAt` has a line, or is counted in `lost`. */
  readonly complete: boolean;
  readonly lost: Lost;
}

/** Kind of a call: `call` counts, `status` is the free endpoint, `other` is counted by no quota (SPEC.md §2.6). */
export type CallKind = "call" | "status" | "other";

/** A call with its answer; the members in this order, with the eight headers after `status`. */
export interface TraceCall extends ShownHeaders {
  /** Instant just before sending, ms since the epoch. */
  sent: number;
  /** Instant just after the answer, or when the client gave up. */
  received: number;
  /** Name of the client: `population/index`. */
  client: string;
  /** Running number of the client's call, from 0. */
  call: number;
  org: string;
  user: string | null;
  scope: Scope;
  kind: CallKind;
  /** Cost: 1 for REST, requested points for GraphQL; `null` if unknown, and for `status` and `other`. */
  cost: number | null;
  /** HTTP status; 0 if no answer came. */
  status: number;
  /** GraphQL points charged in the end, at most `cost`. */
  actual?: number;
  retryAfter?: HeaderValue;
  warning?: HeaderValue;
  userWarning?: HeaderValue;
  /** `scopes` object of a status answer, as received. */
  body?: unknown;
  /** Body of a 429, as received. */
  refusal?: unknown;
  /** Kind of error: `timeout`, `reset`, ... */
  error?: string;
  /**
   * Instant at which the client wanted this call, ms since the epoch: for a retry, when its first attempt was due; for
   * a poll, its tick. Waits are counted from here, so that a late generator hides none (an extra member).
   */
  wanted?: number;
  /** Number of the attempt: 0 for the first one, then 1, 2, ... (an extra member). */
  attempt?: number;
}
