// An answer as a line of the trace (FORMAT.md, "A call"). Building this text is what a trace costs k6, so all
// that does not change from call to call is built once, and JSON.stringify sees odd values only.
import type { CallTemplate, PlannedCall } from "../scenario/client.ts";
import type { HeaderValue } from "../trace/record.ts";
import type { Answer } from "./answer.ts";

/** The fixed text of one client's lines for one kind of call. */
export interface LineParts {
  readonly client: string;
  readonly scope: string;
  readonly cost: string;
}

/** @param client `population/index` */
export function lineParts(
  client: string,
  organization: string,
  user: string,
  { scope, kind, cost }: CallTemplate,
): LineParts {
  const text = JSON.stringify;
  return {
    client: `"client":${text(client)},"call":`,
    scope: `,"org":${text(organization)},"user":${text(user)},"scope":"${scope}","kind":"`,
    cost: kind === "call" ? `call","cost":${cost}` : `${kind}","cost":null`,
  };
}

/** A name from SPEC.md §1 needs no escaping; whatever else a target sends may. */
const plain = /^[a-z_]+$/;

function value(header: HeaderValue): string {
  if (typeof header === "string" && plain.test(header)) return `"${header}"`;
  return typeof header === "number" ? String(header) : JSON.stringify(header);
}

const member = (name: string, header: HeaderValue): string =>
  header === null ? "" : `,"${name}":${value(header)}`;

/**
 * The line, without its end.
 * @param call the client's running number, from 0
 */
export function callLine(
  parts: LineParts,
  call: number,
  planned: Readonly<PlannedCall>,
  answer: Answer,
): string {
  const cost = answer.kind === "other" ? `other","cost":null` : parts.cost;
  let line =
    `{"sent":${answer.sentMs},"received":${answer.receivedMs},${parts.client}${call}${parts.scope}${cost}` +
    `,"status":${answer.status},"scopeName":${value(answer.scopeName)},"limit":${value(answer.limit)}` +
    `,"remaining":${value(answer.remaining)},"reset":${value(answer.reset)}` +
    `,"userScopeName":${value(answer.userScopeName)},"userLimit":${value(answer.userLimit)}` +
    `,"userRemaining":${value(answer.userRemaining)},"userReset":${value(answer.userReset)}`;
  if (typeof answer.actual === "number") line += `,"actual":${answer.actual}`;
  line += member("retryAfter", answer.retryAfter);
  line += member("warning", answer.warning);
  line += member("userWarning", answer.userWarning);
  if (answer.body !== undefined) line += bodyMember(answer);
  if (answer.error !== null) line += `,"error":${JSON.stringify(answer.error)}`;
  return `${line},"wanted":${planned.wantedMs},"attempt":${planned.attempt}}`;
}

function bodyMember({ status, body }: Answer): string {
  if (status === 429) return `,"refusal":${JSON.stringify(body)}`;
  const scopes = (body as { scopes?: unknown } | null)?.scopes;
  return `,"body":${JSON.stringify(scopes === undefined ? body : scopes)}`;
}
