// The small books that a judge keeps beside its windows: evidence, amounts, calls of unknown outcome, windows that no
// answer shows, calls above their limit. Each against what it promises, without a trace.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { LawName } from "../../src/rules/laws.ts";
import { AmountsTally } from "../../src/verify/amounts.ts";
import { BareWindows } from "../../src/verify/bare-windows.ts";
import { TraceTime } from "../../src/verify/clock.ts";
import { Docket } from "../../src/verify/docket.ts";
import { Enforcement } from "../../src/verify/enforcement.ts";
import { isTested } from "../../src/verify/evidence.ts";
import { RoleCounts } from "../../src/verify/mark-rows.ts";
import { OversizeCalls } from "../../src/verify/oversize.ts";
import { rulesQuota } from "../../src/verify/quota-name.ts";
import type { Standing } from "../../src/verify/standing.ts";
import { type Terms, termsOf } from "../../src/verify/terms.ts";
import { Unknowns } from "../../src/verify/unknowns.ts";
import { noteTested, type TestedWindow } from "../../src/verify/window-evidence.ts";
import { rest } from "./traces.ts";

const time = new TraceTime({ kind: "wall", resolutionMs: 1, errorMs: 0 });
const acme = rulesQuota("acme", null, "rest");
const ann = rulesQuota("acme", "ann", "rest");

const docketOf = (): Docket => new Docket({ amounts: new AmountsTally(), violationsMost: 100, accept: null });

function violationsOf(docket: Docket) {
  const facts = { records: 0, windows: 0, voidReason: () => null, inferred: null };
  return docket.verdict(facts).violations;
}

/** Enforced by the rules or not, on in a body at one instant, and off in one at another. */
function enforcement(claimed: boolean | null, onAt?: number, offAt?: number): Enforcement {
  const known = new Enforcement(claimed);
  if (onAt !== undefined) known.observe(onAt, onAt + 1, true);
  if (offAt !== undefined) known.observe(offAt, offAt + 1, false);
  return known;
}

describe("the laws that a window's counts tested", () => {
  const roles = {
    size: 9,
    admitted: 2,
    refused: 6,
    refusedByOrganization: 1,
    refusedByUser: 2,
    status: 1,
  };
  const free: Partial<Terms> = { refused: "uncounted", refusedByUser: "charges-nothing" };
  const common: Partial<Terms> = { ...free, charging: "at-decision", userEnforced: "with-organization" };

  interface Given extends Partial<Omit<TestedWindow, "setting" | "roles">> {
    readonly roles?: Partial<RoleCounts>;
    readonly name?: typeof acme;
    readonly enforced?: Enforcement;
    readonly terms?: readonly Partial<Terms>[];
  }

  /** Readings, refusals, windows and resets by law, of laws that were tested; and what hinges on enforcement. */
  function tested({
    roles: changed,
    name = acme,
    enforced = enforcement(true),
    terms = [common],
    ...facts
  }: Given) {
    const docket = docketOf();
    const hinging: unknown[][] = [];
    const setting = {
      name,
      docket,
      enforcement: enforced,
      enforced: { add: (...facts: unknown[]) => void hinging.push(facts) },
    } as unknown as TestedWindow["setting"];
    const left = terms.map((one) => ({ terms: { ...termsOf(null, "rest"), ...one } }));
    const window = { from: 0, to: 100, fromZero: true, complete: true, isNext: true, isFull: false, left };
    noteTested({ setting, roles: Object.assign(new RoleCounts(), roles, changed), ...window, ...facts });
    const laws = Object.entries(docket.evidence).filter(([, evidence]) => isTested(evidence));
    const numbers = laws.map(([law, { readings, refusals, windows, resets }]) => [
      law,
      [readings, refusals, windows, resets],
    ]);
    return { laws: Object.fromEntries(numbers) as Partial<Record<LawName, number[]>>, hinging };
  }

  test("seen from its start by all its calls, after another one: all of them", () => {
    expect(tested({}).laws).toEqual({
      conserved: [9, 6, 1, 1],
      monotone: [9, 6, 1, 1],
      "status-free": [1, 0, 1, 1],
      "all-or-nothing": [6, 6, 1, 1],
      isolated: [9, 6, 1, 1],
      recovers: [8, 6, 1, 1],
    });
  });

  test("the first one of its quota recovers from nothing", () => {
    const { laws } = tested({ isNext: false });
    expect([laws.recovers, laws.conserved]).toEqual([undefined, [9, 6, 1, 0]]);
  });

  const names = (given: Given): string[] => Object.keys(tested(given).laws).sort();
  test.each([
    ["where calls are missing, by what two readings show", { complete: false }, ["conserved", "monotone"]],
    ["one reading, where calls are missing", { complete: false, roles: { size: 1 } }, []],
    [
      "one reading, with all calls",
      { roles: { size: 1 } },
      ["all-or-nothing", "conserved", "isolated", "monotone", "recovers", "status-free"],
    ],
    [
      "one reading, of the first window",
      { roles: { size: 1 }, isNext: false },
      ["all-or-nothing", "conserved", "isolated", "status-free"],
    ],
    ["not from its start", { fromZero: false }, ["all-or-nothing", "conserved", "monotone", "status-free"]],
    ["one reading, not from its start", { fromZero: false, roles: { size: 1 } }, []],
    [
      "without status calls and refusals",
      { roles: { status: 0, refused: 0, refusedByOrganization: 0, refusedByUser: 0 } },
      ["conserved", "isolated", "monotone", "recovers"],
    ],
    [
      "without any call",
      { roles: { status: 2, refused: 0, refusedByOrganization: 0, refusedByUser: 0, admitted: 0 } },
      ["conserved", "isolated", "monotone", "status-free"],
    ],
    [
      "with one refusal alone",
      { roles: { status: 0, refused: 1, refusedByOrganization: 1, refusedByUser: 0, admitted: 0 } },
      ["all-or-nothing", "conserved", "isolated", "monotone", "recovers"],
    ],
  ] as const)("%s", (_name, given, expected) => {
    expect(names(given)).toEqual(expected);
  });

  test.each([
    ["of an organization: all that charge nothing anywhere", acme, [free], 6],
    ["of an organization: not its own, where they are counted", acme, [{ ...free, refused: "counted" }], 2],
    [
      "of an organization: not users', where those drain it",
      acme,
      [{ ...free, refusedByUser: "charges-organization" }],
      1,
    ],
    [
      "of an organization: none, where all may be charged",
      acme,
      [{ refused: "counted", refusedByUser: "charges-organization" }],
      undefined,
    ],
    [
      "of an organization: what no term that is left charges",
      acme,
      [free, { ...free, refused: "counted" }],
      2,
    ],
    ["of a user: all, where none is counted", ann, [{ refused: "uncounted" }], 6],
    ["of a user: the organization's, where they are counted", ann, [{ refused: "counted" }], 1],
    [
      "of a user: the organization's, where they may be",
      ann,
      [{ refused: "uncounted" }, { refused: "counted" }],
      1,
    ],
  ] as const)("free refusals %s", (_name, name, terms, expected) => {
    expect(tested({ name, terms }).laws["all-or-nothing"]?.[0]).toBe(expected);
  });

  const bound = [[true, 0, 100, 9, 6, true]];
  const off = [[false, 0, 100, 9, 6, true]];
  test.each([
    ["a limit that binds while it is enforced", {}, bound],
    ["not where calls may pass it", { terms: [{ ...common, charging: "postpaid" }] }, []],
    ["not where refusals are counted, which pass it", { terms: [{ ...common, refused: "counted" }] }, []],
    ["where one of the terms lets it bind", { terms: [{ ...common, charging: "postpaid" }, common] }, bound],
    ["not in a window that was open before", { fromZero: false }, []],
    ["not where enforcement is not known", { enforced: enforcement(null) }, []],
    ["not where limits are off, and the window has room", { enforced: enforcement(false) }, []],
    ["a full window whose limit is off", { enforced: enforcement(false), isFull: true }, off],
    [
      "a full window that was open before",
      { enforced: enforcement(false), isFull: true, fromZero: false },
      off,
    ],
    ["not a full window that is enforced, and was open before", { isFull: true, fromZero: false }, []],
    [
      "a user's full window, where it follows the organization's",
      { name: ann, enforced: enforcement(false), isFull: true },
      off,
    ],
    [
      "not one that may not follow it",
      {
        name: ann,
        enforced: enforcement(false),
        isFull: true,
        terms: [common, { ...common, userEnforced: "always" }],
      },
      [],
    ],
  ] as const)("what hinges on enforcement: %s", (_name, given, expected) => {
    expect(tested(given).hinging).toEqual(expected);
  });

  test("a user's limit that holds always binds whatever is enforced", () => {
    const always = { name: ann, terms: [{ ...common, userEnforced: "always" }] } as const;
    expect(tested({ ...always, enforced: enforcement(null) })).toMatchObject({
      laws: { bounded: [9, 6, 1, 1] },
      hinging: [],
    });
    expect(tested({ ...always, name: acme }).laws.bounded).toBeUndefined();
    expect(tested({ ...always, terms: [common] }).laws.bounded).toBeUndefined();
    expect(tested({ ...always, fromZero: false }).laws.bounded).toBeUndefined();
  });
});

/** A window that is off by so much. */
const standing = (overshoot: Partial<Standing["overshoot"]>): Standing =>
  ({
    deferral: { window: { opensAt: 0, endsAt: 1 }, limit: 10 },
    overshoot: {
      admitted: 20,
      refused: 10,
      points: 20,
      overAdmitted: 0,
      wronglyRefused: 0,
      stalenessMs: null,
      ...overshoot,
    },
  }) as Standing;
const counted = (asked: number, actual: number | null = null, role: "admitted" | "refused" = "admitted") => ({
  role,
  refusedBy: null,
  cost: asked,
  asked,
  actual,
  sure: true,
});

describe("amounts", () => {
  test("of calls: those that count, their points as far as answers say, and their share above limits", () => {
    const tally = new AmountsTally();
    tally.call("graphql", counted(10, 4));
    tally.call("graphql", counted(5));
    tally.call("graphql", counted(Number.POSITIVE_INFINITY));
    tally.call("graphql", counted(0));
    tally.call("graphql", counted(3, null, "refused"));
    tally.calls("graphql", 2, 1, 11);
    tally.calls("rest", 4, 2, 4);
    tally.add(rulesQuota("acme", null, "graphql"), standing({ overAdmitted: 3, wronglyRefused: 1 }));
    tally.add(rulesQuota("acme", "ann", "graphql"), standing({ overAdmitted: 5, wronglyRefused: 2 }));
    tally.add(acme, standing({ overAdmitted: 1, wronglyRefused: 1 }));
    expect(tally.result()).toMatchObject({
      admitted: 9,
      refused: 4,
      // Of GraphQL the user's five, of REST the organization's one.
      overAdmitted: 6,
      overAdmission: 5 / 20,
      wronglyRefused: 4,
    });
  });

  test("of refusals that show room by themselves: at least as many", () => {
    const tally = new AmountsTally();
    tally.needless({ org: "acme", user: null, scope: "rest" }, 5);
    tally.add(acme, standing({ wronglyRefused: 2 }));
    expect(tally.result().wronglyRefused).toBe(5);
  });

  test("are never more than all, and nothing of nothing", () => {
    const tally = new AmountsTally();
    tally.add(acme, standing({ overAdmitted: 3 }));
    expect(tally.result()).toMatchObject({ overAdmission: 0, overAdmitted: 3 });
    tally.calls("rest", 2, 0, 2);
    expect(tally.result().overAdmission).toBe(1);
  });

  test("of a policy: the worst quota's, since a call uses several", () => {
    const amounts = new AmountsTally(false);
    const quota = (name: string) => ({ ...acme, told: { quota: name, key: {} } });
    for (const name of ["minute", "hour"]) for (const points of [4, 6]) amounts.charge(name, counted(points));
    amounts.charge("hour", counted(10));
    amounts.add(quota("minute"), standing({ overAdmitted: 2, wronglyRefused: 1 }));
    amounts.add(quota("hour"), standing({ overAdmitted: 3, wronglyRefused: 2 }));
    amounts.needless({ quota: "minute", key: {} }, 4);
    expect(amounts.result()).toMatchObject({
      admitted: 0,
      windows: [{ quota: "hour", overAdmitted: 3 }, { quota: "minute" }],
      refused: 0,
      overAdmitted: 3,
      overAdmission: 0.2,
      wronglyRefused: 4,
    });
  });

  test("the windows that are off, the worst first, a hundred at most; and the oldest reading", () => {
    const tally = new AmountsTally();
    const told = (): (number | null)[][] =>
      tally
        .result()
        .windows.map(({ overAdmitted, wronglyRefused, stalenessMs }) => [
          overAdmitted,
          wronglyRefused,
          stalenessMs,
        ]);
    tally.add(acme, standing({}));
    expect(told()).toEqual([]);
    tally.add(acme, standing({ stalenessMs: 70 }));
    tally.add(acme, standing({ wronglyRefused: 1 }));
    tally.add(acme, standing({ overAdmitted: 4 }));
    tally.add(acme, standing({ stalenessMs: 90 }));
    tally.add(acme, standing({ overAdmitted: 1, points: 0 }));
    expect(told()).toEqual([
      [4, 0, null],
      [0, 1, null],
      [0, 0, 90],
      [0, 0, 70],
      [1, 0, null],
    ]);
    expect(tally.result()).toMatchObject({
      stalenessMs: 90,
      windows: [{ org: "acme", limit: 10, overAdmission: 0.2 }, {}, {}, {}, {}],
    });
    for (let at = 0; at < 300; at++) tally.add(acme, standing({ overAdmitted: 1 + (at % 20) }));
    expect(tally.result().windows).toHaveLength(100);
    expect(Math.min(...tally.result().windows.map(({ overAdmitted }) => overAdmitted))).toBe(14);
  });
});

test("calls of unknown outcome explain what those may that were under way in a span", () => {
  const instant = fc.integer({ min: 0, max: 12 });
  const call = fc.record({
    sent: instant,
    took: fc.option(instant),
    points: fc.constantFrom(1, 2, 5, Number.POSITIVE_INFINITY),
  });
  fc.assert(
    fc.property(fc.array(call, { maxLength: 12 }), instant, instant, (calls, from, tookMs) => {
      const unknowns = new Unknowns();
      const to = from + tookMs;
      for (const { sent, took, points } of calls) {
        unknowns.add(sent, took === null ? null : sent + took, points);
        // Whoever asks in between is told no less later.
        unknowns.within({ from, to });
      }
      const may = calls.filter(({ sent, took }) => sent < to && (took === null || sent + took >= from));
      const points = may.reduce((sum, each) => sum + each.points, 0);
      expect(unknowns.within({ from, to })).toEqual({ calls: may.length, points });
    }),
    { numRuns: 300 },
  );
});

describe("windows that no answer shows, on the grid of Unix time", () => {
  const bare = (
    calls: readonly (readonly [sent: number, received: number, points: number])[],
    known: Enforcement,
    always = false,
  ) => {
    const windows = new BareWindows(acme, time, 3, 1000, always);
    const docket = docketOf();
    for (const [at, [sent, received, points]] of calls.entries()) {
      windows.add(at + 2, sent, received, points);
      if (sent > 2500) windows.close(sent);
    }
    windows.finish(known, docket);
    return { violations: violationsOf(docket), evidence: docket.evidence.bounded };
  };
  const four = [
    [1000, 1010, 2],
    [1500, 1510, 1],
    [1900, 1998, 1],
  ] as const;

  test("more points than the limit are accused with the first and the last line", () => {
    expect(bare(four, enforcement(true)).violations).toMatchObject([
      {
        law: "bounded",
        window: { opensAt: 1000, endsAt: 2000 },
        lines: [2, 4],
        explanation:
          "in the window from 1970-01-01T00:00:01.000Z to 1970-01-01T00:00:02.000Z, from line 2 to line 4, 4 were admitted, " +
          "which is above the limit of 3",
      },
    ]);
  });

  test.each([
    [
      "as many as the limit",
      [
        [1000, 1010, 2],
        [1500, 1510, 1],
      ],
      enforcement(true),
      false,
      0,
    ],
    [
      "a call that an edge may part",
      [
        [1000, 1010, 2],
        [1500, 1510, 1],
        [1900, 1999, 1],
      ],
      enforcement(true),
      false,
      0,
    ],
    [
      "a window after it was closed",
      [...four, [2600, 2610, 1], [3100, 3110, 1], [4000, 4010, 4]],
      enforcement(true),
      false,
      2,
    ],
    ["where limits are off", four, enforcement(false), false, 0],
    ["where limits may be off", four, enforcement(null), false, 0],
    ["where they went off in the window", four, enforcement(true, 500, 1500), false, 0],
    ["where they went off later", four, enforcement(true, 2500, 5000), false, 1],
    ["a limit that always holds", four, enforcement(false), true, 1],
  ] as const)("%s", (_name, calls, known, always, expected) => {
    expect(bare(calls, known, always).violations).toHaveLength(expected);
  });

  test("are evidence of calls, windows, and the windows after the first", () => {
    const later = [...four, [2600, 2610, 1], [9000, 9010, 1]] as const;
    expect(bare(later, enforcement(true)).evidence).toEqual({
      readings: 5,
      refusals: 0,
      windows: 3,
      resets: 2,
    });
    expect(bare([[1999, 1999, 1]], enforcement(true)).evidence).toEqual({
      readings: 1,
      refusals: 0,
      windows: 0,
      resets: 0,
    });
    expect(bare([], enforcement(true)).evidence).toEqual({ readings: 0, refusals: 0, windows: 0, resets: 0 });
    expect(bare(later, enforcement(false)).evidence.readings).toBe(0);
    expect(bare(later, enforcement(false), true).evidence.readings).toBe(5);
  });
});

describe("calls that cost more than a limit, and were let through", () => {
  const found = (
    calls: readonly (readonly [cost: number | null, limit: number | null, userLimit: number | null])[],
    known = enforcement(true),
  ) => {
    const oversize = new OversizeCalls(rulesQuota("acme", null, "graphql"), time);
    const docket = docketOf();
    for (const [at, [cost, ...limits]] of calls.entries())
      oversize.add(at + 2, rest({ at: 1000, count: 1 }, { cost }), limits);
    oversize.finish(known, docket);
    return violationsOf(docket).map(({ law, count, lines, explanation }) => [
      law,
      count,
      lines,
      explanation.slice(0, 70),
    ]);
  };

  test.each([
    ["as much as the limit", [[50, 50, 200]], []],
    [
      "a point more",
      [
        [50, 50, 200],
        [51, 50, 200],
      ],
      [
        [
          "refusal-justified",
          1,
          [3],
          "line 3 asked for 51 points, more than its limit of 50 can ever hold, a",
        ],
      ],
    ],
    [
      "more than the user's",
      [
        [51, 200, 50],
        [60, 200, 50],
      ],
      [
        [
          "refusal-justified",
          2,
          [2],
          "line 2 asked for 51 points, more than its limit of 50 can ever hold, a",
        ],
      ],
    ],
    ["of no known cost", [[null, 50, 50]], []],
    ["where no limit is shown", [[51, null, null]], []],
    [
      "where one is",
      [[1, null, 0]],
      [
        [
          "refusal-justified",
          1,
          [2],
          "line 2 asked for 1 point, more than its limit of 0 can ever hold, and ",
        ],
      ],
    ],
  ] as const)("%s", (_name, calls, expected) => {
    expect(found(calls)).toEqual(expected);
  });

  test("speak for themselves", () => {
    const oversize = new OversizeCalls(acme, time);
    const docket = docketOf();
    oversize.add(2, rest({ at: 1000, count: 1 }, { cost: 51 }), [50, 50]);
    oversize.finish(enforcement(true), docket);
    expect(docket.clues.weight("cost-over-limit-admitted")).toBe(3);
  });

  test("accuse nobody where limits may be off", () => {
    expect(found([[51, 50, 50]], enforcement(null))).toEqual([]);
  });
});
