// An answer as a line of the trace (FORMAT.md, "A call"). Building this text is what a trace costs k6. Parts that are
// the same for many calls are therefore built once, and JSON.stringify is used for odd values only.

import { quotaNames } from "../policy/names.ts";
import type { CallTemplate, PlannedCall } from "../scenario/client.ts";
import { scopesIn } from "../wire/bodies.ts";
import type { HeaderValue } from "../wire/fields.ts";
import { isRefusal } from "../wire/outcome.ts";
import type { TraceableAnswer } from "./answer.ts";

/** Fixed text of one client's lines for one kind of call. */
export interface LineParts {
  readonly client: string;
  readonly scope: string;
  /** Names that the two scope headers should have, and the same names as JSON. */
  readonly names: readonly [organization: string, user: string];
  readonly nameTexts: readonly [organization: string, user: string];
  /** Kind and cost, used if the target tells no cost. */
  readonly kind: string;
}

/** @param client `population/index` */
export function lineParts(
  client: string,
  organization: string,
  user: string,
  { scope, kind, cost }: CallTemplate,
): LineParts {
  const text = JSON.stringify;
  const names = [scope, quotaNames[scope].user] as const;
  return {
    names,
    nameTexts: [text(names[0]), text(names[1])],
    client: `"client":${text(client)},"call":`,
    scope: `,"org":${text(organization)},"user":${text(user)},"scope":"${scope}","kind":"`,
    kind: kind === "call" ? `call","cost":${cost}` : `${kind}","cost":null`,
  };
}

const member = (name: string, header: HeaderValue): string =>
  header === null ? "" : `,"${name}":${JSON.stringify(header)}`;

/**
 * Returns the line, without its end.
 * @param call the client's running number of the call, from 0
 */
export function callLine(
  parts: LineParts,
  call: number,
  planned: Readonly<PlannedCall>,
  answer: TraceableAnswer,
): string {
  const { organization, user, sentMs, receivedMs, status, retryAfter, warning, userWarning } = answer;
  const { names, nameTexts } = parts;
  const kind = answer.requested === null && answer.kind !== "other" ? parts.kind : kindAndCost(parts, answer);
  const text = JSON.stringify;
  const name = organization.scopeName === names[0] ? nameTexts[0] : text(organization.scopeName);
  const userName = user.scopeName === names[1] ? nameTexts[1] : text(user.scopeName);
  const { limit, remaining, reset } = organization;
  const { limit: userLimit, remaining: userRemaining, reset: userReset } = user;
  let line =
    `{"sent":${sentMs},"received":${receivedMs},${parts.client}${call}${parts.scope}${kind},"status":${status}` +
    `,"scopeName":${name},"limit":${typeof limit === "number" ? limit : text(limit)}` +
    `,"remaining":${typeof remaining === "number" ? remaining : text(remaining)}` +
    `,"reset":${typeof reset === "number" ? reset : text(reset)}` +
    `,"userScopeName":${userName},"userLimit":${typeof userLimit === "number" ? userLimit : text(userLimit)}` +
    `,"userRemaining":${typeof userRemaining === "number" ? userRemaining : text(userRemaining)}` +
    `,"userReset":${typeof userReset === "number" ? userReset : text(userReset)}`;
  if (answer.requested !== null || answer.actual !== null) line += actualMember(answer);
  if (retryAfter !== null) line += member("retryAfter", retryAfter);
  if (warning !== null) line += member("warning", warning);
  if (userWarning !== null) line += member("userWarning", userWarning);
  if (answer.body !== undefined) line += bodyMember(answer);
  if (answer.error !== null) line += `,"error":${JSON.stringify(answer.error)}`;
  return `${line},"wanted":${planned.wantedMs},"attempt":${planned.attempt}}`;
}

/** Returns kind and cost. The target's own count of points goes before the scenario's, which may be wrong. */
function kindAndCost(parts: LineParts, { kind, requested }: TraceableAnswer): string {
  if (kind === "other") return `other","cost":null`;
  return typeof requested === "number" && requested >= 0 ? `call","cost":${requested}` : parts.kind;
}

/** Returns the charge, if it is at most the cost (FORMAT.md). The trace omits a greater one, which checks name. */
function actualMember({ kind, status, requested, actual }: TraceableAnswer): string {
  const fits =
    typeof actual === "number" && typeof requested === "number" && actual >= 0 && actual <= requested;
  return fits && kind === "call" && !isRefusal(status) ? `,"actual":${actual}` : "";
}

function bodyMember({ status, body }: TraceableAnswer): string {
  if (isRefusal(status)) return `,"refusal":${JSON.stringify(body)}`;
  return `,"body":${JSON.stringify(scopesIn(body) ?? body)}`;
}
