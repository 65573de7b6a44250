// The user's GraphQL window filled by queries, from answers that are set: how far it goes, and what it shows when full.
import { describe, expect, test } from "vitest";
import { probeFullWindow } from "../../src/probe/filling.ts";
import { ownPipelines, pointsOfNobody } from "../../src/probe/queries.ts";
import { type Answers, refusal, type Shown, scripted } from "./scripted.ts";

interface Kept {
  /** Points that are left of the user's 500 after the first query. */
  readonly left: number;
  /** Points that come back for a query of few, and of many; a query of nobody's gets none. */
  readonly small?: number;
  readonly large?: number;
  readonly enforced?: boolean;
  /** True if a query is refused that finds nothing left. */
  readonly refuses?: boolean;
  /** What is left before a query, in place of what the queries left. */
  readonly refill?: (left: number, query: number) => number;
  /** Status of a query, by its number. */
  readonly status?: (query: number) => number;
  readonly isHidden?: boolean;
}

/** A target whose first query, of 53 points, was made already. */
async function filled(
  { left, small = 10, large = 200, enforced = false, refuses = false, isHidden = false, ...kept }: Kept,
  allowance: object = {},
  reserve = 0,
) {
  let [user, query] = [left + small, -1];
  const answers: Answers = ({ body = "" }): Shown => {
    if (body === "") return { graphql: { enforced, user: [500, user] } };
    query += 1;
    user = kept.refill?.(user, query) ?? user;
    const status = kept.status?.(query) ?? (refuses && user <= 0 ? 429 : 200);
    const actual = body.includes("nobody") ? 0 : body.includes("builds") ? large : small;
    if (status === 200) user -= actual;
    const shown = isHidden && query > 0 ? null : ([500, Math.max(0, user)] as const);
    return {
      status,
      graphql: { enforced, user: shown, ...(status === 200 && { actual }) },
      ...(status === 429 && { body: { ...refusal("rest_user"), scope: "graphql_user" } }),
    };
  };
  const made = scripted(answers, { calls: 81, points: 1_000_053, ...allowance });
  await made.session.status();
  await made.session.act(ownPipelines("acme", 50));
  const before = made.asked.length;
  const findings = await probeFullWindow(made.session, reserve);
  return {
    asked: made.session.calls
      .slice(before)
      .filter(({ scope }) => scope === "graphql")
      .map(({ points }) => points),
    said: made.said.map(({ doing }) => doing),
    found: findings.map(({ name, value, confidence, evidence }) => [
      ...[name, value, confidence],
      evidence.replace(/ at [\d:.]+/g, ""),
    ]),
  };
}
const times = (queries: number, points: number): number[] => new Array(queries).fill(points);
const admitted = [
  "userEnforced",
  "with-organization",
  "certain",
  "enforced is false, the user's window had nothing left, and call 7 was admitted",
];

test("a window that no answer shows is not filled", async () => {
  const { session, asked } = scripted(() => ({}));
  expect(await probeFullWindow(session, 0)).toEqual([]);
  expect(asked).toEqual([]);
});

describe("a full window whose limit is not enforced", () => {
  test("shows that it does not refuse, where a query is admitted; it was filled by the known query, again", async () => {
    expect(await filled({ left: 30 })).toEqual({
      asked: [53, 53, 53, 400],
      said: times(3, 0).map(() => "filling the user's GraphQL window"),
      found: [admitted],
    });
  });

  test("shows that it refuses all the same, and what a refusal costs", async () => {
    const { found, asked } = await filled({ left: 30, refuses: true });
    expect(asked).toEqual([53, 53, 53, 400]);
    expect(found).toEqual([
      [
        ...["refused", null, "not seen"],
        "call 7 asked for 400 points and was answered 429; what it charged cannot be told",
      ],
      [
        ...["refusedByUser", "charges-nothing", "certain"],
        "call 7 asked for 400 points and was answered 429 by the user's window; the organization's count moved by 0",
      ],
      [
        "retryAfter",
        false,
        "certain",
        "call 7 asked for 400 points and was answered 429, without Retry-After",
      ],
      [
        ...["userEnforced", "always", "certain"],
        "enforced is false, the user's window had nothing left, and call 7 was refused",
      ],
    ]);
  });

  test("tells nothing where a new window had begun, where the query failed, or where it was not executed", async () => {
    expect((await filled({ left: 30, refill: (left, query) => (query === 4 ? 500 : left) })).found).toEqual(
      [],
    );
    expect((await filled({ left: 30, status: (query) => (query === 4 ? 503 : 200) })).found).toEqual([]);
    expect((await filled({ left: 30, status: (query) => (query === 4 ? 400 : 200) })).found).toEqual([]);
  });
});

test("a full window that is enforced tells of refusals alone, and of nothing where it admits", async () => {
  const names = async (refuses: boolean) =>
    (await filled({ left: 30, enforced: true, refuses })).found.map(([name]) => name);
  expect(await names(true)).toEqual(["refused", "refusedByUser", "retryAfter"]);
  expect(await names(false)).toEqual([]);
});

describe("filling", () => {
  test.each<[string, Kept, number[]]>([
    ["ends with a query that leaves nothing, and with one that leaves less", { left: 25 }, times(3, 53)],
    ["of a window that is full takes one query", { left: 0 }, [53]],
    ["ends with a refusal", { left: 30, status: (query) => (query === 2 ? 429 : 200) }, times(2, 53)],
    ["goes on after a failure", { left: 20, status: (query) => (query === 1 ? 503 : 200) }, times(3, 53)],
    [
      "goes on where as much is left as before",
      { left: 20, refill: (left, query) => (query === 2 ? left + 10 : left) },
      times(3, 53),
    ],
  ])("%s", async (_name, kept, queries) => {
    expect((await filled(kept)).asked).toEqual([...queries, 400]);
  });

  test.each<[string, Kept, number[]]>([
    ["a new window begins", { left: 30, refill: (left, query) => (query === 2 ? 400 : left) }, times(2, 53)],
    ["the user's headers are gone", { left: 30, isHidden: true }, [53]],
  ])("is given up where %s", async (_name, kept, queries) => {
    expect(await filled(kept)).toMatchObject({ asked: queries, found: [] });
  });

  test("leaves a call where the window never is full, beside others'", async () => {
    const endless = (reserve: number) => filled({ left: 30, refill: () => 100 }, { calls: 1 + 20 }, reserve);
    expect([(await endless(0)).asked, (await endless(4)).asked]).toEqual([times(19, 53), times(15, 53)]);
  });

  // Three queries of 53 points, the trial of 400, and one call more.
  const points = 53 + 3 * 53 + 400;
  test.each<[string, object, number, number[]]>([
    ["what it needs", { calls: 1 + 5, points }, 0, [53, 53, 53, 400]],
    ["what it needs, and others' calls", { calls: 1 + 5 + 7, points }, 7, [53, 53, 53, 400]],
    ["a call less", { calls: 1 + 4, points }, 0, []],
    ["a call less than it needs beside others'", { calls: 1 + 4 + 7, points }, 7, []],
    ["a point less", { calls: 1 + 5, points: points - 1 }, 0, []],
  ])("takes an allowance of %s", async (_name, allowance, reserve, queries) => {
    expect((await filled({ left: 30 }, allowance, reserve)).asked).toEqual(queries);
  });

  // A query of builds asks for 533 points, 200 come back: three of them take the place of 120 small ones.
  const builds = [533, 533, 533, 400];
  const large = { left: 600, small: 5 };
  const pointsOf = (queries: number): number => 53 + queries * 533 + 400;
  test.each<[string, Kept, object, number, number[]]>([
    ["takes few calls", large, { calls: 2 + 5, points: pointsOf(1 + 3) }, 0, builds],
    ["takes as many as are left beside others'", large, { calls: 2 + 5 + 4 }, 4, builds],
    ["would take a call more than are left", large, { calls: 2 + 4 }, 0, [533]],
    ["would take a point more than are left", large, { points: pointsOf(1 + 3) - 1 }, 0, [533]],
    ["would take a call more by what it asks for", { ...large, left: 1067 }, { calls: 1 + 4 }, 0, []],
    ["could be measured, and no more", { ...large, left: 500 }, { calls: 1 + 4 }, 0, [533]],
    ["could not even be measured", { ...large, left: 500 }, { calls: 1 + 3 }, 0, []],
    ["costs nothing", { ...large, large: 0 }, {}, 0, [533]],
    ["fails", { ...large, status: (query) => (query === 1 ? 503 : 200) }, { calls: 20 }, 0, [533]],
  ])(
    "is by builds, where the known query takes too many calls: one that %s",
    async (_name, kept, allowance, reserve, queries) => {
      const made = await filled(kept, { calls: 20, ...allowance }, reserve);
      expect(made.asked).toEqual(queries);
    },
  );

  test("asks for no more than the largest page, and for one pipeline at least", async () => {
    const again = async (points: number) => {
      const { session } = scripted(
        (ask) => ({ graphql: { user: [500, 0], ...(ask.body && { actual: 1 }) } }),
        {
          points: 90_000,
        },
      );
      await session.status();
      await session.act({ ...ownPipelines("acme", 50), points });
      await probeFullWindow(session, 0);
      return session.calls[2]?.points;
    };
    expect([await again(3), await again(5), await again(503), await again(504)]).toEqual([4, 5, 503, 503]);
  });

  test("is by the last query that took points, whatever was called after it", async () => {
    const { session } = scripted(
      ({ body = "" }) => ({
        graphql: { user: [500, 5], ...(body !== "" && { actual: body.includes("nobody") ? 0 : 1 }) },
      }),
      { points: 90_000 },
    );
    await session.act(ownPipelines("acme", 50));
    await session.act(pointsOfNobody("acme", 7));
    await session.status();
    await probeFullWindow(session, 0);
    expect(session.calls[3]?.points).toBe(53);
  });
});
