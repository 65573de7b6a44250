// The trace's form of an answer under a policy: the answer is written in the API's format, and read back.
import type { WriteAnswer } from "../src/engine/store-limiter.ts";
import { refusalFacts } from "../src/policy/effective.ts";
import type { Policy } from "../src/policy/policy.ts";
import { wireOf } from "../src/policy/presets.ts";
import type { OperationCall } from "../src/scenario/policy-calls.ts";
import { answerMembers } from "../src/trace/quota-answer.ts";
import type { QuotaCall } from "../src/trace/quota-record.ts";
import { readAnswer } from "../src/wire/read-answer.ts";
import type { AnswerToWrite } from "../src/wire/write-answer.ts";

/** Parts of a call's line that the answer gives; the client adds its name and the times. */
export type QuotaAnswer = Pick<QuotaCall, "caller" | "operation" | "cost" | "status"> &
  Partial<QuotaCall> &
  ReturnType<typeof answerMembers>;

/** Returns the trace's form of an answer. */
export type KeepAnswer = (asked: OperationCall, told: AnswerToWrite, nowMs: number) => QuotaAnswer;

/** @param sent writes an answer in the form that the deployment sends */
export function keepsAnswers(policy: Policy, sent: WriteAnswer): KeepAnswer {
  const wire = wireOf(policy);
  const known = new Set(Object.keys(policy.quotas));
  return (asked, told, nowMs) => {
    const answer = sent(told, nowMs, asked.caller);
    const quotas = told.readings.map(({ quota }) => quota);
    const { operation, caller } = asked;
    const refusal = () => refusalFacts(policy, operation, caller, told.cost);
    const read = readAnswer(wire, answer, { quotas, isStatus: told.kind === "status", refusal });
    const members = answerMembers(read, known);
    return { operation, caller, cost: costOf(asked, told), status: answer.status, ...members };
  };
}

/** Returns the cost that a call declares; `null` if no quota counts the call. */
export const costOf = ({ operation }: OperationCall, { cost }: { readonly cost: number }): number | null =>
  operation === "status" || operation === "other" ? null : cost;
