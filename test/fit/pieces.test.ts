// The text of each piece of a fitted scenario: calls, spreads, pauses, policies, arrivals.
import { describe, expect, test } from "vitest";
import { type Expression, written } from "../../sim/fit/expression.ts";
import type { FittedCall } from "../../sim/fit/model.ts";
import {
  arrivalsExpression,
  callExpression,
  countExpression,
  retryExpression,
  rhythmExpression,
  spreadExpression,
  thinkExpression,
  withinExpression,
} from "../../sim/fit/pieces.ts";
import type { FittedRetry } from "../../sim/fit/policies.ts";
import { parsePolicy } from "../../src/policy/parse.ts";
import { presets } from "../../src/policy/presets.ts";

const text = (expression: Expression | null): string | null =>
  expression === null ? null : written(expression).replace(/\s+/g, " ");
const uniform = (least: number, most: number) => ({ kind: "uniform", least, most }) as const;
const constant = (ms: number) => ({ kind: "constant", ms }) as const;

describe("a call", () => {
  const call = (operation: string, cost: number, actual = cost, free = false): FittedCall => ({
    operation,
    asked: undefined,
    free,
    cost,
    actual,
    weight: 1,
  });
  const other = '{ organization(slug: ":org") { slug } }';
  test.each<[FittedCall, string]>([
    [call("graphql", 0, 0, true), "status()"],
    [call("rest", 1), 'rest("/v2/organizations/:org/pipelines")'],
    [call("graphql", 4), "pipelinesQuery(1)"],
    [call("graphql", 13), "pipelinesQuery(10)"],
    [call("graphql", 13, 8), "pipelinesQuery(10, 5)"],
    [call("graphql", 53, 13), "pipelinesQuery(50)"],
    [call("graphql", 53), "pipelinesQuery(50, 50)"],
    [call("graphql", 5, 3), "pipelinesQuery(2, 0)"],
    [call("graphql", 503, 13), "pipelinesQuery(500)"],
    [call("graphql", 504, 13), `graphql('${other}', { cost: 504, actual: 13, name: "points-504" })`],
    [call("graphql", 5, 2), `graphql('${other}', { cost: 5, actual: 2, name: "points-5" })`],
    [call("graphql", 3), `graphql('${other}', { cost: 3, name: "points-3" })`],
  ])("%j", (each, source) => {
    expect(text(callExpression(each))).toBe(source);
  });

  const policy = parsePolicy(presets["github"]?.policy);
  test.each<[FittedCall, string]>([
    [call("search", 1), 'rest("/search/issues?q=is:open", { name: "search" })'],
    [
      call("write", 5, 2),
      'rest("/repos/acme/app/issues", { method: "POST", cost: 5, actual: 2, name: "write" })',
    ],
    [call("query", 1), 'graphql("{ viewer { login } }", { cost: 1, name: "query" })'],
    [call("query", 9, 4), 'graphql("{ viewer { login } }", { cost: 9, actual: 4, name: "query" })'],
    [call("search", 0, 0, true), "status()"],
    [call("..a b/c", 1), 'rest("/", { name: "a-b-c" })'],
    [call("§", 1), 'rest("/", { name: "call" })'],
  ])("of another API: %j", (each, source) => {
    expect(text(callExpression(each, policy))).toBe(source);
  });
});

describe("a spread", () => {
  test("is written in units of time, or in numbers of calls", () => {
    const quantiles = { kind: "quantiles", quantiles: [1, 2, 9], shares: [0, 0.5, 1] } as const;
    const lognormal = { kind: "lognormal", median: 1000, p95: 60_000 } as const;
    const all = [constant(0), constant(90_000), uniform(0, 3_600_000), uniform(250, 500), uniform(7, 7)];
    expect(all.map((spread) => text(spreadExpression(spread)))).toEqual([
      '"0ms"',
      '"90s"',
      '{ least: 0, most: "1h" }',
      '{ least: "250ms", most: "500ms" }',
      '"7ms"',
    ]);
    expect(text(spreadExpression(lognormal))).toBe('{ median: "1s", p95: "1m" }');
    const table = "{ quantiles: [1, 2, 9], shares: [0, 0.5, 1] }";
    expect(text(spreadExpression(quantiles))).toBe(table);
    expect(
      [constant(4), uniform(0, 3), lognormal, quantiles].map((one) => text(countExpression(one))),
    ).toEqual(["4", "{ least: 0, most: 3 }", "{ median: 1000, p95: 60000 }", table]);
  });

  test("of always 0 is left out, and one from 0 is its upper end", () => {
    expect(
      [constant(0), constant(5), uniform(0, 2000), uniform(1, 2000)].map((one) =>
        text(withinExpression(one)),
      ),
    ).toEqual([null, '"5ms"', '"2s"', '{ least: "1ms", most: "2s" }']);
  });

  test("of pauses may have paces", () => {
    expect(text(thinkExpression(constant(0)))).toBeNull();
    expect(text(thinkExpression(constant(1000)))).toBe('"1s"');
    expect(text(thinkExpression(uniform(0, 1000)))).toBe('{ least: 0, most: "1s" }');
    const pace = { think: constant(0), times: null, atOnce: null, next: [1, 0] };
    const paces = [pace, { ...pace, times: uniform(2, 4), atOnce: constant(3), next: [0, 2] }];
    expect(text(thinkExpression({ kind: "paces", paces, first: [3, 1] }))).toBe(
      '{ paces: [ { think: "0ms", next: [1, 0] }, ' +
        '{ think: "0ms", times: { least: 2, most: 4 }, atOnce: 3, next: [0, 2] }, ], first: [3, 1], }',
    );
  });

  test("of a rhythm is left out where all is alike", () => {
    expect(text(rhythmExpression({ hours: [1, 2], weekend: null, weekdays: null, days: [] }))).toBe(
      "{ hours: [1, 2] }",
    );
    expect(text(rhythmExpression({ hours: [1], weekend: [0], weekdays: [2], days: [3] }))).toBe(
      "{ hours: [1], weekend: [0], weekdays: [2], days: [3] }",
    );
  });
});

describe("a policy of retries", () => {
  const none = uniform(0, 0);
  const reset = (more: object = {}): FittedRetry => ({
    kind: "waitReset",
    of: "both",
    from: "answer",
    jitter: none,
    ...more,
  });
  const doubling = (more: object = {}): FittedRetry => ({
    kind: "exponential",
    first: 1000,
    factor: 2,
    most: 60_000,
    jitter: "none",
    ...more,
  });
  const fixed: FittedRetry = { kind: "fixed", wait: uniform(1000, 2000) };
  test.each<[FittedRetry, number | null, number | null, string]>([
    [{ kind: "unknown" }, 3, 5000, "none()"],
    [{ kind: "none" }, 3, 5000, "none()"],
    [reset(), null, null, 'waitReset({ of: "both" })'],
    [
      reset({ from: "second", jitter: uniform(0, 500) }),
      4,
      2000,
      'waitReset({ of: "both", from: "second", jitter: { least: 0, most: "500ms" }, fallback: "2s", attempts: 4, unanswered: true, })',
    ],
    [{ kind: "retryAfter", jitter: none }, null, null, "retryAfter()"],
    [{ kind: "retryAfter", jitter: none }, 2, null, "retryAfter({ attempts: 2 })"],
    [{ kind: "retryAfter", jitter: uniform(5, 5) }, null, null, 'retryAfter({ jitter: "5ms" })'],
    [{ kind: "retryAfter", jitter: none }, null, 1000, 'retryAfter({ fallback: "1s", unanswered: true })'],
    [fixed, null, null, 'fixed({ wait: { least: "1s", most: "2s" } })'],
    [fixed, 5, 4000, 'fixed({ wait: { least: "1s", most: "2s" }, attempts: 5, unanswered: true })'],
    [fixed, null, 4001, 'fixed({ wait: { least: "1s", most: "2s" } })'],
    [fixed, null, 500, 'fixed({ wait: { least: "1s", most: "2s" }, unanswered: true })'],
    [fixed, null, 499, 'fixed({ wait: { least: "1s", most: "2s" } })'],
    [doubling(), null, null, 'exponential({ first: "1s", most: "1m" })'],
    [doubling(), null, 249, 'exponential({ first: "1s", most: "1m" })'],
    [
      doubling({ factor: 3, jitter: "full" }),
      2,
      250,
      'exponential({ first: "1s", factor: 3, most: "1m", jitter: "full", attempts: 2, unanswered: true })',
    ],
  ])("%j, %j attempts, %j ms after failures", (retry, attempts, failedMs, source) => {
    expect(text(retryExpression(retry, attempts, failedMs))).toBe(source);
  });

  test("tries failed calls no more where nothing is said of them", () => {
    expect(text(retryExpression(fixed, null))).toBe('fixed({ wait: { least: "1s", most: "2s" } })');
  });
});

describe("arrivals", () => {
  const steady = (perHour: number, even = true) => ({ kind: "steady", perHour, even }) as const;
  test.each<[number, string]>([
    // At least 30 a unit, in the smallest unit of which that is so; a minute's arrivals are kept ready.
    [108_000, "rate: 30, preAllocatedVUs: 1000"],
    [107_999, 'rate: 1800, timeUnit: "1m", preAllocatedVUs: 1000'],
    [36_000, 'rate: 600, timeUnit: "1m", preAllocatedVUs: 600'],
    [1800, 'rate: 30, timeUnit: "1m", preAllocatedVUs: 30'],
    [1799, 'rate: 1799, timeUnit: "1h", preAllocatedVUs: 30'],
    [601, 'rate: 601, timeUnit: "1h", preAllocatedVUs: 11'],
    [30, 'rate: 30, timeUnit: "1h", preAllocatedVUs: 10'],
    [29, 'rate: 696, timeUnit: "24h", preAllocatedVUs: 10'],
    [0.01, 'rate: 1, timeUnit: "24h", preAllocatedVUs: 10'],
    [7_200_000_000, "rate: 1000000, preAllocatedVUs: 1000"],
  ])("of %d an hour", (perHour, words) => {
    expect(text(arrivalsExpression(steady(perHour)))).toBe(`{ executor: "constant-arrival-rate", ${words} }`);
    expect(text(arrivalsExpression(steady(perHour, false)))).toBe(
      `{ executor: "poisson-arrival-rate", ${words} }`,
    );
  });

  test("by the hour are whole numbers, a day's where there are few", () => {
    expect(text(arrivalsExpression({ kind: "hours", perHour: [30, 600.4, 720] }))).toBe(
      '{ executor: "business-day", rates: [30, 600, 720], preAllocatedVUs: 12 }',
    );
    expect(text(arrivalsExpression({ kind: "hours", perHour: [0, 30] }))).toBe(
      '{ executor: "business-day", rates: [0, 30], preAllocatedVUs: 10 }',
    );
    expect(text(arrivalsExpression({ kind: "hours", perHour: [0, 29.9, 1.5] }))).toBe(
      '{ executor: "business-day", rates: [0, 718, 36], timeUnit: "24h", preAllocatedVUs: 10 }',
    );
  });
});
