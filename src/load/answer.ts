// One answer, read once: for its line in the trace, for the client, and for the checks. It is kept apart from k6 so
// that tests need no k6.
import { ABSENT, type CallTemplate, type ClientEvent } from "../scenario/client.ts";
import type { CallKind } from "../trace/record.ts";
import { readBody } from "../wire/bodies.ts";
import {
  type HeaderValue,
  headerValue,
  goHeaders as name,
  ownerNamed,
  textMost,
  type WindowHeaders,
} from "../wire/fields.ts";
import { isRefusal, isUncounted } from "../wire/outcome.ts";

/** Answer as k6 gives it. Go spells every header's name in its own way: `Ratelimit-User-Reset`. */
export interface RawAnswer {
  /** 0 if no answer came. */
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Text; k6 has `null` if there is none. */
  readonly body: unknown;
  /** Error of the call, as k6's number and words. 0 if there was none. */
  readonly error_code: number;
  readonly error: string;
}

/**
 * Answer as a trace keeps it. Each client has one object and reads into it again and again: making an object of twenty
 * members takes k6 as long as reading all headers.
 */
export class TraceableAnswer {
  sentMs = 0;
  receivedMs = 0;
  status = 0;
  kind: CallKind = "call";
  readonly organization: WindowHeaders = { scopeName: null, limit: null, remaining: null, reset: null };
  readonly user: WindowHeaders = { scopeName: null, limit: null, remaining: null, reset: null };
  retryAfter: HeaderValue = null;
  warning: HeaderValue = null;
  userWarning: HeaderValue = null;
  /** Points requested and charged by a GraphQL call, as the target counts them. */
  requested: HeaderValue = null;
  actual: HeaderValue = null;
  hasNextPage = false;
  /** Body of a status answer or of a refusal; `undefined` for all others, which nobody reads. */
  body: unknown;
  /** Reason why there is no answer. An answer whose body broke off counts as none. */
  error: string | null = null;

  /**
   * Reads an answer into this object. It runs for every response, and function calls are its main cost in k6. Rare
   * parts are therefore read only if there is a sign of them.
   * @param secret the caller's token, which must not enter a trace if a deployment echoes it
   */
  read(template: CallTemplate, raw: RawAnswer, sentMs: number, receivedMs: number, secret: string): void {
    const { status, headers } = raw;
    const { organization, user } = this;
    this.sentMs = sentMs;
    this.receivedMs = receivedMs;
    this.status = status;
    organization.scopeName = headerValue(headers[name.scopeName]);
    organization.limit = headerValue(headers[name.limit]);
    organization.remaining = headerValue(headers[name.remaining]);
    organization.reset = headerValue(headers[name.reset]);
    user.scopeName = headerValue(headers[name.userScopeName]);
    user.limit = headerValue(headers[name.userLimit]);
    user.remaining = headerValue(headers[name.userRemaining]);
    user.reset = headerValue(headers[name.userReset]);
    this.retryAfter = headerValue(headers[name.retryAfter]);
    this.warning = headerValue(headers[name.warning]);
    this.userWarning = headerValue(headers[name.userWarning]);
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

  /** Takes a secret out of all texts of headers, which a deployment may echo it in. */
  conceal(secret: string): void {
    const hidden = (value: HeaderValue): HeaderValue =>
      typeof value === "string" && ownerNamed(value) === null ? value.replaceAll(secret, "<token>") : value;
    for (const window of [this.organization, this.user])
      for (const field of ["scopeName", "limit", "remaining", "reset"] as const)
        window[field] = hidden(window[field]);
    this.retryAfter = hidden(this.retryAfter);
    this.warning = hidden(this.warning);
    this.userWarning = hidden(this.userWarning);
  }

  #readRare(template: CallTemplate, raw: RawAnswer, secret: string): void {
    const { status, headers } = raw;
    if (template.scope === "graphql") {
      this.requested = headerValue(headers[name.requested]);
      this.actual = headerValue(headers[name.actual]);
    }
    this.kind = kindOf(template, raw, this);
    const isKept = isRefusal(status) || (status === 200 && this.kind === "status");
    this.body = isKept ? cleanBody(raw.body, secret) : undefined;
  }
}

const bodyMost = 65_536;

/** Returns the kind of a call; `other` if no quota counts it. */
function kindOf({ scope, kind }: CallTemplate, raw: RawAnswer, answer: TraceableAnswer): CallKind {
  const { status, actual, organization, user } = answer;
  const isNamed = organization.scopeName !== null || user.scopeName !== null;
  const isUnexecuted = status === 200 && actual === 0 && String(raw.body).includes('"errors"');
  return isUncounted(scope, status, isNamed, isUnexecuted) ? "other" : kind;
}

function cleanBody(body: unknown, secret: string): unknown {
  const text = typeof body === "string" ? body : "";
  const clean = secret !== "" && text.includes(secret) ? text.replaceAll(secret, "<token>") : text;
  return clean.length > bodyMost ? clean.slice(0, textMost) : readBody(clean);
}

/**
 * Tells whether k6 gave up the call because k6 is ending. The call may have been sent or not, so this is no answer.
 * Every later call would be given up in the same way (seen: fifty in the last milliseconds).
 */
export function isCutOff({ status, error }: RawAnswer): boolean {
  return status === 0 && error === "context canceled";
}

/** Names of some of k6's error codes. */
const errorNames: Readonly<Record<number, string>> = {
  1050: "timeout",
  1101: "unknown host",
  1211: "timeout",
  1212: "refused",
  1220: "reset",
};

const errorName = ({ error_code: code, error }: RawAnswer): string =>
  errorNames[code] ?? (error.slice(0, 200) || `k6 error ${code}`);

export function tell(event: ClientEvent, answer: TraceableAnswer): void {
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
