// An answer as it goes over the wire, as traces have it (FORMAT.md): what a deployment that sends HTTP answers leaves.
import type { HttpAnswer } from "../src/wire/answer.ts";
import { scopesIn } from "../src/wire/bodies.ts";
import { headerNames, readHeader, readHeaders } from "../src/wire/fields.ts";
import { isRefusal } from "../src/wire/outcome.ts";
import type { AnswerParts } from "./deployment.ts";

/**
 * An answer's members in the trace's order: a header that is missing is `null`.
 * @param isStatus whether its body is to be kept
 */
export function sentAnswer(
  { status, headers, body }: HttpAnswer,
  isStatus: boolean,
): Omit<AnswerParts, "org" | "user" | "scope" | "kind" | "cost"> {
  const rest: Pick<AnswerParts, "retryAfter" | "warning" | "userWarning" | "body" | "refusal"> = {};
  for (const field of ["retryAfter", "warning", "userWarning"] as const) {
    const value = readHeader(headers, headerNames[field]);
    if (value !== null) rest[field] = value;
  }
  if (isStatus) rest.body = scopesIn(body);
  if (isRefusal(status)) rest.refusal = body;
  return { status, ...readHeaders(headers), ...rest };
}
