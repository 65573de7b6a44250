// Answers as a policy's API would give them: one with room left, and one refusal.
import { quotaFor } from "../policy/effective.ts";
import type { Algorithm, Policy } from "../policy/policy.ts";
import type { WireData } from "../policy/wire-data.ts";
import type { HttpAnswer } from "./answer.ts";
import { writeAnswer } from "./write-answer.ts";

/** 2026-11-22T00:00:00Z: the same on every machine. */
const NOW = 1_795_305_600_000;

const limitOf = (algorithm: Algorithm): number =>
  algorithm.kind === "token-bucket" ? algorithm.capacity : algorithm.limit;

/** Returns an answer with half of the room left and a refusal, to the first operation, as texts of HTTP. */
export function sampleAnswers(policy: Policy, wire: WireData): { title: string; text: string }[] {
  const [[name, operation] = ["", null]] = Object.entries(policy.operations);
  if (operation === null) return [];
  const readings = (share: number) =>
    Object.keys(policy.quotas)
      .filter((quota) => Object.hasOwn(operation.uses, quota))
      .map((quota) => {
        const limit = limitOf(quotaFor(policy, quota, {}).algorithm);
        const used = Math.ceil(limit * share);
        return { quota, limit, used, remaining: limit - used, resetAtMs: NOW + 30_000 };
      });
  const [first] = readings(1);
  const told = (kind: "admitted" | "refused") => ({
    kind,
    readings: readings(kind === "refused" ? 1 : 0.5),
    refusedBy: kind === "refused" ? (first?.quota ?? null) : null,
    retryAtMs: kind === "refused" ? NOW + 30_000 : null,
    cost: 1,
  });
  return (["admitted", "refused"] as const).map((kind) => ({
    title: kind === "admitted" ? `An answer to a call of ${name}:` : `A refusal by ${first?.quota ?? name}:`,
    text: textOf(writeAnswer(wire, policy.quotas, told(kind), NOW)),
  }));
}

/** An answer as HTTP/1.1 sends it, but for what says nothing of limits. */
function textOf({ status, headers, body }: HttpAnswer): string {
  return [
    `HTTP/1.1 ${status}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    ...(body === undefined ? [] : ["", typeof body === "string" ? body : JSON.stringify(body, null, 2)]),
  ].join("\n");
}
