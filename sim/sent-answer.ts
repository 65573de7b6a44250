// The trace's form (FORMAT.md) of an HTTP answer that a deployment sends.
import type { HttpAnswer } from "../src/wire/answer.ts";
import { scopesIn } from "../src/wire/bodies.ts";
import { headerNames, readHeader, readHeaders } from "../src/wire/fields.ts";
import { isRefusal } from "../src/wire/outcome.ts";
import type { AnswerParts } from "./deployment.ts";

/**
 * Returns an answer's members in the trace's order; the eight headers are `null` if missing.
 * @param isStatus true to keep the body
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
