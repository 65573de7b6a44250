// Answers → readings of a wire format: the places that are read, and the quotas that each reading names.
import { expect, test } from "vitest";
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
  const { wire } = buildWire(answers.map(seen), new Set(), questions);
  return { readings: typeof wire === "string" ? wire : wire.readings, questions };
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
