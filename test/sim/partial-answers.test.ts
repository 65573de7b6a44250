// Answers of a limiter that shows less than everything: what follows by the rules is told, and nothing else.
import { describe, expect, test } from "vitest";
import { PartialAnswers } from "../../sim/adapter/answers.ts";
import type { WindowReading } from "../../src/engine/adapter.ts";
import { parseRules } from "../../src/rules/parse.ts";
import type { RulesInput } from "../../src/rules/rules.ts";
import { graphql, rest, status } from "../../src/scenario/calls.ts";

const nowMs = Date.UTC(2026, 0, 1);
const ann = { organization: "acme", user: "ann" };
const limits: RulesInput = {
  organization: { rest: { limit: 10 }, graphql: { limit: 100 } },
  user: { rest: { limit: 4 } },
  organizations: { acme: { rest: { limit: 12 } } },
  users: { "acme/ann": { rest: { limit: 3 } } },
};
const answers = (semantics: RulesInput["semantics"] = {}, isKeyed = false): PartialAnswers =>
  new PartialAnswers(parseRules({ ...limits, semantics: { ...semantics } }), isKeyed);
const call = rest("/v2/user");
const none = { limit: null, remaining: null, reset: null };

/** Readings of the organization's window from headers of a kind. */
function told(reading: Partial<WindowReading>, semantics: RulesInput["semantics"] = {}) {
  const { limit, remaining, reset } = answers(semantics).ofAdmitted(
    ann,
    call,
    { organization: reading },
    nowMs,
  );
  return { limit, remaining, reset };
}

describe("the headers of a window", () => {
  test.each<[shown: Partial<WindowReading>, told: object]>([
    [{}, none],
    [{ enforced: true }, none],
    [{ limit: 9 }, { limit: 9, remaining: null, reset: null }],
    [{ current: 2 }, { limit: 12, remaining: 10, reset: null }],
    [
      { limit: 9, current: 2 },
      { limit: 9, remaining: 7, reset: null },
    ],
    [{ current: 12 }, { limit: 12, remaining: 0, reset: null }],
    [{ current: 14 }, { limit: 12, remaining: 0, reset: null }],
    [{ remaining: 3 }, { limit: 12, remaining: 3, reset: null }],
    [
      { remaining: 3, current: 2 },
      { limit: 12, remaining: 3, reset: null },
    ],
    [{ reset: 7 }, { limit: 12, remaining: null, reset: 7 }],
    [{ resetAtMs: nowMs + 6_400 }, { limit: 12, remaining: null, reset: 7 }],
    [
      { reset: 9, resetAtMs: nowMs + 6_400 },
      { limit: 12, remaining: null, reset: 9 },
    ],
  ])("that shows %j are %j", (shown, headers) => {
    expect(told(shown)).toEqual(headers);
  });

  test("are rounded, and may fall below 0, as the rules say", () => {
    const resetAtMs = nowMs + 6_400;
    expect(
      ["ceil", "floor", "round"].map((reset) => told({ resetAtMs }, { reset: reset as "ceil" }).reset),
    ).toEqual([7, 6, 6]);
    expect(told({ current: 14 }, { remaining: "signed" }).remaining).toBe(-2);
  });

  test("are of the user's own limit, too; by key there is none of the organization's", () => {
    const shown = { user: { current: 1 } };
    expect(answers().ofAdmitted(ann, call, shown, nowMs)).toEqual({
      ...{ org: "acme", user: "ann", scope: "rest", kind: "call", cost: 1, status: 200 },
      ...{ ...none, scopeName: "rest", userScopeName: "rest_user" },
      ...{ userLimit: 3, userRemaining: 2, userReset: null },
    });
    expect(answers({}, true).ofAdmitted(ann, call, shown, nowMs).scopeName).toBeNull();
  });
});

describe("a refusal", () => {
  const full = { limit: 3, current: 3, reset: 5 };

  test.each([
    [{ admitted: false }, undefined, undefined],
    [{ admitted: false, refusedBy: null }, undefined, undefined],
    [
      { admitted: false, refusedBy: "user" as const, user: { current: 3 } },
      undefined,
      { scope: "rest_user", limit: 3, current: 3, reset: null },
    ],
    [
      { admitted: false, refusedBy: "user" as const },
      undefined,
      { scope: "rest_user", limit: null, current: null, reset: null },
    ],
  ])("of %j has Retry-After %j and the body %j", (decision, retryAfter, refusal) => {
    const answer = answers().ofDecision(ann, call, decision, nowMs);
    expect(answer).toMatchObject({ status: 429 });
    expect([answer.retryAfter, answer.refusal]).toEqual([retryAfter, refusal]);
  });

  test("that shows all of its window tells it whole, and when to come back unless the rules forbid it", () => {
    const decision = { admitted: false, refusedBy: "user", user: full } as const;
    const answer = answers().ofDecision(ann, call, decision, nowMs);
    expect(answer).toMatchObject({
      retryAfter: 5,
      refusal: { scope: "rest_user", ...full },
      userRemaining: 0,
    });
    expect(answers({ retryAfter: false }).ofDecision(ann, call, decision, nowMs)).not.toHaveProperty(
      "retryAfter",
    );
  });

  test("is none where the call was admitted", () => {
    expect(answers().ofDecision(ann, call, { admitted: true, refusedBy: "user" }, nowMs)).toMatchObject({
      status: 200,
    });
  });
});

test("a query that nobody asked the limiter about counts nowhere", () => {
  const query = graphql("{ viewer { id } }", { cost: 60_000 });
  expect(answers().untouched(ann, query, 200)).toMatchObject({
    ...{ kind: "other", cost: null, scope: "graphql", status: 200 },
    ...{ ...none, scopeName: null, userScopeName: null, userLimit: null },
  });
});

test("a status tells the organization's windows in its body, as far as they are shown; by key, the user's in headers", () => {
  const shown = { rest: { current: 2, resetAtMs: nowMs + 6_400, enforced: false }, graphql: { reset: 4 } };
  expect(answers().ofStatus(ann, status(), shown, nowMs)).toMatchObject({
    ...{ kind: "status", cost: null, limit: 12, remaining: 10, reset: 7, userLimit: null },
    body: {
      rest: { limit: 12, current: 2, reset: 7, reset_at: "2026-01-01T00:00:06Z", enforced: false },
      graphql: { limit: 100, current: null, reset: 4 },
    },
  });
  const keyed = answers({}, true).ofStatus(ann, status(), shown, nowMs);
  expect(keyed).toMatchObject({ cost: null, limit: null, userLimit: 3, userRemaining: 1, userReset: 7 });
  expect(keyed).not.toHaveProperty("body");
});
