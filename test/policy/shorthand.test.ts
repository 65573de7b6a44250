// Rules of version 1 are policies, and such policies are rules.
import { describe, expect, test } from "vitest";
import { scriptArbitrary, usualProfile } from "../../src/laws/arbitraries.ts";
import { parsePolicy } from "../../src/policy/parse.ts";
import type { Policy, RequestSample } from "../../src/policy/policy.ts";
import { asRules, policyOf, rulesOf } from "../../src/policy/shorthand.ts";
import { SpillwayError } from "../../src/rules/errors.ts";
import { parseRules } from "../../src/rules/parse.ts";
import { presets } from "../../src/rules/presets.ts";
import { Deployment } from "../service/deployment.ts";
import { property } from "../support/property.ts";
import { inference } from "./policies.ts";

property([scriptArbitrary({ startMs: 0 }, usualProfile)])(
  "rules → policy → rules is the same, and so is policy → rules → policy",
  ({ rules }) => {
    const policy = policyOf(rules);
    const back = rulesOf(policy);
    // The only switch that says nothing of a scope.
    const { rest: _, ...graphqlCharge } = rules.semantics.graphqlCharge;
    expect(back).toEqual({
      ...rules,
      semantics: { ...rules.semantics, graphqlCharge: { rest: "reserved", ...graphqlCharge } },
    });
    expect(policyOf(back)).toEqual(policy);
    expect(parsePolicy(JSON.parse(JSON.stringify(policy)))).toEqual(policy);
  },
);

test("presets are policies", () => {
  for (const preset of Object.values(presets))
    expect(rulesOf(policyOf(parseRules(preset))).user).toEqual(parseRules(preset).user);
  expect(policyOf(parseRules(presets.documented)).quotas["graphql_user"]).toMatchObject({
    algorithm: { anchor: "first-request", opens: "whole-second" },
    charge: { when: "completion", fits: "any-left" },
    shown: { retryAfter: false },
  });
});

describe("a policy that is none of that API's is refused, with its first difference", () => {
  const buildkite = policyOf(parseRules({}));
  const quotaWith = (changed: object): Policy =>
    ({
      ...buildkite,
      quotas: { ...buildkite.quotas, rest: { ...buildkite.quotas["rest"], ...changed } },
    }) as Policy;
  test.each([
    ["another key", quotaWith({ key: ["user"] }), "quotas.rest.key.0"],
    ["another unit", quotaWith({ unit: "calls" }), "quotas.rest.unit"],
    [
      "a bucket",
      quotaWith({ algorithm: { kind: "token-bucket", capacity: 5, refill: { amount: 1, everyMs: 5 } } }),
      "quotas.rest.algorithm.kind",
    ],
    [
      "a fifth quota",
      { ...buildkite, quotas: { ...buildkite.quotas, more: buildkite.quotas["rest"] } } as Policy,
      "quotas.more",
    ],
    ["other quotas", parsePolicy(inference), "quotas.tenant"],
    ["another route", { ...buildkite, routes: buildkite.routes.slice(1) }, "routes.0.path"],
  ])("%s", (_, policy, path) => {
    let error: unknown;
    try {
      rulesOf(policy);
    } catch (caught) {
      error = caught;
    }
    expect(error).toBeInstanceOf(SpillwayError);
    expect(error).toMatchObject({ code: "POLICY_UNSUPPORTED", problems: [{ path }] });
  });
});

describe("its requests", () => {
  const { operations, provoke } = policyOf(parseRules({}));
  const filled = (value: unknown): string =>
    JSON.stringify(value ?? null).replaceAll("{organization}", "acme");
  const send = (service: Deployment, { method, path, headers, body }: RequestSample) =>
    service.call(path.replaceAll("{organization}", "acme"), {
      method,
      headers,
      ...(body === undefined ? {} : { body: typeof body === "string" ? body : filled(body) }),
    });

  test("cost what their samples say, and more when they are dearer", async () => {
    const service = new Deployment();
    const [rest] = operations["rest"]?.samples ?? [];
    const [graphql] = operations["graphql"]?.samples ?? [];
    if (rest === undefined || graphql?.dearer === undefined) throw new Error("no samples");
    expect((await send(service, rest)).statusCode).toBe(200);
    expect((await service.counted()).rest).toBe(rest.cost);
    for (const units of [1, 7]) {
      const body = JSON.parse(filled(graphql.body));
      body.variables.first = units;
      const answer = await send(service, { ...graphql, body });
      expect(answer.json().errors).toBeUndefined();
      expect(Number(answer.headers["ratelimit-complexity-requested"])).toBe(
        graphql.cost + (units - 1) * graphql.dearer.costEach,
      );
    }
  });

  test("provoke the answers that they are for", async () => {
    const service = new Deployment();
    for (const [status, request] of Object.entries(provoke) as [string, RequestSample][])
      expect((await send(service, request)).statusCode).toBe(Number(status));
    expect(Object.keys(provoke)).toEqual(["400", "404", "405"]);
  });
});

describe("overrides that no rules have make no rules", () => {
  const window = { kind: "fixed-window", limit: 5, windowSeconds: 60 };
  const bucket = { kind: "token-bucket", capacity: 5, refill: { amount: 1, everyMs: 1_000 } };
  test.each([
    ["of a bucket", "rest", bucket, { organization: "acme" }, { capacity: 3 }],
    [
      "of an organization whose name is reserved",
      "rest",
      window,
      { organization: "constructor" },
      { limit: 3 },
    ],
    ["of a user without a name", "rest_user", window, { organization: "acme", user: "" }, { limit: 3 }],
    ["of a user's refusing", "rest_user", window, { organization: "acme", user: "ann" }, { enforced: false }],
  ])("%s", (_, quota, algorithm, match, changed) => {
    const policy = parsePolicy({
      ...{ version: 2, name: "own", auth: { attributes: ["organization", "user"] } },
      quotas: { [quota]: { algorithm, key: Object.keys(match) } },
      operations: { call: { uses: { [quota]: 1 } } },
      overrides: [{ match, quotas: { [quota]: changed } }],
    });
    expect(asRules(policy)).toBeNull();
    expect(() => rulesOf(policy)).toThrow(expect.objectContaining({ code: "POLICY_UNSUPPORTED" }));
  });
});
