// The semantics switches and the laws: a law is void only where SPEC.md §7 says so, its changed form still
// judges, and a limiter that follows another value than it says is found out.
// @module-tag long
import { describe, expect, test } from "vitest";
import {
  checkLaws,
  engineFactory,
  type LimiterAdapter,
  type LimiterFactory,
  type LimiterLawName,
  limiterLawNames,
  type PartialDecision,
  parseRules,
  type Rules,
  renderCounterexample,
} from "../../src/laws/index.ts";
import { changedForms, voidEverywhere, voidReason } from "../../src/rules/laws.ts";
import { scopes } from "../../src/rules/rules.ts";
import { type SwitchName, switchValues } from "../../src/rules/switches.ts";
import { expectKept, only } from "./expectations.ts";

const seed = 11;
const switches = Object.entries(switchValues).flatMap(([name, values]) =>
  values.map((value) => ({ name: name as SwitchName, value })),
);
const withSwitch = (name: SwitchName, value: unknown): Rules =>
  parseRules({
    organization: { rest: { limit: 3, windowSeconds: 4 }, graphql: { limit: 6, windowSeconds: 4 } },
    user: { rest: { limit: 2, windowSeconds: 4 }, graphql: { limit: 4, windowSeconds: 4 } },
    semantics: { [name]: value },
  });

describe("void laws", () => {
  test.each(switches)("under $name = $value only those of SPEC.md §7", ({ name, value }) => {
    const rules = withSwitch(name, value);
    const found = limiterLawNames.flatMap((law) =>
      scopes.filter((scope) => voidReason(law, rules, scope) !== null).map((scope) => `${law} ${scope}`),
    );
    const expected =
      name === "refused" && value === "counted"
        ? ["bounded rest", "bounded graphql", "give-back rest", "give-back graphql"]
        : name === "graphqlCharge" && value === "postpaid"
          ? ["bounded graphql", "rate-bound graphql"]
          : [];
    expect(found).toEqual(expected);
  });

  test("are skipped by name, with the reason", async () => {
    const rules = withSwitch("refused", "counted");
    expect(voidEverywhere("bounded", rules)).not.toBeNull();
    const report = only(await checkLaws(engineFactory, { seed, rules, laws: ["bounded"] }));
    expect(report).toMatchObject({ outcome: "skipped", runs: 0 });
    expect(report.reason).toContain("refused calls are counted");
  });

  test("are counted, by reason, where the rules are drawn", async () => {
    const report = only(await checkLaws(engineFactory, { seed, laws: ["bounded"] }));
    expect(Object.keys(report.voidRuns).sort()).toEqual([
      "graphql: postpaid may overshoot",
      "graphql: refused calls are counted",
      "rest: refused calls are counted",
    ]);
    expect(report.runs).toBe(100);
    expect(report.judged).toBeGreaterThan(100);
  });

  test("a limiter that can follow no other rules has them skipped, too", async () => {
    const factory: LimiterFactory = { ...engineFactory, semantics: { refused: ["counted"] } };
    const report = only(await checkLaws(factory, { seed, laws: ["bounded"] }));
    expect(report.outcome).toBe("skipped");
    expect(report.reason).toContain("rest: refused calls are counted");
  });
});

describe("laws in another form", () => {
  const formsOf = (law: LimiterLawName, name: SwitchName, value: unknown): string[] =>
    scopes.flatMap((scope) => changedForms(law, withSwitch(name, value), scope));
  // A form belongs to a value where another value of the same switch does not have it.
  const changed = switches.flatMap(({ name, value }) =>
    limiterLawNames.flatMap((law) => {
      const others = switchValues[name].filter((other) => other !== value);
      const own = formsOf(law, name, value).filter((form) =>
        others.some((other) => !formsOf(law, name, other).includes(form)),
      );
      return own.length > 0 ? [{ law, name, value }] : [];
    }),
  );

  test("are those of SPEC.md §7's last column", () => {
    expect(changed.map(({ law, name, value }) => `${law}: ${name} = ${value}`).sort()).toEqual([
      "all-or-nothing: refused = counted",
      "all-or-nothing: refusedByUser = charges-organization",
      "conserved: graphqlCharge = postpaid",
      "conserved: graphqlCharge = reserved",
      "conserved: refused = counted",
      "conserved: refusedByUser = charges-organization",
      "give-back: refusedByUser = charges-organization",
      "honest-wait: reset = floor",
      "honest-wait: reset = round",
      "monotone: graphqlCharge = reserved",
      "rate-bound: graphqlCharge = reserved",
      "refusal-justified: graphqlCharge = postpaid",
      "remaining-agrees: remaining = signed",
      "reset-agrees: reset = floor",
      "reset-agrees: reset = round",
      "twice-at-most: graphqlCharge = postpaid",
      "twice-at-most: graphqlCharge = reserved",
      "unenforced-never-refuses: userEnforced = always",
    ]);
  });

  test.each(changed)(
    "$law says its form and still judges under $name = $value",
    async ({ law, name, value }) => {
      const rules = withSwitch(name, value);
      const report = await checkLaws(engineFactory, { seed, rules, laws: [law], runs: 40 });
      expectKept(report);
      expect(Object.keys(only(report).changedRuns).length).toBeGreaterThan(0);
      expect(only(report).judged).toBeGreaterThan(20);
    },
  );
});

/** Our engine with what it answers changed by `change`. */
function engineThat(change: (limiter: LimiterAdapter) => Partial<LimiterAdapter>): LimiterFactory {
  return {
    name: "changed engine",
    algorithm: "fixed-window",
    claims: "all",
    async create(rules) {
      const limiter = await engineFactory.create(rules);
      return { ...limiter, ...change(limiter) };
    },
  };
}

/** Decides as the engine does, and then changes the decision. */
const deciding = (change: (decision: PartialDecision, scope: string) => PartialDecision): LimiterFactory =>
  engineThat((limiter) => ({
    decide: async (call, nowMs) => change(await limiter.decide(call, nowMs), call.scope),
  }));

const oneMore = (decision: PartialDecision, owner: "organization" | "user"): PartialDecision => ({
  ...decision,
  [owner]: { ...decision[owner], current: (decision[owner]?.current ?? 0) + 1 },
});

describe("what a changed form must still find", () => {
  const cases: readonly [string, LimiterLawName, SwitchName, unknown, LimiterFactory][] = [
    [
      "a count beyond the limit of the scope that is not void",
      "bounded",
      "refused",
      { rest: "counted", graphql: "uncounted" },
      deciding((decision, scope) =>
        scope === "graphql" ? { ...decision, user: { ...decision.user, current: 5 } } : decision,
      ),
    ],
    [
      "a refusal that also charges the window it does not name",
      "all-or-nothing",
      "refused",
      "counted",
      deciding((decision) =>
        decision.admitted
          ? decision
          : oneMore(decision, decision.refusedBy === "user" ? "organization" : "user"),
      ),
    ],
    [
      "a user's refusal that charges the user",
      "all-or-nothing",
      "refusedByUser",
      "charges-organization",
      deciding((decision) => (decision.refusedBy === "user" ? oneMore(decision, "user") : decision)),
    ],
    [
      "a count that falls by more than was given back",
      "monotone",
      "graphqlCharge",
      "reserved",
      engineThat((limiter) => ({
        settle: async (reservation, actual, nowMs) => {
          const readings = await limiter.settle?.(reservation, actual, nowMs);
          return { ...readings, user: { ...readings?.user, current: (readings?.user?.current ?? 0) - 1 } };
        },
      })),
    ],
    [
      "a call in flight that counts already",
      "conserved",
      "graphqlCharge",
      "postpaid",
      deciding((decision, scope) =>
        decision.admitted && scope === "graphql" ? oneMore(decision, "user") : decision,
      ),
    ],
    [
      "a call that is admitted at a window that is just full",
      "refusal-justified",
      "graphqlCharge",
      "postpaid",
      deciding((decision, scope) => {
        const isJustFull = [decision.organization, decision.user].every(
          (reading) => (reading?.current ?? 0) <= (reading?.limit ?? 0),
        );
        return scope === "graphql" && isJustFull
          ? { ...decision, admitted: true, refusedBy: null }
          : decision;
      }),
    ],
    [
      "the organization's window that refuses while unenforced",
      "unenforced-never-refuses",
      "userEnforced",
      "always",
      deciding((decision) =>
        decision.organization?.enforced === false
          ? { ...decision, admitted: false, refusedBy: "organization" }
          : decision,
      ),
    ],
  ];

  test.each(cases)("%s: %s under %s = %j", async (_, law, name, value, factory) => {
    const report = only(await checkLaws(factory, { seed, rules: withSwitch(name, value), laws: [law] }));
    expect(report.outcome).toBe("violated");
  });

  test("but nothing in the scope that is void", async () => {
    const factory = deciding((decision, scope) =>
      scope === "rest" ? { ...decision, user: { ...decision.user, current: 9 } } : decision,
    );
    const rules = withSwitch("refused", { rest: "counted" });
    expectKept(await checkLaws(factory, { seed, rules, laws: ["bounded"] }));
  });

  test.each(switchValues.graphqlCharge)(
    "a limiter that never refuses, twice-at-most under %s",
    async (charge) => {
      const never: LimiterFactory = {
        ...engineFactory,
        create: (rules) =>
          engineFactory.create({
            ...rules,
            organization: {
              rest: { ...rules.organization.rest, enforced: false },
              graphql: { ...rules.organization.graphql, enforced: false },
            },
          }),
      };
      const rules = withSwitch("graphqlCharge", charge);
      const report = only(await checkLaws(never, { seed, rules, laws: ["twice-at-most"] }));
      expect(report.outcome).toBe("violated");
    },
  );
});

test("a postpaid limiter that charges late completions to the window then open is not accused", async () => {
  const factory: LimiterFactory = {
    ...engineThat((limiter) => ({
      settle: (reservation, actual, nowMs) =>
        limiter.settle?.(
          { ...(reservation as object), organizationWindow: null, userWindow: null },
          actual,
          nowMs,
        ) ?? {},
    })),
    semantics: { graphqlCharge: ["postpaid"] },
  };
  // A quarter of all scripts settle a call after its window (reach.test.ts): about five of each law's do.
  const report = await checkLaws(factory, { seed, runs: 20 });
  expect(report.laws.flatMap(renderCounterexample)).toEqual([]);
  expect(report.ok).toBe(true);
});

describe("a limiter that says one value and follows another", () => {
  /** The law that must notice, whatever the two values are. */
  const noticedBy: Partial<Record<SwitchName, LimiterLawName>> = {
    anchor: "conserved",
    refused: "conserved",
    refusedByUser: "conserved",
    graphqlCharge: "conserved",
    remaining: "remaining-agrees",
    reset: "reset-agrees",
    userEnforced: "refusal-justified",
  };
  const pairs = Object.entries(noticedBy).flatMap(([name, law]) => {
    const values: readonly unknown[] = switchValues[name as SwitchName];
    return values.flatMap((says) =>
      values.filter((does) => does !== says).map((does) => ({ name, says, does, law })),
    );
  });

  test.each(pairs)("$name: says $says, does $does, noticed by $law", async ({ name, says, does, law }) => {
    const actual = (rules: Rules): Rules => ({
      ...rules,
      semantics: { ...rules.semantics, [name]: { rest: does, graphql: does } },
    });
    const factory: LimiterFactory = {
      name: "two-faced",
      algorithm: "fixed-window",
      claims: "all",
      semantics: { [name]: [says] },
      create: (rules) => engineFactory.create(actual(rules)),
    };
    const report = only(await checkLaws(factory, { seed, laws: [law] }));
    expect(report.outcome).toBe("violated");
  });
});
