// A policy that says what differs from another one; and the quotas of a policy as they hold for one caller.
import { describe, expect, test } from "vitest";
import { onBase } from "../../src/policy/base.ts";
import { limitOf, quotaFor } from "../../src/policy/effective.ts";
import { parsePolicy } from "../../src/policy/parse.ts";
import { presets } from "../../src/policy/presets.ts";
import { inference } from "./policies.ts";

describe("a document on its base", () => {
  test.each([
    [
      "adds members, and has its own in place of the base's",
      { a: 1, b: 2 },
      { b: 3, c: 4 },
      { a: 1, b: 3, c: 4 },
    ],
    [
      "goes member by member into objects",
      { a: { b: 1, c: { d: 2 } } },
      { a: { c: { e: 3 } } },
      { a: { b: 1, c: { d: 2, e: 3 } } },
    ],
    [
      "takes out what is null, at any depth",
      { a: 1, b: { c: 2, d: 3 } },
      { a: null, b: { c: null } },
      { b: { d: 3 } },
    ],
    ["takes out nothing that is not there", { a: 1 }, { b: null }, { a: 1 }],
    ["has its lists as a whole", { a: [1, 2], b: { c: 1 } }, { a: [3], b: [4] }, { a: [3], b: [4] }],
    [
      "has objects in place of values",
      { a: 1, b: [1] },
      { a: { b: null, c: 2 }, b: { c: 3 } },
      { a: { b: null, c: 2 }, b: { c: 3 } },
    ],
    ["does not keep which base it has", { a: 1 }, { base: "github", a: 2 }, { a: 2 }],
    ["keeps the order of the base", { b: 1, a: 2 }, { a: 3, b: 4 }, { b: 4, a: 3 }],
  ])("%s", (_name, base, own, expected) => {
    expect(JSON.stringify(onBase(base, own))).toBe(JSON.stringify(expected));
  });

  test("changes members of the wire format that the base names; a name stands in place of it", () => {
    const wire = presets["fastify"]?.wire;
    const changed = { wire: { revision: "12", outcomes: null } };
    expect(onBase({ name: "a", wire: "fastify" }, changed)).toEqual({
      name: "a",
      wire: { revision: "12", readings: wire?.readings, retryAfter: wire?.retryAfter },
    });
    expect(onBase({ wire: "no-such-format" }, changed)).toEqual(changed);
    expect(onBase({ wire: "fastify" }, { wire: "github" })).toEqual({ wire: "github" });
    expect(onBase({ wire: "fastify" }, { name: "a" })).toEqual({ wire: "fastify", name: "a" });
  });

  test("is all there is where the base is no object", () => {
    expect(onBase([1], { a: 1 })).toEqual({ a: 1 });
  });
});

describe("a quota as it holds for a caller", () => {
  const policy = parsePolicy(inference);
  const limit = (quota: string, tenant: string): number =>
    limitOf(quotaFor(policy, quota, { tenant }).algorithm);
  test("is overridden where the caller matches, in what the override says", () => {
    expect([
      limit("tenant", "acme"),
      limit("tenant", "big"),
      limit("tenant_tokens", "big"),
      limit("user", "big"),
    ]).toEqual([40, 400, 8000, 15]);
    const { key, charge } = quotaFor(policy, "tenant_tokens", { tenant: "big" });
    expect([key, charge.when]).toEqual([["tenant"], "reserve-settle"]);
  });

  test("must be one of the policy's", () => {
    expect(() => quotaFor(policy, "nobody's", {})).toThrow("no quota nobody's");
  });
});
