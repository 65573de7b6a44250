// An answer as it goes over the wire, as traces have it (FORMAT.md): what a deployment that sends HTTP answers leaves.
import type { HttpAnswer } from "../src/wire/answer.ts";
import { scopesIn } from "../src/wire/bodies.ts";
import { headerNames, readHeader } from "../src/wire/fields.ts";
import { isRefusal } from "../src/wire/outcome.ts";
import type { Answer } from "./deployment.ts";

/**
 * An answer's members in the trace's order: a header that is missing is `null`.
 * @param isStatus whether its body is to be kept
 */
export function sentAnswer(
  { status, headers, body }: HttpAnswer,
  isStatus: boolean,
): Omit<Answer, "org" | "user" | "scope" | "kind" | "cost"> {
  const of = (field: keyof typeof headerNames) => readHeader(headers, headerNames[field]);
  const members = {
    status,
    scopeName: of("scopeName"),
    limit: of("limit"),
    remaining: of("remaining"),
    reset: of("reset"),
    userScopeName: of("userScopeName"),
    userLimit: of("userLimit"),
    userRemaining: of("userRemaining"),
    userReset: of("userReset"),
  };
  const rest: Pick<Answer, "retryAfter" | "warning" | "userWarning" | "body" | "refusal"> = {};
  const [retryAfter, warning, userWarning] = [of("retryAfter"), of("warning"), of("userWarning")];
  if (retryAfter !== null) rest.retryAfter = retryAfter;
  if (warning !== null) rest.warning = warning;
  if (userWarning !== null) rest.userWarning = userWarning;
  if (isStatus) rest.body = scopesIn(body);
  if (isRefusal(status)) rest.refusal = body;
  return { ...members, ...rest };
}
