// Dialects of the caller's window: each header's text, and the numbers that it says at a time.
import { describe, expect, test } from "vitest";
import { readRateLimitHeaders } from "../../src/wire/dialects.ts";

const NOW = Date.UTC(2026, 10, 23, 10, 0, 0);
const second = NOW / 1000;
const read = (headers: Readonly<Record<string, string>>, status = 200, nowMs = NOW) =>
  JSON.parse(
    JSON.stringify(readRateLimitHeaders({ headers, status, body: undefined } as never, nowMs)),
  ) as unknown;

describe("separate headers", () => {
  test.each(["RateLimit-", "X-RateLimit-", "X-Rate-Limit-"])("by %s, in any case", (prefix) => {
    const headers = { [`${prefix}Limit`]: "10", [`${prefix}REMAINING`]: " 4 ", [`${prefix}reset`]: "30" };
    expect(read(headers)).toEqual({ limit: 10, remaining: 4, reset: 30 });
  });

  test("a limit with its policies is the limit; one that is no integer is none", () => {
    expect(read({ "ratelimit-limit": "10, 10;w=60" })).toEqual({ limit: 10 });
    expect(read({ "ratelimit-limit": "many", "ratelimit-remaining": "-1" })).toEqual({ remaining: -1 });
    expect(read({ "x-ratelimit-remaining": "4.5" })).toEqual({});
  });

  test("the first prefix that shows a number counts; a reset alone shows no window", () => {
    expect(read({ "x-ratelimit-remaining": "1", "ratelimit-remaining": "2" })).toEqual({ remaining: 2 });
    expect(read({ "ratelimit-reset": "5", "x-ratelimit-limit": "9" })).toEqual({ limit: 9 });
    expect(read({ "ratelimit-reset": "5" })).toEqual({});
  });
});

describe("the combined header", () => {
  test.each([
    ["limit=10, remaining=4, reset=30", undefined, { limit: 10, remaining: 4, reset: 30 }],
    ['"default";r=4;t=30', '"default";q=10;w=60', { limit: 10, remaining: 4, reset: 30 }],
    ['"a";r=4', '"b";q=9, "a";q=10', { limit: 10, remaining: 4 }],
    ['"a";r=4', '"b";q=9', { remaining: 4 }],
    ['"default"; r = 4', undefined, { remaining: 4 }],
    ['"a";r=4;t=30, "b";r=5;t=60', '"a";q=10, "b";q=100', {}],
    ["nothing", undefined, {}],
  ])("%s with the policy %s", (text, policy, told) => {
    const headers = { ratelimit: text, ...(policy === undefined ? {} : { "ratelimit-policy": policy }) };
    expect(read(headers)).toEqual(told);
  });

  test("counts before separate ones", () => {
    expect(read({ ratelimit: "limit=10, remaining=4", "ratelimit-limit": "9" })).toEqual({
      limit: 10,
      remaining: 4,
    });
  });
});

describe("a reset", () => {
  const reset = (text: string, nowMs = NOW) =>
    read({ "ratelimit-limit": "9", "ratelimit-reset": text }, 200, nowMs);

  test.each([
    ["999999999", { reset: 999_999_999 }],
    [`${second + 40}`, { reset: 40 }],
    [`${second + 40}.25`, { resetAt: NOW + 40_250 }],
    [`${NOW + 40_000}`, { resetAt: NOW + 40_000 }],
    ["1000000000000", { resetAt: 1_000_000_000_000 }],
    ["1000000000000.5", {}],
    ["1.5", {}],
    ["-3", { reset: -3 }],
    ["Mon, 23 Nov 2026 10:00:42 GMT", { reset: 42 }],
    ["2026-11-23T10:00:42.500Z", { resetAt: NOW + 42_500 }],
    ["soon", {}],
    ["5, 5", {}],
  ])("%s", (text, told) => {
    expect(reset(text)).toEqual({ limit: 9, ...told });
  });

  test("that is a second of the epoch is read at whole seconds only", () => {
    expect(reset(`${second + 40}`, NOW + 1)).toEqual({ limit: 9 });
    expect(reset("1000000000", 1_000_000_000_000)).toEqual({ limit: 9, reset: 0 });
  });
});

describe("Retry-After", () => {
  test.each([
    ["7", { retryAfterMs: 7_000 }],
    ["1.5", { retryAfterMs: 1_500 }],
    ["Mon, 23 Nov 2026 10:00:42 GMT", { retryAfterMs: 42_000 }],
    ["Mon, 23 Nov 2026 09:59:00 GMT", { retryAfterMs: 0 }],
    ["later", {}],
    ["5, 5", {}],
    ["-1", {}],
  ])("%s is the wait of an answer of any status, and no reset", (text, told) => {
    for (const status of [200, 429, 503]) expect(read({ "retry-after": text }, status)).toEqual(told);
    const headers = { "ratelimit-remaining": "0", "ratelimit-reset": "30", "retry-after": text };
    expect(read(headers, 429)).toEqual({ remaining: 0, reset: 30, ...told });
  });
});
