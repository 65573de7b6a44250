// Queries in other shapes, in virtual time: what is sent, what charges it may have, and when it shows nothing.
import { describe, expect, test } from "vitest";
import { parsePolicy } from "../../src/policy/parse.ts";
import { findingOf, Played, type Sent } from "./played.ts";

const kept = { state: "kept" };
const query = "query Mine($first: Int) { things(first: $first) { name } }";
const plain = { query, variables: { first: 2 } };
const policy = parsePolicy({
  ...{ version: 2, name: "graph" },
  quotas: {
    points: {
      algorithm: { kind: "fixed-window", limit: 90, windowSeconds: 600, anchor: "epoch" },
      key: ["user"],
    },
  },
  operations: {
    query: {
      uses: { points: "declared" },
      samples: [
        {
          ...{ method: "POST", path: "/graphql", headers: { "content-type": "application/json" } },
          ...{ body: plain, cost: 2, dearer: { pointer: "/variables/first", costEach: 1 } },
        },
      ],
    },
  },
  routes: [{ path: "/graphql", operation: "query" }],
  auth: { header: "Authorization", form: "Bearer {token}", attributes: ["user"] },
  wire: {
    revision: "1",
    readings: [
      {
        headers: { "X-Limit": "{limit}", "X-Left": "{remaining}", "X-Reset": "{reset}" },
        reset: { form: "delta-s", means: "window-end", round: "ceil" },
      },
    ],
  },
} as never);

interface Wrong {
  /** Units that the other query is charged. */
  readonly units?: number;
  readonly answer?: Partial<Sent>;
}

/** Plays an experiment on queries of two points. @returns the finding, and the other query that was sent */
function made(name: string, { units = 2, answer = {} }: Wrong = {}) {
  let used = 0;
  const others: object[] = [];
  const server = ({ method, path, body, headers }: Sending): Sent => {
    const isOther = body !== JSON.stringify(plain);
    if (isOther) others.push({ method, path, body: body === null ? null : JSON.parse(body), headers });
    used += isOther ? units : 2;
    const shown = { "x-limit": "90", "x-left": String(90 - used), "x-reset": "600" };
    return { status: 200, headers: shown, body: '{"data":{}}', ...(isOther && answer) };
  };
  const finding = findingOf(name, new Played(server, 1, "epoch", { policy }));
  return { finding, sent: others[0] };
}
interface Sending {
  readonly method: string;
  readonly path: string;
  readonly body: string | null;
  readonly headers: Readonly<Record<string, string>>;
}

const posted = { method: "POST", path: "/graphql" };
const depth = (text: string) => text.split("ofType{").length - 1;

describe("a query", () => {
  test.each<[string, object]>([
    ["query-that-cannot-be-read", { query: "{" }],
    ["query-of-another-schema", { query: "{ spillwayHasNoSuchField }" }],
    ["query-too-complex", { query, variables: { first: 1_000_000 } }],
    ["query-of-no-cost", { query: "{ __typename }" }],
    ["batch-of-queries", [plain, plain]],
    [
      "two-operations-in-one-request",
      {
        ...plain,
        query: `query SpillwayOne ($first: Int) { things(first: $first) { name } } query SpillwayTwo { __typename }`,
        operationName: "SpillwayOne",
      },
    ],
  ])("%s sends %j", (name, body) => {
    expect(made(name).sent).toMatchObject({ ...posted, body });
  });

  test("that is too deep closes as many levels as it opens", () => {
    const { query: text } = (made("query-too-deep").sent as { body: { query: string } }).body;
    expect([depth(text), text.split("{").length, text.split("}").length]).toEqual([260, 265, 265]);
  });

  test("by GET stands in the URL, with its variables", () => {
    const words = new URLSearchParams({ query, variables: '{"first":2}' });
    expect(made("query-by-get").sent).toEqual({
      ...{ method: "GET", path: `/graphql?${words}`, body: null, headers: {} },
    });
  });
});

const rejected = { answer: { body: '{"errors":[{}],"data":null}' } };
const once = ["query-that-cannot-be-read", "query-of-another-schema", "query-too-deep", "query-too-complex"];

test.each(once)(
  "%s is charged once at most where it is rejected, and shows nothing where it is not",
  (name) => {
    const why = "such a query is executed";
    expect(made(name).finding).toEqual({ state: "not exercised", why });
    for (const status of [400, 429])
      expect(made(name, { units: 0, answer: { status } }).finding).toEqual(kept);
    for (const units of [0, 2]) expect(made(name, { ...rejected, units }).finding).toEqual(kept);
    expect(made(name, { ...rejected, units: 4 }).finding).toMatchObject({ state: "broken", got: "points 4" });
    expect(made(name, { answer: { status: 0 } }).finding).toEqual({
      ...{ state: "not exercised", why: "the call had no answer" },
    });
  },
);

test.each<[name: string, right: readonly number[], wrong: readonly number[]]>([
  ["query-of-no-cost", [0, 2], [3, 4]],
  ["two-operations-in-one-request", [2], [0, 4]],
  ["query-by-get", [2], [0, 4]],
])("%s is charged %j, and not %j", (name, right, wrong) => {
  for (const units of right) expect([units, made(name, { units }).finding]).toEqual([units, kept]);
  for (const units of wrong)
    expect([units, made(name, { units }).finding]).toMatchObject([units, { state: "broken" }]);
});

test("a batch that is answered as one is charged once, or not at all", () => {
  const state = (units: number) => made("batch-of-queries", { units }).finding.state;
  expect([0, 2, 3].map(state)).toEqual(["kept", "kept", "broken"]);
});

test("a batch that is answered by a list may be charged for each of its queries, and for no more", () => {
  const answer = { body: '[{"data":{}},{"data":{}}]' };
  const state = (units: number) => made("batch-of-queries", { units, answer }).finding.state;
  expect([0, 2, 4, 5].map(state)).toEqual(["kept", "kept", "kept", "broken"]);
});
