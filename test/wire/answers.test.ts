// Decisions over HTTP: exactly the documented body, the eight headers, both kinds of 429.
import { describe, expect, test } from "vitest";
import { Limiter } from "../../src/engine/limiter.ts";
import { parseRules } from "../../src/rules/parse.ts";
import { headers } from "../../src/wire/answer.ts";
import { isoSecond, refusalBody, statusBody } from "../../src/wire/bodies.ts";

const T = Date.parse("2026-01-02T03:03:12.345Z");
const call = { organization: "acme", user: "a", scope: "rest", cost: 1 } as const;

describe("the status body (SPEC.md §4)", () => {
  test("is exactly the documented one", () => {
    const limiter = new Limiter(parseRules({}));
    limiter.decide(call, T);
    expect(JSON.stringify(statusBody(limiter.status("acme", T)))).toBe(
      '{"scopes":{"rest":{"limit":200,"current":1,"reset":48,"reset_at":"2026-01-02T03:04:00Z","enforced":true},' +
        '"graphql":{"limit":20000,"current":0,"reset":108,"reset_at":"2026-01-02T03:05:00Z","enforced":true}}}',
    );
  });

  test("times are ISO 8601 to the second", () => {
    expect(isoSecond(0)).toBe("1970-01-01T00:00:00Z");
    expect(isoSecond(253_402_300_799_000)).toBe("9999-12-31T23:59:59Z");
  });
});

describe("headers (SPEC.md §5)", () => {
  test("eight, of both windows just after the call", () => {
    const limiter = new Limiter(parseRules({}));
    expect(headers("rest", limiter.decide(call, T))).toEqual({
      "RateLimit-Scope": "rest",
      "RateLimit-Remaining": 199,
      "RateLimit-Limit": 200,
      "RateLimit-Reset": 48,
      "RateLimit-User-Scope": "rest_user",
      "RateLimit-User-Remaining": 49,
      "RateLimit-User-Limit": 50,
      "RateLimit-User-Reset": 48,
    });
  });

  test("a warning for each window with nothing left", () => {
    const limiter = new Limiter(parseRules({ user: { graphql: { limit: 5 } } }));
    const shown = headers("graphql", limiter.decide({ ...call, scope: "graphql", cost: 5 }, T));
    expect(shown["RateLimit-User-Scope"]).toBe("graphql_user");
    expect(shown["RateLimit-User-Warning"]).toContain("108 s");
    expect(shown).not.toHaveProperty("RateLimit-Warning");
  });
});

describe("refusals (SPEC.md §6)", () => {
  test("REST: all of the window that refused", () => {
    const limiter = new Limiter(parseRules({ user: { rest: { limit: 1 } } }));
    limiter.decide(call, T);
    expect(refusalBody("rest", "user", limiter.decide(call, T))).toEqual({
      message: "You have exceeded the limit of 1 requests. Please try again in 48 seconds.",
      scope: "rest_user",
      limit: 1,
      current: 1,
      reset: 48,
    });
  });

  test.each([
    [
      "organization",
      "Your organization has exceeded the limit of 20000 complexity points. Please try again in 108 seconds.",
    ],
    [
      "user",
      "You have exceeded your per-user limit of 5000 complexity points. Please try again in 108 seconds.",
    ],
  ] as const)("GraphQL: the documented sentence for the %s", (owner, message) => {
    const readings = new Limiter(parseRules({})).readings("acme", "a", "graphql", T);
    expect(refusalBody("graphql", owner, readings)).toEqual({ errors: [{ message }] });
  });
});
