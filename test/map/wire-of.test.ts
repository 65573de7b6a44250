// Answers → readings of a wire format: the places that are read, and the quotas that each reading names.
import { describe, expect, test } from "vitest";
import type { MapQuestion } from "../../src/map/question.ts";
import type { SeenAnswers } from "../../src/map/seen.ts";
import { buildWire } from "../../src/map/wire-of.ts";

const seen = (more: Partial<SeenAnswers>): SeenAnswers => ({
  ...{ method: "GET", segments: ["things"], graphql: null, auth: null, caller: "ann", status: 200 },
  ...{ headers: {}, body: undefined, atMs: null },
  ...more,
});
function built(...answers: Partial<SeenAnswers>[]) {
  const questions: MapQuestion[] = [];
  const { wire, resets, readings: shown } = buildWire(answers.map(seen), new Set(["s3cret"]), questions);
  if (typeof wire === "string") throw new RangeError(wire);
  const { readings, retryAfter, outcomes } = wire;
  return { readings, retryAfter, outcomes, resets, questions, shown };
}

const plain = { "x-ratelimit-limit": "9", "x-ratelimit-remaining": "4" };
const plainRow = { "x-ratelimit-limit": "{limit}", "x-ratelimit-remaining": "{remaining}" };
const structured = { "ratelimit-policy": '"default";q=9;w=60', ratelimit: '"default";r=4;t=7' };
const body = { limit: 9, remaining: 4 };
const bodyRow = { "/limit": "{limit}", "/remaining": "{remaining}" };
const onStatus = { segments: ["rate_limit"], body };

test.each<[name: string, answers: Partial<SeenAnswers>[], readings: object[]]>([
  ["one quota, which needs no name", [{ headers: plain }], [{ headers: plainRow }]],
  ["a body where headers show none", [{ body }], [{ body: bodyRow }]],
  ["headers alone where bodies show the same", [{ headers: plain, body }], [{ headers: plainRow }]],
  [
    "a body of the status beside headers",
    [{ headers: plain }, onStatus],
    [
      { headers: plainRow, quotas: ["requests"] },
      { body: bodyRow, quotas: ["requests"], on: ["status"] },
    ],
  ],
  [
    "each of several quotas by its name",
    [{ headers: { "x-ratelimit-remaining-calls": "5", "x-ratelimit-remaining-tokens": "7" } }],
    ["calls", "tokens"].map((name) => ({
      headers: { [`x-ratelimit-remaining-${name}`]: "{remaining}" },
      quotas: [name],
    })),
  ],
])("the readings are %s", (_, answers, readings) => {
  expect(built(...answers).readings).toEqual(readings);
});

test("bodies beside structured headers are not read", () => {
  const alone = built({ headers: structured }).readings;
  expect(alone).toHaveLength(1);
  expect(built({ headers: structured, body }).readings).toEqual(alone);
});

const settledBy = (...resets: string[]) =>
  built(...resets.map((reset) => ({ headers: { ...plain, "x-ratelimit-reset": reset } }))).questions.map(
    ({ path, settle }) => [path, settle],
  );

test("a reset in no form is settled by the documentation, one in several forms by another call", () => {
  const path = "wire.readings.0.reset";
  expect(settledBy("soon")).toEqual([[path, "Find its form in the API's documentation."]]);
  expect(settledBy("41")).toEqual([
    [path, "Call again as the same caller at least 2 s later, and give both answers to map."],
  ]);
});

test.each([
  ["calls", "calls"],
  ["2024", "q2024"],
])("a quota of the header's label %s is named %s", (label, name) => {
  const headers = { [`x-ratelimit-remaining-${label}`]: "5", "x-ratelimit-remaining-others": "7" };
  expect(built({ headers }).readings?.map(({ quotas }) => quotas)).toEqual([[name], ["others"]]);
});

test.each([
  ["calls", "calls"],
  ["free-calls--a", "free_calls_a"],
  ["_x", "_x"],
  ["a".repeat(41), "a".repeat(40)],
])("a quota under the body's member %s is named %s", (label, name) => {
  const { readings } = built({ body: { [label]: body, others: body } });
  expect(readings?.map(({ quotas }) => quotas)).toEqual([[name], ["others"]]);
});

test("a header that names the quota names all that were seen, unless one is a secret", () => {
  const of = (...names: string[]) =>
    built(
      { ...onStatus, headers: {} },
      ...names.map((name) => ({ headers: { ...plain, "x-ratelimit-resource": name } })),
    ).readings?.[0];
  expect(of("core", "search", "core")).toEqual({
    headers: { ...plainRow, "x-ratelimit-resource": "{quota}" },
    quotas: ["core", "search"],
  });
  expect(of("core")).toMatchObject({ quotas: ["core"] });
  expect(of("core", "s3cret")).toEqual({ headers: plainRow, quotas: ["requests"] });
});

const retry = { "retry-after": "30" };
const none = { ...plain, "x-ratelimit-remaining": "0" };
const advised = { headers: { "retry-after": "*" } };
const emptied = { headers: { "x-ratelimit-remaining": "0" } };
test.each<[name: string, answers: Partial<SeenAnswers>[], outcomes: object[]]>([
  [
    "advice, with any status of an error but 429",
    [{ status: 403, headers: retry }],
    [{ status: [403], ...advised }],
  ],
  ["nothing left", [{ status: 400, headers: none }], [{ status: [400], ...emptied }]],
  [
    "advice before nothing left",
    [{ status: 403, headers: { ...none, ...retry } }],
    [{ status: [403], ...advised }],
  ],
  [
    "each status and header once",
    [403, 409, 403].map((status) => ({ status, headers: none })),
    [403, 409].map((status) => ({ status: [status], ...emptied })),
  ],
  [
    "no status that needs none",
    [429, 399, 200].map((status) => ({ status, headers: { ...none, ...retry } })),
    [],
  ],
  ["no failure", [500, 503].map((status) => ({ status, headers: { ...none, ...retry } })), []],
  ["no answer with something left", [{ status: 403, headers: plain }, { status: 403 }], []],
  ["no body", [{ status: 403, body: { limit: 9, remaining: 0 } }], []],
])("a refusal is told by %s", (_, answers, outcomes) => {
  const known = built({ headers: { ...plain, ...retry } }, ...answers).outcomes;
  expect(known).toEqual(outcomes.map((one) => ({ outcome: "refused", ...one })));
});

test.each([
  ["retry-after", ["30", "1"], "delta-s"],
  ["retry-after", ["30", "1.5"], "delta-s-float"],
  ["retry-after", ["Fri, 02 Jan 2026 03:04:05 GMT"], "http-date"],
  ["retry-after-ms", ["300"], "delta-ms"],
])("%s of %j is of the form %s", (header, values, form) => {
  const { retryAfter } = built(...values.map((value) => ({ status: 429, headers: { [header]: value } })));
  expect(retryAfter).toEqual([{ header, form }]);
});

test("advice in no known form is asked for", () => {
  const { retryAfter, questions } = built({ status: 429, headers: { "retry-after": "soon" } });
  expect(retryAfter).toEqual([]);
  expect(questions).toEqual([
    {
      path: "wire.retryAfter",
      seen: "retry-after is in no known form of time; it is left out.",
      settle: "Find its form in the API's documentation.",
    },
  ]);
});

const leftOf = (...labels: string[]) =>
  Object.fromEntries(labels.map((label) => [`x-ratelimit-remaining-${label}`, "5"]));
test.each<[headers: Readonly<Record<string, string>>, seen: string[]]>([
  [
    { ...plain, "x-ratelimit-limit": "9, 10" },
    ["x-ratelimit-limit has several numbers in one answer; the first is read."],
  ],
  [
    { ...plain, "x-ratelimit-limit": "many" },
    ["x-ratelimit-limit looks like a limit, and is in no form that is known; it is left out."],
  ],
  [
    { "x-ratelimit-limit": "many" },
    ["x-ratelimit-limit looks like a limit, and is in no form that is known; it is left out."],
  ],
  [
    { ...plain, "x-ratelimit-window": "soon" },
    ["x-ratelimit-window looks like a limit, and is in no form that is known; it is left out."],
  ],
  [{ ...plain, "x-ratelimit-window": "60" }, []],
  [
    { ...leftOf("calls", "tokens"), "x-ratelimit-reset": "41" },
    ["x-ratelimit-reset does not say which of several quotas it is of; it is left out."],
  ],
  [
    { ...plain, "x-ratelimit-reset-calls": "41" },
    ["x-ratelimit-reset-calls looks like a limit, and is in no form that is known; it is left out."],
  ],
])("of the headers %j it asks %j", (headers, asked) => {
  expect(built({ headers }).questions.map(({ path, seen: words }) => [path, words])).toEqual(
    asked.map((words) => ["wire.readings", words]),
  );
});

test("each answer is read by the rows of its kind, and a name may tell a window", () => {
  const of = (...answers: Partial<SeenAnswers>[]) =>
    built(...answers).shown.map((each) =>
      each.map(({ quota, remaining, windowSeconds }) => [quota, remaining, windowSeconds]),
    );
  expect(of({ headers: plain }, onStatus)).toEqual([[["requests", 4, null]], [["requests", 4, null]]]);
  expect(of({ headers: leftOf("daily", "calls") })).toEqual([
    [
      ["day", 5, 86_400],
      ["calls", 5, null],
    ],
  ]);
  expect(of({ headers: { ...plain, "x-ratelimit-window": "60" } })).toEqual([[["requests", 4, 60]]]);
});

test("members of one body that lie in different objects are different quotas", () => {
  expect(built({ body: { ...body, calls: { limit: 9, remaining: 3 } } }).readings).toEqual([
    { body: bodyRow, quotas: ["requests"] },
    { body: { "/calls/limit": "{limit}", "/calls/remaining": "{remaining}" }, quotas: ["calls"] },
  ]);
});

describe("a reset", () => {
  const atMs = Date.UTC(2026, 0, 1);
  /** Answers after so many seconds, with what is left and the reset. */
  const resets = (
    form: (seconds: number) => string,
    ...left: (readonly [seconds: number, left: number, more?: object])[]
  ) =>
    left.map(([seconds, remaining, more = {}]) => ({
      atMs: atMs + 1000 * seconds,
      headers: {
        ...plain,
        "x-ratelimit-remaining": String(remaining),
        "x-ratelimit-reset": form(seconds),
        ...more,
      },
    }));
  const end = () => String(atMs / 1000 + 60);
  const row = { ...plainRow, "x-ratelimit-reset": "{reset}" };
  const estimate = `Nothing tells what the instant in x-ratelimit-reset means; "estimate" promises nothing.`;

  test("is a window's end if it stays while calls are made, and promises nothing otherwise", () => {
    const used = built(...resets(end, [0, 4], [3, 3]));
    expect(used.readings).toEqual([{ headers: row, reset: { form: "epoch-s", means: "window-end" } }]);
    expect(used.questions).toEqual([]);
    expect([...used.resets.keys()]).toEqual(["requests"]);
    const idle = built(...resets(end, [0, 4], [3, 4]));
    expect(idle.readings).toEqual([{ headers: row, reset: { form: "epoch-s", means: "estimate" } }]);
    expect(idle.questions).toMatchObject([{ path: "wire.readings.0.reset.means", seen: estimate }]);
  });

  test("tells when a bucket is full, by what is taken of its limit", () => {
    const { readings } = built(
      ...[8, 5, 1].flatMap((left) => resets(() => String(atMs / 1000 + 10 * (9 - left)), [0, left])),
    );
    expect(readings).toEqual([{ headers: row, reset: { form: "epoch-s", means: "full" } }]);
  });

  test("is in the form that agrees with the advice beside it", () => {
    const { readings } = built(...resets(() => "41", [0, 0, { "retry-after": "41" }]));
    expect(readings).toMatchObject([{ reset: { form: "delta-s" } }]);
  });

  test("of a quota that the answer names is of none by name", () => {
    const named = (name: string) => ({ "x-ratelimit-resource": name });
    const two = built(...resets(end, [0, 4, named("core")], [3, 4, named("core")], [3, 4, named("search")]));
    expect([...two.resets.keys()]).toEqual([""]);
  });

  test.each([
    ["soon", "is of no known form"],
    ["Thu, 01 Jan 2015 00:00:00 GMT", "is a time that is past, or more than a year ahead"],
  ])("of %s is left out: it %s", (text, words) => {
    const { questions } = built(...resets(() => text, [0, 4]));
    expect(questions.map(({ seen: told }) => told)).toEqual([`x-ratelimit-reset ${words}; it is left out.`]);
  });

  test("that may be of several forms is left out, with these", () => {
    const { questions } = built(...resets(() => "41", [0, 4]));
    expect(questions.map(({ seen: told }) => told)).toEqual([
      "x-ratelimit-reset may be delta-s or delta-ms; it is left out.",
    ]);
  });
});
