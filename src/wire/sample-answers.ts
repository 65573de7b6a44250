// Sample answers, as a policy's API would give them: one with room left, and one refusal.
import { limitOf, quotaFor } from "../policy/effective.ts";
import type { Policy, QuotaAlgorithm } from "../policy/policy.ts";
import type { WireData } from "../policy/wire-data.ts";
import type { HttpAnswer } from "./answer.ts";
import { writeAnswer } from "./write-answer.ts";

/** Time of the answers, 2026-11-22T00:00:00Z: the same on every machine. */
const NOW = 1_795_305_600_000;

/** Returns the ms until a bucket has this much room again, or from the middle of a window to its end. */
function msUntilBack(algorithm: QuotaAlgorithm, used: number): number {
  if (algorithm.kind === "token-bucket")
    return Math.ceil((used / algorithm.refill.amount) * algorithm.refill.everyMs);
  return algorithm.kind === "concurrency" ? 0 : algorithm.windowSeconds * 500;
}

/** Returns an answer with half of the room left and a refusal, to the first operation, as texts of HTTP. */
export function sampleAnswers(policy: Policy, wire: WireData): { title: string; text: string }[] {
  const [[name, operation] = ["", null]] = Object.entries(policy.operations);
  if (operation === null) return [];
  const names = Object.keys(policy.quotas).filter((quota) => Object.hasOwn(operation.uses, quota));
  const [first = ""] = names;
  const told = (kind: "admitted" | "refused") => {
    const isEmpty = (quota: string): boolean => kind === "refused" && quota === first;
    const readings = names.map((quota) => {
      const { algorithm } = quotaFor(policy, quota, {});
      const limit = limitOf(algorithm);
      const used = isEmpty(quota) ? limit : Math.ceil(limit / 2);
      const resetAtMs = NOW + msUntilBack(algorithm, used);
      return { quota, limit, used, remaining: limit - used, resetAtMs };
    });
    const refusedBy = kind === "refused" && first !== "" ? first : null;
    const retryAtMs = refusedBy === null ? null : NOW + msUntilBack(quotaFor(policy, first, {}).algorithm, 1);
    return { kind, readings, refusedBy, retryAtMs, cost: 1 };
  };
  return (["admitted", "refused"] as const).map((kind) => ({
    title:
      kind === "admitted"
        ? `An answer to a call${name === "call" ? "" : ` of ${name}`}:`
        : `A refusal by ${first === "" ? name : first}:`,
    text: textOf(writeAnswer(wire, policy.quotas, told(kind), NOW)),
  }));
}

/** Returns an answer as HTTP/1.1 sends it, without headers that say nothing of limits. */
function textOf({ status, headers, body }: HttpAnswer): string {
  return [
    `HTTP/1.1 ${status}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    ...(body === undefined ? [] : ["", typeof body === "string" ? body : JSON.stringify(body, null, 2)]),
  ].join("\n");
}
