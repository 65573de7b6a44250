// Readings → quotas and operations: each number that answers show is taken as it says, and each guess is asked about.
import { describe, expect, test } from "vitest";
import type { ShownEnd } from "../../src/map/ends.ts";
import { isRoundedUp, likelySeconds, longestWaitMs, mostSeconds, shownEnd } from "../../src/map/ends.ts";
import { numberAt, templateOf } from "../../src/map/fields.ts";
import { operationsOf } from "../../src/map/operations.ts";
import type { MapQuestion } from "../../src/map/question.ts";
import { type QuotaSeen, quotasOf, quotasSeen, secondsSeen } from "../../src/map/quotas.ts";
import type { FoundForm } from "../../src/map/reset-form.ts";
import type { SeenAnswers } from "../../src/map/seen.ts";
import { buildWire } from "../../src/map/wire-of.ts";
import type { AnswerReading } from "../../src/wire/read-answer.ts";

const seen = (more: Partial<SeenAnswers> = {}): SeenAnswers => ({
  ...{ method: "GET", segments: null, graphql: null, auth: null, caller: "ann", status: 200 },
  ...{ headers: {}, body: undefined, atMs: null },
  ...more,
});
const reading = (more: Partial<AnswerReading> = {}): AnswerReading => ({
  ...{ quota: "calls", limit: null, remaining: null, used: null, windowSeconds: null, reset: null },
  ...more,
});
const endAfter = (atMs: number, afterMs: number, gridMs = 1_000, caller = "ann"): ShownEnd => ({
  ...{ atMs, caller },
  reset: { afterMs, atMs: null, gridMs, means: "window-end" },
});

/** A quota of which no answer showed anything. */
const nothing: QuotaSeen = {
  limits: new Set(),
  windows: new Set(),
  ...{ mostLeft: 0, leastLeft: 0, mostWhole: 0, longestMs: 0, ends: [] },
};

describe("numbers of a quota", () => {
  const collected = (...readings: AnswerReading[]) =>
    quotasSeen(
      { wire: "buildkite", readings: readings.map((one) => [one]), resets: new Map() },
      readings.map(() => seen({ atMs: 5_000 })),
    );

  test("are the greatest and the least that were shown; limits and windows below 1 are none", () => {
    const reset = { afterMs: 30_000, atMs: null, gridMs: 1_000, means: "window-end" } as const;
    const all = collected(
      reading({ limit: 10, remaining: 4, used: 6, windowSeconds: 60, reset }),
      reading({ limit: 1, remaining: -2, windowSeconds: 1 }),
      reading({ limit: 0, remaining: 3, used: 5, windowSeconds: 0, reset: { ...reset, afterMs: 10_000 } }),
      reading({ quota: null, used: 7 }),
      reading({ quota: "9 lives" }),
    );
    expect([...all.keys()]).toEqual(["calls", "requests"]);
    expect(all.get("calls")).toEqual({
      ...{ limits: new Set([10, 1]), windows: new Set([60, 1]), mostLeft: 4, leastLeft: -2, mostWhole: 10 },
      ...{ longestMs: 30_000, ends: [30_000, 10_000].map((afterMs) => endAfter(5_000, afterMs)) },
    });
    expect(all.get("requests")).toEqual(nothing);
  });

  test("an end needs a time and a reset, and none of a bucket is one", () => {
    const { reset } = endAfter(0, 1_000);
    expect(shownEnd(seen({ atMs: 7 }), reset)).toEqual([{ atMs: 7, caller: "ann", reset }]);
    expect(shownEnd(seen(), reset)).toEqual([]);
    expect(shownEnd(undefined, reset)).toEqual([]);
    expect(shownEnd(seen({ atMs: 7 }), null)).toEqual([]);
    expect(shownEnd(seen({ atMs: 7 }), { ...reset, means: "full" })).toEqual([]);
  });
});

describe("a quota", () => {
  const made = (more: Partial<QuotaSeen>, form: Partial<FoundForm> | null = null, name = "calls") => {
    const questions: MapQuestion[] = [];
    const found = { form: "delta-s", means: null, everyMs: null, longestMs: 0, ...form } as FoundForm;
    const resets = new Map(form === null ? [] : [[name, found] as const]);
    const quotas = quotasOf(new Map([["calls", { ...nothing, ...more }]]), resets, questions);
    const asked = Object.fromEntries(
      questions.map(({ path, seen: said }) => [path.replace("quotas.calls.", ""), said]),
    );
    return { ...quotas["calls"], asked };
  };
  const window = (limit: number, windowSeconds: number, anchor = "first-request") => ({
    algorithm: { kind: "fixed-window", limit, windowSeconds, anchor },
  });

  test("nothing seen is a guess of each member", () => {
    expect(made({})).toEqual({
      ...window(1, 60),
      key: ["user"],
      asked: {
        "algorithm.limit": "No limit was shown, and nothing left: 1 holds the place of the limit.",
        "algorithm.windowSeconds":
          "Nothing tells the window's length and beginning; 60 s from the first request on is a guess.",
      },
    });
    expect(quotasOf(new Map(), new Map(), [])).toMatchObject({
      requests: { key: ["user"], ...window(1, 60) },
    });
  });

  test.each([
    [1, 1],
    [2_500, 1],
    [2_501, 10],
    [61_500, 60],
    [61_501, 300],
    [301_501, 600],
    [601_501, 900],
    [901_501, 3_600],
    [3_601_501, 21_600],
    [21_601_501, 86_400],
    [86_401_501, 604_800],
    [604_801_501, 2_592_000],
    [9_000_000_000, 2_592_000],
  ])("the longest wait of %s ms is held by a window of %s s", (longestMs, seconds) => {
    const { asked, algorithm } = made({ limits: new Set([5]), longestMs });
    expect(algorithm).toMatchObject({ limit: 5, windowSeconds: seconds });
    expect(asked).toEqual({
      "algorithm.windowSeconds": `The longest wait for a reset was ${Math.ceil(longestMs / 1000)} s; ${seconds} s is the usual length that holds it.`,
      "algorithm.anchor": 'No end of a window is known; "first-request" is a guess.',
    });
    expect(made({ limits: new Set([5]) }, { longestMs }).algorithm).toEqual(algorithm);
  });

  test("one window that was told is its length; of two none is", () => {
    expect(made({ limits: new Set([5]), windows: new Set([7]) })).toMatchObject({
      ...window(5, 7),
      asked: { "algorithm.anchor": 'No end of a window is known; "first-request" is a guess.' },
    });
    expect(secondsSeen({ ...nothing, windows: new Set([7]) })).toBe(7);
    expect(secondsSeen({ ...nothing, windows: new Set([7, 8]) })).toBeNull();
  });

  test.each([
    ["on the grid", [0], "epoch", "1 reset lay on the grid of 10 s."],
    [
      "a second beside it, once",
      [1_000],
      "first-request",
      '1 reset lay within 1 s of the grid of 10 s, which may be chance; "first-request" is a guess.',
    ],
    ["a second beside it, twice", [1_000, 21_000], "epoch", "2 resets lay within 1 s of the grid of 10 s."],
    ["beside it", [3_000], "first-request", "1 reset did not lie on the grid of 10 s."],
    ["not all on it", [0, 23_000], "first-request", "2 resets did not all lie on the grid of 10 s."],
    [
      "on another grid",
      [3_000, 13_000, 23_000],
      "first-request",
      `3 resets lay on a grid of 10 s that is not Unix time's; "first-request" is a guess.`,
    ],
  ])("ends of windows lie %s", (_, endsMs, anchor, said) => {
    const ends = endsMs.map((endMs) => endAfter(1_000_000 + endMs - 5_000, 5_000));
    const shown = { limits: new Set([5]), windows: new Set([10]), ends };
    expect(made(shown, { means: "window-end" })).toMatchObject({
      ...window(5, 10, anchor),
      asked: { "algorithm.anchor": said },
    });
    // A reset that may be none of a window tells no end.
    expect(made(shown, { means: "estimate" }).asked["algorithm.anchor"]).toMatch(/^No end of a window/);
  });

  test("a form of all quotas is each one's, and a bucket's rate is its refill", () => {
    for (const name of ["calls", ""])
      expect(made({ limits: new Set([9]) }, { everyMs: 700 }, name)).toMatchObject({
        algorithm: { kind: "token-bucket", capacity: 9, refill: { amount: 1, everyMs: 700 } },
        asked: {
          algorithm:
            "Each reset lies about 700 ms away for each unit that is taken: a bucket that fills at that rate.",
        },
      });
    expect(made({ limits: new Set([9]) }, { everyMs: 700 }, "others").algorithm).toMatchObject(
      window(9, 60).algorithm,
    );
  });

  test("the greatest limit, or what was used and left, or one more than was left", () => {
    expect(made({ limits: new Set([5, 7]), mostWhole: 9 }).algorithm).toMatchObject({ limit: 7 });
    expect(made({ mostWhole: 9, mostLeft: 8 }).algorithm).toMatchObject({ limit: 9 });
    expect(made({ mostLeft: 8 }).algorithm).toMatchObject({ limit: 9 });
    expect(made({ leastLeft: -1 })).toMatchObject({ shown: { remaining: "signed" } });
    expect(made({ leastLeft: 0 })).not.toHaveProperty("shown");
  });
});

describe("lengths that ends allow", () => {
  test.each<[string, ShownEnd[], boolean]>([
    [
      "an instant",
      [{ ...endAfter(0, 0), reset: { afterMs: null, atMs: 9, gridMs: 1_000, means: "window-end" } }],
      true,
    ],
    ["a form of less than a second", [endAfter(0, 500, 999)], true],
    ["whole seconds", [endAfter(0, 5_000)], false],
    ["a span of 0", [endAfter(9_700, 1_000), endAfter(10_000, 10_000), endAfter(20_000, 0)], false],
    ["1 s less than half a second before", [endAfter(9_700, 1_000), endAfter(10_000, 10_000)], true],
    ["1 s half a second before", [endAfter(9_701, 1_000), endAfter(10_002, 10_000)], false],
    ["the same end again", [endAfter(9_700, 1_000), endAfter(10_000, 2_700)], false],
    ["another caller's", [endAfter(9_700, 1_000), endAfter(10_000, 10_000, 1_000, "bob")], false],
  ])("%s is rounded up: %#", (_, shown, isUp) => {
    expect(isRoundedUp(shown)).toBe(isUp);
  });

  test("no window is likely by its ends where none, or too many lengths, are possible", () => {
    expect(likelySeconds([])).toBeNull();
    expect(likelySeconds([endAfter(10, 3_000), endAfter(60_010, 3_000)])).toBeNull();
    expect(likelySeconds([endAfter(10, 9_000), endAfter(10_010, 9_000)])).toBe(10);
  });
});

describe("operations", () => {
  const asked: MapQuestion[] = [];
  const made = (
    answers: readonly [Partial<SeenAnswers>, ...Partial<AnswerReading>[]][],
    quotas = ["calls", "search"],
  ) => {
    asked.length = 0;
    return operationsOf(
      answers.map(([one]) => seen(one)),
      new Set(),
      answers.map(([, ...readings]) => readings.map(reading)),
      quotas,
      asked,
    );
  };
  const at = (path: string) => ({ segments: path.split("/").slice(1) });
  const said = () => asked.map(({ path, seen: words }) => `${path}: ${words}`);

  test("nothing seen is one call of all quotas, or of `requests`, without a sample", () => {
    expect(made([])).toEqual({
      operations: { call: { uses: { calls: 1, search: 1 } } },
      routes: [{ path: "/**", operation: "call" }],
    });
    expect(said()).toEqual([
      "operations.call.samples: No request was seen that could be made again as it is.",
    ]);
    expect(made([], []).operations).toEqual({ call: { uses: { requests: 1 } } });
  });

  test("answers of other quotas are other operations; the commonest has the last route, deeper paths come first", () => {
    const made2 = made([
      [at("/v1/search/all"), { quota: "search" }],
      [at("/v1/things"), {}],
      [at("/v1/others"), {}],
      [at("/rate_limit"), { quota: "search" }, {}],
    ]);
    expect(made2.routes).toEqual([
      { path: "/v1/search/**", operation: "search_call" },
      { path: "/rate_limit/**", operation: "status" },
      { path: "/**", operation: "calls_call" },
    ]);
    expect(made2.operations).toEqual({
      search_call: { uses: { search: 1 }, samples: [{ path: "/v1/search/all" }] },
      calls_call: { uses: { calls: 1 }, samples: [{ path: "/v1/things" }] },
    });
    expect(said()).toEqual(["routes: A path names limits: it is taken to be a free status."]);
  });

  test("of as many answers as a day's log has are told as those of a few", () => {
    const many = Array.from({ length: 200_000 }, (_, n) => seen({ ...at("/v1/things"), atMs: n * 1_000 }));
    const left = many.map((_, at) => [reading({ remaining: 1_000_000 - 2 * at })]);
    const ends = many.map((_, at) => endAfter(at * 1_000, 60_000));
    expect(operationsOf(many, new Set(), left, ["calls"], []).operations["call"]?.uses).toEqual({ calls: 2 });
    const told = (some: typeof ends) => [longestWaitMs(some), mostSeconds(some), isRoundedUp(some)];
    expect(told(ends)).toEqual(told(ends.slice(0, 100)));
  });

  test("queries of other quotas are operations of other names", () => {
    const query = { graphql: "query" } as const;
    expect(
      Object.keys(
        made([
          [query, {}],
          [query, {}],
          [query, { quota: "search" }],
        ]).operations,
      ),
    ).toEqual(["query", "search_call"]);
  });

  test("a path that two operations share is asked about, and one that nobody saw", () => {
    made([
      [at("/v1/things"), {}],
      [at("/v1/things"), {}],
      [at("/v1/things"), { quota: "search" }],
    ]);
    expect(said()).toEqual([
      "routes: A path of search_call has answers of another operation, too; it gets no route of its own.",
    ]);
    made([
      [at("/v1/things"), {}],
      [at("/v1/things"), {}],
      [{}, { quota: "search" }],
    ]);
    expect(said()).toEqual([
      "operations.search_call.samples: No request was seen that could be made again as it is.",
      "routes: No request of search_call was seen, so that no route leads to it.",
    ]);
  });

  test("GraphQL has a sample of its own, and its kind's name", () => {
    const graphql = [{ ...at("/graphql"), method: "POST", graphql: "query" as const }, {}] as const;
    const sample = { method: "POST", path: "/graphql", body: { query: "{ __typename }" } };
    expect(made([[...graphql]]).operations).toEqual({ call: { uses: { calls: 1 }, samples: [sample] } });
    expect(said()).toEqual([]);
    const beside = made([[...graphql], [at("/v1/search"), { quota: "search" }]]).operations;
    expect(Object.keys(beside)).toEqual(["query", "search_call"]);
  });

  const falls = (...left: [remaining: number | null, more?: Partial<SeenAnswers>][]) => {
    const { operations } = made(
      left.map(([remaining, more], index) => [{ ...at("/a"), atMs: index, ...more }, { remaining }]),
      ["calls"],
    );
    return [operations["call"]?.uses["calls"], ...asked.map(({ seen: words }) => words)];
  };
  test("a cost is the least fall of what is left, of one caller, in the order of time, but before a refusal", () => {
    expect(falls([9], [8], [7])).toEqual([1]);
    expect(falls([9], [4])).toEqual([5, "Remaining fell by 5 from answer to answer, 1 time."]);
    expect(falls([9], [7], [5])).toEqual([2, "Remaining fell by 2 from answer to answer, 2 times."]);
    expect(falls([9], [7], [4])).toEqual([
      2,
      "Remaining fell by 2 to 3 from answer to answer; the least is taken for a call's cost.",
    ]);
    expect(falls([9], [9], [20])).toEqual([1]);
    expect(falls([9], [0, { status: 429 }])).toEqual([1]);
    expect(falls([9], [2, { caller: "bob" }])).toEqual([1]);
    expect(falls([4, { atMs: 7 }], [9, { atMs: 2 }])).toEqual([5, expect.any(String)]);
    expect(falls([9], [null], [6])).toEqual([3, expect.any(String)]);
  });
});

describe("refusals by other statuses", () => {
  const refusals = (status: number, headers: Record<string, string>) => {
    const { wire } = buildWire([seen({ status, headers })], new Set(), []);
    return typeof wire === "string" ? wire : wire.outcomes;
  };
  const advised = { "retry-after": "7" };
  const empty = { "x-ratelimit-limit": "9", "x-ratelimit-remaining": "0" };
  test.each([
    [403, advised, { "retry-after": "*" }],
    [403, { ...advised, ...empty }, { "retry-after": "*" }],
    [403, empty, { "x-ratelimit-remaining": "0" }],
    [400, advised, { "retry-after": "*" }],
  ])("%s with %j has advice, or nothing left", (status, headers, told) => {
    expect(refusals(status, headers)).toEqual([{ outcome: "refused", status: [status], headers: told }]);
  });
  test.each([
    [403, { ...empty, "x-ratelimit-remaining": "1" }],
    [403, {}],
    [399, advised],
    [200, empty],
    [429, advised],
    [500, advised],
  ])("%s with %j is none", (status, headers) => {
    expect(refusals(status, headers)).toEqual([]);
  });
});

test.each([
  ["limit", ["100", "-1"], "{limit}", "limit", -1],
  ["limit", ["596.0"], "{limit}", "limit", 596],
  ["reset", ["7s", "8s"], "{reset}s", "reset", 8],
  ["limit", ["100;w=60"], "{limit};w={window}", "window", 60],
  ["used", ["3/40"], "{used}/{limit}", "limit", 40],
  ["limit", ["100, 100;w=3"], ["{limit}", "{limit}, *", "{limit};*"], "limit", 100],
  ["limit", ["many"], null, "limit", null],
] as const)("a %s of %j stands as %j", (role, values, template, part, number) => {
  const place = {
    ...{ at: "x", isHeader: true, label: "" },
    role,
    values: new Map(values.map((text, at) => [at, text])),
  };
  expect(templateOf(place)).toEqual(template);
  if (template !== null) expect(numberAt(place, template as string, values.length - 1, part)).toBe(number);
  expect(numberAt(place, "{limit}", values.length, part)).toBeNull();
});
