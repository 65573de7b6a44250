// Findings that wait for a trace's end: those that rule out a hypothesis at once, and those that unknown calls, or limits
// that were not enforced, explain.
import { describe, expect, test } from "vitest";
import { Deferrals } from "../../src/verify/deferrals.ts";
import type { Enforcement } from "../../src/verify/enforcement.ts";
import { Hypotheses, type Hypothesis } from "../../src/verify/hypotheses.ts";
import { rulesQuota } from "../../src/verify/quota-name.ts";
import type { QuotaSetting } from "../../src/verify/quota-setting.ts";
import type { Suspicion } from "../../src/verify/suspicion.ts";
import { type Terms, termsOf } from "../../src/verify/terms.ts";
import type { CountsResult } from "../../src/verify/window-counts.ts";

const suspicion = (changes: Partial<Suspicion> = {}): Suspicion =>
  ({
    ...{ law: "conserved", breach: "gap", suspects: ["double-count"], lines: [3], explanation: "it grew" },
    ...{ count: 1, unexplained: null, tooLow: null },
    ...changes,
  }) as Suspicion;
const result = (enforced: readonly Suspicion[], otherwise: readonly Suspicion[] = []): CountsResult =>
  ({ enforced, otherwise, overshoot: { overAdmitted: 4, wronglyRefused: 5 } }) as unknown as CountsResult;

interface Given {
  readonly user?: string | null;
  readonly keeps?: () => boolean;
  readonly terms?: Partial<Terms>;
}
function deferralsOf({ user = null, keeps = () => true, terms = {} }: Given = {}) {
  const told: unknown[] = [];
  const docket = {
    keeps,
    accuse: (each: unknown) => void told.push(each),
    amounts: {
      add: (_name: unknown, { suspicions }: { suspicions: unknown[] }) => void told.push(suspicions.length),
    },
    clues: { unexplained: () => void told.push("unexplained") },
  };
  const setting = { name: rulesQuota("acme", user, "rest"), docket } as unknown as QuotaSetting;
  const given = new Hypotheses("rest", { ...termsOf(null, "rest"), ...terms });
  return { deferrals: new Deferrals(setting), told, given, only: given.left[0] as Hypothesis };
}
const window = { opensAt: 0, endsAt: 60 };
const deferral = (found: readonly (readonly [Hypothesis, CountsResult])[], from = 0, to = 60) => ({
  ...{ span: { from, to }, window, limit: 10 },
  found: new Map(found),
});
const enforcing = (is: boolean | null) => ({ throughout: () => is }) as unknown as Enforcement;
const none = { points: 0, calls: 0 };

describe("a finding", () => {
  test("under the only hypothesis waits, and stands as limits were enforced or not", () => {
    const { deferrals, given, only } = deferralsOf();
    const [one, other] = [suspicion(), suspicion({ breach: "fall" })];
    deferrals.add(deferral([[only, result([one], [other])]]), given);
    const [yes, no, unknown] = [true, false, null].map(
      (is) => deferrals.standing(only, enforcing(is), none)[0],
    );
    expect([yes?.suspicions, no?.suspicions, unknown?.suspicions]).toEqual([[one], [other], [other]]);
    expect([yes?.overshoot, no?.overshoot]).toEqual([
      { overAdmitted: 4, wronglyRefused: 0 },
      { overAdmitted: 0, wronglyRefused: 0 },
    ]);
    expect(given.isExhausted).toBe(false);
  });

  test("of a user's window binds always, where rules say so", () => {
    const overAdmitted = (user: string | null, userEnforced: Terms["userEnforced"]) => {
      const { deferrals, given, only } = deferralsOf({ user, terms: { userEnforced } });
      deferrals.add(deferral([[only, result([], [suspicion()])]]), given);
      return deferrals.standing(only, enforcing(false), none)[0]?.overshoot.overAdmitted;
    };
    const told = [overAdmitted("ann", "always"), overAdmitted(null, "always"), overAdmitted("ann", null)];
    expect(told).toEqual([4, 0, 0]);
  });

  test("that is none is not kept", () => {
    const kept: number[] = [];
    const { deferrals, given, only } = deferralsOf({ keeps: () => kept.push(1) > 0 });
    deferrals.add(deferral([[only, result([])]]), given);
    deferrals.add(deferral([[only, result([suspicion()])]]), given);
    deferrals.add(deferral([[only, result([], [suspicion()])]]), given);
    expect([kept.length, deferrals.standing(only, enforcing(true), none).length]).toEqual([2, 1]);
    const full = deferralsOf({ keeps: () => false });
    full.deferrals.add(deferral([[full.only, result([suspicion()])]]), full.given);
    expect(full.deferrals.standing(full.only, enforcing(true), none)).toEqual([]);
  });
});

describe("hypotheses", () => {
  const open = () => {
    const hypotheses = new Hypotheses("rest", null);
    const [first, second, ...others] = hypotheses.all as [Hypothesis, Hypothesis, ...Hypothesis[]];
    return { hypotheses, first, second, others, ...deferralsOf() };
  };

  test("are ruled out by a finding that stands whether or not limits were enforced", () => {
    const { deferrals, hypotheses, first, second } = open();
    const certain = suspicion({ lines: [5, 6], explanation: "surely" });
    const unsure = suspicion({ unexplained: { points: 1, calls: 1 } });
    deferrals.add(
      deferral([
        [first, result([], [unsure, certain])],
        [second, result([certain], [unsure])],
      ]),
      hypotheses,
    );
    expect(first.against).toEqual({ lines: [5, 6], explanation: "surely" });
    expect([hypotheses.left.includes(first), hypotheses.left.includes(second)]).toEqual([false, true]);
    expect(deferrals.standing(first, enforcing(false), none)).toEqual([]);
    expect(deferrals.standing(second, enforcing(true), none).length).toBe(1);
  });

  test("that all fall at once leave the one with the least against it, by counts", () => {
    const { deferrals, hypotheses, second } = open();
    const against = (each: Hypothesis) =>
      each === second
        ? [suspicion({ count: 4 })]
        : [suspicion({ count: 3 }), suspicion({ count: 2 }), suspicion({ unexplained: none })];
    deferrals.add(deferral(hypotheses.all.map((each) => [each, result([], against(each))])), hypotheses);
    expect([hypotheses.isExhausted, hypotheses.left]).toEqual([true, [second]]);
  });

  test("keep twenty windows each, while another has none", () => {
    const { deferrals, hypotheses, first } = open();
    for (let count = 0; count < 30; count++)
      deferrals.add(deferral([[first, result([suspicion()])]]), hypotheses);
    expect(deferrals.standing(first, enforcing(true), none).length).toBe(20);
    // Where all have one, it says more.
    const all = hypotheses.all.map((each) => [each, result([suspicion()])] as const);
    deferrals.add(deferral(all), hypotheses);
    expect(deferrals.standing(first, enforcing(true), none).length).toBe(21);
  });
});

describe("a gap", () => {
  const gapOf = (points: number, calls = 1, changes: Partial<Suspicion> = {}) =>
    result([suspicion({ unexplained: { points, calls }, ...changes })]);
  /** Numbers of windows that stand, of gaps of these points in windows of a minute each. */
  function standing(
    gaps: readonly CountsResult[],
    { lost = none, excused = false, unknowns = [] as (readonly [sent: number, points: number])[] },
  ): number {
    const { deferrals, given, only } = deferralsOf();
    for (const [sent, points] of unknowns) deferrals.unknowns.add(sent, null, points);
    if (excused) deferrals.excuseGaps();
    for (const [place, gap] of gaps.entries())
      deferrals.add(deferral([[only, gap]], 60 * place, 60 * place + 60), given);
    return deferrals.standing(only, enforcing(true), lost).length;
  }

  test("stands unless unknown calls explain its points, and each of its parts", () => {
    expect(standing([gapOf(5)], {})).toBe(1);
    expect(standing([gapOf(5)], { excused: true })).toBe(0);
    expect(standing([gapOf(5)], { unknowns: [[30, 5]] })).toBe(0);
    expect(standing([gapOf(5)], { unknowns: [[30, 4]] })).toBe(1);
    expect(standing([gapOf(5)], { unknowns: [[60, 5]] })).toBe(1);
    expect(standing([gapOf(5, 2)], { unknowns: [[30, 5]] })).toBe(1);
    expect(standing([gapOf(5)], { lost: { points: 5, calls: 1 } })).toBe(0);
    expect(standing([gapOf(5)], { lost: { points: 4, calls: 1 } })).toBe(1);
    expect(standing([gapOf(5, 2)], { unknowns: [[30, 3]], lost: { points: 2, calls: 1 } })).toBe(0);
  });

  test("takes its calls from later ones, but for a fall", () => {
    const unknowns: [number, number][] = [[30, 5]];
    expect(standing([gapOf(5), gapOf(5)], { unknowns })).toBe(1);
    expect(standing([gapOf(5), gapOf(5)], { unknowns: [[30, 10]] })).toBe(1);
    expect(standing([gapOf(3), gapOf(2)], { unknowns })).toBe(1);
    expect(standing([gapOf(3), gapOf(3)], { unknowns: [...unknowns, [31, 0]] })).toBe(1);
    expect(standing([gapOf(3), gapOf(2)], { unknowns: [...unknowns, [31, 0]] })).toBe(0);
    expect(standing([gapOf(3), gapOf(2)], { unknowns: [...unknowns, [90, 2]] })).toBe(0);
    expect(standing([gapOf(5), gapOf(5, 1, { breach: "fall" })], { unknowns })).toBe(0);
  });

  test("that stands tells how many were refused wrongly", () => {
    const { deferrals, given, only } = deferralsOf();
    deferrals.add(deferral([[only, gapOf(5)]]), given);
    const [found] = deferrals.standing(only, enforcing(true), none);
    expect(found?.overshoot).toEqual({ overAdmitted: 4, wronglyRefused: 5 });
  });
});

test("what stands is accused, counted, and told as a clue where unknown calls could not explain it", () => {
  const { deferrals, given, only, told } = deferralsOf();
  const certain = suspicion();
  deferrals.add(deferral([[only, result([certain])]]), given);
  deferrals.add(deferral([[only, result([suspicion({ unexplained: { points: 1, calls: 1 } })])]]), given);
  deferrals.accuse(deferrals.standing(only, enforcing(true), none));
  const { unexplained: _, ...words } = certain;
  const accused = { ...words, org: "acme", user: null, scope: "rest", window };
  expect(told).toEqual([accused, 1, accused, 1, "unexplained"]);
});
