// The limits of an API as data (POLICY.md): which quotas it keeps, which of them a call uses, how its requests are
// told apart, and how its answers show it. `Policy` is complete, plain JSON; `PolicyInput` is what people write.

import type { WireData } from "./wire-data.ts";

/** The header in which a request declares its cost to a stand-in, which cannot measure it. */
export const costHeader = "spillway-cost";

/** The promises of an API about its limits, and all that a caller needs. */
export interface Policy {
  readonly version: 2;
  readonly name: string;
  /** Quotas by name. Where several lack room, a refusal names the first of them. */
  readonly quotas: Readonly<Record<string, Quota>>;
  /** The kinds of call by name. */
  readonly operations: Readonly<Record<string, Operation>>;
  /** Requests by operation; the first route that matches decides. */
  readonly routes: readonly Route[];
  /** The format in which answers show readings, or the name of the preset that has it. */
  readonly wire: string | WireData;
  readonly auth: Auth;
  /** Other limits for some callers; a later one wins. */
  readonly overrides: readonly Override[];
  /** Requests that provoke an answer of that status. */
  readonly provoke: { readonly [S in ProvokedStatus]?: RequestSample };
}

export const provokedStatuses = ["304", "400", "404", "405"] as const;
export type ProvokedStatus = (typeof provokedStatuses)[number];

/** One limit: how it counts, whose calls share a count, and what a call charges. */
export interface Quota {
  readonly algorithm: QuotaAlgorithm;
  /** Attributes of the caller whose values share one count; none: all callers share one. */
  readonly key: readonly string[];
  /** `requests`, `points`, `tokens`. */
  readonly unit: string;
  readonly charge: Charge;
  /**
   * True if it refuses. `{with}` refuses only while the named quota does; who judges an `unknown` one accuses neither
   * refusals nor their absence, and who decides takes it for enforced.
   */
  readonly enforced: boolean | "unknown" | { readonly with: string };
  readonly shown: Shown;
}

export type QuotaAlgorithm = FixedWindow | TokenBucket | SlidingLog | SlidingCounter | Concurrency;

/** At most `limit` from each opening to the window's end. */
export interface FixedWindow {
  readonly kind: "fixed-window";
  readonly limit: number;
  /** Length in seconds; a calendar's windows have their own. */
  readonly windowSeconds: number;
  readonly anchor: Anchor;
  /** The beginning of a window that opens with its first charge. */
  readonly opens: "exact" | "whole-second";
}

/** The beginning of windows: on a grid of Unix time, with their first charge, or with a day, week (Monday) or month. */
export type Anchor =
  | "epoch"
  | "first-request"
  | { readonly offsetMs: number }
  | { readonly calendar: "day" | "week" | "month"; readonly zone: string };

/** Room for `capacity`, which comes back by `refill.amount` in each `refill.everyMs`, continuously. */
export interface TokenBucket {
  readonly kind: "token-bucket";
  readonly capacity: number;
  readonly refill: { readonly amount: number; readonly everyMs: number };
}

/** At most `limit` in any span of the window's length. */
export interface SlidingLog {
  readonly kind: "sliding-log";
  readonly limit: number;
  readonly windowSeconds: number;
}

/** At most `limit` in the window and the part of the one before that a span of its length covers. */
export interface SlidingCounter {
  readonly kind: "sliding-counter";
  readonly limit: number;
  readonly windowSeconds: number;
}

/** At most `limit` calls at a time. */
export interface Concurrency {
  readonly kind: "concurrency";
  readonly limit: number;
}

export interface Charge {
  /** When an admitted call is charged; `reserve-settle` holds its cost, and gives back what it did not use. */
  readonly when: "admission" | "completion" | "reserve-settle";
  /** A call needs room for its whole cost, or any room at all. */
  readonly fits: "whole" | "any-left";
  /** Cost of a call that this quota refuses. */
  readonly refused: "nothing" | "counted";
  /** Cost of a call that another quota refuses, where all are charged or none (`all-or-nothing`). */
  readonly refusedByOther: "nothing" | "charged";
}

/** The form in which answers show a quota. */
export interface Shown {
  /** A remaining that goes below 0 is shown as 0, or as it is. */
  readonly remaining: "clamped" | "signed";
  /** The rounding of seconds. */
  readonly reset: "ceil" | "floor" | "round";
  readonly retryAfter: boolean;
}

/** A kind of call. */
export interface Operation {
  /** Cost in each quota that it uses. */
  readonly uses: Readonly<Record<string, Cost>>;
  readonly relation: Relation;
  /** Requests that load and probes may send. */
  readonly samples: readonly CallSample[];
}

/**
 * Cost of a call: a number; what the call declares; or what only its answer tells, at most so much.
 */
export type Cost = number | "declared" | { readonly atMost: number };

/**
 * The quotas of a call decide together: all must have room, and all are charged or none; each charges what it has room
 * for, whatever the others say; each in turn, up to the first that refuses.
 */
export type Relation = "all-or-nothing" | "each-alone" | "first-refusal-stops";

export interface RequestSample {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Text as it is sent, or JSON. */
  readonly body?: unknown;
}

/** A request that is one call of an operation. */
export interface CallSample extends RequestSample {
  /** Its cost where the operation's is declared. */
  readonly cost: number;
  /** A number in the request that makes it dearer: a JSON pointer into the body, and its cost for each unit. */
  readonly dearer?: { readonly pointer: string; readonly costEach: number };
}

/** Requests of one kind. What is left out matches all. */
export interface Route {
  readonly methods?: readonly string[];
  readonly host?: string;
  /** Segments; `{name}` matches one and fills the caller's attribute of that name, a last `**` matches the rest. */
  readonly path: string;
  readonly graphql?: "query" | "mutation";
  /** Name of an operation, `status` (it shows readings and costs nothing) or `other` (it is not limited). */
  readonly operation: string;
  /** Attributes that the request fills, beside those of its path. */
  readonly attributes: Readonly<Record<string, AttributeSource>>;
}

export type AttributeSource =
  | { readonly header: string }
  | { readonly pointer: string }
  | { readonly text: string };

/** The way in which a caller says who it is. */
export interface Auth {
  readonly header: string;
  /** The header's value, with `{token}` in it. Of several, the first is sent, and all are accepted. */
  readonly form: string | readonly string[];
  /** Attributes that a token stands for; the tokens file gives their values. */
  readonly attributes: readonly string[];
}

/** Other limits for callers whose attributes have these values. */
export interface Override {
  readonly match: Readonly<Record<string, string>>;
  readonly quotas: Readonly<Record<string, QuotaOverride>>;
}

export interface QuotaOverride {
  readonly limit?: number;
  readonly windowSeconds?: number;
  readonly capacity?: number;
  readonly refill?: TokenBucket["refill"];
  readonly enforced?: boolean;
}
