// The outcome of a call by its answer (SPEC.md §6): admitted, refused and by whom, counted by no quota, or unknown.
import type { Owner, Scope } from "../rules/rules.ts";
import { refuserIn } from "./bodies.ts";
import { hasHeaders, type ShownHeaders } from "./fields.ts";

/** Status of a refusal. */
export const REFUSED = 429;

export const isRefusal = (status: number): boolean => status === REFUSED;

/** Tells whether no answer came (0), or one that something before the target may have given. */
export const isFailure = (status: number): boolean => status === 0 || status >= 500;

/** Tells whether an answer leads elsewhere. A 304 does not: it is of the resource itself. */
export const isRedirect = (status: number): boolean => status >= 300 && status < 400 && status !== 304;

/** Tells whether the target decided a call: its answer is no failure, or has headers, which only the target knows. */
export const isAnswered = (call: ShownHeaders & { readonly status: number }): boolean =>
  !isFailure(call.status) || (call.status !== 0 && hasHeaders(call));

/**
 * Tells whether no quota counts an answer (SPEC.md §2.6).
 * @param isNamed true if it names a window; otherwise a 404 is of an unknown organization or path
 * @param isUnexecuted true if it answers a query that was not executed, although its status is 200
 */
export function isUncounted(scope: Scope, status: number, isNamed: boolean, isUnexecuted: boolean): boolean {
  if (status === 401 || status === 403 || (status === 404 && !isNamed)) return true;
  if (scope === "rest") return false;
  if (status === 200) return isUnexecuted;
  return status === 400 || status === 404 || status === 405 || status === 413 || status === 415;
}

type Refused = Pick<ShownHeaders, "remaining" | "userRemaining"> & { cost: number | null; refusal?: unknown };

/**
 * Returns the owner of the window that a 429 names (SPEC.md §2.4, §6): by its body; otherwise by the window that lacks
 * room, the organization's first. `null` if neither tells.
 */
export const refusedBy = (call: Refused): Owner | null => refuserIn(call.refusal) ?? lackingRoom(call);

function lackingRoom({ cost, remaining, userRemaining }: Refused): Owner | null {
  const needed = cost ?? 1;
  if (typeof remaining === "number" && remaining < needed) return "organization";
  return typeof userRemaining === "number" && userRemaining < needed ? "user" : null;
}
