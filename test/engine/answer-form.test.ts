// Answers of a stranger's limiter: the first thing that is wrong, by its path; and a copy of it as it is now.
import { describe, expect, test } from "vitest";
import {
  copyOf,
  decisionMistake,
  httpMistake,
  readingsMistake,
  statusMistake,
} from "../../src/engine/answer-form.ts";
import { callText, failureIn, LimiterFailure, thrown } from "../../src/engine/limiter-failure.ts";

const at = (mistake: readonly unknown[] | null): unknown => mistake?.[0] ?? null;

describe("a decision", () => {
  test.each([
    ["admitted alone", { admitted: true }, null],
    [
      "what is absent, or null",
      { admitted: false, refusedBy: null, retryAfterMs: null, organization: null, user: undefined },
      null,
    ],
    [
      "all of it",
      {
        admitted: false,
        refusedBy: "user",
        retryAfterMs: 1.5,
        user: { limit: 5, reset: -1, enforced: false },
      },
      null,
    ],
    ["refused by the organization", { admitted: false, refusedBy: "organization" }, null],
    ["nothing", undefined, "the decision"],
    ["null", null, "the decision"],
    ["a text", "yes", "the decision"],
    ["no admitted", {}, "admitted"],
    ["another admitted", { admitted: 1 }, "admitted"],
    ["refused by somebody else", { admitted: false, refusedBy: "team" }, "refusedBy"],
    ["a wait that is no number", { admitted: false, retryAfterMs: "5" }, "retryAfterMs"],
    ["a wait without an end", { admitted: false, retryAfterMs: Number.POSITIVE_INFINITY }, "retryAfterMs"],
    ["a reading that is none", { admitted: true, organization: 5 }, "organization"],
    ["a fraction", { admitted: true, organization: { limit: 5 }, user: { current: 1.5 } }, "user.current"],
    ["a text in a reading", { admitted: true, organization: { resetAtMs: "5" } }, "organization.resetAtMs"],
    ["enforced as a number", { admitted: true, user: { enforced: 1 } }, "user.enforced"],
  ])("%s", (_name, value, path) => {
    expect(at(decisionMistake(value))).toBe(path);
  });

  test("is told with what was got and what may be", () => {
    expect(decisionMistake({ admitted: 1 })).toEqual(["admitted", 1, "true or false"]);
    expect(decisionMistake({ admitted: true, user: { enforced: 1 } })).toEqual([
      "user.enforced",
      1,
      "true, false or nothing",
    ]);
  });
});

test("readings, a status and an answer of HTTP have forms of their own", () => {
  expect(
    [
      readingsMistake({}),
      readingsMistake(null),
      readingsMistake({ user: "x" }),
      readingsMistake({ rest: "x" }),
    ].map(at),
  ).toEqual([null, "the readings", "user", null]);
  expect(
    [
      statusMistake({}),
      statusMistake(5),
      statusMistake({ rest: 1 }),
      statusMistake({ graphql: { limit: 0.5 } }),
      statusMistake({ user: 1 }),
    ].map(at),
  ).toEqual([null, "the status", "rest", "graphql.limit", null]);
  expect(
    [
      httpMistake(null),
      httpMistake("x"),
      httpMistake({ status: "200" }),
      httpMistake({ status: 200 }),
      httpMistake({ status: 200, headers: {} }),
    ].map(at),
  ).toEqual([null, "the answer", "status", "headers", null]);
});

test("a copy has the members that count, a class's, too, and stays as it is", () => {
  class Answer {
    get admitted(): boolean {
      return true;
    }
  }
  const reading = { limit: 5, other: 1, enforced: true };
  const answer = Object.assign(new Answer(), {
    user: reading,
    rest: null,
    headers: { a: "b" },
    stray: 1,
    body: "x",
  });
  const copy = copyOf(answer as unknown as Record<string, unknown>);
  reading.limit = 9;
  answer.headers.a = "c";
  expect(copy).toEqual({
    admitted: true,
    user: { limit: 5, enforced: true },
    rest: null,
    headers: { a: "b" },
    body: "x",
  });
  expect(copyOf({ headers: null })).toEqual({ headers: null });
});

test("a limiter that does wrong is told by its call", () => {
  const cause = new TypeError("within");
  const failure = new LimiterFailure("decide(1)", "nothing", "a decision", cause);
  expect([failure.name, failure.message, failure.call, failure.got, failure.allowed, failure.cause]).toEqual([
    "LimiterFailure",
    "decide(1): got nothing, allowed: a decision",
    "decide(1)",
    "nothing",
    "a decision",
    cause,
  ]);
  expect("cause" in new LimiterFailure("a", "b", "c")).toBe(false);
  expect([thrown(cause), thrown("x")]).toEqual(["TypeError: within", 'a throw of "x"']);
  expect(callText("decide", [{ cost: 1 }, 5])).toBe('decide({"cost":1}, 5)');
});

test("what is no failure of a limiter's is thrown on", () => {
  const failure = new LimiterFailure("decide()", "nothing", "an answer");
  expect(failureIn(failure)).toBe(failure);
  expect(() => failureIn(new TypeError("odd"))).toThrow(TypeError);
});
