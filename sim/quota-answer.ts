// An answer under a policy as a trace keeps it: it is written in the API's format, and read back.
import type { WriteAnswer } from "../src/engine/store-limiter.ts";
import type { Policy } from "../src/policy/policy.ts";
import { wireOf } from "../src/policy/presets.ts";
import type { OperationCall } from "../src/scenario/policy-calls.ts";
import { answerMembers } from "../src/trace/quota-answer.ts";
import type { QuotaCall } from "../src/trace/quota-record.ts";
import { readAnswer } from "../src/wire/read-answer.ts";
import type { AnswerToWrite } from "../src/wire/write-answer.ts";

/** The parts of a call's line that its answer tells; who asked, and when, is the client's to add. */
export type QuotaAnswer = Pick<QuotaCall, "caller" | "operation" | "cost" | "status"> &
  Partial<QuotaCall> &
  ReturnType<typeof answerMembers>;

/** Makes an answer as a trace keeps it of what it tells. */
export type KeepAnswer = (asked: OperationCall, told: AnswerToWrite, nowMs: number) => QuotaAnswer;

/** @param sent writes the answer as the deployment sends it */
export function keepsAnswers(policy: Policy, sent: WriteAnswer): KeepAnswer {
  const wire = wireOf(policy);
  const known = new Set(Object.keys(policy.quotas));
  return (asked, told, nowMs) => {
    const answer = sent(told, nowMs, asked.caller);
    const quotas = told.readings.map(({ quota }) => quota);
    const read = readAnswer(wire, answer, { quotas, isStatus: told.kind === "status" });
    const members = answerMembers(read, known);
    const { operation, caller } = asked;
    return { operation, caller, cost: costOf(asked, told), status: answer.status, ...members };
  };
}

/** Cost that a call declares; nothing of one that no quota counts. */
export const costOf = ({ operation }: OperationCall, { cost }: { readonly cost: number }): number | null =>
  operation === "status" || operation === "other" ? null : cost;
