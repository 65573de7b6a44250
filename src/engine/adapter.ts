// The shapes of a decision, and the small interface behind which any limiter can be checked, simulated or
// broken on purpose.
import type { Algorithm } from "../rules/algorithms.ts";
import type { LimiterLawName } from "../rules/laws.ts";
import type { Owner, Rules, Scope } from "../rules/rules.ts";
import type { SwitchName, SwitchValue } from "../rules/switches.ts";
import type { HttpAnswer } from "../wire/answer.ts";

/** One call to decide. */
export interface Call {
  readonly organization: string;
  /** Unique within the organization. */
  readonly user: string;
  readonly scope: Scope;
  /** 1 for REST, requested complexity points for GraphQL; a safe integer >= 0. */
  readonly cost: number;
}

/** Reading of a window at one instant (SPEC.md §1, §3). */
export interface WindowReading {
  readonly limit: number;
  readonly current: number;
  readonly remaining: number;
  /** Whole seconds to `resetAtMs`, rounded as the rules say. */
  readonly reset: number;
  /** Milliseconds since the Unix epoch. */
  readonly resetAtMs: number;
  /** True if this window may refuse. */
  readonly enforced: boolean;
}

/** The two windows of one scope that a call touches. */
export interface Readings {
  readonly organization: WindowReading;
  readonly user: WindowReading;
}

/** Points that an admitted GraphQL call holds until it completes. Plain JSON; settle it once. */
export interface Reservation {
  readonly organization: string;
  readonly user: string;
  readonly scope: "graphql";
  readonly requested: number;
  /** `resetAtMs` of the windows of the decision; `null` where none was open. */
  readonly organizationWindow: number | null;
  readonly userWindow: number | null;
}

/** The answer to one call: the windows as they are just after it was counted. */
export interface Decision extends Readings {
  readonly admitted: boolean;
  /** Whose window refused; the organization's where both lack room (SPEC.md §2.4). */
  readonly refusedBy: Owner | null;
  /** Present for an admitted GraphQL call, whatever its charge: pass it to `settle` when the query completes. */
  readonly reservation: Reservation | null;
}

/** Both scopes of an organization, as its status endpoint shows them. */
export type Status = Readonly<Record<Scope, WindowReading>>;

type Awaitable<T> = T | PromiseLike<T>;

/** A reading of a limiter that may not show everything; what is absent is not judged. */
export interface PartialReadings {
  readonly organization?: Partial<WindowReading> | undefined;
  readonly user?: Partial<WindowReading> | undefined;
}

/** A decision of a limiter that may not show everything. */
export interface PartialDecision extends PartialReadings {
  readonly admitted: boolean;
  readonly refusedBy?: Owner | null | undefined;
  /** Wait that a refusal tells the caller, ms from now. */
  readonly retryAfterMs?: number | undefined;
  /** Plain JSON; handed back to `settle` as it is. */
  readonly reservation?: unknown;
}

/** Question to a limiter, and its answer, for `LimiterAdapter.answer`. */
export type Asked =
  | { readonly kind: "call"; readonly call: Call; readonly said: PartialDecision }
  | { readonly kind: "completion"; readonly call: Call; readonly said: PartialReadings }
  | { readonly kind: "status"; readonly organization: string; readonly user: string };

/** Any limiter, sync or async: all that laws, faults and the simulator know of it. */
export interface LimiterAdapter {
  decide(call: Call, nowMs: number): Awaitable<PartialDecision>;
  /** Completes an admitted GraphQL call; returns the readings that its headers show. */
  settle?(reservation: unknown, actual: number, nowMs: number): Awaitable<PartialReadings>;
  /** @param user who asks; a `keyed` limiter shows that user's windows instead */
  status?(
    organization: string,
    nowMs: number,
    user: string,
  ): Awaitable<{ readonly [S in Scope]?: Partial<WindowReading> }>;
  /** Reads both windows without a call: for the headers of answers that no window was asked for. */
  readWindows?(organization: string, user: string, scope: Scope, nowMs: number): Awaitable<PartialReadings>;
  /** Everything it remembers, as plain JSON, for `LimiterFactory.restore`. */
  snapshot?(): Awaitable<unknown>;
  /** Drops idle keys; earlier times count as `nowMs` from then on (SPEC.md §2.8). */
  sweep?(nowMs: number): Awaitable<unknown>;
  setEnforced?(organization: string, scope: Scope, enforced: boolean): Awaitable<void>;
  /**
   * The HTTP answer to what was just asked. It is made from what was said, so that a limiter that says
   * something wrong also sends it. `null` where nothing is sent yet: a GraphQL call that is still executed.
   */
  answer?(asked: Asked, nowMs: number): Awaitable<HttpAnswer | null>;
  /** Tells a limiter that reads a clock of its own what time it is, before each of the calls above. */
  setNow?(nowMs: number): unknown;
  /** Lets go of what it holds (a server, a connection, a timer): it is not asked again. */
  close?(): Awaitable<unknown>;
}

/**
 * The way of a limiter to its store. Other calls come in between there, so calls that overlap are interleaved in every
 * order, and in the same order again.
 */
export interface Seam {
  /** The same store; before each call of one of its methods others may come in. Its methods then give promises. */
  over<S extends object>(store: S): S;
  /** A place where others may come in. */
  pause(label?: string): Promise<void>;
}

/** Makes fresh limiters of one kind, and says what they promise. */
export interface LimiterFactory {
  readonly name: string;
  /** Algorithm by which it counts. A law that this does not promise is never claimed (`lawsOf`). */
  readonly algorithm: Algorithm;
  /** The laws that this kind of limiter promises; the others are reported as not claimed. */
  readonly claims: "all" | readonly LimiterLawName[];
  /** The claims are those of its algorithm, and nobody's word: what it does not show is no broken claim. */
  readonly claimsAsShown?: boolean;
  /**
   * The values of each semantics switch that `create` understands; a switch left out may have any. Laws draw
   * their rules from these. A limiter with one fixed behaviour names one value for each.
   */
  readonly semantics?: { readonly [S in SwitchName]?: readonly SwitchValue<S>[] };
  /** The anchor among them is a guess: the laws ask the limiter where its windows lie. */
  readonly anchorUnsaid?: boolean;
  /** The scopes of the calls that it is asked; both unless told. Where every call costs 1, `rest` alone. */
  readonly scopes?: readonly Scope[];
  /**
   * It keeps one window for each key, all of one limit and length, and a key is a user of an organization: the
   * organization has no window that could refuse. Rules that are drawn, or given, are made so.
   */
  readonly keyed?: boolean;
  /** The users that it knows, by organization; without it any name will do. */
  readonly callers?: Readonly<Record<string, readonly string[]>>;
  /** A first-request window opens at a whole multiple of so many ms: 1000 unless told (SPEC.md §3), or 1. */
  readonly opensToMs?: 1 | 1000;
  /** The instant at which a window ends still belongs to it. */
  readonly endsLate?: boolean;
  /** Sets a clock that all limiters of this kind read, before one is made and before it is asked. */
  setNow?(nowMs: number): unknown;
  /** @param seam way of an asynchronous limiter to its store, by which its calls are interleaved */
  create(rules: Rules, seam?: Seam): Awaitable<LimiterAdapter>;
  restore?(rules: Rules, snapshot: unknown): Awaitable<LimiterAdapter>;
}
