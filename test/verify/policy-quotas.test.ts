// What the judge takes for granted of each quota of a policy, by its kind, charges and key, and by what answers show.
import { describe, expect, test } from "vitest";
import { parsePolicy } from "../../src/policy/parse.ts";
import type { PolicyInput } from "../../src/policy/schema.ts";
import type { QuotaCall, QuotaTraceHeader } from "../../src/trace/quota-record.ts";
import type { Count, CountGroup, Counts } from "../../src/verify/count.ts";
import type { Used } from "../../src/verify/policy-answers.ts";
import { termsOf } from "../../src/verify/policy-charges.ts";
import { PolicyQuotaJudge, PolicyQuotas } from "../../src/verify/policy-quotas.ts";
import type { QuotaName } from "../../src/verify/quota-name.ts";
import type { UnreadFacts } from "../../src/verify/unread-judges.ts";

const window = (more: object = {}) => ({ kind: "fixed-window", limit: 9, windowSeconds: 60, ...more });
const calendar = (unit: string) => ({
  kind: "fixed-window",
  limit: 9,
  anchor: { calendar: unit, zone: "Europe/Paris" },
});
interface Given {
  readonly quotas: Readonly<Record<string, object>>;
  readonly operations?: Readonly<Record<string, object>>;
  readonly readings?: readonly object[];
  readonly lost?: number;
}
const own = { algorithm: window(), key: ["user"] };

function headerOf({ quotas, operations, readings = [], lost = 0 }: Given): QuotaTraceHeader {
  const all = Object.fromEntries(Object.keys(quotas).map((quota) => [quota, 1]));
  const policy = parsePolicy({
    ...{ version: 2, name: "mine", quotas, operations: operations ?? { send: { uses: all } } },
    routes: [{ path: "/**", operation: Object.keys(operations ?? { send: 1 })[0] }],
    auth: { attributes: ["tenant", "user"] },
    wire: { revision: "1", readings, retryAfter: [] },
  } as unknown as PolicyInput);
  return { policy, lost } as QuotaTraceHeader;
}
const judgeOf = (name: string, given: Given): PolicyQuotaJudge => new PolicyQuotaJudge(headerOf(given), name);
const alone = (quota: object, more: Partial<Given> = {}): PolicyQuotaJudge =>
  judgeOf("one", { quotas: { one: { key: ["user"], ...quota } }, ...more });

const hour = 3_600_000;
const day = 24 * hour;

describe("windows", () => {
  test.each<[string, object, object | null, string | null]>([
    ["of the epoch", window(), { least: 60_000, most: 60_000 }, "epoch"],
    [
      "of a grid of their own",
      window({ anchor: { offsetMs: 4000 } }),
      { least: 60_000, most: 60_000 },
      "epoch",
    ],
    [
      "that open with a call",
      window({ anchor: "first-request" }),
      { least: 60_000, most: 60_000 },
      "first-request",
    ],
    ["of days", calendar("day"), { least: day - hour, most: day + hour }, null],
    ["of weeks", calendar("week"), { least: 7 * day - hour, most: 7 * day + hour }, null],
    ["of months", calendar("month"), { least: 28 * day - hour, most: 31 * day + hour }, null],
    ["of a bucket", { kind: "token-bucket", capacity: 5, refill: { amount: 1, everyMs: 1000 } }, null, null],
  ])("%s", (_name, algorithm, length, anchor) => {
    const judge = alone({ algorithm });
    expect([judge.length, judge.terms.anchor]).toEqual([length, anchor]);
  });

  test.each<[string, object, string | null]>([
    ["fixed windows", window(), null],
    [
      "token buckets",
      { kind: "token-bucket", capacity: 5, refill: { amount: 1, everyMs: 1000 } },
      "a token bucket's resets are not judged",
    ],
    [
      "sliding logs",
      { kind: "sliding-log", limit: 5, windowSeconds: 60 },
      "a sliding log's resets are not judged",
    ],
    [
      "sliding counters",
      { kind: "sliding-counter", limit: 5, windowSeconds: 60 },
      "a sliding counter's resets are not judged",
    ],
    ["calls at a time", { kind: "concurrency", limit: 5 }, "the number of calls at a time is not judged"],
  ])("counts of %s", (_name, algorithm, why) => {
    expect(alone({ algorithm }).notJudged).toBe(why);
  });
});

test("counts that are shown in multiples are not judged", () => {
  const row = (grain?: number) => ({
    quotas: ["one"],
    headers: { X: "{remaining}" },
    ...(grain && { grain }),
  });
  const why = (...grains: (number | undefined)[]): string | null =>
    alone(own, {
      readings: grains.map((grain, at) => ({ ...row(grain), headers: { [`X-${at}`]: "{remaining}" } })),
    }).notJudged;
  expect([why(), why(undefined), why(1), why(2)]).toEqual([
    null,
    null,
    null,
    "its counts are shown in multiples of 2, only what it lets through",
  ]);
  expect(why(undefined, 10)).toBe("its counts are shown in multiples of 10, only what it lets through");
});

test("resets tell an end where each that is shown does", () => {
  const row = (means: string, at: number) => ({
    ...{
      quotas: ["one"],
      headers: { [`X-${at}`]: "{reset}" },
      reset: { form: "delta-s", means, round: "ceil" },
    },
  });
  const tells = (...means: string[]): boolean => alone(own, { readings: means.map(row) }).tellsEnd;
  expect([tells(), tells("window-end"), tells("full"), tells("window-end", "full")]).toEqual([
    ...[true, true, true, true],
  ]);
  expect(tells("window-end", "next")).toBe(false);
});

test("charges tell when points are held and given back, and by whom refusals are paid", () => {
  const of = (charge: object) => {
    const { terms, givesBack } = alone({ ...own, charge });
    const { charging, refused, refusedByUser, userEnforced, remaining, reset } = terms;
    return [charging, givesBack, refused, refusedByUser, userEnforced, remaining, reset];
  };
  const usual = ["uncounted", "charges-nothing", "with-organization", "clamped", null];
  expect(of({})).toEqual(["reserved", false, ...usual]);
  expect(of({ when: "completion" })).toEqual(["postpaid", false, ...usual]);
  expect(of({ when: "reserve-settle" })).toEqual(["reserved", true, ...usual]);
  expect(of({ refused: "counted" })[2]).toBe("counted");
  expect(of({ refusedByOther: "charged" })[3]).toBe("charges-organization");
  expect(alone({ ...own, shown: { remaining: "signed" } }).terms.remaining).toBe("signed");
});

test.each<[relation: string, when: string, by: string | undefined, terms: readonly (string | null)[]]>([
  ["all-or-nothing", "admission", undefined, ["charges-nothing", "charges-nothing"]],
  ["all-or-nothing", "admission", "two", ["charges-nothing", "charges-nothing"]],
  ["each-alone", "admission", undefined, [null, null]],
  ["each-alone", "admission", "two", [null, "charges-nothing"]],
  ["first-refusal-stops", "admission", undefined, [null, null]],
  ["first-refusal-stops", "admission", "one", ["charges-nothing", "charges-nothing"]],
  ["first-refusal-stops", "admission", "two", ["charges-organization", "charges-nothing"]],
  ["first-refusal-stops", "reserve-settle", "two", ["charges-organization", "charges-nothing"]],
  ["first-refusal-stops", "completion", "two", ["charges-nothing", "charges-nothing"]],
  ["each-alone", "completion", undefined, ["charges-nothing", "charges-nothing"]],
])(
  "a refusal under %s, charged at %s, by %s, charges each of two as known: %j",
  (relation, when, by, terms) => {
    const quota = { ...own, charge: { when } };
    const given = {
      quotas: { one: quota, two: quota },
      operations: { send: { uses: { one: 1, two: 1 }, relation } },
    };
    const judges = ["one", "two"].map((name) => judgeOf(name, given));
    const used = judges.map((judge) => ({ judge }) as Used);
    const call = { operation: "send", ...(by !== undefined && { by }) } as QuotaCall;
    const of = (outcome: QuotaCall["outcome"]) =>
      judges.map((judge) => termsOf({ ...call, outcome }, judge, used).refusedByUser);
    expect(of("refused")).toEqual(terms);
    if (by === undefined) expect(of("admitted")).toEqual(["charges-nothing", "charges-nothing"]);
  },
);

test("lost calls cost what each call may", () => {
  const lost = (cost: number | string, count: number) =>
    alone(own, { operations: { send: { uses: { one: cost } } }, lost: count }).lost;
  expect([lost(1, 3), lost(0, 3), lost(2, 3), lost("declared", 3), lost("declared", 0)]).toEqual([
    ...[
      { calls: 3, points: 3 },
      { calls: 3, points: 3 },
      { calls: 3, points: Number.POSITIVE_INFINITY },
    ],
    ...[
      { calls: 3, points: Number.POSITIVE_INFINITY },
      { calls: 0, points: 0 },
    ],
  ]);
});

describe("of two quotas", () => {
  const broad = { algorithm: window(), key: ["tenant"] };
  const narrow = { algorithm: window(), key: ["tenant", "user"] };
  const owner = (quotas: Readonly<Record<string, object>>, operations?: Readonly<Record<string, object>>) =>
    judgeOf("narrow", { quotas, ...(operations && { operations }) }).owner;

  test("one decides beside a broader one, if each of its calls uses both, and neither pays for the other", () => {
    expect(owner({ broad, narrow })).toBe("user");
    expect(owner({ narrow })).toBe("organization");
    expect(owner({ broad: { ...broad, key: ["user"] }, narrow })).toBe("user");
    expect(owner({ broad: narrow, narrow })).toBe("organization");
    expect(owner({ broad: { ...broad, key: [] }, narrow: broad })).toBe("user");
    expect(owner({ broad, narrow: { ...narrow, charge: { refusedByOther: "charged" } } })).toBe(
      "organization",
    );
    const both = { narrow: 1, broad: 1 };
    expect(owner({ broad, narrow }, { send: { uses: both }, look: { uses: { narrow: 1 } } })).toBe(
      "organization",
    );
    expect(owner({ broad, narrow }, { send: { uses: both }, look: { uses: { broad: 1 } } })).toBe("user");
    expect(owner({ broad, narrow }, { send: { uses: both, relation: "each-alone" } })).toBe("organization");
    expect(judgeOf("broad", { quotas: { broad, narrow } }).owner).toBe("organization");
  });

  /** The name under which a count of ann's is judged. */
  function nameOf(quota: string, given: Given): QuotaName {
    let found: QuotaName | null = null;
    judgeOf(quota, given).of({ tenant: "acme", user: "ann" }, (_judge, _key, name) => {
      found = name;
      return {} as Count;
    });
    return found as unknown as QuotaName;
  }

  test("the narrowest has the caller's key, and no other of its calls has more", () => {
    const isNarrowest = (quota: string, given: Given): boolean => nameOf(quota, given).isNarrowest;
    expect([
      isNarrowest("narrow", { quotas: { broad, narrow } }),
      isNarrowest("broad", { quotas: { broad, narrow } }),
    ]).toEqual([...[true, false]]);
    const apart = { send: { uses: { narrow: 1 } }, look: { uses: { broad: 1 } } };
    expect(isNarrowest("broad", { quotas: { broad, narrow }, operations: apart })).toBe(true);
    expect(isNarrowest("all", { quotas: { all: { algorithm: window() } } })).toBe(false);
  });

  test("calls of others may be taken for its own where some use it not, or for nothing", () => {
    const isMixable = (operations: Readonly<Record<string, object>>): boolean =>
      nameOf("narrow", { quotas: { broad, narrow }, operations }).isMixable;
    expect(isMixable({ send: { uses: { narrow: 1, broad: 1 } } })).toBe(false);
    expect(isMixable({ send: { uses: { narrow: 1 } }, look: { uses: { broad: 1 } } })).toBe(true);
    expect(isMixable({ send: { uses: { narrow: 1 } }, look: { uses: { narrow: 0 } } })).toBe(true);
  });

  test("a count is named by its quota, its key and its unit, and made once", () => {
    const quotas = { narrow: { ...narrow, unit: "points" } };
    expect(nameOf("narrow", { quotas })).toEqual({
      told: { quota: "narrow", key: { tenant: "acme", user: "ann" } },
      ...{ scope: "rest", owner: "organization", isNarrowest: true, isMixable: false, unit: "point" },
    });
    expect(nameOf("narrow", { quotas, operations: { send: { uses: { narrow: 5 } } } }).scope).toBe("graphql");
    const judge = judgeOf("narrow", { quotas });
    const incomplete: string[] = [];
    const count = (tenant: string, user: string): Count | null =>
      judge.of({ tenant, user, other: "x" }, (_judge, key) => ({
        ...({ key } as unknown as Count),
        unread: [
          { addUnknown: (points: number) => void incomplete.push(`${points} more`) },
        ] as unknown as Count["unread"],
        quota: { becomeIncomplete: () => void incomplete.push(key["user"] ?? "") } as unknown as NonNullable<
          Count["quota"]
        >,
      }));
    expect(count("a", "b")).toBe(count("a", "b"));
    // Two keys whose values run into each other are two.
    expect(count("a1", "b")).not.toBe(count("a", "1b"));
    expect([judge.counts.size, judge.isAnonymous]).toEqual([3, false]);
    for (let time = 0; time < 2; time++) expect(judge.of({ tenant: "a" }, () => ({}) as Count)).toBeNull();
    expect([judge.isAnonymous, incomplete]).toEqual([
      ...[true, ["b", "b", "1b"].flatMap((name) => [name, "Infinity more"])],
    ]);
  });
});

describe("a count that is made", () => {
  type Made = readonly [group: CountGroup, name: QuotaName, ...facts: readonly unknown[]];
  /** What the counts of ann's quota are made with. @param callers callers before her */
  function made(given: Given, quota = "one", callers: readonly Readonly<Record<string, string>>[] = []) {
    const all: (readonly [how: string, ...Made])[] = [];
    const count =
      (how: string) =>
      (...facts: Made) => {
        all.push([how, ...facts]);
        return { group: facts[0], quota: null, unread: [] } as unknown as Count;
      };
    const counts = { group: (group: unknown) => group, judged: count("judged"), unjudged: count("unjudged") };
    const quotas = new PolicyQuotas(headerOf(given), counts as unknown as Counts);
    const judge = quotas.all.get(quota) as PolicyQuotaJudge;
    for (const caller of [...callers, { tenant: "acme", user: "ann" }]) quotas.count(judge, caller);
    const [how, group, name, ...facts] = all.at(-1) as (typeof all)[number];
    return {
      how,
      facts,
      told: name.told,
      grid: group.grid !== null,
      on: group.enforcement.throughout(0, 9),
      all,
    };
  }
  const of = (quota: object, more: Partial<Given> = {}) =>
    made({ quotas: { one: { key: ["user"], ...quota } }, ...more });

  test("of fixed windows is judged by them, and holds all calls while no key was unknown", () => {
    expect(of({ algorithm: window() })).toMatchObject({
      ...{ how: "judged", told: { quota: "one", key: { user: "ann" } }, grid: true, on: true },
      facts: [{ limit: 9, least: 60_000, most: 60_000, grid: "epoch" }, true],
    });
    const anonymous = made({ quotas: { one: { key: ["user"], algorithm: window() } } }, "one", [
      { tenant: "acme" },
    ]);
    expect(anonymous.facts[1]).toBe(false);
    const opens = of({ algorithm: window({ anchor: "first-request" }) });
    expect([opens.grid, opens.facts[0]]).toEqual([false, expect.objectContaining({ grid: null })]);
    const offset = of({ algorithm: window({ anchor: { offsetMs: 4000 } }) });
    expect([offset.grid, offset.facts[0]]).toEqual([
      true,
      expect.objectContaining({ grid: '{"offsetMs":4000}' }),
    ]);
    expect(of({ algorithm: calendar("day") }).facts[0]).toMatchObject({ grid: null, least: day - hour });
  });

  test("of windows whose ends are not told lies on no grid", () => {
    const row = {
      quotas: ["one"],
      headers: { X: "{reset}" },
      reset: { form: "delta-s", means: "next", round: "ceil" },
    };
    expect(of({ algorithm: window() }, { readings: [row] }).grid).toBe(false);
  });

  test("of windows that are shown in multiples is not judged", () => {
    const { how, facts } = of(
      { algorithm: window() },
      { readings: [{ quotas: ["one"], headers: { X: "{remaining}" }, grain: 5 }] },
    );
    expect([how, facts[0], facts[1]]).toEqual(["unjudged", 9, 60_000]);
    expect(facts[2]).toMatchObject({ lengthMs: 60_000, isTold: true, isExact: false });
  });

  test("of a bucket is told if each call is known and refusals cost nothing, and exact if shown in single units", () => {
    const bucket = { algorithm: { kind: "token-bucket", capacity: 5, refill: { amount: 1, everyMs: 1000 } } };
    const factsOf = ({ facts: [, , unread] }: ReturnType<typeof made>): unknown => {
      const { isTold, isExact } = unread as UnreadFacts;
      return { isTold, isExact };
    };
    const told = of(bucket);
    expect([told.how, told.facts[0], told.facts[1], factsOf(told)]).toEqual([
      "unjudged",
      5,
      null,
      { isTold: true, isExact: true },
    ]);
    const untold = { isTold: false, isExact: true };
    expect(factsOf(of(bucket, { lost: 1 }))).toEqual(untold);
    expect(factsOf(of({ ...bucket, charge: { refused: "counted" } }))).toEqual(untold);
    expect(factsOf(of({ ...bucket, charge: { refusedByOther: "charged" } }))).toEqual(untold);
    const anonymous = made({ quotas: { one: { key: ["user"], ...bucket } } }, "one", [{ tenant: "acme" }]);
    expect(factsOf(anonymous)).toEqual(untold);
    const readings = [
      { quotas: ["one"], headers: { X: "{remaining}" } },
      { quotas: ["one"], headers: { Y: "{remaining}" }, grain: 5 },
    ];
    expect(factsOf(of(bucket, { readings }))).toEqual({ isTold: true, isExact: false });
  });

  test("is not known to be enforced where refused calls are charged to it before it is asked", () => {
    const [paying, other] = [{ ...own, charge: { refusedByOther: "charged" } }, own];
    const on = (quotas: Readonly<Record<string, object>>, operations?: Given["operations"]) =>
      made({ quotas, ...(operations && { operations }) }, "paying").on;
    expect([on({ other, paying }), on({ paying, other }), on({ paying })]).toEqual([null, true, true]);
    expect(on({ other: { ...own, enforced: false }, paying })).toBe(true);
    expect(on({ other, paying: own })).toBe(true);
    const uses = { other: 1, paying: 1 };
    expect(on({ other, paying }, { send: { uses, relation: "first-refusal-stops" } })).toBe(true);
    const apart = { send: { uses: { other: 1 } }, look: { uses: { paying: 1 } } };
    expect(on({ other, paying }, apart)).toBe(true);
  });

  test("is enforced as the policy says, unless any unit left is enough", () => {
    const on = (enforced: unknown, charge: object = {}) => of({ algorithm: window(), enforced, charge }).on;
    expect([on(true), on(false), on("unknown")]).toEqual([true, false, null]);
    expect([on(true, { fits: "any-left" }), on(true, { fits: "any-left", when: "completion" })]).toEqual([
      null,
      true,
    ]);
  });

  test("is not known to be enforced with another where any unit left is enough", () => {
    const one = { ...own, enforced: { with: "other" }, charge: { fits: "any-left" } };
    expect(made({ quotas: { other: own, one } }).on).toBeNull();
  });

  test("is enforced with another of the same caller", () => {
    const other = { algorithm: window(), key: ["tenant"], enforced: false };
    const one = { algorithm: window(), key: ["tenant", "user"], enforced: { with: "other" } };
    const { all, on } = made({ quotas: { other, one } });
    expect([on, all.map(([, , { told }]) => "quota" in told && told.quota)]).toEqual([
      false,
      ["other", "one"],
    ]);
  });
});
