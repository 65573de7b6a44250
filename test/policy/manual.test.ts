// The policies that POLICY.md shows are policies, and mean what stands around them.
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { PolicyLimiter } from "../../src/engine/policy-limiter.ts";
import { onBase } from "../../src/policy/base.ts";
import { routeOf } from "../../src/policy/match.ts";
import { parsePolicy } from "../../src/policy/parse.ts";
import { presets, wireOf } from "../../src/policy/presets.ts";
import { readAnswer } from "../../src/wire/read-answer.ts";
import { writeAnswer } from "../../src/wire/write-answer.ts";

const manual = readFileSync(new URL("../../src/policy/POLICY.md", import.meta.url), "utf8");
const [enterprise, parcels] = [...manual.matchAll(/^```json\n([\s\S]*?)^```/gm)].map(
  ([, text = ""]) => JSON.parse(text) as Record<string, unknown>,
);
const NOW = Date.UTC(2026, 10, 23, 10, 0, 0);

test("one that says what differs from its base", () => {
  const policy = parsePolicy(onBase(presets["github"]?.policy, enterprise ?? {}));
  expect(policy.quotas["core"]?.algorithm).toMatchObject({ limit: 15_000, windowSeconds: 3_600 });
});

test("fragments of the table have the forms that the parser takes", () => {
  const table = manual.slice(manual.indexOf("## 10."), manual.indexOf("All of it together"));
  const algorithms = [...table.matchAll(/`(\{"kind": .*?\})`/g)].map(
    ([, text = ""]) => JSON.parse(text) as object,
  );
  expect(algorithms).toHaveLength(3);
  const [first] = [...table.matchAll(/`(\{"algorithm": .*?\})`/g)].map(
    ([, text = ""]) => JSON.parse(text) as object,
  );
  for (const quota of [first, ...algorithms.map((algorithm) => ({ algorithm, key: ["account"] }))])
    expect(() =>
      parsePolicy({
        version: 2,
        name: "fragment",
        quotas: { one: quota },
        operations: { call: { uses: { one: 1 } } },
        routes: [{ path: "/**", operation: "call" }],
      }),
    ).not.toThrow();
});

test("a whole one is limited, written and read as it says", () => {
  const policy = parsePolicy(parcels);
  const wire = wireOf(policy);
  const found = routeOf(policy, {
    method: "POST",
    target: "/v3/depots/7/labels?x=1",
    host: "",
    graphql: null,
  });
  expect(found).toMatchObject({ route: { operation: "print" }, attributes: { depot: "7" } });
  const limiter = new PolicyLimiter(policy);
  const caller = { account: "acme", depot: "7" };
  const decide = (cost: number) => limiter.decide({ caller, operation: "print", cost }, NOW);
  expect(decide(250)).toMatchObject({ refusedBy: null });
  const refused = decide(60);
  expect(refused).toMatchObject({ refusedBy: "depot", retryAtMs: NOW + 300_000 });
  const { refusedBy, retryAtMs, readings } = refused;
  const answer = writeAnswer(
    wire,
    policy.quotas,
    { kind: "refused", readings, refusedBy, retryAtMs, cost: 60 },
    NOW,
  );
  expect(answer).toMatchObject({
    status: 403,
    body: { code: "DEPOT_BUSY", retry_after_ms: 300_000 },
    // The refused call counts in the day's quota, and takes nothing of the bucket.
    headers: { "X-Daily-Quota": "1/10000", "X-Burst-Left": 35 },
  });
  const read = readAnswer(wire, answer, { quotas: ["bursts", "daily", "depot"], isStatus: false });
  expect(read).toMatchObject({
    outcome: "refused",
    by: "depot",
    retryAfter: { afterMs: 300_000 },
    readings: [
      {
        quota: "daily",
        limit: 10_000,
        used: 1,
        reset: { atMs: Date.UTC(2026, 10, 23, 23), means: "window-end" },
      },
      { quota: "bursts", remaining: 35, reset: { afterMs: 2_500, means: "full" } },
    ],
    unread: [],
  });
});
