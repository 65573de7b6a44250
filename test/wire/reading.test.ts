// Whatever the wire writes it reads again: one table both ways. Beside it, answers that nobody wrote by that table.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { quotaNames } from "../../src/policy/names.ts";
import { owners, type Scope, scopes } from "../../src/rules/rules.ts";
import { headers, refusalAnswer } from "../../src/wire/answer.ts";
import {
  isoSecond,
  messageIn,
  partialRefusal,
  readRefusal,
  readSentence,
  readStatus,
  secondOf,
  statusBody,
} from "../../src/wire/bodies.ts";
import {
  goHeaders,
  headerNames,
  headersOf,
  headerText,
  headerValue,
  nodeHeaders,
  ownerNamed,
  readHeader,
  readHeaders,
} from "../../src/wire/fields.ts";
import { isAnswered, isRefusal, isUncounted, refusedBy } from "../../src/wire/outcome.ts";

const whole = fc.nat({ max: 1_000_000 });
const windowOf = fc.record({
  limit: whole,
  current: whole,
  remaining: fc.integer({ min: -1_000, max: 1_000_000 }),
  reset: fc.nat({ max: 86_400 }),
  resetAtMs: whole.map((second) => 1_767_322_800_000 + 1_000 * second),
  enforced: fc.boolean(),
});
const windows = fc.record({ organization: windowOf, user: windowOf });
const scope = fc.constantFrom(...scopes);
const spellings = [headerNames, nodeHeaders, goHeaders];

describe("what is written is read again", () => {
  test("headers, in any letters", () => {
    fc.assert(
      fc.property(scope, windows, fc.constantFrom(...spellings), (ofScope, shown, spelling) => {
        const sent = Object.entries(headers(ofScope, shown));
        const names = new Map(Object.entries(headerNames).map(([field, name]) => [name, field]));
        const spelt = sent.map(([name, value]) => {
          const field = names.get(name as never) as keyof typeof headerNames;
          return [spelling[field], String(value)] as const;
        });
        const read = readHeaders(Object.fromEntries(spelt));
        for (const owner of owners) {
          const { limit, remaining, reset } = shown[owner];
          const scopeName = quotaNames[ofScope][owner];
          expect(headersOf(read, owner)).toMatchObject({ scopeName, limit, remaining, reset });
        }
      }),
    );
  });

  test("statuses", () => {
    fc.assert(
      fc.property(windowOf, windowOf, (rest, graphql) => {
        const body = statusBody({ rest, graphql });
        for (const [name, { limit, current, reset, resetAtMs, enforced }] of Object.entries({
          rest,
          graphql,
        })) {
          const read = readStatus(body.scopes, name as Scope);
          expect(read).toEqual({ limit, current, reset, resetAt: isoSecond(resetAtMs), enforced });
          expect(secondOf(read.resetAt ?? "")).toBe(resetAtMs);
        }
      }),
    );
  });

  test("refusals: whose window, and its numbers", () => {
    fc.assert(
      fc.property(
        scope,
        fc.constantFrom(...owners),
        windows,
        fc.boolean(),
        (ofScope, by, shown, retryAfter) => {
          const answer = refusalAnswer(ofScope, by, shown, retryAfter);
          const { limit, current, reset } = shown[by];
          expect(isRefusal(answer.status)).toBe(true);
          expect(readRefusal(answer.body)).toMatchObject({ by, limit, reset });
          expect(readRefusal(answer.body).current).toBe(ofScope === "rest" ? current : null);
          expect(readHeader(answer.headers, headerNames.retryAfter)).toBe(retryAfter ? reset : null);
          const vague = readRefusal(partialRefusal(ofScope, by, { limit, current: null, reset }));
          expect(vague.by).toBe(by);
          expect(partialRefusal(ofScope, by, { limit, current, reset })).toEqual(answer.body);
          const told = readSentence(messageIn(answer.body));
          expect(told).toEqual(ofScope === "rest" ? null : { owner: by, limit, reset });
        },
      ),
    );
  });
});

describe("a header's value", () => {
  test.each([
    [undefined, null],
    ["5", 5],
    [5, 5],
    ["-14", -14],
    ["5, 5", "5, 5"],
    ["1.5", "1.5"],
    ["", ""],
    ["1234567890123456", "1234567890123456"],
  ])("%j is %j", (raw, value) => {
    expect(headerValue(raw)).toBe(value);
    expect(headerValue(raw)).toBe(value);
  });

  test("one that came twice is no integer, a long one is cut", () => {
    expect(headerValue(headerText(["5", "5"]))).toBe("5, 5");
    expect(headerText(undefined)).toBe(undefined);
    expect(headerValue("x".repeat(2_000))).toHaveLength(1_000);
  });
});

describe("bodies that say less, or something else", () => {
  test.each([
    null,
    "no",
    5,
    [],
    {},
    { scopes: null },
    { errors: [] },
    { errors: [null] },
    { errors: [{ message: 5 }] },
  ])("%j is no refusal and no status", (body) => {
    expect(readRefusal(body)).toMatchObject({ by: null, limit: null, current: null, reset: null });
    expect(Object.values(readStatus(body, "rest"))).toEqual([null, null, null, null, null]);
  });

  test.each([
    ["rest", "organization"],
    ["graphql_user", "user"],
    ["search", null],
    [null, null],
  ])("%j is a window of %j", (name, owner) => {
    expect(ownerNamed(name)).toBe(owner);
    expect(readRefusal({ scope: name, limit: "50" })).toMatchObject({ by: owner, limit: null });
  });

  test("text that is no second of ISO 8601 is no instant", () => {
    expect(
      ["2026-01-02T03:04:00.000Z", "2026-01-02", "soon", "", "2026-13-02T03:04:00Z"].map(secondOf),
    ).toEqual([null, null, null, null, null]);
  });
});

describe("the outcome", () => {
  const shown = readHeaders({});

  test.each([
    [0, {}, false],
    [0, { limit: 5 }, false],
    [502, {}, false],
    [502, { userReset: 5 }, true],
    [404, {}, true],
    [429, {}, true],
  ])("status %i with %j was the target's: %j", (status, headers, answered) => {
    expect(isAnswered({ ...shown, ...headers, status })).toBe(answered);
  });

  test("a refusal whose body says nothing names who lacks room, the organization first", () => {
    const call = { cost: 3, remaining: 2, userRemaining: 2 } as const;
    expect(refusedBy(call)).toBe("organization");
    expect(refusedBy({ ...call, remaining: 3 })).toBe("user");
    expect(refusedBy({ ...call, remaining: 3, userRemaining: 3 })).toBe(null);
    expect(refusedBy({ ...call, remaining: null, userRemaining: "none" })).toBe(null);
    expect(refusedBy({ ...call, refusal: { scope: "rest_user" } })).toBe("user");
  });

  test("what no quota counts (SPEC.md §2.6)", () => {
    const uncounted = (of: Scope, isNamed: boolean, isUnexecuted: boolean): number[] =>
      [200, 400, 401, 403, 404, 405, 413, 415, 429, 500].filter((each) =>
        isUncounted(of, each, isNamed, isUnexecuted),
      );
    expect(uncounted("rest", true, true)).toEqual([401, 403]);
    expect(uncounted("rest", false, false)).toEqual([401, 403, 404]);
    expect(uncounted("graphql", true, false)).toEqual([400, 401, 403, 404, 405, 413, 415]);
    expect(uncounted("graphql", true, true)).toEqual([200, 400, 401, 403, 404, 405, 413, 415]);
  });
});
