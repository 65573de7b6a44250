// Buckets under audit: no count of theirs is shown, so admissions and refusals alone tell.
// @module-tag real-time
import { expect, test } from "vitest";
import { experiments } from "../../src/audit/experiments.ts";
import { injectQuotaFault, parseFault } from "../../src/faults/choice.ts";
import { seededRandom } from "../../src/faults/random.ts";
import { parsePolicy } from "../../src/policy/parse.ts";
import { servePolicy } from "../../src/service/serve.ts";
import { audited, found, policyCallers } from "./deployment.ts";

const policy = parsePolicy({
  version: 2,
  name: "buckets",
  quotas: {
    requests: {
      algorithm: { kind: "token-bucket", capacity: 6, refill: { amount: 2, everyMs: 1000 } },
      key: ["client"],
    },
  },
  operations: { call: { uses: { requests: 1 }, samples: [{ path: "/" }] } },
  routes: [{ path: "/**", operation: "call" }],
  auth: { header: "Authorization", form: "Bearer {token}", attributes: ["client"] },
  wire: { revision: "2026", readings: [], retryAfter: [{ header: "Retry-After", form: "delta-s" }] },
});

test.concurrent.each([
  [null, "bucket-", []],
  ["one-extra", "bucket-bounds-a-burst", ["rate-bound"]],
  ["double-count", "bucket-bounds-a-burst", ["refusal-justified"]],
  ["one-short", "bucket-wait-is-honest", ["honest-wait"]],
  ["refused-counted", "bucket-gives-back", ["give-back"]],
] as const)("%s under %s: %j", async (fault, name, laws) => {
  const own = experiments.filter((each) => each.name.startsWith(name));
  const faulty = fault === null ? undefined : injectQuotaFault(parseFault(fault), policy, seededRandom(1));
  const serving = await servePolicy({ port: 0, policy, tokens: policyCallers(policy), faulty });
  try {
    const made = await audited(serving.url, policy, { experiments: own });
    const named = made.result.rows.flatMap(({ broken }) => broken.map(({ law }) => law));
    const why = made.result.rows.map(({ name: of, state, why: because }) => `${of} ${state} ${because}`);
    expect(named, [...found(made), ...why].join("\n")).toEqual(laws);
    if (fault === null)
      expect(made.result.rows.filter(({ state }) => state === "kept").length).toBeGreaterThanOrEqual(
        own.length,
      );
  } finally {
    await serving.close();
  }
});
