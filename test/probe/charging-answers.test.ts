// GraphQL's charges, from answers that are set: which queries are made, and which of their charges tell something.
import { describe, expect, test } from "vitest";
import { probeCharging } from "../../src/probe/charging.ts";
import type { FindingName } from "../../src/probe/finding.ts";
import { graphqlGet, pointsMost } from "../../src/probe/queries.ts";
import { type Answers, isStatus, refusal, type Shown, type ShownGraphql, scripted } from "./scripted.ts";

type Pair = readonly [organization: number, user: number];

interface Kept {
  readonly limits: Pair;
  readonly left?: Pair;
  /** Points that come back of those that a query of the own asks for. Default: as many. */
  readonly comes?: (points: number) => number;
  /** Points that a query is charged. Default: what comes back. */
  readonly takes?: (points: number, comes: number, query: number) => number;
  /** Points that others take of the organization meanwhile. */
  readonly others?: number;
  readonly enforced?: boolean;
  /** Units by which both limits grow with each answer: a window whose limit changed tells no growth. */
  readonly grows?: Pair;
  readonly readings?: number;
  /** What else an answer to a query shows. */
  readonly shows?: (shown: Shown, query: number, points: number) => Shown;
}

/** Probes a target whose windows were read before: six readings show that nobody else calls. */
async function probed(
  {
    limits,
    left = limits,
    comes = (points) => points,
    takes = (_, back) => back,
    others = 0,
    enforced = true,
    grows = [0, 0],
    readings = 6,
    shows = (shown) => shown,
  }: Kept,
  allowance: object = {},
) {
  let [organization, user] = left;
  let [query, spent] = [0, 0];
  const graphql = (number: number): ShownGraphql => {
    const [more, users] = grows.map((units) => units * number) as unknown as Pair;
    return {
      organization: [limits[0] + more, organization + more],
      user: [limits[1] + users, Math.max(0, user)],
      enforced,
    };
  };
  const answers: Answers = (ask, number) => {
    if (isStatus(ask) || ask.method === "GET") return { graphql: graphql(number) };
    query += 1;
    const points = made.session.used.points - spent;
    spent += points;
    const actual = ask.body?.includes("nobody") ? 0 : comes(points);
    const taken = takes(points, actual, query);
    organization -= taken + others;
    user -= taken;
    return shows({ graphql: { ...graphql(number), actual } }, query, points);
  };
  const made = scripted(answers, { points: 200_000, ...allowance });
  for (let reading = 0; reading < readings; reading++) await made.session.status();
  await made.session.act(graphqlGet);
  const findings = await probeCharging(made.session);
  const said = (name: FindingName) => {
    const found = findings.find((one) => one.name === name);
    return (
      found && [
        found.value,
        found.confidence,
        found.evidence.replace(/call \d+ at [\d:.]+ /g, ""),
        found.needs,
      ]
    );
  };
  const asked = made.session.calls.flatMap(({ points }) => points ?? []);
  return { asked, said, doing: made.said.map(({ doing }) => doing) };
}

/** Answers queries of more points than a limit by a refusal that names a window, or none. */
const refusedBy =
  (by: "graphql" | "graphql_user" | null, limit = 600) =>
  (shown: Shown, _query: number, points: number): Shown => {
    if (points <= limit) return shown;
    const { actual, ...graphql } = shown.graphql ?? {};
    return { ...shown, graphql, status: 429, body: by === null ? {} : { ...refusal("rest"), scope: by } };
  };

describe("queries that ask for more than comes back", () => {
  test.each<[organization: number, user: number, asked: number[]]>([
    [900, 900, [53, 53]],
    [54, 900, [53, 53]],
    [900, 52, [52, 52]],
    [30, 40, [30, 30]],
    [900, 4, [4, 4]],
    [3, 900, [3]],
    [1, 1, [1]],
    [0, 900, []],
    [900, -1, []],
  ])(
    "of %d left of the organization's and %d of the user's ask for those",
    async (...[organization, user, asked]) => {
      const made = await probed({ limits: [1000, 1000], left: [organization, user], takes: () => 0 });
      expect(made.asked).toEqual([...asked, 1001]);
    },
  );

  test.each<[string, Pair, number]>([
    ["both limits change", [1, 1], 4],
    ["the organization's changes", [1, 0], 1],
    ["the user's changes", [0, 1], 1],
  ])("are made until the counts around one tell something: %s", async (_, grows, times) => {
    const { asked, doing } = await probed({ limits: [1000, 900], takes: () => 20, grows });
    expect(asked.filter((points) => points === 53)).toHaveLength(2 * times);
    expect(asked).toHaveLength(3 * times);
    expect(doing.slice(0, times)).toEqual(new Array(times).fill("query of 53 points"));
  });

  const back = () => 13;
  const unasked = ({ graphql: { actual, ...graphql } = {}, ...shown }: Shown): Shown => ({
    ...shown,
    graphql,
  });
  test.each<[string, Partial<Kept>, object | null]>([
    ["what comes back", {}, { requested: 53, actual: 13, charged: 13 }],
    ["what is asked for", { takes: (points) => points }, { requested: 53, actual: 13, charged: 53 }],
    [
      "what is asked for, all of which comes back at first",
      { comes: (points) => points, takes: (points) => points },
      { requested: 53, actual: 0, charged: 53 },
    ],
    ["neither", { takes: () => 20 }, null],
    [
      "less than is asked for, of an unknown number",
      { shows: unasked },
      { requested: 53, actual: null, charged: 13 },
    ],
    [
      "all of an unknown number",
      { shows: unasked, takes: (points) => points },
      { requested: 53, actual: null, charged: 53 },
    ],
    ["more than is asked for, of an unknown number", { shows: unasked, takes: (points) => points + 1 }, null],
    ["a refusal", { shows: refusedBy("graphql_user", 0), takes: (points) => points }, null],
    ["no execution", { comes: () => 0, shows: (shown) => ({ ...shown, body: { errors: [] } }) }, null],
    [
      "the user alone, where others call",
      { takes: (points) => points, others: 2 },
      { requested: 53, actual: 13, charged: 53 },
    ],
    [
      "what fills the user's window",
      { takes: (points) => points, left: [1000, 40] },
      { requested: 40, actual: 13, charged: 40 },
    ],
    [
      "what fills the user's window while others call",
      { takes: (points) => points, left: [1000, 40], others: 2 },
      null,
    ],
    ["the same twice, where others may call", { readings: 1 }, { requested: 53, actual: 13, charged: 13 }],
    [
      "another charge at second, where others may call",
      { readings: 1, takes: (points, came, query) => (query % 2 > 0 ? came : points) },
      null,
    ],
  ])("that are charged %s tell it", async (_, kept, cost) => {
    expect((await probed({ limits: [1000, 600], comes: back, ...kept })).said("graphqlCost")?.[0]).toEqual(
      cost,
    );
  });

  test("are two where others may call, and one where nobody does", async () => {
    const reserved = { limits: [1000, 600], comes: back, shows: refusedBy("graphql_user") } as const;
    expect((await probed(reserved)).asked).toEqual([53, 601, 1001]);
    expect((await probed({ ...reserved, readings: 1 })).asked.slice(0, 3)).toEqual([53, 53, 601]);
  });
});

describe("a query above the limit", () => {
  test.each<[string, Pair, object, number[], string, string]>([
    [
      "one query",
      [90_000, pointsMost],
      {},
      [],
      `both limits are above the ${pointsMost} points that one query may ask for`,
      "a smaller limit",
    ],
    [
      "the allowance",
      [1000, 600],
      { points: 653 },
      [],
      "no query that asks for more than the limit was made",
      "--points 654 or more, a larger --budget",
    ],
    ["nothing", [90_000, pointsMost - 1], {}, [pointsMost], "", ""],
  ])("is bounded by %s", async (_, limits, allowance, over, why, needs) => {
    const { asked, said } = await probed({ limits, comes: () => 13 }, allowance);
    expect(asked).toEqual([53, ...over]);
    if (over.length === 0) expect(said("refused")).toEqual([null, "not seen", why, needs]);
  });

  test.each<[string, Partial<Shown>]>([
    ["not found", { status: 404 }],
    ["not executed", { body: { errors: [] }, graphql: { actual: 0 } }],
  ])("that is %s tells nothing", async (_, more) => {
    const shows: Kept["shows"] = (shown, __, points) =>
      points > 600 ? { ...shown, ...more, graphql: { ...shown.graphql, ...more.graphql } } : shown;
    const { said } = await probed({ limits: [1000, 600], comes: () => 13, shows });
    expect(said("refused")?.[2]).toBe("no query that asks for more than the limit was made");
  });

  test.each<[string, Partial<Kept>, string | null]>([
    ["two points left", { left: [1000, 28] }, "reserved"],
    ["one point left", { left: [1000, 27] }, "reserved"],
    ["nothing left", { left: [1000, 26] }, null],
    [
      "no window of the user",
      {
        left: [1000, 28],
        shows: (...shown) => ({
          ...refusedBy("graphql_user")(...shown),
          graphql: { organization: [1000, 974], ...(shown[2] <= 600 && shown[0].graphql) },
        }),
      },
      null,
    ],
    ["no name of its window", { left: [1000, 28], shows: refusedBy(null) }, null],
  ])(
    "is refused by what is reserved, though others may call, if its refusal shows %s",
    async (_, kept, value) => {
      const shows = refusedBy("graphql_user");
      const { said } = await probed({ limits: [1000, 600], comes: () => 13, readings: 1, shows, ...kept });
      expect(said("graphqlCharge")?.[0]).toBe(value);
    },
  );

  const prepaid = (points: number) => points;
  test.each<[string, Partial<Kept>, string | undefined]>([
    [
      "admitted",
      { left: [1000, 100] },
      "was charged 601 points where 47 were left of the user's, and showed remaining 0",
    ],
    [
      "admitted, where only what comes back is charged",
      { left: [1000, 100], takes: (points, came) => (points > 600 ? 60 : came), comes: () => 13 },
      undefined,
    ],
    [
      "admitted, with something left",
      { left: [1000, 100], takes: (points) => (points > 600 ? 20 : points) },
      undefined,
    ],
    ["admitted, with nothing left before", { left: [1000, 40] }, undefined],
    ["admitted, with as much left as it takes", { limits: [500, 700], left: [500, 554] }, undefined],
    [
      "refused by the organization",
      { left: [1000, 100], enforced: true, shows: refusedBy("graphql") },
      undefined,
    ],
    [
      "refused by the user",
      { left: [1000, 100], enforced: true, shows: refusedBy("graphql_user") },
      "was charged 601 points where 47 were left of the user's, and showed remaining 0",
    ],
    [
      "refused by the user, where others may call",
      { left: [1000, 200], readings: 1, enforced: true, shows: refusedBy("graphql_user") },
      undefined,
    ],
  ])("shows whether remaining stops at 0 if it is %s", async (_, kept, evidence) => {
    const { said } = await probed({
      limits: [1000, 600],
      comes: () => 13,
      takes: prepaid,
      enforced: false,
      ...kept,
    });
    expect(said("remaining")?.[2]).toBe(evidence);
  });
});

test.each(["graphql", null] as const)(
  "a query above the user's limit, in a scope that is not enforced, is refused by another's window or none: %s",
  async (by) => {
    const { said } = await probed({ limits: [1000, 600], enforced: false, shows: refusedBy(by) });
    expect(said("userEnforced")?.slice(0, 3)).toEqual([
      null,
      "not seen",
      "enforced is false, and asked for 601 points, above the user's limit: refused, but not by the user's window",
    ]);
  },
);

describe("a query above both limits", () => {
  const refused = {
    comes: () => 13,
    takes: (_: number, came: number, query: number) => (query > 1 ? 0 : came),
  };
  test("is the one above a limit, where both are alike; it tells nothing if it names no window", async () => {
    const alike = { ...refused, limits: [600, 600] } as const;
    const named = await probed({ ...alike, shows: refusedBy("graphql") });
    expect([named.asked, named.said("firstRefuser")?.slice(0, 2)]).toEqual([
      [53, 601],
      ["organization", "certain"],
    ]);
    const unnamed = await probed({ ...alike, shows: refusedBy(null) });
    expect(unnamed.said("firstRefuser")?.slice(0, 2)).toEqual([null, "not seen"]);
  });

  test("is made if one query and the allowance have room for it", async () => {
    const of = (organization: number, allowance: object = {}) =>
      probed({ ...refused, limits: [organization, 600], shows: refusedBy("graphql_user") }, allowance);
    expect((await of(pointsMost - 1)).asked).toEqual([53, 601, pointsMost]);
    expect((await of(pointsMost)).said("firstRefuser")?.slice(2)).toEqual([
      `the larger limit is above the ${pointsMost} points of one query`,
      "a smaller limit",
    ]);
    expect((await of(1000, { points: 53 + 601 + 1000 })).said("firstRefuser")?.slice(2)).toEqual([
      "no query above both limits was made",
      "--points 1655 or more",
    ]);
  });
});
