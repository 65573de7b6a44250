// A call of the probe and its answer, read once: for all later conclusions, and for its line in the trace.
import type { Got } from "../connect/send.ts";
import type { Owner, Scope } from "../rules/rules.ts";
import type { CallKind, TraceCall } from "../trace/record.ts";
import {
  type ReadRefusal,
  readBody,
  readRefusal,
  readStatus,
  type ShownWindow,
  scopesIn,
} from "../wire/bodies.ts";
import {
  type Field,
  type HeaderValue,
  hasHeaders,
  headerValue,
  nodeHeaders,
  readShown,
  type ShownHeaders,
} from "../wire/fields.ts";
import { isRefusal, isUncounted } from "../wire/outcome.ts";

/** A call that was sent. Numbers begin at 1, in the order of sending. */
export interface Sent {
  readonly number: number;
  /** Words on the call: `GET status`, `HEAD organization`, `query of 53 points`. */
  readonly what: string;
  readonly user: string | null;
  readonly scope: Scope;
  /** True for GET of the status, whose body is read. */
  readonly isStatus: boolean;
  /** True for GET and HEAD of the status. */
  readonly isExempt: boolean;
  /** Requested points as computed here; `null` for REST and for anything but a query. */
  readonly points: number | null;
  /** Time of sending by the prober's clock, ms since the epoch. */
  readonly sentMs: number;
}

/** A call and its answer. */
export interface SeenCall extends Omit<Sent, "isStatus" | "isExempt"> {
  readonly kind: CallKind;
  readonly receivedMs: number;
  /** Status of the answer; 0 if none came. */
  readonly status: number;
  readonly error: string | null;
  /** URL to which a redirect leads. */
  readonly location: string | null;
  readonly headers: Readonly<ShownHeaders>;
  readonly retryAfter: HeaderValue;
  /** The `Date` header, ms since the epoch, whole seconds. */
  readonly dateMs: number | null;
  /** GraphQL points as the target counts them; as requested if it does not say. */
  readonly requested: number | null;
  readonly actual: number | null;
  /** Windows in the body of a status answer; `null` for other answers. */
  readonly statusScopes: Readonly<Record<Scope, ShownWindow | null>> | null;
  /** The parsed body; text if it is not JSON. */
  readonly body: unknown;
}

export const whole = (value: unknown): number | null =>
  Number.isSafeInteger(value) ? (value as number) : null;

/**
 * Reads an answer.
 * @param got `null` if none came, for the reason `error`
 * @param secret the token, which a target might echo
 */
export function readAnswer(
  sent: Sent,
  got: Got | null,
  receivedMs: number,
  error: string | null,
  secret: string,
): SeenCall {
  const headers = got?.headers ?? {};
  const header = (field: Field): HeaderValue =>
    headerValue(headers[nodeHeaders[field]]?.replaceAll(secret, "<token>"));
  const status = got?.status ?? 0;
  const body = got === null ? undefined : readBody(got.body.replaceAll(secret, "<token>"));
  const actual = whole(header("actual"));
  const date = Date.parse(headers["date"] ?? "");
  const shown = readShown(header);
  return {
    ...sent,
    kind: kindOf(sent, status, shown, body, actual),
    receivedMs,
    status,
    error,
    location: headers["location"]?.replaceAll(secret, "<token>") ?? null,
    headers: shown,
    retryAfter: header("retryAfter"),
    dateMs: Number.isNaN(date) ? null : date,
    requested: whole(header("requested")) ?? sent.points,
    actual,
    statusScopes: sent.isStatus && status === 200 ? readStatusScopes(body) : null,
    body,
  };
}

/** Returns the kind of a call: `status` for GET and HEAD of the status, `other` for a request that no quota counts. */
function kindOf(
  { scope, isExempt }: Sent,
  status: number,
  { scopeName }: ShownHeaders,
  body: unknown,
  actual: number | null,
): CallKind {
  const errors = (body as { errors?: unknown } | null | undefined)?.errors;
  const isUnexecuted = errors !== undefined && (actual ?? 0) === 0;
  const counted = isExempt ? "rest" : scope;
  if (isUncounted(counted, status, scopeName !== null, isUnexecuted)) return "other";
  return isExempt ? "status" : "call";
}

function readStatusScopes(body: unknown): Readonly<Record<Scope, ShownWindow | null>> | null {
  const given = scopesIn(body);
  if (typeof given !== "object" || given === null) return null;
  const read = (scope: Scope): ShownWindow | null => {
    const shown = readStatus(given, scope);
    const [limit, current, reset] = [whole(shown.limit), whole(shown.current), whole(shown.reset)];
    const resetAtMs = Date.parse(shown.resetAt ?? "");
    const { enforced } = shown;
    if (limit === null || current === null || reset === null || Number.isNaN(resetAtMs)) return null;
    return enforced === null ? null : { limit, current, reset, resetAtMs, enforced };
  };
  return { rest: read("rest"), graphql: read("graphql") };
}

/** Tells whether an answer has any of the eight headers, or a refusal's words. Then it is no firewall's. */
export function isLimiters({ headers, body }: SeenCall): boolean {
  const { by, scope, limit } = readRefusal(body);
  return hasHeaders(headers) || by !== null || (typeof scope === "string" && whole(limit) !== null);
}

/** Reads the body of a refusal; other answers give nothing to read. */
export const refusalOf = ({ status, body }: SeenCall): ReadRefusal =>
  readRefusal(isRefusal(status) ? body : null);

/** Returns the owner of the window that a refusal names; `null` if it names none. */
export const refuser = (seen: SeenCall): Owner | null => refusalOf(seen).by;

/** Returns a call as its line of the trace (FORMAT.md, "A call"). */
export function traceCall(seen: SeenCall, organization: string): TraceCall {
  const { headers, statusScopes, kind, status, scope } = seen;
  const cost = kind !== "call" ? null : scope === "rest" ? 1 : seen.requested;
  const line: TraceCall = {
    sent: seen.sentMs,
    received: seen.receivedMs,
    client: "probe/0",
    call: seen.number - 1,
    org: organization,
    user: seen.user,
    scope,
    kind,
    cost,
    status,
    ...headers,
  };
  const isExecuted = scope === "graphql" && kind === "call" && status === 200;
  if (isExecuted && seen.actual !== null && cost !== null && seen.actual >= 0 && seen.actual <= cost)
    line.actual = seen.actual;
  if (seen.retryAfter !== null) line.retryAfter = seen.retryAfter;
  if (statusScopes !== null) line.body = scopesIn(seen.body);
  if (isRefusal(status)) line.refusal = seen.body;
  if (seen.error !== null) line.error = seen.error;
  return line;
}
