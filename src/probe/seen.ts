// One call of the probe and its answer, read once: what later reasoning looks at, and its line in the trace.

import type { Got } from "../connect/send.ts";
import { isDeep } from "../rules/depth.ts";
import { type Owner, type Scope, scopes } from "../rules/rules.ts";
import type { CallKind, HeaderValue, TraceCall } from "../trace/record.ts";

/** The four headers of one window, read (SPEC.md §5). */
export interface WindowHeaders {
  readonly name: HeaderValue;
  readonly limit: HeaderValue;
  readonly remaining: HeaderValue;
  readonly reset: HeaderValue;
}

/** One scope of a status body (SPEC.md §4), where all five members are what they should be. */
export interface StatusScope {
  readonly limit: number;
  readonly current: number;
  readonly reset: number;
  readonly resetAtMs: number;
  readonly enforced: boolean;
}

/** One call, numbered from 1 in the order of sending. */
export interface Seen {
  readonly number: number;
  /** `GET status`, `HEAD organization`, `query of 53 points`. */
  readonly what: string;
  readonly user: string | null;
  readonly scope: Scope;
  readonly kind: CallKind;
  /** The prober's clock, ms since the epoch. */
  readonly sentMs: number;
  readonly receivedMs: number;
  /** 0 where no answer came. */
  readonly status: number;
  readonly error: string | null;
  readonly headers: Readonly<Record<Owner, WindowHeaders>>;
  readonly retryAfter: HeaderValue;
  /** The `Date` header, ms since the epoch, whole seconds. */
  readonly dateMs: number | null;
  /** Requested points as worked out here; `null` for REST and for what is no query. */
  readonly points: number | null;
  /** GraphQL points, as the target counts them; what was asked where it does not say. */
  readonly requested: number | null;
  readonly actual: number | null;
  /** Of a status answer alone. */
  readonly statusScopes: Readonly<Record<Scope, StatusScope | null>> | null;
  /** The body, parsed; text where it is no JSON. */
  readonly body: unknown;
}

/** The call that was sent. */
export interface Sent {
  readonly number: number;
  readonly what: string;
  readonly user: string | null;
  readonly scope: Scope;
  /** GET of the status, whose body is read. */
  readonly isStatus: boolean;
  /** GET or HEAD of the status. */
  readonly isExempt: boolean;
  /** Requested points as worked out here; `null` for REST and for what is no query. */
  readonly points: number | null;
  readonly sentMs: number;
}

const integer = /^-?\d{1,15}$/;
const textMost = 200;

/** FORMAT.md: an integer, the raw text where it is none, `null` where it did not come. */
function headerValue(raw: string | undefined): HeaderValue {
  if (raw === undefined) return null;
  return integer.test(raw) ? Number(raw) : raw.slice(0, textMost);
}

export const whole = (value: unknown): number | null =>
  Number.isSafeInteger(value) ? (value as number) : null;

/**
 * Reads an answer.
 * @param got `null` where none came, for the reason `error`
 * @param secret the token, which a target might echo
 */
export function readAnswer(
  sent: Sent,
  got: Got | null,
  receivedMs: number,
  error: string | null,
  secret: string,
): Seen {
  const headers = got?.headers ?? {};
  const header = (name: string): HeaderValue => headerValue(headers[name]?.replaceAll(secret, "<token>"));
  const owner = (infix: string): WindowHeaders => ({
    name: header(`ratelimit-${infix}scope`),
    limit: header(`ratelimit-${infix}limit`),
    remaining: header(`ratelimit-${infix}remaining`),
    reset: header(`ratelimit-${infix}reset`),
  });
  const status = got?.status ?? 0;
  const body = got === null ? undefined : parsed(got.body.replaceAll(secret, "<token>"));
  const actual = whole(header("ratelimit-complexity-actual"));
  const date = Date.parse(headers["date"] ?? "");
  const both = { organization: owner(""), user: owner("user-") };
  return {
    ...sent,
    kind: kindOf(sent, status, both, body, actual),
    receivedMs,
    status,
    error,
    headers: both,
    retryAfter: header("retry-after"),
    dateMs: Number.isNaN(date) ? null : date,
    requested: whole(header("ratelimit-complexity-requested")) ?? sent.points,
    actual,
    statusScopes: sent.isStatus && status === 200 ? readStatusScopes(body) : null,
    body,
  };
}

/** SPEC.md §2.6: what no quota counts is `other`. Of the status, its GET and HEAD are `status`. */
function kindOf(
  { scope, isExempt }: Sent,
  status: number,
  headers: Seen["headers"],
  body: unknown,
  actual: number | null,
): CallKind {
  if (status === 401 || status === 403) return "other";
  if (status === 404 && headers.organization.name === null) return "other";
  if (isExempt) return "status";
  if (scope === "rest") return "call";
  if ([400, 404, 405, 413, 415].includes(status)) return "other";
  const errors = (body as { errors?: unknown } | null | undefined)?.errors;
  return status === 200 && errors !== undefined && (actual ?? 0) === 0 ? "other" : "call";
}

function parsed(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    if (!isDeep(value)) return value;
  } catch {
    // It is text.
  }
  return text.slice(0, textMost);
}

const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

function readStatusScopes(body: unknown): Readonly<Record<Scope, StatusScope | null>> | null {
  const given = (body as { scopes?: unknown } | null)?.scopes;
  if (typeof given !== "object" || given === null) return null;
  const read = (scope: Scope): StatusScope | null => {
    const members = (given as Record<string, Record<string, unknown> | null | undefined>)[scope];
    const limit = whole(members?.["limit"]);
    const current = whole(members?.["current"]);
    const reset = whole(members?.["reset"]);
    const resetAtMs = Date.parse(textOf(members?.["reset_at"]));
    const enforced = members?.["enforced"];
    if (limit === null || current === null || reset === null || Number.isNaN(resetAtMs)) return null;
    return typeof enforced === "boolean" ? { limit, current, reset, resetAtMs, enforced } : null;
  };
  const [rest, graphql] = scopes.map(read);
  return { rest: rest ?? null, graphql: graphql ?? null };
}

/** Tells whether an answer carries any of the eight headers, or a refusal's words: then it is no firewall's. */
export function isLimiters({ headers, body }: Seen): boolean {
  const hasHeaders = [headers.organization, headers.user].some(({ limit, remaining, reset }) =>
    [limit, remaining, reset].some((value) => value !== null),
  );
  return hasHeaders || refusalWords(body) !== null;
}

/** Reads a refusal (SPEC.md §6): the members of REST's body, or GraphQL's message. */
function refusalWords(body: unknown): { scope: unknown; message: string } | null {
  if (typeof body !== "object" || body === null) return null;
  const { scope, limit, errors } = body as { scope?: unknown; limit?: unknown; errors?: unknown };
  if (typeof scope === "string" && whole(limit) !== null) return { scope, message: "" };
  const message = Array.isArray(errors) ? textOf((errors[0] as { message?: unknown } | null)?.message) : "";
  return /exceeded .*limit of \d+/.test(message) ? { scope: null, message } : null;
}

/** Whose window an answer of 429 says has refused; `null` where it does not say. */
export function refuser({ status, body }: Seen): Owner | null {
  const words = status === 429 ? refusalWords(body) : null;
  if (words === null) return null;
  if (words.scope !== null) return textOf(words.scope).endsWith("_user") ? "user" : "organization";
  return /per-user|you have/i.test(words.message) ? "user" : "organization";
}

/** The count that REST's refusal shows of the window that refused: not clamped. */
export function refusalCurrent({ status, body }: Seen): number | null {
  if (status !== 429 || typeof body !== "object" || body === null) return null;
  return whole((body as { current?: unknown }).current);
}

/** A call as its line of the trace (FORMAT.md, "A call"). */
export function traceCall(seen: Seen, organization: string): TraceCall {
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
    scopeName: headers.organization.name,
    limit: headers.organization.limit,
    remaining: headers.organization.remaining,
    reset: headers.organization.reset,
    userScopeName: headers.user.name,
    userLimit: headers.user.limit,
    userRemaining: headers.user.remaining,
    userReset: headers.user.reset,
  };
  const isExecuted = scope === "graphql" && kind === "call" && status === 200;
  if (isExecuted && seen.actual !== null && cost !== null && seen.actual >= 0 && seen.actual <= cost)
    line.actual = seen.actual;
  if (seen.retryAfter !== null) line.retryAfter = seen.retryAfter;
  if (statusScopes !== null) line.body = (seen.body as { scopes?: unknown }).scopes;
  if (status === 429) line.refusal = seen.body;
  if (seen.error !== null) line.error = seen.error;
  return line;
}
