// Random rules over all switches, and random scripts under each: calls, completions, readings, switches, sweeps, clocks
// that step back, and limiters stored and restored. All that a limiter says to them, for one digest.
import type { Call, Decision, Readings, Reservation, Status } from "../../src/engine/adapter.ts";
import { parseRules } from "../../src/rules/parse.ts";
import type { Rules, Scope } from "../../src/rules/rules.ts";
import { eachSwitch, switchValues } from "../../src/rules/switches.ts";
import { between, type RandomState, seedRandom } from "../../src/scenario/random.ts";

interface AnyLimiter {
  decide(call: Call, nowMs: number): Decision;
  settle(reservation: Reservation, actual: number, nowMs: number): Readings;
  status(organization: string, nowMs: number): Status;
  readings(organization: string, user: string, scope: Scope, nowMs: number): Readings;
  setEnforced(organization: string, scope: Scope, enforced: boolean): void;
  sweep(nowMs: number): unknown;
  snapshot(): unknown;
}

/** Makes a limiter, of a snapshot where one is given. */
export type MakeLimiter = (rules: Rules, snapshot?: unknown) => AnyLimiter;

const random: RandomState = { random0: 0, random1: 0, random2: 0, random3: 0 };
const upTo = (most: number): number => between(random, 0, most);
const oneOf = <T>(values: readonly T[]): T => values[upTo(values.length - 1)] as T;

function drawnRules(): Rules {
  const window = () => ({ limit: 1 + upTo(6), windowSeconds: oneOf([1, 2, 3, 7]) });
  const both = () => ({ rest: window(), graphql: window() });
  const organization = both();
  const isEnforced = upTo(5) > 0;
  return parseRules({
    organization: { rest: { ...organization.rest, enforced: isEnforced }, graphql: organization.graphql },
    user: both(),
    semantics: eachSwitch((name) => ({
      rest: oneOf<string | boolean>(switchValues[name]),
      graphql: oneOf<string | boolean>(switchValues[name]),
    })),
    organizations: upTo(3) === 0 ? { acme: { rest: { limit: 2 } } } : {},
    users: upTo(3) === 0 ? { "acme/b": { graphql: { limit: 5 } } } : {},
  });
}

/** Returns what a limiter said to one drawn script. */
function answersOf(make: MakeLimiter): unknown[] {
  const rules = drawnRules();
  let limiter = make(rules);
  let nowMs = 1_767_322_800_123 + upTo(5_000);
  const open: Reservation[] = [];
  return Array.from({ length: 60 }, (): unknown => {
    nowMs += upTo(9) === 0 ? -upTo(3_000) : upTo(6) === 0 ? upTo(8_000) : upTo(300);
    const organization = oneOf(["acme", "globex"]);
    const user = oneOf(["a", "b", "c"]);
    const scope = oneOf(["rest", "graphql"] as const);
    const kind = upTo(19);
    if (kind < 11) {
      const cost = scope === "rest" ? 1 : upTo(4);
      const decision = limiter.decide({ organization, user, scope, cost }, nowMs);
      if (decision.reservation !== null) open.push(decision.reservation);
      return decision;
    }
    if (kind < 14) {
      const [held] = open.splice(upTo(Math.max(0, open.length - 1)), 1);
      return held === undefined ? null : limiter.settle(held, upTo(held.requested), nowMs);
    }
    if (kind < 15) return limiter.status(organization, nowMs);
    if (kind < 16) return limiter.readings(organization, user, scope, nowMs);
    if (kind < 17) limiter.setEnforced(organization, scope, upTo(1) === 1);
    else if (kind < 18) limiter.sweep(nowMs);
    else limiter = make(rules, JSON.parse(JSON.stringify(limiter.snapshot())));
    return null;
  });
}

/** Returns what limiters said to so many drawn scripts. */
export function goldenAnswers(make: MakeLimiter, scripts: number): unknown[] {
  return Array.from({ length: scripts }, (_, seed) => {
    seedRandom(random, seed, 1, 1);
    return answersOf(make);
  });
}
