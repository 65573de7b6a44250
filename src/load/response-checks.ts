// Checks of each answer on the spot, inside k6: by one response alone, and by all that one client sees alone. The
// judge, who sees the whole trace, makes all other checks.
//
// A fault is a string: the name of the failed check, with the law and what breaks it. It holds no values, since each
// name is a line of k6's summary, and the trace has them.

import { quotaNames } from "../policy/names.ts";
import {
  type Owner,
  organizationLimit,
  type Rules,
  type Scope,
  semanticsOf,
  userLimit,
  type WindowLimit,
} from "../rules/rules.ts";
import { ABSENT, type CallTemplate, type ClientEvent } from "../scenario/client.ts";
import {
  type HeaderValue,
  headerNames,
  headersOf,
  namesOtherQuota,
  type WindowHeaders,
} from "../wire/fields.ts";
import { isFailure } from "../wire/outcome.ts";
import type { TraceableAnswer } from "./answer.ts";
import type { WindowTerms } from "./lone-window.ts";

export interface WindowBounds extends WindowTerms {
  readonly names: Readonly<WindowHeaders<string>>;
  readonly scopeName: string;
  /** Limit by the rules; `NaN` if nobody claims any. */
  readonly limit: number;
  /** Bounds of the reset, seconds. */
  readonly resetLeast: number;
  readonly resetMost: number;
}

/** Bounds for the answers to one user's calls of one scope. */
export interface HeaderBounds {
  readonly organization: WindowBounds;
  readonly user: WindowBounds;
}

/**
 * Returns the bounds of SPEC.md §7, `remaining-agrees` and `reset-agrees`, with the effect of each switch. If no rules
 * are claimed (`null`), they demand only what all switches have in common.
 */
export function headerBounds(
  rules: Rules | null,
  organization: string,
  user: string,
  scope: Scope,
): HeaderBounds {
  const semantics = rules === null ? null : semanticsOf(rules, scope);
  const reset = semantics?.reset ?? null;
  const shared = {
    reset,
    resetLeast: reset === "ceil" ? 1 : 0,
    isEpoch: semantics?.anchor === "epoch",
    isSigned: semantics && semantics.remaining === "signed",
  };
  const boundsOf = (owner: Owner, claimed: WindowLimit | null): WindowBounds => {
    const [names, scopeName] = [headersOf(headerNames, owner), quotaNames[scope][owner]];
    const { limit, windowSeconds } = claimed ?? { limit: Number.NaN, windowSeconds: null };
    const resetMost = windowSeconds ?? Number.MAX_SAFE_INTEGER;
    return { ...shared, names, scopeName, limit, windowSeconds, resetMost };
  };
  return {
    organization: boundsOf("organization", rules && organizationLimit(rules, organization, scope)),
    user: boundsOf("user", rules && userLimit(rules, organization, user, scope)),
  };
}

/** Returns the fault of one answer's headers in words, or `null`. */
export function headerFault(answer: TraceableAnswer, bounds: HeaderBounds): string | null {
  if (!owesHeaders(answer)) return null;
  return windowFault(answer.organization, bounds.organization) ?? windowFault(answer.user, bounds.user);
}

/** Tells whether this answer owes the eight headers (SPEC.md §5): caller and organization were known. */
function owesHeaders({ status, organization, user }: TraceableAnswer): boolean {
  if (status === 0 || status === 401) return false;
  if (status !== 404 && status < 500) return true;
  // Without headers, a 404 means an unknown organization or path, and a 5xx comes from something before the target.
  return organization.scopeName !== null || user.scopeName !== null;
}

function windowFault(shown: WindowHeaders, bounds: WindowBounds): string | null {
  const { scopeName, limit, remaining, reset } = shown;
  const { names } = bounds;
  if (scopeName === null) return `headers-present: ${names.scopeName} is missing`;
  if (scopeName !== bounds.scopeName) {
    // Another quota's headers are not known (SPEC.md §5).
    return namesOtherQuota(scopeName) ? null : `headers-present: ${names.scopeName} names the wrong scope`;
  }
  if (typeof limit !== "number") return noInteger(names.limit, limit);
  if (typeof remaining !== "number") return noInteger(names.remaining, remaining);
  if (typeof reset !== "number") return noInteger(names.reset, reset);
  if (limit < 1) return `limit-agrees: ${names.limit} is below 1`;
  if (limit !== (bounds.limit || limit)) return `limit-agrees: ${names.limit} is not that of the rules`;
  if (remaining > limit) return `remaining-agrees: ${names.remaining} is above ${names.limit}`;
  if (remaining < 0 && bounds.isSigned === false) return `remaining-agrees: ${names.remaining} is below 0`;
  if (reset < bounds.resetLeast) return `reset-agrees: ${names.reset} is below ${bounds.resetLeast}`;
  if (reset > bounds.resetMost) return `reset-agrees: ${names.reset} is above ${bounds.resetMost}`;
  return null;
}

function noInteger(header: string, value: HeaderValue): string {
  return `headers-present: ${header} is ${value === null ? "missing" : "no integer"}`;
}

/**
 * Judges a user's window by its only client, which makes one call at a time. Between two answers `remaining` falls by
 * at most the call's cost, and by nothing for a status call. If the window rolled in between, it only shows more. (With
 * several calls on the way, answers may come in another order than their charges.)
 */
export class LoneUser {
  /** True after a call with an unknown outcome, which may be charged at any later time. */
  #unsure = false;
  readonly #rest = { limit: ABSENT, remaining: ABSENT };
  readonly #graphql = { limit: ABSENT, remaining: ABSENT };

  /**
   * Returns what is wrong with an answer, or `null`.
   * @param event what the client is told of the answer
   */
  answered(template: CallTemplate, event: ClientEvent): string | null {
    const { userLimit, userRemaining } = event;
    const last = template.scope === "rest" ? this.#rest : this.#graphql;
    const isComparable = last.limit === userLimit && !this.#unsure;
    const least = last.remaining - template.cost;
    last.limit = userLimit;
    last.remaining = userRemaining;
    if (userLimit === ABSENT || userRemaining === ABSENT) {
      last.limit = ABSENT;
      if (isFailure(event.status)) this.#unsure = true;
      return null;
    }
    if (userRemaining >= least || !isComparable) return null;
    return template.kind === "status"
      ? `status-free: ${headerNames.userRemaining} fell by a status call`
      : `conserved: ${headerNames.userRemaining} fell by more than the call's cost`;
  }
}
