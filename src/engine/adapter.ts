// The shapes of a decision, and the small interface behind which any limiter can be checked, simulated or broken on
// purpose.
import type { Algorithm } from "../rules/algorithms.ts";
import type { LimiterLawName } from "../rules/laws.ts";
import type { Owner, Rules, Scope } from "../rules/rules.ts";
import type { SwitchName, SwitchValue } from "../rules/switches.ts";
import type { HttpAnswer } from "../wire/answer.ts";

export interface Call {
  readonly organization: string;
  /** Name of the user, unique within the organization. */
  readonly user: string;
  readonly scope: Scope;
  /** Cost: 1 for REST, requested complexity points for GraphQL. A safe integer >= 0. */
  readonly cost: number;
}

/** Reading of a window at one instant (SPEC.md §1, §3). */
export interface WindowReading {
  readonly limit: number;
  readonly current: number;
  readonly remaining: number;
  /** Whole seconds to `resetAtMs`, rounded as the rules say. */
  readonly reset: number;
  /** End of the window, ms since the Unix epoch. */
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
  /** End (`resetAtMs`) of each window at the decision, ms; `null` if none was open. */
  readonly organizationWindow: number | null;
  readonly userWindow: number | null;
}

/** Answer to one call, with the windows just after it was counted. */
export interface Decision extends Readings {
  readonly admitted: boolean;
  /** Owner whose window refused; the organization if both lack room (SPEC.md §2.4). `null` if admitted. */
  readonly refusedBy: Owner | null;
  /** Present for every admitted GraphQL call, with any charge: pass it to `settle` when the query completes. */
  readonly reservation: Reservation | null;
}

/** Both scopes of an organization, as its status endpoint shows them. */
export type Status = Readonly<Record<Scope, WindowReading>>;

/** A value, or a promise of the value. */
export type Awaitable<T> = T | PromiseLike<T>;

/** A reading of a limiter that may not show everything. Absent members are not judged. */
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
  /** Plain JSON, which `settle` receives as it is. */
  readonly reservation?: unknown;
}

/** A question to a limiter, with its answer, for `LimiterAdapter.answer`. */
export type Asked =
  | { readonly kind: "call"; readonly call: Call; readonly said: PartialDecision }
  | { readonly kind: "completion"; readonly call: Call; readonly said: PartialReadings }
  | { readonly kind: "status"; readonly organization: string; readonly user: string };

/** Any limiter, sync or async, as laws, faults and the simulator see it. */
export interface LimiterAdapter {
  decide(call: Call, nowMs: number): Awaitable<PartialDecision>;
  /** Completes an admitted GraphQL call; returns the readings that its headers show. */
  settle?(reservation: unknown, actual: number, nowMs: number): Awaitable<PartialReadings>;
  /** @param user user who asks; a `keyed` limiter shows that user's windows instead */
  status?(
    organization: string,
    nowMs: number,
    user: string,
  ): Awaitable<{ readonly [S in Scope]?: Partial<WindowReading> }>;
  /** Reads both windows without a call, for the headers of answers that use no window. */
  readWindows?(organization: string, user: string, scope: Scope, nowMs: number): Awaitable<PartialReadings>;
  /** Returns everything that the limiter remembers, as plain JSON, for `LimiterFactory.restore`. */
  snapshot?(): Awaitable<unknown>;
  /** Drops idle keys. Earlier times count as `nowMs` from then on (SPEC.md §2.8). */
  sweep?(nowMs: number): Awaitable<unknown>;
  setEnforced?(organization: string, scope: Scope, enforced: boolean): Awaitable<void>;
  /**
   * Returns the HTTP answer to a question, made from what the limiter said, so that a wrong limiter also sends wrong
   * answers. `null` if nothing is sent yet: a GraphQL call that is still executed.
   */
  answer?(asked: Asked, nowMs: number): Awaitable<HttpAnswer | null>;
  /** Tells the time to a limiter that reads its own clock, before each of the calls above. */
  setNow?(nowMs: number): unknown;
  /** Releases what the limiter holds (a server, a connection, a timer). It is not called again. */
  close?(): Awaitable<unknown>;
}

/**
 * Access of a limiter to its store. Other calls can run at each access, so that tests interleave overlapping calls in
 * every order, and repeat an order.
 */
export interface Seam {
  /** Returns a store before whose method calls others may run; its methods return promises. */
  over<S extends object>(store: S): S;
  /** Lets other calls run here. */
  pause(label?: string): Promise<void>;
}

/** A seam that lets no other call in between, by which a limiter reaches its store when calls do not overlap. */
export const stillSeam: Seam = { over: (store) => store, pause: () => Promise.resolve() };

/** Makes fresh limiters of one kind, and says what they promise. */
export interface LimiterFactory {
  readonly name: string;
  /** Algorithm that it counts by. Laws that the algorithm does not promise are never claimed (`lawsOf`). */
  readonly algorithm: Algorithm;
  /** Laws that this kind of limiter promises; the others are reported as not claimed. */
  readonly claims: "all" | readonly LimiterLawName[];
  /** True if the claims come from the algorithm alone. What the limiter does not show then breaks no claim. */
  readonly claimsAsShown?: boolean;
  /**
   * Values of each semantics switch that `create` understands; an absent switch may have any. Laws draw their rules
   * from these. A limiter with one fixed behaviour names one value for each.
   */
  readonly semantics?: { readonly [S in SwitchName]?: readonly SwitchValue<S>[] };
  /** True if the anchor in `semantics` is a guess: the laws then ask the limiter where its windows lie. */
  readonly anchorUnsaid?: boolean;
  /** Scopes of the calls that it takes. Default: both. `rest` alone if every call costs 1. */
  readonly scopes?: readonly Scope[];
  /**
   * True if it keeps one window for each key, all of one limit and length. A key is a user of an organization, and the
   * organization has no window that could refuse. Drawn and given rules are adapted to that.
   */
  readonly keyed?: boolean;
  /** Users that it knows, by organization. Default: any name. */
  readonly callers?: Readonly<Record<string, readonly string[]>>;
  /** Multiple, ms, at which a first-request window opens: 1000 (default, SPEC.md §3) or 1. */
  readonly opensToMs?: 1 | 1000;
  /** True if the instant at which a window ends still belongs to it. */
  readonly endsLate?: boolean;
  /** True if windows follow one another from the time on at which the limiter is made, whatever `anchor` says. */
  readonly fromStart?: boolean;
  /** Sets a clock that all limiters of this kind read, before one is made and before each call. */
  setNow?(nowMs: number): unknown;
  /**
   * @param rules with limits of one organization's or user's own: `organizationLimit` and `userLimit` read them
   * @param seam access of an asynchronous limiter to its store, by which its calls are interleaved
   */
  create(rules: Rules, seam?: Seam): Awaitable<LimiterAdapter>;
  restore?(rules: Rules, snapshot: unknown): Awaitable<LimiterAdapter>;
}
