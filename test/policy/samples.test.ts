// Sample requests of the policies that come with the package: each is a call of its own operation, in a scenario, too.
import { describe, expect, test } from "vitest";
import { scenarioText } from "../../src/cli/init-policy.ts";
import { parsePolicy } from "../../src/policy/parse.ts";
import { presets } from "../../src/policy/presets.ts";
import { isPlainObject } from "../../src/rules/plain-object.ts";
import { graphql, rest } from "../../src/scenario/calls.ts";
import type { CallTemplate } from "../../src/scenario/client.ts";
import { policyCall } from "../../src/scenario/policy-calls.ts";

const seat = { organization: "acme", user: "ann", token: null };

describe.each(Object.entries(presets))("%s", (_, preset) => {
  const policy = parsePolicy(preset.policy);
  const samples = Object.entries(policy.operations).flatMap(([operation, one]) =>
    one.samples.map((sample) => [operation, sample] as const),
  );

  test("has a sample of each operation", () => {
    const sampled = new Set(samples.map(([operation]) => operation));
    expect([...sampled].sort()).toEqual(Object.keys(policy.operations).sort());
  });

  test.each(samples)("%s is what its sample is", (operation, { method, path, body, cost }) => {
    const query = isPlainObject(body) ? body["query"] : undefined;
    const call =
      typeof query === "string" && path.includes("graphql")
        ? graphql(query, { cost })
        : rest(path, { method: method as CallTemplate["method"], cost });
    const made = policyCall(policy, call, seat);
    expect(made.operation).toBe(operation);
    const keys = Object.keys(policy.operations[operation]?.uses ?? {}).flatMap(
      (quota) => policy.quotas[quota]?.key ?? [],
    );
    for (const name of keys) expect(made.caller[name], name).toMatch(/./);
  });

  test("its first scenario names each of its operations", () => {
    const text = scenarioText(policy, "npx spillway simulate mine/clients.ts");
    for (const [operation] of samples) expect(text).toContain(`    ${operation.replace(/\W/g, "_")}: {`);
  });
});
