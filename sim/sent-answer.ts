// An answer as it goes over the wire, as traces have it (FORMAT.md): what a deployment that sends HTTP answers leaves.
import type { HttpAnswer } from "../src/engine/adapter.ts";
import type { HeaderValue } from "../src/trace/record.ts";
import type { Answer } from "./deployment.ts";

/**
 * An answer's members in the trace's order: a header that is missing is `null`.
 * @param isStatus whether its body is to be kept
 */
export function sentAnswer(
  { status, headers, body }: HttpAnswer,
  isStatus: boolean,
): Omit<Answer, "org" | "user" | "scope" | "kind" | "cost"> {
  const of = headerReader(headers);
  const members = {
    status,
    scopeName: of("RateLimit-Scope"),
    limit: of("RateLimit-Limit"),
    remaining: of("RateLimit-Remaining"),
    reset: of("RateLimit-Reset"),
    userScopeName: of("RateLimit-User-Scope"),
    userLimit: of("RateLimit-User-Limit"),
    userRemaining: of("RateLimit-User-Remaining"),
    userReset: of("RateLimit-User-Reset"),
  };
  const rest: Pick<Answer, "retryAfter" | "warning" | "userWarning" | "body" | "refusal"> = {};
  const [retryAfter, warning, userWarning] = [
    of("Retry-After"),
    of("RateLimit-Warning"),
    of("RateLimit-User-Warning"),
  ];
  if (retryAfter !== null) rest.retryAfter = retryAfter;
  if (warning !== null) rest.warning = warning;
  if (userWarning !== null) rest.userWarning = userWarning;
  if (isStatus) rest.body = (body as { readonly scopes?: unknown } | undefined)?.scopes;
  if (status === 429) rest.refusal = body;
  return { ...members, ...rest };
}

/** Names are the same in any case (SPEC.md §5); those that we write ourselves are found at once. */
function headerReader(headers: HttpAnswer["headers"]): (name: string) => HeaderValue {
  return (name) => {
    const value = headers[name];
    if (value !== undefined) return headerValue(value);
    for (const known in headers)
      if (known.length === name.length && known.toLowerCase() === name.toLowerCase())
        return headerValue(headers[known]);
    return null;
  };
}

/** An integer, the raw text where it is none. */
function headerValue(value: string | number | undefined): HeaderValue {
  if (value === undefined) return null;
  const text = String(value);
  return /^-?\d{1,15}$/.test(text) ? Number(text) : text;
}
