// One answer, read once: for its line in the trace, for the client, and for the checks. Kept apart from k6, so
// that it is tested without.
import type { CallTemplate, ClientEvent } from "../scenario/client.ts";
import { ABSENT } from "../scenario/client.ts";
import type { CallKind, HeaderValue } from "../trace/record.ts";

/** An answer as k6 gives it; Go spells every header's name in one way (`Ratelimit-User-Reset`), whatever came. */
export interface RawAnswer {
  /** 0 where none came. */
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Text; k6 has `null` where there is none. */
  readonly body: unknown;
  /** k6's number for what went wrong; 0 where nothing did. */
  readonly errorCode: number;
}

/** What a client is told of an answer. */
export type Reading = Pick<
  ClientEvent,
  | "nowMs"
  | "status"
  | "hasNextPage"
  | "limit"
  | "remaining"
  | "reset"
  | "userLimit"
  | "userRemaining"
  | "userReset"
  | "retryAfter"
>;

/** The eight headers of SPEC.md §5, and what else a trace keeps. */
export interface Answer {
  readonly sentMs: number;
  readonly receivedMs: number;
  readonly status: number;
  readonly kind: CallKind;
  readonly scopeName: HeaderValue;
  readonly limit: HeaderValue;
  readonly remaining: HeaderValue;
  readonly reset: HeaderValue;
  readonly userScopeName: HeaderValue;
  readonly userLimit: HeaderValue;
  readonly userRemaining: HeaderValue;
  readonly userReset: HeaderValue;
  readonly retryAfter: HeaderValue;
  readonly warning: HeaderValue;
  readonly userWarning: HeaderValue;
  readonly actual: HeaderValue;
  readonly hasNextPage: boolean;
  /** The body of a status answer or of a refusal; `undefined` for all others, which nobody reads. */
  readonly body: unknown;
  /** Why there is no (whole) answer. */
  readonly error: string | null;
}

const integer = /^-?\d{1,15}$/;
const textMost = 1_000;
const bodyMost = 65_536;

/** FORMAT.md: an integer, the raw text where it is none, `null` where it did not come. */
export function headerValue(raw: string | undefined): HeaderValue {
  if (raw === undefined) return null;
  return integer.test(raw) ? Number(raw) : raw.slice(0, textMost);
}

/**
 * Reads an answer.
 * @param secret the caller's token: a deployment that echoes it must not bring it into a trace
 */
export function readAnswer(
  template: CallTemplate,
  raw: RawAnswer,
  sentMs: number,
  receivedMs: number,
  secret: string,
): Answer {
  const { headers, status } = raw;
  const scopeName = headerValue(headers["Ratelimit-Scope"]);
  const userScopeName = headerValue(headers["Ratelimit-User-Scope"]);
  const actual = template.scope === "graphql" ? headerValue(headers["Ratelimit-Complexity-Actual"]) : null;
  const kind = kindOf(template, raw, scopeName === null && userScopeName === null, actual);
  return {
    sentMs,
    receivedMs,
    status,
    kind,
    scopeName,
    limit: headerValue(headers["Ratelimit-Limit"]),
    remaining: headerValue(headers["Ratelimit-Remaining"]),
    reset: headerValue(headers["Ratelimit-Reset"]),
    userScopeName,
    userLimit: headerValue(headers["Ratelimit-User-Limit"]),
    userRemaining: headerValue(headers["Ratelimit-User-Remaining"]),
    userReset: headerValue(headers["Ratelimit-User-Reset"]),
    retryAfter: headerValue(headers["Retry-After"]),
    warning: headerValue(headers["Ratelimit-Warning"]),
    userWarning: headerValue(headers["Ratelimit-User-Warning"]),
    actual,
    hasNextPage: (headers["Link"] ?? "").includes('rel="next"'),
    body: status === 429 || (status === 200 && kind === "status") ? readBody(raw.body, secret) : undefined,
    error: errorName(raw),
  };
}

/** SPEC.md §2.6: what no quota counts is `other`. */
function kindOf(template: CallTemplate, raw: RawAnswer, bare: boolean, actual: HeaderValue): CallKind {
  const { status } = raw;
  if (status === 401 || status === 403 || (status === 404 && bare)) return "other";
  if (template.scope !== "graphql") return template.kind;
  if (status === 400 || status === 404 || status === 405 || status === 413 || status === 415) return "other";
  const unexecuted = status === 200 && actual === 0 && String(raw.body).includes('"errors"');
  return unexecuted ? "other" : template.kind;
}

function readBody(body: unknown, secret: string): unknown {
  const text = typeof body === "string" ? body : "";
  const clean = secret !== "" && text.includes(secret) ? text.replaceAll(secret, "<token>") : text;
  if (clean.length > bodyMost) return clean.slice(0, textMost);
  try {
    return JSON.parse(clean);
  } catch {
    return clean.slice(0, textMost);
  }
}

/** k6's error codes that have a name of their own; 1400 and up only repeat the HTTP status. */
const errorNames: Readonly<Record<number, string>> = {
  1050: "timeout",
  1101: "unknown host",
  1211: "timeout",
  1212: "refused",
  1220: "reset",
};

function errorName({ errorCode }: RawAnswer): string | null {
  if (errorCode === 0 || (errorCode >= 1400 && errorCode < 1600)) return null;
  return errorNames[errorCode] ?? `k6 error ${errorCode}`;
}

const shown = (value: HeaderValue): number => (typeof value === "number" ? Math.max(0, value) : ABSENT);

/** What the client is told; under `signed` a window that is overdrawn is told as used up. */
export function readingOf(answer: Answer): Reading {
  return {
    nowMs: answer.receivedMs,
    status: answer.status,
    hasNextPage: answer.hasNextPage,
    limit: shown(answer.limit),
    remaining: shown(answer.remaining),
    reset: shown(answer.reset),
    userLimit: shown(answer.userLimit),
    userRemaining: shown(answer.userRemaining),
    userReset: shown(answer.userReset),
    retryAfter: shown(answer.retryAfter),
  };
}
