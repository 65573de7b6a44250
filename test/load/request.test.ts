// Requests of a policy's calls: as the samples of their operations say, and as dear as the scenario says.
import { expect, test } from "vitest";
import { type RequestParts, requestParts } from "../../src/load/request.ts";
import { parsePolicy } from "../../src/policy/parse.ts";
import type { Policy } from "../../src/policy/policy.ts";
import { rest } from "../../src/scenario/calls.ts";
import type { CallTemplate } from "../../src/scenario/client.ts";
import { policyCall } from "../../src/scenario/policy-calls.ts";

const policy = parsePolicy({
  version: 2,
  name: "chat",
  quotas: {
    tokens: { algorithm: { kind: "fixed-window", limit: 2000, windowSeconds: 60 }, key: ["user", "project"] },
  },
  operations: {
    chat: {
      uses: { tokens: "declared" },
      samples: [
        {
          method: "POST",
          path: "/v1/chat",
          headers: { "X-Project": "blue", "Api-Version": "2026-11" },
          body: { options: { max_tokens: 16 }, as: "{user}" },
          cost: 20,
          dearer: { pointer: "/options/max_tokens", costEach: 2 },
        },
      ],
    },
  },
  routes: [{ path: "/**", operation: "chat", attributes: { project: { header: "x-project" } } }],
  auth: { header: "Authorization", form: "Bearer {token}", attributes: ["user"] },
});

const caller = { organization: "acme", user: "ann", token: "a-token", attributes: { user: "ann" } };
const partsOf = (call: CallTemplate): RequestParts =>
  requestParts(call, caller, { base: "http://127.0.0.1:1", graphqlUrl: "" }, policy);

test.each([
  [20, 16],
  [120, 66],
])("a call that costs %d asks for it by the number that makes its sample dearer: %d", (cost, tokens) => {
  const { body } = partsOf(rest("/v1/chat", { method: "POST", cost }));
  expect(JSON.parse(body ?? "")).toEqual({ options: { max_tokens: tokens }, as: "ann" });
});

test("a call has the headers of its sample, and of its own where it says others", () => {
  const call = rest("/v1/chat", { method: "POST", cost: 20 });
  const own = { ...call, headers: { "X-Project": "red" } };
  expect(partsOf(call).headers).toMatchObject({ "X-Project": "blue", "Api-Version": "2026-11" });
  expect(partsOf(own).headers).toMatchObject({ "X-Project": "red", "Api-Version": "2026-11" });
  expect([call, own].map((each) => policyCall(policy, each, caller).caller)).toEqual([
    { user: "ann", project: "blue" },
    { user: "ann", project: "red" },
  ]);
});

test.each<[uses: Record<string, unknown>, actual: number, told: object]>([
  [{ tokens: "declared" }, 20, { "spillway-cost": "20" }],
  [{ tokens: "declared" }, 0, { "spillway-cost": "20", "spillway-actual": "0" }],
  [{ tokens: { atMost: 90 } }, 20, { "spillway-actual": "20" }],
  [{ tokens: { atMost: 90 } }, 7, { "spillway-actual": "7" }],
  [{ tokens: 3 }, 7, {}],
])("a call of %j, charged %d in the end, tells a stand-in %j", (uses, actual, told) => {
  const chat = { ...policy.operations["chat"], uses };
  const { headers } = requestParts(
    rest("/v1/chat", { method: "POST", cost: 20, actual }),
    caller,
    { base: "http://127.0.0.1:1", graphqlUrl: "" },
    { ...policy, operations: { chat } } as Policy,
  );
  const ours = Object.entries(headers).filter(([name]) => name.startsWith("spillway-"));
  expect(Object.fromEntries(ours)).toEqual(told);
});
