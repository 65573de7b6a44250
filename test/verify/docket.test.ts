// The judge's book: what becomes of accusations, questions and evidence, and which fault is named first.
import { describe, expect, test } from "vitest";
import type { LawName } from "../../src/rules/laws.ts";
import type { Accusation } from "../../src/verify/accusation.ts";
import { AmountsTally } from "../../src/verify/amounts.ts";
import { claimedVerdict } from "../../src/verify/claims.ts";
import type { Span } from "../../src/verify/clock.ts";
import { Docket, type DocketOptions, type VerdictFacts } from "../../src/verify/docket.ts";
import type { Hypothesis } from "../../src/verify/hypotheses.ts";
import type { Mark } from "../../src/verify/mark.ts";
import { rulesQuota } from "../../src/verify/quota-name.ts";
import type { QuotaSetting } from "../../src/verify/quota-setting.ts";
import type { Suspect } from "../../src/verify/suspects.ts";
import type { Window } from "../../src/verify/window.ts";
import {
  accuseConflict,
  accuseMixedLimits,
  accuseMovingEnd,
  windowOf,
} from "../../src/verify/window-accusations.ts";
import { noteClues } from "../../src/verify/window-clues.ts";
import type { CountsResult } from "../../src/verify/window-counts.ts";
import { markOf, time } from "./marks.ts";

const docketOf = (changes: Partial<DocketOptions> = {}): Docket =>
  new Docket({ amounts: new AmountsTally(), violationsMost: 100, accept: null, ...changes });
const verdictOf = (docket: Docket, changes: Partial<VerdictFacts> = {}) =>
  docket.verdict({ records: 9, windows: 3, voidReason: () => null, inferred: null, ...changes });

/** An accusation of ann's window that ends at an instant, or of none. */
const accusation = (
  endsAt: number | null,
  suspects: readonly Suspect[],
  changes: object = {},
): Accusation => ({
  law: "conserved",
  breach: "gap",
  suspects,
  org: "acme",
  user: "ann",
  scope: "rest",
  window: endsAt === null ? null : { opensAt: endsAt - 60, endsAt },
  lines: [2, 3],
  explanation: "it is wrong",
  ...changes,
});
const accused = (...accusations: Accusation[]) => {
  const docket = docketOf();
  for (const each of accusations) docket.accuse(each);
  return verdictOf(docket).violations;
};

describe("accusations", () => {
  test("of one breach of one window are one violation, as often as they were made", () => {
    const found = accused(
      accusation(60, ["one-extra"]),
      accusation(60, ["one-extra"], { count: 4 }),
      accusation(120, ["one-extra"]),
      accusation(60, ["one-extra"], { breach: "fall" }),
      accusation(60, ["one-extra"], { law: "monotone" }),
      accusation(60, ["one-extra"], { user: null }),
    );
    expect(found.map(({ count }) => count)).toEqual([5, 1, 1, 1, 1]);
    expect(found[0]).toEqual({
      law: "conserved",
      suspects: ["one-extra"],
      org: "acme",
      user: "ann",
      scope: "rest",
      window: { opensAt: 0, endsAt: 60 },
      count: 5,
      lines: [2, 3],
      explanation: "it is wrong",
    });
  });

  test("beyond the most that are kept are counted, and their laws are broken all the same", () => {
    const docket = docketOf({ violationsMost: 2 });
    for (const endsAt of [60, 120, 180, 240])
      docket.accuse(accusation(endsAt, [], { law: endsAt === 240 ? "bounded" : "conserved" }));
    docket.accuse(accusation(60, []));
    const { violations, violationsFound, laws, verdict } = verdictOf(docket);
    expect([violations.length, violationsFound, laws.bounded, verdict]).toEqual([
      2,
      4,
      "violated",
      "violated",
    ]);
    expect("violationsFound" in verdictOf(docketOf())).toBe(false);
  });

  test("of refusals that show room are amounts, too", () => {
    const docket = docketOf();
    docket.accuse(accusation(null, [], { breach: "needless", count: 3 }));
    docket.accuse(accusation(null, [], { breach: "other", count: 5 }));
    expect(verdictOf(docket).amounts?.wronglyRefused).toBe(3);
  });
});

describe("an owner's acceptance", () => {
  const accepted = (tooLow: string | null, windows = 0, ...beyond: (string | null)[]) => {
    const docket = docketOf({ violationsMost: 1, accept: { overAdmission: 0.1 } });
    for (let at = 0; at < windows; at++) docket.keeps();
    for (const [at, each] of [tooLow, ...beyond].entries())
      docket.accuse(accusation(60 * (at + 1), [], { tooLow: each }));
    const { violations, accepted: told, laws, violationsFound } = verdictOf(docket);
    return [violations.length, told?.length, laws.conserved, violationsFound];
  };
  const setAside = [0, 1, { skipped: "what broke it was accepted" }, undefined];
  test.each([
    ["of counts that came out too low", accepted("charges"), setAside],
    ["not of others", accepted(null), [1, undefined, "violated", undefined]],
    ["of more of them than are kept", accepted("charges", 0, "charges"), setAside],
    ["not where others are not kept", accepted("charges", 0, null), [1, undefined, "violated", 2]],
    ["of ten windows with findings", accepted("charges", 10), setAside],
    ["not of more, which are not kept", accepted("charges", 11), [1, undefined, "violated", undefined]],
  ])("sets aside what it is of: %s", (_name, found, expected) => {
    expect(found).toEqual(expected);
  });
});

test("a law whose violations are not kept is broken all the same, also where it alone is claimed", () => {
  const verdicts = [0, 1].map((violationsMost) => {
    const docket = docketOf({ violationsMost });
    docket.accuse(accusation(60, ["one-extra"]));
    docket.accuse(accusation(60, ["one-extra"], { law: "monotone" }));
    return verdictOf(docket);
  });
  expect(verdicts.map(({ verdict, violations }) => [verdict, violations.length])).toEqual([
    ["violated", 0],
    ["violated", 1],
  ]);
  const claimed = (claims: LawName[]) => verdicts.map((each) => claimedVerdict(each, claims).verdict);
  expect(claimed(["monotone"])).toEqual(["violated", "violated"]);
  expect(claimed(["recovers"])).toEqual(["unknown", "unknown"]);
});

describe("the fault that is named first", () => {
  const first = (...accusations: Accusation[]) => accused(...accusations).map(({ suspects }) => suspects);
  const [a, b, c] = ["one-extra", "cost-ignored", "stale-replica-read"] as const;

  test("of one violation is its likeliest", () => {
    expect(first(accusation(60, [a, b, c]))).toEqual([[a, b, c]]);
  });

  test("is the one that most kinds of violation fit, and those that it fits come first", () => {
    const found = first(
      accusation(60, [a, b]),
      accusation(60, [b], { breach: "fall" }),
      accusation(60, [b], { breach: "short" }),
    );
    expect(found).toEqual([[b, a], [b], [b]]);
  });

  test("has one vote of each kind, however many windows show it", () => {
    const many = [60, 120, 180].map((endsAt) => accusation(endsAt, [a]));
    const found = first(
      ...many,
      accusation(60, [b], { breach: "fall" }),
      accusation(60, [b], { breach: "short" }),
    );
    expect(found).toEqual([[b], [b], [a], [a], [a]]);
  });

  test("has two votes where one answer shows it by itself", () => {
    const alone = accusation(null, [b], { lines: [2], breach: "fall" });
    expect(first(accusation(60, [a]), alone)).toEqual([[b], [a]]);
    const rivals = [accusation(60, [a]), accusation(60, [a], { breach: "short" })];
    expect(first(...rivals, alone)[0]).toEqual([a]);
    expect(first(accusation(60, [a]), { ...alone, lines: [2, 3] })).toEqual([[a], [b]]);
    expect(first(accusation(60, [a]), { ...alone, window: { opensAt: 0, endsAt: 60 } })).toEqual([[a], [b]]);
  });

  test("counts for less where another one's name is nearer", () => {
    // Half a vote for the second, a third for the third.
    expect(first(accusation(60, [a, b, c]), accusation(60, [c], { breach: "fall" }))).toEqual([
      [c],
      [a, c, b],
    ]);
  });

  test("is weighed by what the whole trace says of it", () => {
    const docket = docketOf();
    docket.accuse(accusation(60, [a, b]));
    docket.clues.ruledOut.add(a);
    expect(verdictOf(docket).violations[0]?.suspects).toEqual([b, a]);
  });

  test("of organizations and users is voted on apart", () => {
    const user = accusation(60, [a]);
    expect(first(user, accusation(120, [a]), accusation(60, [b], { user: null }))).toEqual([[a], [a], [b]]);
  });
});

describe("pictures and windows are kept up to a number", () => {
  test("ten windows with findings for each violation that is kept", () => {
    const docket = docketOf({ violationsMost: 3 });
    expect(Array.from({ length: 32 }, () => docket.keeps()).lastIndexOf(true)).toBe(29);
  });

  test("500 pictures are taken, and 50 shown", () => {
    const docket = docketOf();
    expect(Array.from({ length: 502 }, () => docket.takesPicture).lastIndexOf(true)).toBe(499);
    const places = { limit: 10, answers: [] };
    for (let at = 0; at < 60; at++) docket.accuse(accusation(60 * (at + 1), [], { places }));
    expect(verdictOf(docket).violations.filter((each) => "places" in each)).toHaveLength(50);
    expect(verdictOf(docket).violations[49]).toMatchObject({ places });
    expect(verdictOf(docket).violations[50]).not.toHaveProperty("places");
  });
});

test("a window was judged by bounds where any hypothesis was, with the readings that all of them pin", () => {
  const docket = docketOf();
  docket.tallyMethods(
    [
      { method: "places", pinned: 4 },
      { method: "places", pinned: 3 },
    ],
    9,
  );
  docket.tallyMethods(
    [
      { method: "places", pinned: 5 },
      { method: "bounds", pinned: 6 },
    ],
    8,
  );
  docket.tallyMethods([], 2);
  docket.tallyMethod("bounds", 1, 3);
  expect(verdictOf(docket).methods).toEqual({ places: 2, bounds: 2, readings: 22, pinned: 3 + 5 + 2 + 1 });
});

describe("laws", () => {
  const lawsOf = (docket: Docket, changes: Partial<VerdictFacts> = {}) => verdictOf(docket, changes).laws;
  const skipped = (reason: string) => ({ skipped: expect.stringContaining(reason) });

  test("are held where they were tested, by anything; else skipped, each with a reason", () => {
    const docket = docketOf();
    docket.evidence.bounded.windows = 1;
    docket.evidence.monotone.readings = 1;
    docket.evidence.recovers.resets = 1;
    docket.evidence.isolated.refusals = 1;
    const { laws, verdict } = verdictOf(docket);
    for (const law of ["bounded", "monotone", "recovers", "isolated"] as const)
      expect(laws[law]).toBe("held");
    expect([laws.conserved, verdict]).toEqual([skipped("no window showed two counts"), "ok"]);
    const other = Object.entries(laws).filter(([, one]) => typeof one === "object");
    expect(new Set(other.map(([law]) => law)).size).toBe(Object.keys(laws).length - 4);
  });

  test("are unknown where nothing was tested, and void where rules say so, but not where they are broken", () => {
    expect(verdictOf(docketOf()).verdict).toBe("unknown");
    const docket = docketOf();
    docket.evidence.bounded.windows = 1;
    docket.accuse(accusation(60, []));
    const laws = lawsOf(docket, {
      voidReason: (law: LawName) => (law === "bounded" || law === "conserved" ? "it is void" : null),
    });
    expect([laws.bounded, laws.conserved]).toEqual([{ skipped: "it is void" }, "violated"]);
  });

  test("whose breach is accused as another are skipped, and say so", () => {
    const tested = docketOf();
    for (const law of ["status-free", "all-or-nothing", "isolated", "monotone"] as const)
      tested.evidence[law].windows = 1;
    tested.accuse(accusation(60, []));
    const laws = lawsOf(tested);
    for (const law of ["status-free", "all-or-nothing", "isolated"] as const)
      expect(laws[law]).toEqual(skipped("accused as conserved"));
    expect(laws.monotone).toBe("held");
    const early = docketOf();
    early.evidence["status-free"].windows = 1;
    early.evidence.isolated.windows = 1;
    early.accuse(accusation(null, [], { law: "reset-agrees", breach: "opened early" }));
    expect([lawsOf(early)["status-free"], lawsOf(early).isolated]).toEqual([
      skipped("accused as reset-agrees"),
      "held",
    ]);
  });
});

test("a question is asked once for each scope and each kind", () => {
  const docket = docketOf();
  const question = {
    scope: "rest" as const,
    question: "Is that meant?",
    suspects: ["one-extra" as const],
    lines: [2],
  };
  for (const each of [
    question,
    { ...question, lines: [9] },
    { ...question, scope: "graphql" as const },
    { ...question, suspects: [] },
  ])
    docket.ask(each);
  expect(
    verdictOf(docket).questions?.map((each) => ["scope" in each && each.scope, each.suspects, each.lines]),
  ).toEqual([
    ["rest", ["one-extra"], [2]],
    ["graphql", ["one-extra"], [2]],
    ["rest", [], [2]],
  ]);
});

describe("clues of a window whose counts are off", () => {
  const call = (count: number, given: Partial<Mark> = {}): Mark => markOf({ count, ...given });
  const refusal = (count: number, given: Partial<Mark> = {}): Mark =>
    call(count, { role: "refused", refusedBy: "user", ...given });
  const name = rulesQuota("acme", "ann", "graphql");
  /** Weights of faults after a window with marks and breaches. */
  function weights(marks: readonly Mark[], breaches: readonly string[], ...faults: Suspect[]): number[] {
    const docket = docketOf();
    const result = { enforced: breaches.map((breach) => ({ breach })) } as unknown as CountsResult;
    const found = new Map([[{} as Hypothesis, result]]);
    noteClues(
      { name, time, docket } as QuotaSetting,
      { views: marks, end: { from: 60_000, to: 60_000 } } as unknown as Window,
      60_000,
      found,
    );
    return faults.map((fault) => docket.clues.weight(fault));
  }
  const three = { least: 3 };
  test.each([
    ["a call of three that shows two", [call(2, three)], 2.5],
    ["a call of three that shows three", [call(3, three)], 1],
    ["a call of one that shows none", [call(0)], 1],
    ["one that may show more", [call(2, { ...three, clamped: true })], 1],
    ["a refusal", [refusal(2, three)], 1],
  ])("%s speaks for costs that are ignored, or not", (_name, marks, weight) => {
    expect(weights(marks, ["gap"], "cost-ignored")).toEqual([weight]);
  });

  test.each([
    ["three counts of three", [5, 6, 7], 1.8],
    ["two counts of two say nothing", [5, 6], 1],
    ["two of three say nothing", [5, 6, 6], 1],
    ["two of four", [5, 6, 6, 5], 0.2],
    ["three of four say nothing", [5, 6, 7, 7], 1],
    ["four of four", [5, 6, 7, 8], 1.8],
  ])("refusals that show %s speak for or against counting them", (_name, counts, weight) => {
    const marks = counts.map((count) => refusal(count));
    expect(weights(marks, ["gap"], "refused-counted")).toEqual([weight]);
    const others = counts.flatMap((count) => [
      refusal(count, { refusedBy: "organization" }),
      refusal(count, { clamped: true }),
    ]);
    expect(weights(others, ["gap"], "refused-counted")).toEqual([1]);
  });

  test("nothing is noted of a window without breaches", () => {
    expect(weights([call(2, three)], [], "cost-ignored")).toEqual([1]);
  });

  test.each(["overlap", "fall", "short"])(
    "where counts began again tells a timer from a sweep, by %s",
    (breach) => {
      const rolls = (at: number): Mark[] => [
        call(7, { sent: at - 10, received: at - 5 }),
        call(1, { sent: at, received: at + 5 }),
      ];
      const marks = [...rolls(20_000), ...rolls(30_000), ...rolls(40_000)];
      expect(weights(marks, [breach], "double-roll")).toEqual([0.4]);
      expect(weights(marks, ["gap"], "double-roll")).toEqual([1]);
    },
  );
});

describe("windows that cannot be", () => {
  const ending = (line: number, end: Span, given: Partial<Mark> = {}): Mark =>
    markOf({ line, end, ...given });
  const windowWith = (fromMark: Mark, toMark: Mark): Window =>
    ({
      fromMark,
      toMark,
      end: { from: fromMark.end.from, to: toMark.end.to },
      views: [fromMark, toMark],
    }) as unknown as Window;
  const quota = rulesQuota("acme", "ann", "rest");
  const conflicting = (
    known: boolean,
    problem: (a: Span, b: Span) => string | null,
    given: Partial<Mark> = {},
  ) => {
    const docket = docketOf();
    const earlier = windowWith(
      ending(9, { from: 100, to: 900 }, { reset: 60_000, sent: 0 }),
      ending(3, { from: 0, to: 500 }, { reset: 60_000, sent: 0, ...given }),
    );
    const later = windowWith(
      ending(4, { from: 30_500, to: 31_000 }, { reset: 59_000, sent: 1000, ...given }),
      ending(7, { from: 30_000, to: 30_600 }),
    );
    const terms = { anchor: "epoch" };
    const setting = { name: quota, docket, terms } as QuotaSetting;
    accuseConflict(setting, earlier, later, { ms: 60_000, known }, problem);
    return { docket, violation: verdictOf(docket).violations[0] };
  };

  test("are told by the two answers that show it, with the least that they are apart", () => {
    const { violation } = conflicting(true, () => "nearer than a window");
    expect(violation).toMatchObject({ law: "reset-agrees", lines: [3, 4] });
    expect(violation?.explanation).toBe(
      "line 3 was told reset 60000 and line 4 reset 59000: they show windows that end at least 30.0 s apart, which is " +
        "nearer than a window of 60 s",
    );
    expect(conflicting(false, () => "off the grid").violation?.explanation).toMatch(
      /which is off the grid of 60 s or more$/,
    );
  });

  test("are told by all four answers where two do not show it", () => {
    const whole = conflicting(true, (a, b) =>
      b.to === 31_000 ? null : a.from === 100 ? "off the grid" : null,
    );
    expect(whole.violation?.lines).toEqual([3, 4, 7, 9]);
    expect(whole.violation?.explanation).toContain("which is off the grid of 60 s");
  });

  test("speak for milliseconds in place of seconds where no length is known", () => {
    expect(conflicting(false, () => "x").docket.clues.weight("reset-in-ms")).toBe(4);
    expect(conflicting(true, () => "x").docket.clues.weight("reset-in-ms")).toBe(1);
    expect(conflicting(false, () => "x", { reset: 60_000 }).docket.clues.weight("reset-in-ms")).toBe(1);
  });

  /** Two windows that end too near each other, by the marks that each shows. */
  const told = (earlier: readonly Mark[], later: readonly Mark[], anchor = "epoch") => {
    const docket = docketOf();
    const windowOfAll = (views: readonly Mark[], end: Span): Window =>
      ({ fromMark: ending(1, end), toMark: ending(2, end), end, views }) as unknown as Window;
    accuseConflict(
      { name: quota, docket, terms: { anchor } } as QuotaSetting,
      windowOfAll(earlier, { from: 0, to: 500 }),
      windowOfAll(later, { from: 30_000, to: 30_500 }),
      { ms: 60_000, known: true },
      () => "x",
    );
    return { docket, suspects: verdictOf(docket).violations[0]?.suspects };
  };
  const counting = (...counts: readonly number[]): Mark[] => counts.map((count) => markOf({ count }));
  const rejected = (...counts: readonly number[]): Mark[] =>
    counts.map((count) => markOf({ count, role: "refused" }));

  test("speak for nodes whose clocks differ, where four charges of each show no count twice", () => {
    const weight = (...given: Parameters<typeof told>): number =>
      told(...given).docket.clues.weight("skewed-nodes");
    expect(weight(counting(1, 3, 5, 7), counting(2, 4, 6, 8))).toBe(3);
    expect(weight(counting(1, 3, 5, 7), counting(2, 4, 6, 8), "first-request")).toBe(1);
    expect(weight(counting(1, 3, 5), counting(2, 4, 6, 8))).toBe(1);
    expect(weight(counting(1, 3, 5, 7), counting(2, 4, 6, 6))).toBe(1);
    expect(weight(counting(1, 3, 5, 7), counting(2, 4, 6, 7))).toBe(1);
    expect(weight([...counting(1, 3, 5), ...rejected(7)], counting(2, 4, 6, 8))).toBe(1);
    expect(weight([...counting(1, 3, 5), markOf({ count: 7, clamped: true })], counting(2, 4, 6, 8))).toBe(1);
  });

  test("speak for a reset that refusals have from a cache, where refusals alone show one of them", () => {
    const isNamed = (...given: Parameters<typeof told>): boolean | undefined =>
      told(...given).suspects?.includes("stale-cached-reset");
    expect(isNamed(rejected(1, 1), counting(1))).toBe(true);
    expect(isNamed(counting(1), rejected(1))).toBe(true);
    expect(isNamed([...rejected(1), ...counting(1)], [...counting(1), ...rejected(1)])).toBe(false);
  });

  test("say nothing of a wait that differs from them: it may be right", () => {
    expect(told(counting(1), counting(1)).docket.clues.weight("retry-too-soon")).toBe(0.2);
  });

  test("show two limits, told by the first and another", () => {
    const docket = docketOf();
    const [first, other] = [markOf({ line: 9, limit: 10 }), markOf({ line: 4, limit: 20 })];
    accuseMixedLimits(
      { name: quota, docket } as QuotaSetting,
      { views: [first] } as unknown as Window,
      other,
    );
    accuseMixedLimits({ name: quota, docket } as QuotaSetting, { views: [] } as unknown as Window, other);
    expect(verdictOf(docket).violations).toMatchObject([
      {
        law: "limit-agrees",
        lines: [4, 9],
        explanation: "lines 9 and 4 show the same window with limits 10 and 20",
        count: 1,
      },
    ]);
    expect(docket.clues.weight("remaining-of-laxer-window")).toBe(0.2);
  });

  test("show two ends in status bodies", () => {
    const docket = docketOf();
    const at = (line: number, resetAt: number): Mark => markOf({ line, resetAt });
    accuseMovingEnd({ name: quota, docket } as QuotaSetting, at(12, 60_000), at(4, 61_000), {
      ms: 60_000,
      known: true,
    });
    expect(verdictOf(docket).violations).toMatchObject([
      {
        law: "reset-agrees",
        lines: [4, 12],
        explanation:
          "lines 12 and 4 show the same window with reset_at 1970-01-01T00:01:00.000Z and 1970-01-01T00:01:01.000Z",
      },
    ]);
  });

  test("a window's span is its length before the middle of its end", () => {
    expect(windowOf(60_000, { from: 100_000, to: 100_003 })).toEqual({ opensAt: 40_002, endsAt: 100_002 });
  });
});
