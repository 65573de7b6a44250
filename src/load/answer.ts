// One answer, read once: for its line in the trace, for the client, and for the checks. Kept apart from k6, so
// that it is tested without.
import { isDeep } from "../rules/depth.ts";
import { ABSENT, type CallTemplate, type ClientEvent } from "../scenario/client.ts";
import type { CallKind, HeaderValue } from "../trace/record.ts";

/** An answer as k6 gives it; Go spells every header's name in one way (`Ratelimit-User-Reset`), whatever came. */
export interface RawAnswer {
  /** 0 where none came. */
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Text; k6 has `null` where there is none. */
  readonly body: unknown;
  /** Error of the call, as k6's number and words. 0 if there was none. */
  readonly error_code: number;
  readonly error: string;
}

/** Values of the four headers of one window (SPEC.md §5). */
export interface WindowHeaders {
  name: HeaderValue;
  limit: HeaderValue;
  remaining: HeaderValue;
  reset: HeaderValue;
}

/**
 * Answer as a trace keeps it. One object a client, read into again and again: making an object of twenty
 * members takes k6 as long as reading all headers.
 */
export class Answer {
  sentMs = 0;
  receivedMs = 0;
  status = 0;
  kind: CallKind = "call";
  readonly organization: WindowHeaders = { name: null, limit: null, remaining: null, reset: null };
  readonly user: WindowHeaders = { name: null, limit: null, remaining: null, reset: null };
  retryAfter: HeaderValue = null;
  warning: HeaderValue = null;
  userWarning: HeaderValue = null;
  /** GraphQL: points requested and charged, as the target counts them. */
  requested: HeaderValue = null;
  actual: HeaderValue = null;
  hasNextPage = false;
  /** The body of a status answer or of a refusal; `undefined` for all others, which nobody reads. */
  body: unknown;
  /** Reason why there is no answer; one whose body broke off is none. */
  error: string | null = null;

  /**
   * Reads an answer into this one. It runs for every response, and a function call costs k6 more than all else
   * in it: what is rare is looked at only when there is a sign of it.
   * @param secret the caller's token: a deployment that echoes it must not bring it into a trace
   */
  read(template: CallTemplate, raw: RawAnswer, sentMs: number, receivedMs: number, secret: string): void {
    const { status, headers } = raw;
    const { organization, user } = this;
    this.sentMs = sentMs;
    this.receivedMs = receivedMs;
    this.status = status;
    organization.name = headerValue(headers["Ratelimit-Scope"]);
    organization.limit = headerValue(headers["Ratelimit-Limit"]);
    organization.remaining = headerValue(headers["Ratelimit-Remaining"]);
    organization.reset = headerValue(headers["Ratelimit-Reset"]);
    user.name = headerValue(headers["Ratelimit-User-Scope"]);
    user.limit = headerValue(headers["Ratelimit-User-Limit"]);
    user.remaining = headerValue(headers["Ratelimit-User-Remaining"]);
    user.reset = headerValue(headers["Ratelimit-User-Reset"]);
    this.retryAfter = headerValue(headers["Retry-After"]);
    this.warning = headerValue(headers["Ratelimit-Warning"]);
    this.userWarning = headerValue(headers["Ratelimit-User-Warning"]);
    this.requested = null;
    this.actual = null;
    const link = headers["Link"];
    this.hasNextPage = link === undefined ? false : link.includes('rel="next"');
    this.error = status === 0 ? errorName(raw) : null;
    if (status === 200 && template.scope === "rest" && template.kind === "call") {
      this.kind = "call";
      this.body = undefined;
    } else this.#readRare(template, raw, secret);
  }

  #readRare(template: CallTemplate, raw: RawAnswer, secret: string): void {
    const { status, headers } = raw;
    if (template.scope === "graphql") {
      this.requested = headerValue(headers["Ratelimit-Complexity-Requested"]);
      this.actual = headerValue(headers["Ratelimit-Complexity-Actual"]);
    }
    this.kind = kindOf(template, raw, this);
    const isKept = status === 429 || (status === 200 && this.kind === "status");
    this.body = isKept ? readBody(raw.body, secret) : undefined;
  }
}

const integer = /^-?\d{1,15}$/;
const textMost = 1_000;
const bodyMost = 65_536;

/** Headers seen before: looking one up costs k6 a fifth of reading it. */
const known = new Map<string | undefined, HeaderValue>([[undefined, null]]);
const knownMost = 10_000;

/** FORMAT.md: an integer, the raw text where it is none, `null` where it did not come. */
function headerValue(raw: string | undefined): HeaderValue {
  const value = known.get(raw);
  return value === undefined ? newValue(raw ?? "") : value;
}

function newValue(raw: string): HeaderValue {
  const value = integer.test(raw) ? Number(raw) : raw.slice(0, textMost);
  if (known.size < knownMost) known.set(raw, value);
  return value;
}

/** SPEC.md §2.6: what no quota counts is `other`. */
function kindOf(template: CallTemplate, raw: RawAnswer, answer: Answer): CallKind {
  const { status } = raw;
  if (status < 300 && (template.scope === "rest" || answer.actual !== 0)) return template.kind;
  if (status === 401 || status === 403) return "other";
  // Without headers, it is the organization or the path that is unknown.
  if (status === 404 && answer.organization.name === null && answer.user.name === null) return "other";
  if (template.scope === "rest") return template.kind;
  if (status === 400 || status === 404 || status === 405 || status === 413 || status === 415) return "other";
  const isUnexecuted = status === 200 && String(raw.body).includes('"errors"');
  return isUnexecuted ? "other" : template.kind;
}

function readBody(body: unknown, secret: string): unknown {
  const text = typeof body === "string" ? body : "";
  const clean = secret !== "" && text.includes(secret) ? text.replaceAll(secret, "<token>") : text;
  if (clean.length > bodyMost) return clean.slice(0, textMost);
  try {
    const value: unknown = JSON.parse(clean);
    if (!isDeep(value)) return value;
  } catch {
    // It is text.
  }
  return clean.slice(0, textMost);
}

/**
 * k6 is ending, and has given up this call, which it may or may not have sent: it is no answer, and every call
 * after it would be given up the same way (seen: fifty in the last milliseconds).
 */
export function isCutOff({ status, error }: RawAnswer): boolean {
  return status === 0 && error === "context canceled";
}

/** k6's error codes that have a name here. */
const errorNames: Readonly<Record<number, string>> = {
  1050: "timeout",
  1101: "unknown host",
  1211: "timeout",
  1212: "refused",
  1220: "reset",
};

const errorName = ({ error_code: code, error }: RawAnswer): string =>
  errorNames[code] ?? (error.slice(0, 200) || `k6 error ${code}`);

/** Tells a client of an answer. */
export function tell(event: ClientEvent, answer: Answer): void {
  const { organization, user, retryAfter } = answer;
  event.nowMs = answer.receivedMs;
  event.status = answer.status;
  event.hasNextPage = answer.hasNextPage;
  event.limit = typeof organization.limit === "number" ? organization.limit : ABSENT;
  event.remaining = typeof organization.remaining === "number" ? organization.remaining : ABSENT;
  event.reset = typeof organization.reset === "number" ? organization.reset : ABSENT;
  event.userLimit = typeof user.limit === "number" ? user.limit : ABSENT;
  event.userRemaining = typeof user.remaining === "number" ? user.remaining : ABSENT;
  event.userReset = typeof user.reset === "number" ? user.reset : ABSENT;
  event.retryAfter = typeof retryAfter === "number" ? retryAfter : ABSENT;
}
