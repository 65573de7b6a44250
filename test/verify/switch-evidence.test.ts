// Switches that single answers of a trace without rules show, and the accusation where no value of one is left.
import { describe, expect, test } from "vitest";
import type { Scope } from "../../src/rules/rules.ts";
import type { TraceCall } from "../../src/trace/record.ts";
import type { Docket } from "../../src/verify/docket.ts";
import { Hypotheses } from "../../src/verify/hypotheses.ts";
import { SwitchEvidence } from "../../src/verify/switch-evidence.ts";
import { termsOf } from "../../src/verify/terms.ts";
import { graphql, rest } from "./traces.ts";

function evidenceOf(isGiven = false) {
  const of = (scope: Scope): Hypotheses => new Hypotheses(scope, isGiven ? termsOf(null, scope) : null);
  const hypotheses = { rest: of("rest"), graphql: of("graphql") };
  const accused: object[] = [];
  const docket = { accuse: (each: object) => void accused.push(each) } as unknown as Docket;
  const evidence = new SwitchEvidence(hypotheses, docket);
  const left = (scope: Scope, name: "remaining" | "charging"): unknown[] => [
    ...new Set(hypotheses[scope].left.map(({ terms }) => terms[name])),
  ];
  const against = (scope: Scope) => [...new Set(hypotheses[scope].all.map((each) => each.against))];
  return { evidence, hypotheses, accused, left, against };
}
const refused = (current: number | null, changes: Partial<TraceCall> = {}): TraceCall =>
  rest(
    { at: 0, count: 60, userCount: 50 },
    {
      status: 429,
      refusal: { message: "no", scope: "rest_user", limit: 50, current, reset: 60 },
      ...changes,
    },
  );

describe("remaining", () => {
  test("below 0 is signed", () => {
    const { evidence, left, against, accused } = evidenceOf();
    evidence.observe(3, rest({ at: 0, count: 1 }, { userRemaining: -2 }));
    expect([left("rest", "remaining"), accused]).toEqual([["signed"], []]);
    expect(against("rest")).toContainEqual({
      lines: [3],
      explanation: "line 3 shows remaining -2 of 50, below 0",
    });
    expect(left("graphql", "remaining")).toEqual(["clamped", "signed"]);
  });

  test("0 beside a count above the limit is clamped", () => {
    const { evidence, left, against } = evidenceOf();
    evidence.observe(3, refused(51));
    expect(left("rest", "remaining")).toEqual(["clamped"]);
    expect(against("rest")).toContainEqual({
      lines: [3],
      explanation: "line 3 was refused at current 51 of 50, and shows remaining 0",
    });
  });

  test.each<[string, TraceCall]>([
    ["a count at the limit", refused(50)],
    ["no count", refused(null)],
    ["another window's count", refused(201, { userRemaining: 1, remaining: 0 })],
    ["an admitted call", refused(51, { status: 200 })],
    ["no limit", refused(51, { userLimit: null })],
    ["no number", refused(51, { userRemaining: "none" })],
    ["a window of another name", refused(51, { userScopeName: "rest" })],
    ["room", rest({ at: 0, count: 1 })],
  ])("%s says nothing", (_, call) => {
    const { evidence, left } = evidenceOf();
    evidence.observe(3, call);
    expect(left("rest", "remaining")).toEqual(["clamped", "signed"]);
  });

  test("of both kinds is accused, by both lines in their order", () => {
    const { evidence, accused } = evidenceOf();
    evidence.observe(9, refused(51));
    evidence.observe(4, rest({ at: 0, count: 1 }, { remaining: -1 }));
    expect(accused).toEqual([
      {
        law: "remaining-agrees",
        breach: "no value fits",
        suspects: ["one-extra"],
        org: "acme",
        user: null,
        scope: "rest",
        window: null,
        lines: [4, 9],
        explanation:
          "line 4 shows remaining -1 of 200, below 0; but line 9 was refused at current 51 of 50, and shows remaining 0",
      },
    ]);
    evidence.observe(5, rest({ at: 0, count: 1 }, { remaining: -1 }));
    expect(accused.length).toBe(1);
    const other = evidenceOf();
    other.evidence.observe(4, rest({ at: 0, count: 1 }, { userRemaining: -1 }));
    other.evidence.observe(9, refused(51));
    expect(other.accused).toMatchObject([{ suspects: ["refused-counted"], user: "u1", lines: [4, 9] }]);
  });

  test("says nothing where rules are given", () => {
    const { evidence, accused, against } = evidenceOf(true);
    evidence.observe(9, refused(51));
    evidence.observe(4, rest({ at: 0, count: 1 }, { remaining: -1 }));
    expect([accused, against("rest")]).toEqual([[], [null]]);
  });
});

describe("Retry-After", () => {
  test("is there or not, as the first refusal of each kind shows", () => {
    const { evidence } = evidenceOf();
    const { rest: options, graphql: others } = evidence.retryAfter;
    expect([options.left, others.left]).toEqual([
      [true, false],
      [true, false],
    ]);
    evidence.observe(3, refused(50));
    evidence.observe(4, refused(50, { retryAfter: null }));
    expect([options.known, options.isOpen, others.known]).toEqual([false, false, null]);
    expect([...options.against]).toEqual([
      [true, { lines: [3], explanation: "line 3 was refused without a Retry-After" }],
    ]);
    evidence.observe(5, refused(50, { retryAfter: 7 }));
    expect(options.against.get(false)).toEqual({
      lines: [5],
      explanation: "line 5 was refused with a Retry-After",
    });
    expect([options.isOpen, options.known, others.isOpen]).toEqual([false, null, true]);
  });

  const bare = {
    ...{ scopeName: null, limit: null, remaining: null, reset: null },
    ...{ userScopeName: null, userLimit: null, userRemaining: null, userReset: null },
  };
  test.each<[string, Partial<TraceCall>]>([
    ["an admitted call", { status: 200 }],
    ["a status call", { kind: "status" }],
    ["an answer without headers", bare],
  ])("of %s says nothing", (_, changes) => {
    const { evidence } = evidenceOf();
    evidence.observe(3, refused(50, changes));
    expect(evidence.retryAfter.rest.against.size).toBe(0);
  });
});

describe("a refused query", () => {
  const query = (changes: Partial<TraceCall> = {}): TraceCall =>
    graphql({ at: 0, count: 19_999, userCount: 4999 }, 1, 0, { status: 429, ...changes });
  test("with points left in both windows was not to be charged afterwards", () => {
    const { evidence, left, against } = evidenceOf();
    expect(left("graphql", "charging")).toEqual(["reserved", "at-decision", "postpaid"]);
    evidence.observe(3, query());
    expect(left("graphql", "charging")).toEqual(["reserved", "at-decision"]);
    expect(against("graphql")).toContainEqual({
      lines: [3],
      explanation: "line 3 asked for 1 point and was refused with 1 and 1 left",
    });
    const several = evidenceOf();
    several.evidence.observe(3, query({ cost: 7 }));
    expect(several.against("graphql")).toContainEqual({
      lines: [3],
      explanation: "line 3 asked for 7 points and was refused with 1 and 1 left",
    });
  });

  test.each<[string, Partial<TraceCall>]>([
    ["a full window of the organization", { remaining: 0 }],
    ["a full window of the user", { userRemaining: 0 }],
    ["no number of the organization's", { remaining: null }],
    ["no number of the user's", { userRemaining: null }],
    ["a text", { remaining: "none" }],
    ["another window", { scopeName: "rest" }],
    ["another window of the user", { userScopeName: "rest_user" }],
    ["a REST call", { scope: "rest" }],
    ["an admitted one", { status: 200 }],
  ])("beside %s may be", (_, changes) => {
    const { evidence, left } = evidenceOf();
    evidence.observe(3, query(changes));
    expect(left("graphql", "charging")).toContain("postpaid");
  });

  test("that leaves no charging is accused", () => {
    const { evidence, accused, hypotheses } = evidenceOf();
    const { all } = hypotheses.graphql;
    const exhibit = { lines: [1], explanation: "it was seen" };
    const out = all.filter(({ terms }) => terms.charging !== "postpaid");
    hypotheses.graphql.ruleOut(new Map(out.map((each) => [each, { exhibit, weight: 1 }] as const)));
    evidence.observe(3, query());
    expect(accused).toMatchObject([
      {
        law: "refusal-justified",
        suspects: ["one-short"],
        user: null,
        scope: "graphql",
        lines: [1, 3],
        explanation: "line 3 asked for 1 point and was refused with 1 and 1 left; but it was seen",
      },
    ]);
  });
});
