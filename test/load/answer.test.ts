// One answer: what a client is told of it, its line in the trace, its faults; and that the fast way for plain
// answers comes to the same as the long one.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isCutOff, type RawAnswer, TraceableAnswer, tell } from "../../src/load/answer.ts";
import { callLine, lineParts } from "../../src/load/call-line.ts";
import { mayBePlain, readPlain } from "../../src/load/plain-answer.ts";
import { headerBounds, headerFault } from "../../src/load/response-checks.ts";
import { parseRules } from "../../src/rules/parse.ts";
import { graphql, rest, status as statusCall } from "../../src/scenario/calls.ts";
import { ABSENT, type CallTemplate, createEvent } from "../../src/scenario/client.ts";
import { checkCall } from "../../src/trace/batch-reader.ts";
import type { TraceCall } from "../../src/trace/record.ts";
import { encodeCall } from "../../src/trace/write.ts";
import { eight } from "./headers.ts";

const user = rest("/v2/user");
const query = graphql("{ viewer { id } }", { cost: 12 });

const eightOfGraphql = { ...eight, "Ratelimit-Scope": "graphql", "Ratelimit-User-Scope": "graphql_user" };

const raw = (
  status: number,
  headers: Record<string, string | undefined> = eight,
  more: Partial<RawAnswer> = {},
): RawAnswer => ({ status, headers, body: "{}", error_code: 0, error: "", ...more });

const planned = { atMs: 900, template: 0, page: 0, attempt: 1, wantedMs: 400, delayMs: 500 };
const token = "a-secret-token";

function lineOf(template: CallTemplate, answer: RawAnswer): TraceCall {
  const read = new TraceableAnswer();
  read.read(template, answer, 1_000, 1_010, token);
  const line = callLine(lineParts("agents/17", "acme", "agent-17", template), 3, planned, read);
  const call = JSON.parse(line) as TraceCall;
  // The order of members is the format's.
  expect(line).toBe(encodeCall(call));
  checkCall(call, 2);
  return call;
}

describe("a line", () => {
  test("of a plain answer", () => {
    expect(lineOf(user, raw(200))).toEqual({
      sent: 1_000,
      received: 1_010,
      client: "agents/17",
      call: 3,
      org: "acme",
      user: "agent-17",
      scope: "rest",
      kind: "call",
      cost: 1,
      status: 200,
      scopeName: "rest",
      limit: 200,
      remaining: 150,
      reset: 33,
      userScopeName: "rest_user",
      userLimit: 50,
      userRemaining: 49,
      userReset: 33,
      wanted: 400,
      attempt: 1,
    });
  });

  test("keeps headers that are no integers as they came, and says which did not come", () => {
    const headers = {
      ...eight,
      "Ratelimit-Limit": "5, 5",
      "Ratelimit-Remaining": "-3",
      "Ratelimit-Reset": "1.5",
      "Ratelimit-User-Limit": "",
      "Ratelimit-User-Remaining": "1e3",
      "Ratelimit-User-Reset": undefined,
      "Ratelimit-User-Scope": 'a "quoted" name',
    };
    expect(lineOf(user, raw(200, headers))).toMatchObject({
      limit: "5, 5",
      remaining: -3,
      reset: "1.5",
      userLimit: "",
      userRemaining: "1e3",
      userReset: null,
      userScopeName: 'a "quoted" name',
    });
  });

  test("cuts a header of any length", () => {
    expect(
      String(lineOf(user, raw(200, { ...eight, "Ratelimit-Scope": "x".repeat(2_000_000) })).scopeName),
    ).toHaveLength(1_000);
  });

  test("of a refusal has its body and the rarer headers", () => {
    const body = { message: "no", scope: "rest", limit: 200, current: 200, reset: 33 };
    const headers = {
      ...eight,
      "Retry-After": "33",
      "Ratelimit-Warning": "used up",
      "Ratelimit-User-Warning": "5",
    };
    expect(lineOf(user, raw(429, headers, { body: JSON.stringify(body) }))).toMatchObject({
      status: 429,
      retryAfter: 33,
      warning: "used up",
      userWarning: 5,
      refusal: body,
    });
    expect(lineOf(user, raw(429, eight, { body: "<html>" })).refusal).toBe("<html>");
    expect(lineOf(user, raw(429, eight, { body: null })).refusal).toBe("");
    const deep = "[".repeat(30_000) + "]".repeat(30_000);
    expect(lineOf(user, raw(429, eight, { body: deep })).refusal).toBe("[".repeat(1_000));
    expect(lineOf(user, raw(429, eight, { body: `"${"x".repeat(100_000)}"` })).refusal).toHaveLength(1_000);
  });

  test("of a status has its scopes, and no cost", () => {
    const scopes = { rest: { limit: 200 }, graphql: { limit: 20_000 } };
    const answer = lineOf(statusCall(), raw(200, eight, { body: JSON.stringify({ scopes }) }));
    expect(answer).toMatchObject({ kind: "status", cost: null, body: scopes });
    expect(lineOf(statusCall(), raw(200, eight, { body: "hello" })).body).toBe("hello");
  });

  test("of a GraphQL answer has the target's own count of points", () => {
    const headers = {
      ...eightOfGraphql,
      "Ratelimit-Complexity-Requested": "503",
      "Ratelimit-Complexity-Actual": "13",
    };
    expect(lineOf(query, raw(200, headers))).toMatchObject({ scope: "graphql", cost: 503, actual: 13 });
    expect(lineOf(query, raw(200, eightOfGraphql))).toMatchObject({ cost: 12 });
    // More charged than asked for is a fault to name, but no reason to write a line that nobody can read.
    expect(lineOf(query, raw(200, { ...headers, "Ratelimit-Complexity-Actual": "504" }))).not.toHaveProperty(
      "actual",
    );
    expect(lineOf(query, raw(429, { ...headers, "Ratelimit-Complexity-Actual": "0" }))).not.toHaveProperty(
      "actual",
    );
  });

  test("never has the caller's token", () => {
    const body = JSON.stringify({ message: `Bearer ${token}!` });
    expect(lineOf(user, raw(429, eight, { body })).refusal).toEqual({ message: "Bearer <token>!" });
  });

  test.each([
    [1050, "request timeout", "timeout"],
    [1212, "dial: connection refused", "refused"],
    [1220, "read: connection reset by peer", "reset"],
    [1000, "unexpected EOF", "unexpected EOF"],
    [1999, "", "k6 error 1999"],
  ])("of a call without an answer says why: %i", (error_code, error, name) => {
    expect(lineOf(user, raw(0, {}, { error_code, error }))).toMatchObject({
      status: 0,
      limit: null,
      error: name,
    });
  });
});

describe("what no quota counts is kind other (SPEC.md §2.6)", () => {
  const unexecuted = {
    ...eightOfGraphql,
    "Ratelimit-Complexity-Requested": "60000",
    "Ratelimit-Complexity-Actual": "0",
  };
  const errors = { body: '{"errors":[{"message":"too much"}]}' };
  test.each<[string, CallTemplate, RawAnswer]>([
    ["401", user, raw(401, {})],
    ["403", user, raw(403)],
    ["404 without headers", user, raw(404, {})],
    ["a status call's 403", statusCall(), raw(403)],
    ["GraphQL 400", query, raw(400, eightOfGraphql)],
    ["GraphQL 413", query, raw(413, eightOfGraphql)],
    ["GraphQL that was not executed", query, raw(200, unexecuted, errors)],
  ])("%s", (_, template, answer) => {
    expect(lineOf(template, answer)).toMatchObject({ kind: "other", cost: null });
  });

  test.each<[string, CallTemplate, RawAnswer]>([
    ["404 of an unknown pipeline", user, raw(404)],
    ["405", user, raw(405)],
    ["500", user, raw(500, {})],
    ["GraphQL executed", query, raw(200, eightOfGraphql)],
    ["GraphQL that cost nothing in the end", query, raw(200, unexecuted, { body: '{"data":{}}' })],
    ["a call without an answer", query, raw(0, {})],
  ])("but not %s", (_, template, answer) => {
    expect(lineOf(template, answer)).toMatchObject({ kind: "call" });
  });
});

test("one object reads answer after answer, and nothing stays behind", () => {
  const read = new TraceableAnswer();
  const rich = {
    ...eightOfGraphql,
    "Ratelimit-Complexity-Requested": "503",
    "Ratelimit-Complexity-Actual": "13",
    "Retry-After": "5",
    Link: '<x>; rel="next"',
  };
  read.read(query, raw(429, rich, { body: '{"errors":[]}' }), 1, 2, token);
  read.read(user, raw(200), 3, 4, token);
  const fresh = new TraceableAnswer();
  fresh.read(user, raw(200), 3, 4, token);
  expect(read).toEqual(fresh);
});

test("k6 ending gives a call up; a time-out is the target's", () => {
  expect(isCutOff(raw(0, {}, { error_code: 1000, error: "context canceled" }))).toBe(true);
  expect(isCutOff(raw(0, {}, { error_code: 1050, error: "request timeout" }))).toBe(false);
  expect(isCutOff(raw(200))).toBe(false);
});

test("a client is told integers, and what is absent", () => {
  const event = createEvent();
  const read = new TraceableAnswer();
  read.read(
    user,
    raw(429, { ...eight, "Ratelimit-Reset": "soon", "Retry-After": "7", Link: '<x>; rel="next"' }),
    1,
    2,
    token,
  );
  tell(event, read);
  expect(event).toMatchObject({
    nowMs: 2,
    status: 429,
    limit: 200,
    remaining: 150,
    reset: ABSENT,
    retryAfter: 7,
    hasNextPage: true,
  });
});

describe("the fast way for plain answers", () => {
  const odd = fc.constantFrom(
    undefined,
    "007",
    "-1",
    "1.0",
    "",
    " 5",
    "5 ",
    "1e1",
    "5, 5",
    "9007199254740993",
  );
  const text = (most: number) =>
    fc.oneof(
      { weight: 19, arbitrary: fc.integer({ min: 0, max: most }).map(String) },
      { weight: 1, arbitrary: odd },
    );
  const name = (right: string) =>
    fc.oneof(
      { weight: 19, arbitrary: fc.constant(right) },
      { weight: 1, arbitrary: fc.constantFrom(undefined, "graphql", "search") },
    );
  const answers = fc.record({
    status: fc.oneof(
      { weight: 9, arbitrary: fc.constant(200) },
      { weight: 1, arbitrary: fc.constantFrom(201, 404, 429, 0) },
    ),
    headers: fc.record({
      "Ratelimit-Scope": name("rest"),
      "Ratelimit-Limit": text(70),
      "Ratelimit-Remaining": text(50),
      "Ratelimit-Reset": text(61),
      "Ratelimit-User-Scope": name("rest_user"),
      "Ratelimit-User-Limit": text(70),
      "Ratelimit-User-Remaining": text(50),
      "Ratelimit-User-Reset": text(61),
    }),
    rules: fc.constantFrom(
      null,
      parseRules({}),
      parseRules({ semantics: { reset: "floor", remaining: "signed" } }),
    ),
  });

  test("comes to the same as the long one, or leaves the answer to it", () => {
    const parts = lineParts("agents/17", "acme", "agent-17", user);
    fc.assert(
      fc.property(answers, ({ status, headers, rules }) => {
        const response = raw(status, headers);
        const bounds = headerBounds(rules, "acme", "agent-17", "rest");
        const [fast, long] = [createEvent(), createEvent()];
        const line = readPlain(response, parts, bounds, 3, planned, 1_000, 1_010, fast);
        const read = new TraceableAnswer();
        read.read(user, response, 1_000, 1_010, token);
        if (line !== null) tell(long, read);
        expect(fast).toEqual(long);
        if (line === null) return;
        expect(line).toBe(callLine(parts, 3, planned, read));
        expect(headerFault(read, bounds)).toBeNull();
      }),
      { numRuns: 1_000 },
    );
  });

  test("takes the common answer", () => {
    const parts = lineParts("agents/17", "acme", "agent-17", user);
    const bounds = headerBounds(parseRules({}), "acme", "agent-17", "rest");
    expect(readPlain(raw(200), parts, bounds, 3, planned, 1, 2, createEvent())).not.toBeNull();
  });

  // Of the default rules: 200 and 50 calls in 60 s, and resets are rounded up.
  test.each<[string, string, boolean]>([
    ["Remaining", "0", false],
    ["Remaining", "1", true],
    ["Remaining", "200", true],
    ["Remaining", "201", false],
    ["User-Remaining", "0", false],
    ["User-Remaining", "1", true],
    ["User-Remaining", "50", true],
    ["User-Remaining", "51", false],
    ["Limit", "199", false],
    ["User-Limit", "51", false],
    ["Reset", "0", false],
    ["Reset", "1", true],
    ["Reset", "60", true],
    ["Reset", "61", false],
    ["User-Reset", "0", false],
    ["User-Reset", "1", true],
    ["User-Reset", "60", true],
    ["User-Reset", "61", false],
    ["Scope", "rest_user", false],
    ["User-Scope", "rest", false],
  ])("takes one whose %s is %s: %j", (name, value, isPlain) => {
    const parts = lineParts("agents/17", "acme", "agent-17", user);
    const bounds = headerBounds(parseRules({}), "acme", "agent-17", "rest");
    const response = raw(200, { ...eight, [`Ratelimit-${name}`]: value });
    expect(readPlain(response, parts, bounds, 3, planned, 1, 2, createEvent()) !== null).toBe(isPlain);
  });

  test("takes any limit where no rules are claimed", () => {
    const parts = lineParts("agents/17", "acme", "agent-17", user);
    const bounds = headerBounds(null, "acme", "agent-17", "rest");
    const wide = {
      ...eight,
      "Ratelimit-Limit": "123456",
      "Ratelimit-User-Limit": "2000",
      "Ratelimit-Reset": "0",
    };
    const event = createEvent();
    expect(readPlain(raw(200, wide), parts, bounds, 3, planned, 1, 2, event)).toContain('"limit":123456,');
    expect(event).toMatchObject({ limit: 123_456, userLimit: 2000, reset: 0, nowMs: 2, status: 200 });
  });

  test("is for REST calls without pages", () => {
    expect(mayBePlain(user)).toBe(true);
    expect([statusCall(), query, rest("/v2/x?page=:page")].filter(mayBePlain)).toEqual([]);
  });
});
