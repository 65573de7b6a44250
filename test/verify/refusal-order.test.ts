// Two breaches that one answer hints at: a refusal that names the user's window where the organization's lacks room, too,
// and a window that opened before its first call.
import { describe, expect, test } from "vitest";
import { AmountsTally } from "../../src/verify/amounts.ts";
import type { Span } from "../../src/verify/clock.ts";
import { Docket } from "../../src/verify/docket.ts";
import { Enforcement } from "../../src/verify/enforcement.ts";
import type { Hypotheses } from "../../src/verify/hypotheses.ts";
import type { Mark } from "../../src/verify/mark.ts";
import { accuseEarlyOpening } from "../../src/verify/openings.ts";
import { rulesQuota } from "../../src/verify/quota-name.ts";
import type { QuotaSetting } from "../../src/verify/quota-setting.ts";
import { RefusalOrder } from "../../src/verify/refusal-order.ts";
import { type Terms, termsOf } from "../../src/verify/terms.ts";
import type { Window } from "../../src/verify/window.ts";
import { markOf, time } from "./marks.ts";
import { refused } from "./traces.ts";

const docketOf = (): Docket => new Docket({ amounts: new AmountsTally(), violationsMost: 100, accept: null });
const verdictOf = (docket: Docket) =>
  docket.verdict({ records: 0, windows: 0, voidReason: () => null, inferred: null });

describe("a refusal that names the user's window", () => {
  const acme = rulesQuota("acme", null, "graphql");
  interface Given {
    readonly cost?: number | null;
    readonly remaining?: number | null;
    readonly userRemaining?: number | null;
    readonly scopeName?: string;
    readonly by?: "rest" | "rest_user";
    readonly terms?: Partial<Terms>;
    readonly claimed?: boolean | null;
  }
  function judged(given: Given, hypotheses: object = { isGiven: true, left: [] }) {
    const { terms = {}, claimed = true, by = "rest_user", ...changes } = given;
    const order = new RefusalOrder(
      acme,
      { ...termsOf(null, "rest"), charging: "at-decision", ...terms },
      time,
    );
    const call = { ...refused({ at: 1000, count: 200, userCount: 50 }, by), ...changes };
    order.add(7, call);
    order.add(9, { ...call, sent: call.sent + 1000, received: call.received + 1000 });
    const docket = docketOf();
    order.finish(new Enforcement(claimed), hypotheses as Hypotheses, docket);
    const { violations, questions = [] } = verdictOf(docket);
    return { violations, questions };
  }
  const isAccused = (given: Given): boolean => judged(given).violations.length > 0;

  test("while the organization's lacks room, too, is accused once, with the first and the number of all", () => {
    expect(judged({}).violations).toMatchObject([
      {
        law: "refusal-agrees",
        suspects: ["refusal-names-user", "narrow-drains-broad"],
        lines: [7],
        count: 2,
        explanation:
          "line 7 was refused by the user's window, although the organization's, which comes first, shows remaining 0 of 200 " +
          "and lacked room, too",
      },
    ]);
  });

  test.each([
    ["both lack all of it", { cost: 5, remaining: 4, userRemaining: 4 }, true],
    ["the organization's has room for just that", { cost: 5, remaining: 5, userRemaining: 4 }, false],
    ["the user's has", { cost: 5, remaining: 4, userRemaining: 5 }, false],
    [
      "points are reserved",
      { cost: 5, remaining: 4, userRemaining: 4, terms: { charging: "reserved" } },
      true,
    ],
    [
      "any point left is enough",
      { cost: 5, remaining: 4, userRemaining: 0, terms: { charging: "postpaid" } },
      false,
    ],
    [
      "any is, and none is left",
      { cost: 5, remaining: 0, userRemaining: 0, terms: { charging: "postpaid" } },
      true,
    ],
    [
      "nobody knows when it is charged, and one is left",
      { cost: 5, remaining: 1, userRemaining: 0, terms: { charging: null } },
      false,
    ],
    [
      "the refusal itself may have filled it",
      { cost: 5, remaining: 4, userRemaining: 0, terms: { refusedByUser: "charges-organization" } },
      false,
    ],
    [
      "it was full before that",
      { cost: 5, remaining: -1, userRemaining: 0, terms: { refusedByUser: "charges-organization" } },
      true,
    ],
    ["nobody knows the cost", { cost: null }, false],
    ["it costs nothing", { cost: 0, remaining: -1, userRemaining: -1 }, false],
    ["the organization's is named", { by: "rest" }, false],
    ["another scope's numbers are shown", { scopeName: "graphql" }, false],
    ["no number is shown of the organization's", { remaining: null }, false],
    ["no number is shown of the user's", { userRemaining: null }, false],
    ["limits may be off", { claimed: null }, false],
    ["limits are off", { claimed: false }, false],
  ] as const)("where %s", (_name, given, expected) => {
    expect(isAccused(given as Given)).toBe(expected);
  });

  test("is asked about without rules, unless refusals may be charged to the organization", () => {
    const left = (...values: string[]) => ({
      isGiven: false,
      left: values.map((refusedByUser) => ({ terms: { refusedByUser } })),
    });
    const { violations, questions } = judged({}, left("charges-nothing", "charges-nothing"));
    expect(violations).toEqual([]);
    expect(questions).toEqual([
      {
        scope: "graphql",
        question:
          "Refusals name the user's window where the organization's lacks room, too (line 7: remaining 0 of 200). " +
          "Is that meant? `--rules` settles it.",
        suspects: ["refusal-names-user"],
        lines: [7],
      },
    ]);
    expect(judged({}, left("charges-nothing", "charges-organization"))).toEqual({
      violations: [],
      questions: [],
    });
  });
});

describe("a window that opens with its first call", () => {
  const ann = rulesQuota("acme", "ann", "rest");
  /** Ends at 160,000, and so opened at 100,000. */
  const end: Span = { from: 160_000, to: 160_000 };
  const first = markOf({ line: 5, sent: 110_000, received: 110_010, reset: 50 });
  const status = (sent: number): Mark =>
    markOf({ line: 3, sent, received: sent, role: "status", least: 0, most: 0 });
  interface Given {
    readonly opener?: Mark | null;
    readonly others?: readonly Mark[];
    readonly before?: Span | null;
    readonly idle?: readonly Mark[];
    readonly setting?: Partial<QuotaSetting>;
    readonly end?: Span;
  }
  function judged({
    opener = first,
    others = [],
    before = null,
    idle = [],
    setting = {},
    end: ends = end,
  }: Given) {
    const docket = docketOf();
    const terms = { ...termsOf(null, "rest"), anchor: "first-request" };
    const window = {
      end: ends,
      opener,
      views: [first, ...others],
      toMark: markOf({ line: 8 }),
    } as unknown as Window;
    const known = {
      name: ann,
      terms,
      time,
      windowMs: 60_000,
      startedBy: 0,
      docket,
      ...setting,
    } as QuotaSetting;
    accuseEarlyOpening(known, window, before, idle);
    const [violation] = verdictOf(docket).violations;
    const ruledOut = (["status-opens-window", "windows-back-to-back"] as const).filter(
      (name) => docket.clues.weight(name) < 1,
    );
    return { violation, ruledOut };
  }

  test("and was open before it, is accused with the two lines that show it", () => {
    expect(judged({}).violation).toMatchObject({
      law: "reset-agrees",
      lines: [5, 8],
      explanation:
        "line 5 was the first call of its window, count 1, and was told reset 50: by line 8 a window of 60 s opened at least " +
        "9994 ms before that call was sent",
    });
  });

  test.each([
    ["on a grid", { setting: { terms: { ...termsOf(null, "rest"), anchor: "epoch" } as Terms } }],
    [
      "of GraphQL, where a query of no points may open it",
      { setting: { name: rulesQuota("acme", "ann", "graphql") } },
    ],
    ["of no known length", { setting: { windowMs: null } }],
    ["whose first call nobody knows", { opener: null }],
    ["that opened before the trace began", { setting: { startedBy: 100_001 } }],
    [
      "that opened within a second of its call, and what clocks show",
      { opener: markOf({ line: 5, sent: 101_000 }) },
    ],
    ["before which another call was charged", { others: [markOf({ sent: 100_000, received: 100_500 })] }],
  ] as readonly (readonly [string, Given])[])("is not accused %s", (_name, given) => {
    expect(judged(given).violation).toBeUndefined();
  });

  test("is accused beside answers that charge nothing, or overlap the first call", () => {
    expect(
      judged({ others: [markOf({ sent: 100_000, received: 100_500, least: 0 })] }).violation,
    ).toBeDefined();
    expect(judged({ others: [markOf({ sent: 100_000, received: 110_000 })] }).violation).toBeDefined();
  });

  const both = ["windows-back-to-back", "status-opens-window"] as const;
  const back = { from: 40_000, to: 40_000 };
  test.each([
    ["by nobody knows what: either", {}, both, both, [5, 8]],
    [
      "by a status call as it opened",
      { idle: [status(100_000)] },
      ["status-opens-window"],
      ["windows-back-to-back"],
      [3, 5, 8],
    ],
    [
      "by one within its first second",
      { idle: [status(101_006)] },
      ["status-opens-window"],
      ["windows-back-to-back"],
      [3, 5, 8],
    ],
    ["by none later", { idle: [status(101_007)] }, both, both, [5, 8]],
    ["by none before", { idle: [status(99_000)] }, both, both, [5, 8]],
    ["not by a call that is none", { idle: [markOf({ line: 3, sent: 100_000 })] }, both, both, [5, 8]],
    [
      "as the window before ended",
      { before: { from: 100_000, to: 100_000 } },
      ["windows-back-to-back"],
      ["status-opens-window"],
      [5, 8],
    ],
    ["a window after one ended", { before: back }, ["windows-back-to-back"], ["status-opens-window"], [5, 8]],
    ["beside that", { before: { from: 40_020, to: 40_030 } }, both, both, [5, 8]],
    [
      "by both",
      { idle: [status(100_000)], before: back },
      ["status-opens-window", "windows-back-to-back"],
      [],
      [3, 5, 8],
    ],
  ] as const)("was opened %s", (_name, given, suspects, ruledOut, lines) => {
    const found = judged(given);
    expect([...(found.violation?.suspects ?? [])].sort()).toEqual([...suspects].sort());
    expect([...found.ruledOut].sort()).toEqual([...ruledOut].sort());
    expect(found.violation?.lines).toEqual(lines);
  });
});
