// The trace record, version 1 (FORMAT.md): the only thing that passes from a run to what judges it.
import type { Rules, Scope } from "../rules/rules.ts";
import type { HeaderValue, ShownHeaders } from "../wire/fields.ts";

export const traceSources = ["k6", "node", "simulator", "access-log", "har", "other"] as const;
export type TraceSource = (typeof traceSources)[number];

/** A reading t means an instant in `[t - errorMs, t + resolutionMs + errorMs)`; of resolution 0, both ends belong to it. */
export interface TraceClock {
  readonly kind: "wall" | "virtual";
  readonly resolutionMs: number;
  readonly errorMs: number;
}

/** Calls that were sent and have no line; each may or may not have been charged. */
export type Lost =
  | number
  | readonly { readonly org: string; readonly scope: Scope; readonly count: number }[];

/** Line 1. */
export interface TraceHeader {
  readonly format: "spillway-trace";
  readonly version: 1;
  readonly source: TraceSource;
  readonly scenario: string | null;
  readonly seed: number | null;
  /** Origin of the target's URL. */
  readonly target: string | null;
  /** Milliseconds since the Unix epoch, the same clock as `sent`. */
  readonly startedAt: number;
  readonly clock: TraceClock;
  /** The rules that the target claims to follow. */
  readonly rules: Rules | null;
  /** Every call that used these quotas since `startedAt` is here, or counted in `lost`. */
  readonly complete: boolean;
  readonly lost: Lost;
}

/** `call` counts, `status` is the free endpoint, `other` is what no quota counts (SPEC.md §2.6). */
export type CallKind = "call" | "status" | "other";

/** One call with its answer; the members in this order, and the eight headers after `status`. */
export interface TraceCall extends ShownHeaders {
  /** Milliseconds since the epoch, just before sending. */
  sent: number;
  /** Just after the answer, or when the client gave up. */
  received: number;
  /** `population/index`. */
  client: string;
  /** The client's running number, from 0. */
  call: number;
  org: string;
  user: string | null;
  scope: Scope;
  kind: CallKind;
  /** 1 for REST, requested points for GraphQL; `null` if unknown, and for `status` and `other`. */
  cost: number | null;
  /** HTTP status; 0 when no answer came. */
  status: number;
  /** GraphQL points charged in the end, at most `cost`. */
  actual?: number;
  retryAfter?: HeaderValue;
  warning?: HeaderValue;
  userWarning?: HeaderValue;
  /** The `scopes` object of a status answer, as received. */
  body?: unknown;
  /** The 429 body, as received. */
  refusal?: unknown;
  /** `timeout`, `reset`, ... */
  error?: string;
  /**
   * When the client wanted this call, ms since the epoch: for a retry, when its first attempt was due; for a
   * poll, its tick. Waits are counted from here, so that a late generator hides none (an extra member).
   */
  wanted?: number;
  /** 0 for a first attempt, then 1, 2, ... (an extra member). */
  attempt?: number;
}
