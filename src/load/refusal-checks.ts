// Checks of a refusal by itself, even if others call. Its headers and its body come from one decision, so they must
// agree. Some window must have lacked the room (SPEC.md §5-§7).

import { quotaNames } from "../policy/names.ts";
import type { Rules } from "../rules/rules.ts";
import { semanticsOf } from "../rules/rules.ts";
import type { CallTemplate } from "../scenario/client.ts";
import { readRefusal } from "../wire/bodies.ts";
import { headerNames, type WindowHeaders } from "../wire/fields.ts";
import { isRefusal } from "../wire/outcome.ts";
import type { TraceableAnswer } from "./answer.ts";

/** Returns the mistake in a 429, or `null`; other answers have no such mistake. */
export function refusalFault(
  template: CallTemplate,
  answer: TraceableAnswer,
  rules: Rules | null,
): string | null {
  if (!isRefusal(answer.status)) return null;
  if (template.kind === "status") return "status-free: a status call was refused";
  const { organization, user } = answer;
  const cost = leastRoom(template, answer, rules);
  if (hasRoom(organization, cost) && hasRoom(user, cost))
    return "refusal-justified: refused, and neither window lacks room";
  return template.scope === "rest" ? bodyFault(answer) : null;
}

/**
 * Returns the remaining points with which no window may refuse: the call's cost. Under `postpaid` it is 1, since only
 * an empty window refuses. If refusals are counted, the headers show even less than the decision saw.
 */
function leastRoom(
  { scope, cost }: CallTemplate,
  { requested }: TraceableAnswer,
  rules: Rules | null,
): number {
  if (scope === "rest") return 1;
  if (rules !== null && semanticsOf(rules, scope).graphqlCharge === "postpaid") return 1;
  return Math.max(1, typeof requested === "number" ? requested : cost);
}

const hasRoom = ({ remaining }: WindowHeaders, cost: number): boolean =>
  typeof remaining === "number" && remaining >= cost;

/** Returns the mistake in REST's body, which describes the window that refused, by that window's headers. */
function bodyFault({ organization, user, body, retryAfter }: TraceableAnswer): string | null {
  if (typeof body !== "object" || body === null) return null;
  const { scope, limit, current, reset } = readRefusal(body);
  const { rest } = quotaNames;
  const window = scope === rest.organization ? organization : scope === rest.user ? user : null;
  if (window === null) return "refusal-agrees: the refusal names no window of this call";
  if (typeof window.limit !== "number" || typeof window.remaining !== "number") return null;
  if (window.remaining > 0) return "refusal-agrees: the refusal names a window that has room";
  if (limit !== window.limit) return "refusal-agrees: limit differs between body and headers";
  if (reset !== window.reset) return "refusal-agrees: reset differs between body and headers";
  if (retryAfter !== null && retryAfter !== window.reset)
    return `refusal-agrees: ${headerNames.retryAfter} is not the reset of the window that refused`;
  const left = current === null ? Number.NaN : Math.max(0, window.limit - current);
  if (left !== Math.max(0, window.remaining))
    return "refusal-agrees: current and remaining differ between body and headers";
  return null;
}
