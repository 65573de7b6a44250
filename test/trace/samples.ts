// Small traces to read, and bytes in chunks.

import { parsePolicy } from "../../src/policy/parse.ts";
import { presets } from "../../src/policy/presets.ts";
import type { QuotaTraceHeader } from "../../src/trace/quota-record.ts";
import type { TraceCall, TraceHeader } from "../../src/trace/record.ts";
import { encodeCall, encodeHeader } from "../../src/trace/write.ts";

export const header: TraceHeader = {
  format: "spillway-trace",
  version: 1,
  source: "other",
  scenario: null,
  seed: null,
  target: null,
  startedAt: 1_767_322_800_000,
  clock: { kind: "wall", resolutionMs: 1, errorMs: 0 },
  rules: null,
  complete: true,
  lost: 0,
};

/** An admitted REST call, changed as asked. */
export function call(changes: Partial<TraceCall> = {}): TraceCall {
  return {
    sent: 1_767_322_800_123,
    received: 1_767_322_800_131,
    client: "agents/17",
    call: 3,
    org: "acme",
    user: "agent-17",
    scope: "rest",
    kind: "call",
    cost: 1,
    status: 200,
    scopeName: "rest",
    limit: 200,
    remaining: 150,
    reset: 60,
    userScopeName: "rest_user",
    userLimit: 50,
    userRemaining: 49,
    userReset: 60,
    ...changes,
  };
}

export const headerLine = encodeHeader(header);
export const line = (changes: Partial<TraceCall> = {}): string => encodeCall(call(changes));
export const text = (...lines: readonly string[]): string => lines.map((each) => `${each}\n`).join("");

/** The bytes in chunks of `size`. */
export async function* chunks(bytes: string | Uint8Array, size = 1 << 16): AsyncGenerator<Uint8Array> {
  const all = typeof bytes === "string" ? new TextEncoder().encode(bytes) : bytes;
  for (let at = 0; at < all.length; at += size) yield all.subarray(at, at + size);
}

/** A header of version 2, by the policy of the four quotas. */
export const quotaHeader: QuotaTraceHeader = {
  format: "spillway-trace",
  version: 2,
  source: "other",
  scenario: null,
  seed: null,
  target: null,
  startedAt: 1_767_322_800_000,
  clock: { kind: "wall", resolutionMs: 1, errorMs: 0 },
  policy: parsePolicy(presets["buildkite"]?.policy),
  complete: true,
  lost: 0,
};
