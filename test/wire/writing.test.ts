// Answers as they are written by a format as data: which reading a row shows, its numbers, and what a refusal adds.
import { describe, expect, test } from "vitest";
import { parsePolicy } from "../../src/policy/parse.ts";
import { wireOf } from "../../src/policy/presets.ts";
import type { PolicyInput } from "../../src/policy/schema.ts";
import { writeTime } from "../../src/wire/times.ts";
import { type AnswerToWrite, shownAt, writeAnswer } from "../../src/wire/write-answer.ts";

const nowMs = Date.UTC(2026, 10, 22);
const quotas = {
  minute: { algorithm: { kind: "fixed-window", limit: 100, windowSeconds: 60 } },
  hour: { algorithm: { kind: "fixed-window", limit: 1000, windowSeconds: 3600 } },
  silent: { algorithm: { kind: "fixed-window", limit: 9, windowSeconds: 60 }, shown: { retryAfter: false } },
  bucket: { algorithm: { kind: "token-bucket", capacity: 50, refill: { amount: 1, everyMs: 1000 } } },
};

function written(wire: object, told: Partial<AnswerToWrite>) {
  const policy = parsePolicy({
    version: 2,
    name: "written",
    quotas,
    operations: { call: { uses: { minute: 1, hour: 1, silent: 1, bucket: 1 } } },
    routes: [{ path: "/**", operation: "call" }],
    wire: { revision: "1", readings: [], ...wire },
  } as unknown as PolicyInput);
  const answer = {
    kind: "admitted",
    readings: [],
    refusedBy: null,
    retryAtMs: null,
    cost: 3,
    ...told,
  } as const;
  return writeAnswer(wireOf(policy), policy.quotas, answer, nowMs);
}

const reading = (quota: string, limit: number, remaining: number, afterMs = 30_000) => ({
  quota,
  limit,
  remaining,
  used: limit - remaining,
  resetAtMs: nowMs + afterMs,
});
const readings = [reading("minute", 100, 40), reading("hour", 1000, 20)];
const row = (headers: object, changes: object = {}) => ({ readings: [{ headers, ...changes }] });
const left = { "X-Left": "{remaining} of {quota}" };
const refused = { kind: "refused", refusedBy: "minute", readings } as const;

describe("a row shows", () => {
  test.each([
    ["the scarcest of a call's", {}, {}, "20 of hour"],
    [
      "the first of equally scarce ones",
      {},
      { readings: [...readings, reading("silent", 20, 20)] },
      "20 of hour",
    ],
    ["the first of a status's", { on: ["status"] }, { kind: "status" }, "40 of minute"],
    ["the refusing one of a refusal's", { on: ["refused"] }, refused, "40 of minute"],
    [
      "the scarcest, where what refused is none of them",
      { on: ["refused"] },
      { ...refused, refusedBy: "waf" },
      "20 of hour",
    ],
    ["what it may show alone", { quotas: ["minute"] }, {}, "40 of minute"],
    ["nothing of what it may not", { quotas: ["silent"] }, {}, undefined],
    ["nothing on other kinds of answer", { on: ["status"] }, {}, undefined],
  ] as const)("%s", (_name, changes, told, expected) => {
    expect(
      written(row(left, changes), { readings, ...told } as Partial<AnswerToWrite>).headers["X-Left"],
    ).toBe(expected);
  });

  test("all of them in a list, or by name in a body", () => {
    const list = row({ Limits: { list: { ".": "{quota}", r: "{remaining}" } } });
    expect(written(list, { readings }).headers).toEqual({ Limits: '"minute";r=40, "hour";r=20' });
    const members = { readings: [{ headers: {}, body: { "/limits/{quota}/left": "{remaining}" } }] };
    expect(written(members, { readings }).body).toEqual({
      limits: { minute: { left: 40 }, hour: { left: 20 } },
    });
    const dictionary = row({ Limit: { dictionary: { limit: "{limit}", r: "{remaining}" } } });
    expect(written(dictionary, { readings }).headers).toEqual({ Limit: "limit=1000, r=20" });
  });

  test("nothing where there is nothing", () => {
    expect(written(row(left), {})).toEqual({ status: 200, headers: {} });
  });
});

describe("its numbers", () => {
  const headers = {
    Limit: "{limit}",
    Left: "{remaining}",
    Used: "{used}",
    Window: "{window}",
    Ms: "{windowMs}",
    Cost: "{cost}",
  };
  const one = (changes: object, each = reading("minute", 100, 40)) =>
    written(row(headers, changes), { readings: [each] }).headers;
  test("are those of the reading, its window and the call", () => {
    expect(one({})).toEqual({ Limit: 100, Left: 40, Used: 60, Window: 60, Ms: 60_000, Cost: 3 });
    expect(one({}, reading("bucket", 50, 40))).toEqual({ Limit: 50, Left: 40, Used: 10, Cost: 3 });
  });

  test("may be rounded to a grain, left out at 0, or the limit of another span", () => {
    expect(one({ grain: 25 })).toMatchObject({ Limit: 100, Left: 50, Used: 50 });
    expect(one({ omitsZero: true }, reading("minute", 100, 0))).toEqual({
      Limit: 100,
      Used: 100,
      Window: 60,
      Ms: 60_000,
      Cost: 3,
    });
    expect(one({ limitPerSeconds: 1 })).toMatchObject({ Limit: 2 });
    expect(one({ limitPerSeconds: 1 }, reading("bucket", 50, 1))).toMatchObject({ Limit: 50 });
  });

  const after = (means: string, each: ReturnType<typeof reading>, retryAtMs: number | null = null) =>
    written(row({ Reset: "{reset}" }, { reset: { form: "delta-s", means, round: "ceil" } }), {
      readings: [each],
      retryAtMs,
    }).headers["Reset"];
  test.each([
    ["the window's end", "window-end", reading("minute", 100, 40), null, 30],
    ["now for the next, where something is left", "next", reading("minute", 100, 1), null, 0],
    ["the reset for the next, where nothing is", "next", reading("minute", 100, 0), null, 30],
    [
      "when to come back for the next, where that is known",
      "next",
      reading("minute", 100, 0),
      nowMs + 7000,
      7,
    ],
    ["no time before the answer", "window-end", reading("minute", 100, 0, -5000), null, 0],
  ] as const)("a reset tells %s", (_name, means, each, retryAtMs, expected) => {
    expect(after(means, each, retryAtMs)).toBe(expected);
  });
});

describe("numbers of two rows in one header", () => {
  const two = (first: string, second: string) =>
    written(
      {
        readings: [
          { quotas: ["minute"], headers: { L: first } },
          { quotas: ["hour"], headers: { L: second } },
        ],
      },
      { readings },
    ).headers["L"];
  test.each([
    ["come together where each leaves the other's place", "{limit},*", "*,{limit}", "100,1000"],
    ["come together without a sign between them", "{limit} *", "*{limit}", "100 1000"],
    ["are the last row's where the first leaves no place", "{limit}", "*,{limit}", "*,1000"],
    ["are the last row's where it leaves none", "{limit},*", "{limit}", 1000],
  ])("%s", (_name, first, second, expected) => {
    expect(two(first, second)).toBe(expected);
  });
});

describe("a refusal", () => {
  const wire = {
    readings: [
      {
        on: ["refused"],
        headers: { Left: "{remaining}", Reset: "{reset}" },
        reset: { form: "delta-s", means: "window-end", round: "ceil" },
      },
    ],
    retryAfter: [
      { header: "Retry-After", form: "delta-s", round: "ceil" },
      { header: "Retry-After", form: "http-date", round: "ceil" },
      { pointer: "/retry", form: "delta-ms", round: "ceil" },
    ],
    outcomes: [
      { outcome: "exempt", status: [404] },
      {
        outcome: "refused",
        by: "waf",
        status: [403, 406],
        headers: { Server: "waf" },
        body: { "/blocked": "true" },
        readings: false,
      },
      {
        outcome: "refused",
        by: "{quota}",
        status: [420, 429],
        headers: { "X-By": "{quota} for {retry}" },
        body: { "/message": "{quota} of {limit}, {cost} asked", "/code": "17" },
      },
    ],
  };
  const retryAtMs = nowMs + 7000;
  const silent = { ...refused, refusedBy: "silent", readings: [reading("silent", 9, 0)] };

  test("has the first status, headers and body of its rule, and when to come back in each place", () => {
    expect(written(wire, { ...refused, retryAtMs })).toEqual({
      status: 420,
      headers: { Left: 40, Reset: 30, "X-By": "minute for 7", "Retry-After": 7 },
      body: { message: "minute of 100, 3 asked", code: 17, retry: 7000 },
    });
  });

  test("by something else has that rule, and no readings where it shows none", () => {
    expect(written(wire, { ...refused, refusedBy: "waf", retryAtMs })).toEqual({
      status: 403,
      headers: { Server: "waf" },
      body: { blocked: true },
    });
  });

  test("says nothing of when, where the quota does not show it, or nobody knows", () => {
    expect(written(wire, { ...silent, retryAtMs }).headers).toEqual({ Left: 0, Reset: 30 });
    expect(written(wire, refused).headers).not.toHaveProperty("Retry-After");
  });

  test("without a rule is 429", () => {
    expect(written({}, { ...refused, retryAtMs })).toEqual({ status: 429, headers: {} });
  });
});

test("an answer is made by the clock of who counted, where that is ahead", () => {
  const [one] = readings as [(typeof readings)[0], ...unknown[]];
  expect(shownAt({ readings: [] }, nowMs)).toBe(nowMs);
  expect(shownAt({ readings: [one] }, nowMs)).toBe(nowMs);
  expect(shownAt({ readings: [{ ...one, clockMs: nowMs + 5 }] }, nowMs)).toBe(nowMs + 5);
  expect(shownAt({ readings: [{ ...one, clockMs: nowMs - 5 }] }, nowMs)).toBe(nowMs);
});

test.each([
  [0, "0s"],
  [1, "1ms"],
  [999, "999ms"],
  [1000, "1s"],
  [59_999, "59.999s"],
  [60_000, "1m0s"],
  [3_599_000, "59m59s"],
  [3_600_000, "1h0m0s"],
  [90_061_500, "25h1m1.5s"],
])("%d ms is written as Go does: %s", (ms, expected) => {
  expect(writeTime({ form: "go-duration" }, nowMs + ms, nowMs, "ceil")).toBe(expected);
});
