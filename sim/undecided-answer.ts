// The trace's form of a call that no limiter answered: there was no answer, or a 503 of the limiter's surroundings.
import type { Policy } from "../src/policy/policy.ts";
import { policyCall } from "../src/scenario/policy-calls.ts";
import { noAnswer } from "../src/trace/quota-answer.ts";
import { readShown } from "../src/wire/fields.ts";
import type { AnsweredCall } from "./answered-call.ts";
import type { AnswerParts } from "./deployment.ts";
import { costOf, type QuotaAnswer } from "./quota-answer.ts";

/** Returns the answer's members: there are no headers, and the charge is unknown. */
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

/** Returns the answer's members under a policy. */
export function undecidedByPolicy(policy: Policy, { seat, call, status }: AnsweredCall): QuotaAnswer {
  const asked = policyCall(policy, call, seat);
  const error = status === 0 ? "timeout" : undefined;
  return { ...asked, cost: costOf(asked, call), status, ...noAnswer, error };
}
