// The charges of a trial, held to what its answers allow; and counts as answers show them.
import { describe, expect, test } from "vitest";
import { Book, isSameWindow, risesOf, type SeenCount, seenIn, windowMs } from "../../src/audit/book.ts";
import { isRejected, judgeCharges } from "../../src/audit/charges.ts";
import { Requests } from "../../src/audit/requests.ts";
import type { Answer, Subject } from "../../src/audit/step.ts";
import { parsePolicy } from "../../src/policy/parse.ts";
import type { PolicyInput } from "../../src/policy/schema.ts";

type Trial = Parameters<typeof judgeCharges>[0];
type Reading = readonly [limit: number | null, remaining: number | null, used: number | null];
interface Shown {
  readonly outcome?: string;
  readonly status?: number;
  readonly body?: unknown;
  readonly parts?: number;
  readonly isVague?: boolean;
  readonly otherwise?: string;
  readonly reading?: Reading;
  readonly reset?: object;
  readonly sent?: number;
  readonly date?: number;
  readonly org?: string;
}

function answer(shown: Shown = {}): Answer {
  const { outcome = "admitted", status = 200, body = {}, parts, isVague, reading, org = "acme" } = shown;
  const { reset = null, sent = 1_000, date, otherwise } = shown;
  const [limit, remaining, used] = reading ?? [null, null, null];
  const readings = reading === undefined ? [] : [{ quota: "q", limit, remaining, used, reset }];
  const call = { outcome, status, readings, sent, received: sent + 10, ...(date !== undefined && { date }) };
  return {
    shot: { parts, isVague, otherwise, attributes: { org } },
    call,
    body,
    line: 1,
    headers: {},
  } as unknown as Answer;
}

function trialOf(answers: readonly Answer[], units: readonly number[], plain = 1): Trial {
  const [before, after] = [answer({ reading: [10, 8, 2] }), answer()];
  const charged = units.map((each, place) => ({
    quota: place === 0 ? "q" : `q${place}`,
    units: each,
    most: each,
    plain,
  }));
  return { before, answers, after, charged, all: [before, ...answers, after] } as unknown as Trial;
}

describe("a charge", () => {
  test.each<[string, Shown, number, number]>([
    ["of an admitted call", {}, 1, 1],
    ["of a refusal", { outcome: "refused", status: 429 }, 0, 0],
    ["of a free call", { outcome: "exempt" }, 0, 0],
    ["of a call of an unknown end", { outcome: "unknown", status: 0 }, 0, 1],
    ["of a vague call", { isVague: true }, 0, 1],
    ["of an error", { status: 400 }, 0, 1],
    ["of an answer below errors", { status: 399 }, 1, 1],
    ["of what has not changed", { status: 304 }, 0, 1],
    ["of a rejected query", { body: { errors: [], data: null } }, 0, 1],
    ["of several calls in one", { body: [1, 2, 3], parts: 3 }, 3, 3],
    ["of several calls whose answer is one", { parts: 3 }, 1, 1],
    ["of a list to one call", { body: [1, 2, 3] }, 1, 1],
  ])("%s", (_, shown, least, most) => {
    for (let units = 0; units <= 4; units++) {
      const found = judgeCharges(trialOf([answer(shown)], [units * 5], 5));
      expect([units, found === null]).toEqual([units, units >= least && units <= most]);
    }
  });

  test("is nothing, or once at most, where the experiment says so", () => {
    const judged = (units: number, charges: "nothing" | "once at most") =>
      judgeCharges(trialOf([answer()], [units]), charges) === null;
    expect([0, 1].map((units) => judged(units, "nothing"))).toEqual([true, false]);
    expect([0, 1, 2].map((units) => judged(units, "once at most"))).toEqual([true, true, false]);
  });

  test("is told in words: as allowed, and as it was", () => {
    const [vague, sure] = [answer({ isVague: true }), answer()];
    expect(judgeCharges(trialOf([vague, sure], [15, 5], 5))).toMatchObject({
      expected: "charged as 1 to 2 plain calls in q (5 each)",
      got: "q 15",
      law: undefined,
    });
    expect(judgeCharges(trialOf([sure, sure], [5], 5))).toMatchObject({
      expected: "charged as 2 plain calls in q (5 each)",
    });
  });

  test("of a bucket is a span, which has to meet what is allowed", () => {
    const spans = [
      [0, 4],
      [0, 5],
      [2, 9],
      [5, 5],
      [6, 6],
    ] as const;
    const found = spans.map(([units, most]) => {
      const told = trialOf([answer()], [units], 5);
      return judgeCharges({ ...told, charged: told.charged.map((each) => ({ ...each, most })) }) === null;
    });
    expect(found).toEqual([false, true, true, true, false]);
  });

  test("is of all quotas, or of none", () => {
    const vague = answer({ isVague: true });
    expect(judgeCharges(trialOf([vague], [0, 1]))).toMatchObject({
      expected: "all quotas of a call are charged alike",
      got: "q 0, q1 1",
      law: "all-or-nothing",
    });
    expect(judgeCharges(trialOf([vague], [1, 1]))).toBeNull();
  });

  test.each<[charged: [units: number, plain: number][], isRight: boolean]>([
    [
      [
        [5, 5],
        [1, 1],
      ],
      true,
    ],
    [
      [
        [5, 5],
        [0, 1],
      ],
      false,
    ],
    [
      [
        [0, 5],
        [0, 1],
      ],
      true,
    ],
    // A quota of which a plain call takes nothing tells nothing.
    [
      [
        [5, 5],
        [0, 0],
      ],
      true,
    ],
  ])("is of all quotas by what a plain call takes of each: %j is right: %j", (charged, isRight) => {
    const told = charged.map(([units, plain], place) => ({ quota: `q${place}`, units, most: units, plain }));
    const trial = { ...trialOf([answer({ isVague: true })], []), charged: told } as unknown as Trial;
    expect(judgeCharges(trial) === null).toBe(isRight);
  });

  test("is of some quotas alone where the target does not know the call's shape", () => {
    const unknown = answer({ status: 404, isVague: true, otherwise: "call" });
    expect(judgeCharges(trialOf([unknown], [1, 0]))).toBeNull();
    expect(judgeCharges(trialOf([unknown], [2, 0]))).toMatchObject({ got: "q 2" });
    expect(judgeCharges(trialOf([answer({ otherwise: "call" })], [1, 0]))).not.toBeNull();
  });

  test("is shown by the answer itself", () => {
    const judged = (shown: Shown, ...others: Shown[]) =>
      judgeCharges(trialOf([shown, ...others].map(answer), [1 + others.length]));
    expect(judged({ reading: [10, 7, 3] })).toBeNull();
    expect(judged({ reading: [10, 6, 4] })).toBeNull();
    const short = { expected: "q shows 3 used of 10", got: "2 of 10" };
    expect(judged({ reading: [10, 8, 2] })).toMatchObject(short);
    expect(judged({ reading: [11, 8, 3] })).toMatchObject({ ...short, got: "3 of 11" });
    expect(judged({ reading: [10, 8, 2], status: 400 })).toBeNull();
    expect(judged({ reading: [10, 8, 2], isVague: true })).toBeNull();
    expect(judged({ reading: [10, 8, 2] }, {})).toBeNull();
  });
});

test.each<[unknown, boolean]>([
  [{ errors: [] }, true],
  [{ errors: [], data: null }, true],
  [{ errors: [], data: {} }, false],
  [{ errors: {}, data: null }, false],
  [{ data: null }, false],
  [null, false],
  ["errors", false],
])("%j is rejected: %s", (body, rejected) => {
  expect(isRejected(body)).toBe(rejected);
});

describe("a count as shown", () => {
  test.each<[Reading, Pick<SeenCount, "limit" | "used" | "left"> | null]>([
    [[10, 7, null], { limit: 10, used: 3, left: 7 }],
    [[10, null, 4], { limit: 10, used: 4, left: 6 }],
    [[null, 7, 3], { limit: 10, used: 3, left: 7 }],
    [[10, 7, 5], { limit: 10, used: 5, left: 7 }],
    [[10, null, null], null],
    [[null, 7, null], null],
    [[null, null, 3], null],
  ])("limit, remaining, used %j", (reading, expected) => {
    const seen = seenIn(answer({ reading }), "q");
    expect(seen && { limit: seen.limit, used: seen.used, left: seen.left }).toEqual(expected);
    expect(seenIn(answer({ reading }), "other")).toBeNull();
  });

  test.each<[string, Shown, SeenCount["end"]]>([
    [
      "in so many ms",
      { reset: { afterMs: 5_000, atMs: null, gridMs: 1_000 } },
      { least: 5_000, most: 7_010 },
    ],
    ["at an instant", { reset: { afterMs: null, atMs: 9_000, gridMs: 1 } }, { least: 7_999, most: 9_011 }],
    [
      "at an instant by the target's `Date`",
      { reset: { afterMs: null, atMs: 9_000, gridMs: 1 }, date: 3_000 },
      { least: 5_999, most: 7_011 },
    ],
    ["at no time", { reset: { afterMs: null, atMs: null, gridMs: 1 } }, null],
    ["untold", {}, null],
  ])("ends %s", (_, shown, end) => {
    expect(seenIn(answer({ reading: [10, 7, null], ...shown }), "q")?.end).toEqual(end);
  });

  test.each<[number, number, boolean]>([
    [5_000, 5_000, true],
    [5_000, 7_010, true],
    [5_000, 7_011, false],
    [5_000, 2_990, true],
    [5_000, 2_989, false],
  ])("of ends in %d and %d ms is of one window: %s", (one, other, same) => {
    const [a, b] = [one, other].map((afterMs) =>
      seenIn(answer({ reading: [10, 7, null], reset: { afterMs, atMs: null, gridMs: 1_000 } }), "q"),
    ) as [SeenCount, SeenCount];
    expect(isSameWindow(a, b, 60_000)).toBe(same);
    expect(isSameWindow(a, b, 0)).toBe(false);
    expect(isSameWindow(a, { ...b, end: null }, 60_000)).toBe(false);
    const spread = Math.max(one, other) - Math.min(one, other) + 2_010;
    expect([isSameWindow(a, b, spread), isSameWindow(a, b, spread + 1)]).toEqual([false, same]);
  });
});

test("rises of a count are those from look to look within a window", () => {
  const look = (used: number | null, sent: number, afterMs: number) =>
    answer({
      sent,
      reset: { afterMs, atMs: null, gridMs: 1 },
      ...(used !== null && { reading: [10, null, used] }),
    });
  const looks = [
    ...[look(2, 0, 9_000), look(3, 1_000, 8_000), look(5, 2_000, 7_000), look(1, 12_000, 9_000)],
    ...[look(4, 13_000, 8_000), look(null, 14_000, 7_000), look(6, 15_000, 6_000), look(6, 16_000, 5_000)],
  ];
  expect(risesOf(looks, "q", 10_000)).toEqual([1, 2, 3, 0]);
  expect(risesOf(looks, "other", 10_000)).toEqual([]);
});

describe("the book", () => {
  const policyOf = (algorithm: object) =>
    parsePolicy({
      version: 2,
      name: "x",
      quotas: { q: { algorithm, key: ["org"], unit: "requests" } },
      operations: { read: { uses: { q: 1 } } },
    });
  const window = { kind: "fixed-window", limit: 10, windowSeconds: 60, anchor: "epoch" };
  const acme = { org: "acme" };

  test("knows the length of windows that have one", () => {
    expect(windowMs(policyOf(window), "q", acme)).toBe(60_000);
    const calendar = { kind: "fixed-window", limit: 10, anchor: { calendar: "day", zone: "UTC" } };
    expect(windowMs(policyOf(calendar), "q", acme)).toBe(0);
    const bucket = { kind: "token-bucket", capacity: 5, refill: { amount: 1, everyMs: 1_000 } };
    expect(windowMs(policyOf(bucket), "q", acme)).toBe(0);
    const book = new Book(policyOf(bucket));
    book.note(answer({ reading: [5, 4, null] }));
    expect([book.latest("q", acme)?.left, book.endOf("q", acme, 1_000)]).toEqual([4, null]);
  });

  test("tells callers apart by the values of a quota's key", () => {
    const book = new Book(policyOf(window));
    expect(book.areApart("q", acme, { org: "other" })).toBe(true);
    expect(book.areApart("q", { ...acme, user: "ann" }, { ...acme, user: "bob" })).toBe(false);
  });

  test.each([
    ["that is over when it is told is none", 0, 0, 60_000],
    ["that may lie a ms ahead is one", 0, 1, 49_999],
    ["within a window's length is one", 61_009, 1_000, 110_009],
    ["further ahead is none", 61_010, 1_000, 60_000],
  ])("takes an end where it may be one: an end %s", (_, afterMs, gridMs, endMs) => {
    const book = new Book(policyOf(window));
    book.note(answer({ reading: [10, 7, null], sent: 50_000, reset: { afterMs, atMs: null, gridMs } }));
    expect(book.endOf("q", acme, 50_000)).toBe(endMs);
  });

  test("keeps the latest answer by key, and says when its window may end", () => {
    const book = new Book(policyOf(window));
    expect([book.latest("q", acme), book.endOf("q", acme, 0), book.current("q", acme, 0)]).toEqual([
      ...[null, null, null],
    ]);
    book.note(answer({ reading: [10, 7, null], sent: 50_000 }));
    book.note(answer({ reading: [10, 9, null], sent: 49_000 }));
    book.note(answer({ reading: [10, 5, null], sent: 51_000, org: "other" }));
    expect(book.latest("q", acme)?.left).toBe(7);
    expect(book.endOf("q", acme, 50_000)).toBe(60_000);
    expect(book.current("q", acme, 59_999)?.left).toBe(7);
    expect(book.current("q", acme, 60_000)).toBeNull();
    const reset = { afterMs: 20_000, atMs: null, gridMs: 1_000 };
    book.note(answer({ reading: [10, 6, null], sent: 50_000, reset }));
    expect(book.endOf("q", acme, 50_000)).toBe(69_000);
  });

  test("knows no grid under other anchors: the window lasts from the answer, or from now", () => {
    const book = new Book(policyOf({ ...window, anchor: "first-request" }));
    book.note(answer({ reading: [10, 7, null], sent: 50_000 }));
    expect([book.endOf("q", acme, 40_000), book.endOf("q", acme, 70_000)]).toEqual([100_000, 110_010]);
  });

  test("remembers for two windows that a count was used up", () => {
    const book = new Book(policyOf(window));
    book.note(answer({ reading: [10, 1, null], sent: 50_000 }));
    expect(book.wasEmptied("q", acme, 50_000)).toBe(false);
    book.note(answer({ reading: [10, 0, null], sent: 50_000 }));
    expect([169_999, 170_000].map((nowMs) => book.wasEmptied("q", acme, nowMs))).toEqual([true, false]);
    expect(book.wasEmptied("q", { org: "other" }, 50_000)).toBe(false);
  });

  test("knows when a caller used a quota, whatever a route says beside it", () => {
    const book = new Book(
      parsePolicy({
        version: 2,
        name: "x",
        quotas: { q: { algorithm: window, key: ["org", "path"], unit: "requests" } },
        operations: { read: { uses: { q: 1 } } },
        routes: [{ path: "/{path}", operation: "read" }],
        auth: { attributes: ["org"] },
      }),
    );
    const used = answer({ sent: 50_000 });
    const shot = { ...used.shot, operation: "read", attributes: { org: "acme", path: "items" } };
    book.note({ ...used, shot });
    expect([book.usedAt("q", acme), book.usedAt("q", { org: "other" })]).toEqual([50_010, null]);
  });
});

test.each([
  ["all-or-nothing", {}, true],
  ["each-alone", {}, false],
  ["all-or-nothing", { refused: "counted" }, false],
  ["all-or-nothing", { refusedByOther: "charged" }, false],
])("a refused call, %s and %j, is free: %s", (relation, charge, isFree) => {
  const policy = parsePolicy({
    version: 2,
    name: "own",
    quotas: {
      q: { algorithm: { kind: "fixed-window", limit: 10, windowSeconds: 60 }, key: ["user"], charge },
      other: { algorithm: { kind: "fixed-window", limit: 90, windowSeconds: 60 }, key: [] },
    },
    operations: { call: { uses: { q: 1, other: 1 }, relation, samples: [{ path: "/" }] } },
    routes: [{ path: "/**", operation: "call" }],
    auth: { header: "Authorization", form: "Bearer {token}", attributes: ["user"] },
  } as PolicyInput);
  const requests = new Requests(policy, [{ index: 0, name: "ann", attributes: { user: "ann" } }]);
  const [subject] = requests.subjects as [Subject];
  expect(requests.isRefusedFree(subject, subject.callers[0])).toBe(isFree);
  const left = (each: readonly number[]) => {
    const readings = subject.quotas.map((quota, at) => ({
      quota,
      limit: 9,
      remaining: each[at],
      ...{ used: null, reset: null },
    }));
    return { ...answer(), call: { readings } } as unknown as Answer;
  };
  const shows = (...each: readonly number[]) => requests.showsRoom(subject, left(each));
  expect([shows(1, 1), shows(1, 0), shows(0, 1)]).toEqual([true, false, false]);
});

test.each([
  ['{"query":"{ a }"}', "query"],
  ['{ "query" : "query Q { mutation }" }', "query"],
  ['{"query":" \\n mutation { a }"}', "mutation"],
  ['{"variables":{}}', "rest"],
  [null, "rest"],
])("a body of %s goes by the route of a %s", (body, operation) => {
  const path = "/graphql";
  const policy = parsePolicy({
    version: 2,
    name: "kinds",
    quotas: { q: { algorithm: { kind: "fixed-window", limit: 10, windowSeconds: 60 }, key: ["user"] } },
    operations: Object.fromEntries(
      ["query", "mutation", "rest"].map((name) => [name, { uses: { q: 1 }, samples: [{ path }] }]),
    ),
    routes: [
      { path, operation: "query", graphql: "query" },
      { path, operation: "mutation", graphql: "mutation" },
      { path, operation: "rest" },
    ],
    auth: { header: "Authorization", form: "Bearer {token}", attributes: ["user"] },
  });
  const requests = new Requests(policy, [{ index: 0, name: "ann", attributes: { user: "ann" } }]);
  expect(requests.route({ method: "POST", path, body })?.route.operation).toBe(operation);
});

test.each<[headers: Record<string, string>, shows: boolean]>([
  [{ "X-Used": "{used}" }, true],
  [{ "X-Left": "{remaining}", "X-Limit": "{limit}" }, true],
  [{ "X-Left": "{remaining} of {limit}" }, true],
  [{ "X-Left": "{remaining}" }, false],
  [{ "X-Limit": "{limit}" }, false],
])("headers %j tell a count: %s", (headers, shows) => {
  const policy = parsePolicy({
    version: 2,
    name: "own",
    quotas: { q: { algorithm: { kind: "fixed-window", limit: 10, windowSeconds: 60 }, key: ["user"] } },
    operations: { call: { uses: { q: 1 }, samples: [{ path: "/" }] } },
    routes: [{ path: "/**", operation: "call" }],
    auth: { header: "Authorization", form: "Bearer {token}", attributes: ["user"] },
    wire: { revision: "2026", readings: [{ headers }] },
  });
  expect(new Requests(policy, [{ index: 0, name: "ann", attributes: { user: "ann" } }]).shows("q")).toBe(
    shows,
  );
});
