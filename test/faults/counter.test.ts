// The plain counter that faults are made of is right by itself: under every switch, at every time, it answers
// what the engine answers, but for the numbers by which it knows its own windows.
import fc from "fast-check";
import { describe } from "vitest";
import type { Reservation } from "../../src/engine/adapter.ts";
import { Limiter } from "../../src/engine/limiter.ts";
import { ReferenceLimiter } from "../../src/engine/reference.ts";
import { Counter } from "../../src/faults/counter.ts";
import { rulesStore } from "../../src/faults/rules-store.ts";
import { policyOf } from "../../src/policy/shorthand.ts";
import { parseRules } from "../../src/rules/parse.ts";
import { type Rules, scopes } from "../../src/rules/rules.ts";
import { type SwitchName, switchValues } from "../../src/rules/switches.ts";
import { anyPolicy, anyScript, played } from "../engine/policy-scripts.ts";
import { property } from "../support/property.ts";

const eachScope = (name: SwitchName): fc.Arbitrary<unknown> => {
  const value = fc.constantFrom<unknown>(...switchValues[name]);
  return fc.record({ rest: value, graphql: value });
};
const names = Object.keys(switchValues) as SwitchName[];
const window = fc.record({
  limit: fc.integer({ min: 1, max: 6 }),
  windowSeconds: fc.constantFrom(1, 2, 7, 10),
});
const enforcedWindow = fc.record({
  limit: fc.integer({ min: 1, max: 9 }),
  windowSeconds: fc.constantFrom(1, 2, 7, 10),
  enforced: fc.boolean(),
});

const anyRules: fc.Arbitrary<Rules> = fc
  .record({
    organization: fc.record({ rest: enforcedWindow, graphql: enforcedWindow }),
    user: fc.record({ rest: window, graphql: window }),
    semantics: fc.record(Object.fromEntries(names.map((name) => [name, eachScope(name)]))),
    users: fc.record({ "acme/ann": fc.record({ rest: window }) }, { requiredKeys: [] }),
  })
  .map((rules) => parseRules(rules));

const step = fc.record({
  // Also back in time.
  laterMs: fc.constantFrom(0, 0, 0, 1, 500, 999, 1000, 7000, 10_001, -1, -4000),
  act: fc.constantFrom("call", "call", "call", "settle", "status", "readings", "enforce", "sweep"),
  user: fc.constantFrom("ann", "bob"),
  organization: fc.constantFrom("acme", "acme", "beta"),
  scope: fc.constantFrom(...scopes),
  cost: fc.integer({ min: 0, max: 8 }),
  enforced: fc.boolean(),
});

describe("the plain counter", () => {
  property([anyRules, fc.array(step, { maxLength: 40 })], { numRuns: 500 })(
    "answers as the engine does",
    (rules, steps) => {
      const policy = policyOf(rules);
      const [right, plain] = [new Limiter(rules), rulesStore(policy, new Counter(policy))];
      const held: [Reservation, Reservation][] = [];
      let nowMs = 1_767_225_600_000;
      for (const { laterMs, act, user, organization, scope, cost, enforced } of steps) {
        nowMs += laterMs;
        switch (act) {
          case "call": {
            const call = { organization, user, scope, cost: scope === "rest" ? 1 : cost };
            const [a, b] = [right.decide(call, nowMs), plain.decide(call, nowMs)];
            expectSame({ ...b, reservation: null }, { ...a, reservation: null });
            expectSame(b.reservation === null, a.reservation === null);
            if (a.reservation !== null && b.reservation !== null) held.push([a.reservation, b.reservation]);
            break;
          }
          case "settle": {
            const [a, b] = held.splice(0, 1)[0] ?? [];
            if (a === undefined || b === undefined) break;
            const actual = Math.min(cost, a.requested);
            expectSame(plain.settle(b, actual, nowMs), right.settle(a, actual, nowMs));
            break;
          }
          case "status":
            expectSame(plain.status(organization, nowMs), right.status(organization, nowMs));
            break;
          case "readings":
            expectSame(
              plain.readings(organization, user, scope, nowMs),
              right.readings(organization, user, scope, nowMs),
            );
            break;
          case "enforce":
            for (const each of [right, plain]) each.setEnforced(organization, scope, enforced);
            break;
          default:
            for (const each of [right, plain]) each.sweep(nowMs);
        }
      }
    },
  );
});

/** Without the numbers by which each knows its windows and clocks. */
const comparable = (said: unknown): string =>
  JSON.stringify(said, (name, value: unknown) =>
    name === "clockMs" || (name === "windows" && Array.isArray(value)) ? undefined : value,
  );

describe("the plain counter", () => {
  property([anyPolicy, anyScript], { numRuns: 400 })(
    "answers as the engine's reference under any policy",
    (policy, script) => {
      const right = played(policy, script, new ReferenceLimiter(policy));
      expectSame(comparable(played(policy, script, new Counter(policy))), comparable(right));
    },
  );
});

function expectSame(got: unknown, wanted: unknown): void {
  const [a, b] = [JSON.stringify(got), JSON.stringify(wanted)];
  if (a !== b) throw new Error(`got ${a}, wanted ${b}`);
}
