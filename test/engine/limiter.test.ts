// The limiter, rule by rule in the order of SPEC.md. The laws (test/laws) look for counterexamples at random;
// these are the examples that a reader checks the specification by.
import { describe, expect, test } from "vitest";
import type { Call, Decision, Reservation } from "../../src/engine/adapter.ts";
import { Limiter } from "../../src/engine/limiter.ts";
import { parseRules } from "../../src/rules/parse.ts";
import type { RulesInput } from "../../src/rules/rules.ts";

const small: RulesInput = {
  organization: { rest: { limit: 5, windowSeconds: 10 }, graphql: { limit: 100, windowSeconds: 20 } },
  user: { rest: { limit: 3, windowSeconds: 10 }, graphql: { limit: 60, windowSeconds: 20 } },
};
const T0 = 1_000_000_000_000; // on both grids: a multiple of 20 s

function limiterOf(overrides: RulesInput = {}): Limiter {
  return new Limiter(parseRules({ ...small, ...overrides }));
}
const rest = (user = "a", organization = "acme"): Call => ({ organization, user, scope: "rest", cost: 1 });
const graphql = (cost: number, user = "a"): Call => ({ organization: "acme", user, scope: "graphql", cost });
const times = (n: number, limiter: Limiter, call: Call, nowMs: number): Decision[] =>
  Array.from({ length: n }, () => limiter.decide(call, nowMs));
const held = ({ reservation }: Decision): Reservation => {
  if (reservation === null) throw new Error("no reservation");
  return reservation;
};

describe("§2 admission", () => {
  test("§2.1 every window must have room: the user's refuses first here", () => {
    const limiter = limiterOf();
    const decisions = times(4, limiter, rest(), T0);
    expect(decisions.map(({ admitted }) => admitted)).toEqual([true, true, true, false]);
    expect(decisions[3]).toMatchObject({
      refusedBy: "user",
      organization: { current: 3 },
      user: { current: 3 },
    });
  });

  test("§2.2, §2.3 a refused call charges no window", () => {
    const limiter = limiterOf();
    times(3, limiter, rest("a"), T0);
    times(2, limiter, rest("b"), T0);
    const refused = limiter.decide(rest("b"), T0);
    expect(refused).toMatchObject({
      refusedBy: "organization",
      organization: { current: 5 },
      user: { current: 2 },
    });
  });

  test("§2.4 where both lack room the organization's is named", () => {
    const limiter = limiterOf({ organization: { rest: { limit: 3, windowSeconds: 10 } } });
    expect(times(4, limiter, rest(), T0)[3]?.refusedBy).toBe("organization");
  });

  test("§2.5 unenforced: nothing is refused by either window, counting goes on", () => {
    const limiter = limiterOf();
    limiter.setEnforced("acme", "rest", false);
    const last = times(7, limiter, rest(), T0)[6];
    expect(last).toMatchObject({
      admitted: true,
      organization: { current: 7, remaining: 0, enforced: false },
      user: { current: 7 },
    });
    limiter.setEnforced("acme", "rest", true);
    expect(limiter.decide(rest(), T0).refusedBy).toBe("organization");
  });

  test("§2.5 `userEnforced: always`: the user's window refuses even then", () => {
    const limiter = limiterOf({ semantics: { userEnforced: "always" } });
    limiter.setEnforced("acme", "rest", false);
    expect(times(4, limiter, rest(), T0)[3]).toMatchObject({ refusedBy: "user", user: { enforced: true } });
  });

  test("§2.7 a cost above a limit is refused for ever", () => {
    const limiter = limiterOf();
    for (const window of [0, 1, 2])
      expect(limiter.decide(graphql(61), T0 + window * 20_000).admitted).toBe(false);
    expect(limiter.decide(graphql(60), T0 + 60_000).admitted).toBe(true);
  });

  test("§2.8 a clock that steps back reopens nothing", () => {
    const limiter = limiterOf();
    times(3, limiter, rest(), T0 + 10_000);
    const back = limiter.decide(rest(), T0 + 9_999);
    expect(back).toMatchObject({ admitted: false, user: { current: 3, reset: 10, resetAtMs: T0 + 20_000 } });
  });

  test("§2.8 a status reading moves no clock", () => {
    const limiter = limiterOf();
    times(2, limiter, rest(), T0);
    expect(limiter.status("acme", T0 + 50_000).rest).toMatchObject({ current: 0, resetAtMs: T0 + 60_000 });
    expect(limiter.decide(rest(), T0 + 1).organization).toMatchObject({ current: 3, resetAtMs: T0 + 10_000 });
  });

  test("§2.8 the user's clock is its own: another user's later call does not move it", () => {
    const limiter = limiterOf();
    limiter.decide(rest("a"), T0 + 15_000);
    expect(limiter.decide(rest("b"), T0 + 5_000)).toMatchObject({
      organization: { resetAtMs: T0 + 20_000, current: 2 },
      user: { resetAtMs: T0 + 10_000, current: 1 },
    });
  });

  test.each([-1, 1.5, 2 ** 53, Number.NaN, Number.POSITIVE_INFINITY])(
    "§2.9 a cost or a time of %d is a RangeError",
    (bad) => {
      const limiter = limiterOf();
      expect(() => limiter.decide({ ...rest(), cost: bad }, T0)).toThrow(
        new RangeError(`cost must be a safe integer >= 0, got ${bad}`),
      );
      expect(() => limiter.decide(rest(), bad)).toThrow(
        new RangeError(`nowMs must be a safe integer >= 0, got ${bad}`),
      );
      expect(limiter.status("acme", T0).rest.current).toBe(0);
    },
  );

  test("§2.9 counts end at 2^53 - 1 rather than lose a unit", () => {
    const limiter = limiterOf();
    limiter.setEnforced("acme", "graphql", false);
    for (let call = 0; call < 2; call++) limiter.decide(graphql(Number.MAX_SAFE_INTEGER), T0);
    expect(limiter.status("acme", T0).graphql.current).toBe(Number.MAX_SAFE_INTEGER);
  });
});

describe("§3 windows", () => {
  test("`epoch`: window k is [kW, (k+1)W), the edge belongs to the new one", () => {
    const limiter = limiterOf();
    times(3, limiter, rest(), T0);
    expect(limiter.decide(rest(), T0 + 9_999).admitted).toBe(false);
    expect(limiter.decide(rest(), T0 + 10_000)).toMatchObject({
      admitted: true,
      user: { current: 1, reset: 10 },
    });
  });

  test("`first-request`: opens at the whole second of the first counted call", () => {
    const limiter = limiterOf({ semantics: { anchor: "first-request" } });
    expect(limiter.status("acme", T0 + 2_345).rest).toMatchObject({
      current: 0,
      reset: 10,
      resetAtMs: T0 + 12_000,
    });
    expect(limiter.decide(rest(), T0 + 3_700).user.resetAtMs).toBe(T0 + 13_000);
    expect(limiter.decide(rest("b"), T0 + 5_000)).toMatchObject({
      organization: { resetAtMs: T0 + 13_000 },
      user: { resetAtMs: T0 + 15_000 },
    });
    expect(limiter.decide(rest(), T0 + 13_000).user).toMatchObject({ current: 1, resetAtMs: T0 + 23_000 });
  });

  test("`first-request`: an uncounted refusal opens no window, a counted one does", () => {
    const call = graphql(1_000);
    const uncounted = limiterOf({ semantics: { anchor: "first-request" } });
    uncounted.decide(call, T0);
    expect(uncounted.decide(graphql(1), T0 + 5_000).organization.resetAtMs).toBe(T0 + 25_000);
    const counted = limiterOf({ semantics: { anchor: "first-request", refused: "counted" } });
    expect(counted.decide(call, T0).organization).toMatchObject({ current: 1_000, resetAtMs: T0 + 20_000 });
    expect(counted.decide(graphql(1), T0 + 5_000).organization.resetAtMs).toBe(T0 + 20_000);
  });

  test.each([
    ["ceil", [10, 10, 9, 1]],
    ["floor", [10, 9, 9, 0]],
    ["round", [10, 10, 9, 0]],
  ] as const)("`reset: %s`", (reset, expected) => {
    const limiter = limiterOf({ semantics: { reset } });
    const seen = [0, 400, 1_000, 9_999].map((ms) => limiter.status("acme", T0 + ms).rest.reset);
    expect(seen).toEqual(expected);
  });
});

describe("§8 switches", () => {
  test("`refused: counted` charges the window that the refusal names, and only it", () => {
    const limiter = limiterOf({ semantics: { refused: "counted" } });
    expect(times(5, limiter, rest(), T0)[4]).toMatchObject({
      refusedBy: "user",
      user: { current: 5, remaining: 0 },
      organization: { current: 3 },
    });
  });

  test("`refusedByUser: charges-organization` charges the organization for what the user's window refused", () => {
    const limiter = limiterOf({ semantics: { refusedByUser: "charges-organization" } });
    expect(times(5, limiter, rest(), T0)[4]).toMatchObject({
      refusedBy: "user",
      user: { current: 3 },
      organization: { current: 5 },
    });
    expect(limiter.decide(rest("b"), T0).refusedBy).toBe("organization");
  });

  test("`remaining: signed` shows what is above the limit", () => {
    const limiter = limiterOf({ semantics: { refused: "counted", remaining: "signed" } });
    expect(times(5, limiter, rest(), T0)[4]?.user.remaining).toBe(-2);
  });

  test("`reserved`: the difference is given back in the same window, and in no later one", () => {
    const limiter = limiterOf();
    const first = limiter.decide(graphql(40), T0);
    const second = limiter.decide(graphql(20), T0);
    expect(limiter.settle(held(first), 10, T0 + 5_000).organization).toMatchObject({
      current: 30,
      remaining: 70,
    });
    limiter.decide(graphql(7), T0 + 20_000);
    expect(limiter.settle(held(second), 0, T0 + 20_001)).toMatchObject({
      organization: { current: 7 },
      user: { current: 7 },
    });
  });

  test("`prepaid`: nothing is given back", () => {
    const limiter = limiterOf({ semantics: { graphqlCharge: "prepaid" } });
    expect(limiter.settle(held(limiter.decide(graphql(40), T0)), 10, T0).user.current).toBe(40);
  });

  test("`postpaid`: admitted while anything is left, charged on completion, may overshoot", () => {
    const limiter = limiterOf({ semantics: { graphqlCharge: "postpaid" } });
    const decisions = times(3, limiter, graphql(50), T0);
    expect(decisions.map(({ user }) => user.current)).toEqual([0, 0, 0]);
    const currents = decisions.map((decision) => limiter.settle(held(decision), 45, T0 + 1).user.current);
    expect(currents).toEqual([45, 90, 135]);
    expect(limiter.decide(graphql(1), T0 + 2)).toMatchObject({
      refusedBy: "organization",
      organization: { remaining: 0 },
    });
  });

  test("`postpaid`: charged to the window of the decision, nowhere if that is over", () => {
    const limiter = limiterOf({ semantics: { graphqlCharge: "postpaid" } });
    const decision = limiter.decide(graphql(50), T0 + 19_999);
    expect(limiter.settle(held(decision), 45, T0 + 20_000).organization.current).toBe(0);
  });

  test("`postpaid` and `first-request`: where none was open at the decision, completion opens one", () => {
    const limiter = limiterOf({ semantics: { graphqlCharge: "postpaid", anchor: "first-request" } });
    const decision = limiter.decide(graphql(50), T0);
    expect(held(decision)).toMatchObject({ organizationWindow: null, userWindow: null });
    expect(limiter.settle(held(decision), 45, T0 + 3_500).organization).toMatchObject({
      current: 45,
      resetAtMs: T0 + 23_000,
    });
  });

  test("actual points above the requested, or no whole number, are a RangeError", () => {
    const limiter = limiterOf();
    const reservation = held(limiter.decide(graphql(40), T0));
    expect(() => limiter.settle(reservation, 41, T0)).toThrow(RangeError);
    expect(() => limiter.settle(reservation, 1.5, T0)).toThrow(RangeError);
    expect(limiter.status("acme", T0).graphql.current).toBe(40);
  });

  test("overrides reach the limiter", () => {
    const limiter = limiterOf({
      users: { "acme/vip": { rest: { limit: 4 } } },
      organizations: { tiny: { rest: { limit: 1 } } },
    });
    expect(times(5, limiter, rest("vip"), T0).filter(({ admitted }) => admitted)).toHaveLength(4);
    expect(times(2, limiter, rest("a", "tiny"), T0)[1]?.refusedBy).toBe("organization");
  });
});
