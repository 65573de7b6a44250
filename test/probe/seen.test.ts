// A call of the probe, with what its answer is read as: its kind, its line in the trace, and whose answer it is.
import { describe, expect, test } from "vitest";
import { isLimiters, readAnswer, type Sent, traceCall } from "../../src/probe/seen.ts";

const sent: Sent = {
  ...{ number: 3, what: "GET status", user: "ann", scope: "rest", isStatus: false, isExempt: false },
  ...{ points: null, sentMs: 100 },
};
const secret = "token-of-ann";
const read = (
  more: Partial<Sent>,
  status: number,
  headers: Readonly<Record<string, string>> = {},
  body: unknown = {},
) =>
  readAnswer(
    { ...sent, ...more },
    { status, headers, body: typeof body === "string" ? body : JSON.stringify(body) },
    150,
    null,
    secret,
  );
const named = { "ratelimit-scope": "rest" };
const query: Partial<Sent> = { scope: "graphql", points: 9 };
const errors = { errors: [{ message: "no" }] };

test.each<[string, Partial<Sent>, number, Record<string, string>, unknown]>([
  ["call", {}, 200, {}, {}],
  ["call", {}, 404, named, {}],
  ["other", {}, 404, {}, {}],
  ["other", {}, 401, named, {}],
  ["status", { isExempt: true }, 200, {}, {}],
  ["status", { isExempt: true, scope: "graphql" }, 405, {}, {}],
  ["other", { isExempt: true }, 403, {}, {}],
  ["call", query, 200, {}, {}],
  ["call", query, 429, {}, errors],
  ["other", query, 200, {}, errors],
  ["call", query, 200, { "ratelimit-complexity-actual": "2" }, errors],
  ["other", query, 200, { "ratelimit-complexity-actual": "0" }, errors],
  ["other", query, 400, {}, {}],
])("is a %s: %j answered %d with %j and %j", (kind, more, status, headers, body) => {
  expect(read(more, status, headers, body).kind).toBe(kind);
});

describe("an answer", () => {
  test("is read without the token that a target may echo", () => {
    const echoed = read({}, 302, { location: `/?t=${secret}`, "ratelimit-scope": secret }, `${secret}!`);
    expect(echoed).toMatchObject({ location: "/?t=<token>", body: "<token>!" });
    expect(echoed.headers.scopeName).toBe("<token>");
  });

  test("that never came is of status 0, with its reason", () => {
    const none = readAnswer(sent, null, 150, "ECONNRESET", secret);
    expect(none).toMatchObject({
      ...{ status: 0, error: "ECONNRESET", location: null, retryAfter: null, dateMs: null, actual: null },
      ...{ requested: null, statusScopes: null, body: undefined },
    });
  });

  test("tells its date, its points, and what came back", () => {
    const told = read(query, 200, {
      ...{ date: "Fri, 02 Jan 2026 03:04:05 GMT", "ratelimit-complexity-requested": "8" },
      ...{ "ratelimit-complexity-actual": "4" },
    });
    expect(told).toMatchObject({ dateMs: Date.UTC(2026, 0, 2, 3, 4, 5), requested: 8, actual: 4 });
    expect(read(query, 200, { date: "soon" })).toMatchObject({ dateMs: null, requested: 9, actual: null });
  });
});

test.each<[boolean, Record<string, string>, unknown]>([
  [true, { "ratelimit-remaining": "3" }, {}],
  [true, { "ratelimit-remaining": "many" }, {}],
  [true, {}, { message: "no", scope: "rest" }],
  [true, {}, { scope: "team", limit: 5 }],
  [false, {}, { scope: "team" }],
  [false, {}, { scope: "team", limit: "5" }],
  [false, {}, { limit: 5 }],
  [false, {}, "blocked"],
])("%s: the limiter gave %j and %j", (isIts, headers, body) => {
  expect(isLimiters(read({}, 429, headers, body))).toBe(isIts);
});

describe("the line of a call", () => {
  const line = (...args: Parameters<typeof read>) => traceCall(read(...args), "acme");

  test("has its cost by its scope and kind", () => {
    expect(line({}, 200)).toMatchObject({
      ...{ sent: 100, received: 150, client: "probe/0", call: 2, org: "acme", user: "ann" },
      ...{ scope: "rest", kind: "call", cost: 1, status: 200 },
    });
    expect(line({}, 401)).toMatchObject({ kind: "other", cost: null });
    expect(line(query, 200)).toMatchObject({ cost: 9 });
  });

  test("has what came back of a query that was executed, from 0 to its cost", () => {
    const actual = (number: number, more: Partial<Sent> = query, status = 200) =>
      line(more, status, { "ratelimit-complexity-actual": String(number) }).actual;
    expect([actual(0), actual(9), actual(10), actual(-1)]).toEqual([0, 9, undefined, undefined]);
    expect([actual(3, {}), actual(3, query, 429), actual(3, { ...query, points: null })]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  test("has the body of a refusal or a status, and no other", () => {
    const refused = line({}, 429, { "retry-after": "7" }, { message: "no", scope: "rest" });
    expect(refused).toMatchObject({ refusal: { message: "no", scope: "rest" }, retryAfter: 7 });
    expect(line({}, 200, {}, { message: "yes" })).not.toHaveProperty("refusal");
    expect(line({}, 200)).not.toHaveProperty("retryAfter");
    expect(line({}, 200)).not.toHaveProperty("error");
    expect(traceCall(readAnswer(sent, null, 150, "ECONNRESET", secret), "acme")).toMatchObject({
      ...{ status: 0, error: "ECONNRESET" },
    });
  });
});
