// The answer in a trace of a call that no limiter has answered: there was no answer, or a 503 of what stands around it.
import { readShown } from "../src/wire/fields.ts";
import type { AnsweredCall } from "./answered-call.ts";
import type { AnswerParts } from "./deployment.ts";

/** The answer's members as traces have them: no header came, and what the call was charged is not known. */
export function undecidedAnswer({ seat, call, status }: AnsweredCall): AnswerParts {
  const { organization, user } = seat;
  const { scope, kind, cost } = call;
  return {
    org: organization,
    user,
    scope,
    kind,
    cost: kind === "status" ? null : cost,
    status,
    ...readShown(() => null),
    ...(status === 0 ? { error: "timeout" } : {}),
  };
}
