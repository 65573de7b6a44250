// Formats of APIs that come as no preset, written as their public documentation has them.
import { describe, expect, test } from "vitest";
import { parsePolicy } from "../../src/policy/parse.ts";
import { wireOf } from "../../src/policy/presets.ts";
import type { PolicyInput } from "../../src/policy/schema.ts";
import { readAnswer } from "../../src/wire/read-answer.ts";
import { writeAnswer } from "../../src/wire/write-answer.ts";

const NOW = Date.UTC(2026, 10, 23, 10, 0, 0);

type Wire = Exclude<PolicyInput["wire"], string | undefined>;

/** A policy of two windows, short and long, that one operation uses. */
const policyOf = (wire: Omit<Wire, "revision">) =>
  parsePolicy({
    version: 2,
    name: "other",
    quotas: {
      short: { algorithm: { kind: "fixed-window", limit: 600, windowSeconds: 900 }, key: ["app"] },
      long: { algorithm: { kind: "fixed-window", limit: 30_000, windowSeconds: 86_400 }, key: ["app"] },
    },
    operations: { call: { uses: { short: 1, long: 1 } } },
    routes: [{ path: "/**", operation: "call" }],
    wire: { revision: "1", ...wire },
  });

const read = (
  wire: Omit<Wire, "revision">,
  headers: Readonly<Record<string, string>>,
  { status = 200, body }: { status?: number; body?: unknown } = {},
) =>
  readAnswer(
    wireOf(policyOf(wire)),
    { status, headers, body },
    { quotas: ["short", "long"], isStatus: false },
  );

describe("two quotas in one header, apart by a comma", () => {
  const wire = {
    readings: [
      { quotas: ["short"], headers: { "X-RateLimit-Limit": "{limit},*", "X-RateLimit-Usage": "{used},*" } },
      { quotas: ["long"], headers: { "X-RateLimit-Limit": "*,{limit}", "X-RateLimit-Usage": "*,{used}" } },
    ],
  };
  const headers = { "X-RateLimit-Limit": "600,30000", "X-RateLimit-Usage": "314,27536" };

  test("are read", () => {
    expect(read(wire, headers)).toMatchObject({
      readings: [
        { quota: "short", limit: 600, used: 314 },
        { quota: "long", limit: 30_000, used: 27_536 },
      ],
      unread: [],
    });
  });

  test("are written", () => {
    const policy = policyOf(wire);
    const reading = (quota: string, limit: number, used: number) => ({
      ...{ quota, limit, used, remaining: limit - used, resetAtMs: NOW },
    });
    const told = {
      kind: "admitted" as const,
      readings: [reading("short", 600, 314), reading("long", 30_000, 27_536)],
      ...{ refusedBy: null, retryAtMs: null, cost: 1 },
    };
    expect(writeAnswer(wireOf(policy), policy.quotas, told, NOW).headers).toEqual(headers);
  });
});

test("all numbers of a quota in one header", () => {
  const wire = {
    readings: [
      {
        quotas: ["short"],
        headers: { "Zendesk-RateLimit-Search": "total={limit}; remaining={remaining}; resets={reset}" },
        reset: { form: "delta-s" as const, means: "window-end" as const },
      },
    ],
  };
  const headers = { "zendesk-ratelimit-search": "total=600; remaining=99; resets=41" };
  expect(read(wire, headers).readings).toMatchObject([
    { quota: "short", limit: 600, remaining: 99, reset: { afterMs: 41_000 } },
  ]);
});

test("whole numbers with a decimal, and no others", () => {
  const wire = {
    readings: [
      {
        quotas: ["short"],
        headers: { "X-Ratelimit-Remaining": "{remaining}", "X-Ratelimit-Used": "{used}" },
      },
    ],
  };
  const shown = read(wire, { "x-ratelimit-remaining": "596.0", "x-ratelimit-used": "4" });
  expect(shown).toMatchObject({ readings: [{ remaining: 596, used: 4 }], unread: [] });
  for (const text of ["596.5", "596.", "1e3", "1000000000000000000"])
    expect(read(wire, { "x-ratelimit-remaining": text }).unread).toEqual([
      { at: "X-Ratelimit-Remaining", text },
    ]);
});

test("a window's length in ms", () => {
  const wire = {
    readings: [
      { quotas: ["short"], headers: { "x-interval-ms": "{windowMs}", "x-interval-max": "{limit}" } },
    ],
  };
  const headers = { "x-interval-ms": "900000", "x-interval-max": "600" };
  expect(read(wire, headers).readings).toMatchObject([{ windowSeconds: 900, limit: 600 }]);
});

test("an instant without seconds", () => {
  const wire = {
    readings: [
      {
        quotas: ["short"],
        headers: { "X-RateLimit-Limit": "{limit}", "X-RateLimit-Reset": "{reset}" },
        reset: { form: "rfc3339" as const, means: "window-end" as const },
      },
    ],
  };
  const headers = { "x-ratelimit-limit": "600", "x-ratelimit-reset": "2026-11-23T11:00Z" };
  expect(read(wire, headers).readings).toMatchObject([{ reset: { atMs: Date.UTC(2026, 10, 23, 11) } }]);
  expect(read(wire, { ...headers, "x-ratelimit-reset": "2026-11-31T11:00Z" }).unread).toHaveLength(1);
});

test("a refusal that is a 403 with its reason in the body", () => {
  const wire = {
    outcomes: [
      {
        outcome: "refused" as const,
        by: "short",
        status: [403],
        body: { "/error/errors/*/reason": ["rateLimitExceeded", "userRateLimitExceeded"] },
      },
    ],
  };
  const body = (reason: string) => ({ error: { errors: [{ domain: "usageLimits", reason }] } });
  expect(read(wire, {}, { status: 403, body: body("userRateLimitExceeded") })).toMatchObject({
    outcome: "refused",
    by: "short",
  });
  expect(read(wire, {}, { status: 403, body: body("forbidden") }).outcome).toBe("admitted");
});

describe("an answer without readings", () => {
  const shown = { readings: [{ quotas: ["short"], headers: { "X-Left": "{remaining}" } }] };
  const outcomeOf = (wire: Omit<Wire, "revision">, status: number, headers: Record<string, string> = {}) =>
    read(wire, headers, { status }).outcome;

  test.each([
    [307, "unknown", "unknown"],
    [301, "unknown", "unknown"],
    [304, "admitted", "admitted"],
    [404, "unknown", "admitted"],
    [400, "unknown", "admitted"],
    [200, "admitted", "admitted"],
    [429, "refused", "refused"],
    [503, "unknown", "unknown"],
  ])("of status %d is %s where others show readings, and %s where none does", (status, one, other) => {
    expect([outcomeOf(shown, status), outcomeOf({}, status)]).toEqual([one, other]);
    const told = status === 503 || status === 429 ? one : "admitted";
    expect(outcomeOf(shown, status, { "X-Left": "3" })).toBe(told);
  });

  test("is what the policy says of it", () => {
    const outcomes = [{ outcome: "admitted" as const, status: [404] }];
    expect(outcomeOf({ ...shown, outcomes }, 404)).toBe("admitted");
  });
});
