// What each answer is checked for on the spot, inside k6: what one response shows by itself, and what one
// client can tell alone. Everything else is the judge's, who sees the whole trace.
import { organizationLimit, type Rules, type Scope, semanticsOf, userLimit } from "../rules/rules.ts";
import type { CallTemplate } from "../scenario/client.ts";
import type { HeaderValue } from "../trace/record.ts";
import type { Answer } from "./answer.ts";

/** What the rules say about the headers of one scope; where no rules are claimed, only what all of them say. */
export interface HeaderBounds {
  /** Whether `remaining` may be below 0 (`remaining: "signed"`). */
  readonly signed: boolean;
  readonly resetLeast: number;
  /** Seconds, for the organization's window and the user's. */
  readonly resetMost: number;
  readonly userResetMost: number;
}

/** SPEC.md §7, `remaining-agrees` and `reset-agrees`, with what each switch changes. */
export function headerBounds(
  rules: Rules | null,
  organization: string,
  user: string,
  scope: Scope,
): HeaderBounds {
  if (rules === null)
    return {
      signed: true,
      resetLeast: 0,
      resetMost: Number.MAX_SAFE_INTEGER,
      userResetMost: Number.MAX_SAFE_INTEGER,
    };
  const { remaining, reset } = semanticsOf(rules, scope);
  return {
    signed: remaining === "signed",
    resetLeast: reset === "ceil" ? 1 : 0,
    resetMost: organizationLimit(rules, organization, scope).windowSeconds,
    userResetMost: userLimit(rules, organization, user, scope).windowSeconds,
  };
}

interface Shown {
  /** What the headers' names begin with. */
  readonly prefix: string;
  readonly name: HeaderValue;
  readonly limit: HeaderValue;
  readonly remaining: HeaderValue;
  readonly reset: HeaderValue;
}

const scopeNames: readonly HeaderValue[] = ["rest", "graphql", "rest_user", "graphql_user"];

/** Whether this answer owes the eight headers (SPEC.md §5): the caller and the organization were known. */
function owesHeaders({ status, scopeName, userScopeName }: Answer): boolean {
  const bare = scopeName === null && userScopeName === null;
  if (status === 0 || status === 401) return false;
  // Without headers, a 404 is of an unknown organization or path, and a 5xx of something before the target.
  return !(bare && (status === 404 || status >= 500));
}

/**
 * What is wrong with the headers of one answer, as the name of a check: the law, and what breaks it. Values are
 * not in it (the trace has them): each name is a line of k6's summary.
 */
export function headerFault(answer: Answer, scope: Scope, bounds: HeaderBounds): string | null {
  if (!owesHeaders(answer)) return null;
  const { scopeName, limit, remaining, reset } = answer;
  return (
    windowFault(
      { prefix: "RateLimit-", name: scopeName, limit, remaining, reset },
      scope,
      bounds,
      bounds.resetMost,
    ) ??
    windowFault(
      {
        prefix: "RateLimit-User-",
        name: answer.userScopeName,
        limit: answer.userLimit,
        remaining: answer.userRemaining,
        reset: answer.userReset,
      },
      scope === "rest" ? "rest_user" : "graphql_user",
      bounds,
      bounds.userResetMost,
    )
  );
}

function windowFault(
  shown: Shown,
  scopeName: string,
  bounds: HeaderBounds,
  resetMost: number,
): string | null {
  const { prefix, name, limit, remaining, reset } = shown;
  if (name === null) return `headers-present: ${prefix}Scope is missing`;
  if (name !== scopeName) {
    // Another name is another quota's (SPEC.md §5): nothing is known of it.
    return scopeNames.includes(name) ? `headers-present: ${prefix}Scope names the wrong scope` : null;
  }
  if (typeof limit !== "number") return noInteger(`${prefix}Limit`, limit);
  if (typeof remaining !== "number") return noInteger(`${prefix}Remaining`, remaining);
  if (typeof reset !== "number") return noInteger(`${prefix}Reset`, reset);
  if (limit < 1) return `limit-agrees: ${prefix}Limit is below 1`;
  if (remaining > limit) return `remaining-agrees: ${prefix}Remaining is above ${prefix}Limit`;
  if (remaining < 0 && !bounds.signed) return `remaining-agrees: ${prefix}Remaining is below 0`;
  if (reset < bounds.resetLeast) return `reset-agrees: ${prefix}Reset is below ${bounds.resetLeast}`;
  if (reset > resetMost) return `reset-agrees: ${prefix}Reset is above ${resetMost}`;
  return null;
}

function noInteger(header: string, value: HeaderValue): string {
  return `headers-present: ${header} is ${value === null ? "missing" : "no integer"}`;
}

/**
 * What a client can tell of its user's window where nobody else is that user: from one answer to the next,
 * with nothing else on the way, `remaining` falls by the call's cost at the most, and by nothing for a status
 * call. A window that rolled in between only shows more.
 */
export class LoneUser {
  #onTheWay = 0;
  /** Calls overlapped since the last reading: their answers need not come in the order of their charges. */
  #overlapped = false;
  /** A call's outcome is unknown: it may be charged late, at any time. */
  #unsure = false;
  readonly #last = new Map<Scope, { readonly limit: number; readonly remaining: number }>();

  sent(): void {
    this.#onTheWay += 1;
    if (this.#onTheWay > 1) this.#overlapped = true;
  }

  /** The fault as the name of a check, or `null`. */
  answered(template: CallTemplate, answer: Answer): string | null {
    this.#onTheWay -= 1;
    const { status, userLimit: limit, userRemaining: remaining } = answer;
    if (status === 0 || (status >= 500 && remaining === null)) this.#unsure = true;
    const before = this.#last.get(template.scope);
    this.#last.delete(template.scope);
    const alone = !this.#overlapped;
    if (this.#onTheWay === 0) this.#overlapped = false;
    if (this.#unsure || typeof limit !== "number" || typeof remaining !== "number") return null;
    if (!alone) return null;
    this.#last.set(template.scope, { limit, remaining });
    if (before === undefined || before.limit !== limit || remaining >= before.remaining - template.cost)
      return null;
    return template.kind === "status"
      ? "status-free: RateLimit-User-Remaining fell by a status call"
      : "conserved: RateLimit-User-Remaining fell by more than the call's cost";
  }
}
