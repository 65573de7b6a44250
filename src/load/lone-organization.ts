// Checks by a client that is alone in its organization and makes one call at a time. Nobody else moves its windows, so
// from each answer it knows what the next one may show. It sees counts that jump or stand still, windows that end at
// the wrong time, and statuses of other organizations.
//
// The checks are sound because they assume little. The target's clock is off by any constant, and seconds are whole. If
// a window may have rolled, both cases are allowed. After a call with an unknown outcome they say nothing more: it may
// be charged in any later window.
import { organizationLimit, type Rules, type Scope, scopes, semanticsOf } from "../rules/rules.ts";
import type { CallTemplate } from "../scenario/client.ts";
import { readStatus, scopesIn } from "../wire/bodies.ts";
import type { WindowHeaders } from "../wire/fields.ts";
import { isFailure, isRefusal } from "../wire/outcome.ts";
import type { TraceableAnswer } from "./answer.ts";
import { apart, both, drift, type LoneCharge, type LoneSpan, LoneWindow, slackMs } from "./lone-window.ts";
import { headerBounds } from "./response-checks.ts";

// The target's clock, as statuses show it. `reset` and `reset_at` of one status come from one reading of one clock
// (SPEC.md §3), so `reset_at - reset` is the time there. Its distance from the client's clock is unknown, but constant.

export class StatusClock {
  /** Lead of the target's clock over the client's, ms. */
  #ahead: LoneSpan = { least: Number.NEGATIVE_INFINITY, most: Number.POSITIVE_INFINITY };
  #seenMs = Number.NaN;

  /**
   * Returns the fault in a status, or `null`.
   * @param resetAtMs ms since the epoch on the target's clock
   * @param secondsLeft what `reset` may mean, by its rounding
   */
  fault(resetAtMs: number, secondsLeft: LoneSpan, sentMs: number, receivedMs: number): string | null {
    // The target's time is in [resetAt - most, resetAt - least]; the client's is in [sent, received + 1].
    const ahead: LoneSpan = {
      least: resetAtMs - secondsLeft.most * 1000 - receivedMs - 1 - slackMs,
      most: resetAtMs - secondsLeft.least * 1000 - sentMs + slackMs,
    };
    const drifted = Number.isNaN(this.#seenMs) ? 0 : (receivedMs - this.#seenMs) * drift;
    const before: LoneSpan = { least: this.#ahead.least - drifted, most: this.#ahead.most + drifted };
    this.#seenMs = receivedMs;
    const isOther = apart(ahead, before);
    this.#ahead = isOther ? ahead : both(ahead, before);
    return isOther ? "reset-agrees: reset and reset_at of the status are of two clocks" : null;
  }
}

/** Charge of a call that adds nothing, as far as is known. */
const nothing: LoneCharge = { by: "other", least: 0, most: 0, needs: 0, mayRoll: false };

interface ScopeWindows {
  readonly organization: LoneWindow;
  readonly user: LoneWindow;
}

export class LoneOrganization {
  readonly #rules: Rules | null;
  readonly #windows: Readonly<Record<Scope, ScopeWindows>>;
  readonly #clock = new StatusClock();
  /** True for scopes whose organization windows refuse: claimed by the rules, and denied by no status. */
  readonly #enforced: Record<Scope, boolean>;
  #unsure = false;

  constructor(rules: Rules | null, organization: string, user: string) {
    this.#rules = rules;
    const windows = (scope: Scope): ScopeWindows => {
      const bounds = headerBounds(rules, organization, user, scope);
      return { organization: new LoneWindow(bounds.organization), user: new LoneWindow(bounds.user) };
    };
    this.#windows = { rest: windows("rest"), graphql: windows("graphql") };
    const enforced = (scope: Scope): boolean =>
      rules !== null && organizationLimit(rules, organization, scope).enforced;
    this.#enforced = { rest: enforced("rest"), graphql: enforced("graphql") };
  }

  /** Returns the mistake in this answer in the light of those before it, or `null`. */
  answered(template: CallTemplate, answer: TraceableAnswer): string | null {
    const { status, kind } = answer;
    this.#unsure ||= isFailure(status);
    if (this.#unsure) return null;
    const { scope } = template;
    const charge = this.#chargeOf(template, answer);
    const windows = this.#windows[scope];
    // Each window is told of each answer, even if another window has a mistake.
    const found = [
      read(windows.organization, answer.organization, answer, charge),
      read(windows.user, answer.user, answer, charge),
      ...(kind === "status" && status === 200 ? scopes.map((each) => this.#scopeFault(each, answer)) : []),
    ];
    return found.find((fault) => fault !== null) ?? null;
  }

  /** Returns the points that an answer's call may have added to both of its windows. */
  #chargeOf({ scope, cost }: CallTemplate, { status, kind, requested, actual }: TraceableAnswer): LoneCharge {
    if (kind === "status") return { ...nothing, by: "status" };
    if (kind === "other") return nothing;
    const asked = typeof requested === "number" ? requested : cost;
    const semantics = this.#rules === null ? null : semanticsOf(this.#rules, scope);
    const graphqlCharge = scope === "graphql" && semantics !== null ? semantics.graphqlCharge : null;
    // Points that must be left for a call to be admitted; 0 if unknown.
    const needs = !this.#enforced[scope] ? 0 : graphqlCharge === "postpaid" ? 1 : asked;
    if (isRefusal(status)) {
      const isFree = semantics?.refused === "uncounted" && semantics.refusedByUser === "charges-nothing";
      return { ...nothing, by: "refused", most: isFree ? 0 : asked };
    }
    if (scope === "rest") return { by: "admitted", least: 1, most: 1, needs, mayRoll: false };
    const used = typeof actual === "number" ? actual : null;
    const mayRoll = graphqlCharge !== "prepaid";
    if (graphqlCharge === "prepaid") return { by: "admitted", least: asked, most: asked, needs, mayRoll };
    if (graphqlCharge !== null && used !== null)
      return { by: "admitted", least: used, most: used, needs, mayRoll };
    return { by: "admitted", least: 0, most: asked, needs, mayRoll };
  }

  #scopeFault(scope: Scope, answer: TraceableAnswer): string | null {
    const { limit, current, reset, resetAt, enforced } = readStatus(scopesIn(answer.body), scope);
    // Once a status denies the claim, refusals of this scope are not checked any more.
    this.#enforced[scope] &&= enforced === true;
    if (limit === null || current === null || reset === null)
      return "headers-present: the status has a member that is no integer";
    const window = this.#windows[scope].organization;
    const headers: WindowHeaders = { scopeName: scope, limit, remaining: limit - current, reset };
    const fault = read(window, headers, answer, { ...nothing, by: "body" });
    const endMs = Date.parse(resetAt ?? "");
    if (!(endMs >= 0)) return "reset-agrees: reset_at of the status is no time";
    return (
      fault ??
      window.resetAtFault(endMs) ??
      this.#clock.fault(endMs, window.secondsLeft(reset), answer.sentMs, answer.receivedMs)
    );
  }
}

function read(
  window: LoneWindow,
  { limit, remaining, reset }: WindowHeaders,
  { sentMs, receivedMs }: TraceableAnswer,
  charge: LoneCharge,
): string | null {
  if (typeof limit !== "number" || typeof remaining !== "number" || typeof reset !== "number") {
    window.forget();
    return null;
  }
  return window.read({ limit, remaining, reset, sentMs, receivedMs }, charge);
}
