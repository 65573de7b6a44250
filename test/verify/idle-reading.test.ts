// Readings that are taken after the decision, of a window that has ended in between: Flask-Limiter then shows a full quota
// whose reset is now. That is no refusal without cause; a full quota whose window goes on is.
import { Readable } from "node:stream";
import { expect, test } from "vitest";
import { parsePolicy } from "../../src/policy/parse.ts";
import { encodeQuotaCall } from "../../src/trace/quota-lines.ts";
import type { QuotaCall } from "../../src/trace/quota-record.ts";
import { verify } from "../../src/verify/verify.ts";

const policy = parsePolicy({
  version: 2,
  name: "flask",
  quotas: {
    requests: {
      algorithm: { kind: "fixed-window", limit: 12, windowSeconds: 5, anchor: "first-request" },
      key: ["client"],
      charge: { refused: "counted" },
    },
  },
  operations: { call: { uses: { requests: 1 } } },
  routes: [{ path: "/**", operation: "call" }],
  auth: { attributes: ["client"] },
  wire: { revision: "1", readings: [] },
});

const startedAt = 1_795_576_198_000;

async function judged(afterMs: number) {
  const header = {
    ...{ format: "spillway-trace", version: 2, source: "other", scenario: null, seed: null, target: null },
    ...{ startedAt, clock: { kind: "wall", resolutionMs: 1, errorMs: 0 }, policy, complete: false, lost: 0 },
  };
  const call: QuotaCall = {
    ...{
      sent: startedAt + 2900,
      received: startedAt + 2940,
      client: "a/0",
      call: 0,
      caller: { client: "a" },
    },
    ...{ operation: "call", cost: 1, status: 429, outcome: "refused", by: "requests" },
    readings: [
      {
        quota: "requests",
        limit: 12,
        remaining: 12,
        used: null,
        reset: { afterMs, atMs: null, gridMs: 1000 },
      },
    ],
    date: startedAt + 2000,
  };
  const { violations } = await verify(
    Readable.from([Buffer.from(`${JSON.stringify(header)}\n${encodeQuotaCall(call)}\n`)]),
  );
  return violations.map(({ law }) => law);
}

test("a full quota that ends now accuses no refusal", async () => {
  expect(await judged(0)).toEqual([]);
});

test("a full quota whose window goes on does", async () => {
  expect(await judged(2000)).toContain("refusal-justified");
});
