// A user's limiter, loaded and asked under a clock of virtual time. It may read the time that it is told, `Date.now`,
// or timers of its own.
import type { LimiterFactory } from "../engine/adapter.ts";
import { followedRules } from "../engine/adapter-rules.ts";
import { withMembers } from "../engine/frozen.ts";
import { patient } from "../laws/patience.ts";
import { anchored } from "../laws/shown-anchor.ts";
import { newYear2026Ms } from "../laws/subject.ts";
import { type PlacedModule, placeIn } from "../load/user-module.ts";
import { claimsInTraces } from "../rules/algorithms.ts";
import { parseRules } from "../rules/parse.ts";
import { type Rules, type Scope, scopes } from "../rules/rules.ts";
import type { SwitchName } from "../rules/switches.ts";
import { counted } from "../rules/words.ts";
import { importAdapter } from "./adapter-file.ts";
import { clockedFactory } from "./clocked-limiter.ts";
import type { JobLimiter } from "./job.ts";
import { ownTimers } from "./promised-timers.ts";
import { VirtualClock } from "./virtual-clock.ts";

/**
 * Imports a limiter for virtual time.
 * @throws SpillwayError as `importAdapter` does
 */
export async function importInVirtualTime(module: PlacedModule): Promise<JobLimiter> {
  const clock = new VirtualClock();
  const factory = await importAdapter(module, (run) => clock.during(run));
  return {
    factory,
    placeOf: (stack) => placeIn(stack, module),
    clock: {
      set: (nowMs) => clock.advance(nowMs),
      during: (run) => clock.yielding(run),
      clear: () => clock.clear(),
    },
  };
}

/**
 * Returns the same limiter. Its promises reject if they do not settle within 5 s of real time. One that does not say where
 * its windows lie is asked, as `check` does.
 */
export async function patientLimiter({ factory, clock, ...rest }: JobLimiter): Promise<JobLimiter> {
  const asked = patient(clockedFactory({ factory, clock }), ownTimers);
  const { algorithm, semantics, fromStart } = await anchored(asked, undefined, newYear2026Ms);
  const known = { algorithm, semantics, fromStart };
  return { factory: withMembers(patient(factory, ownTimers), known), clock, ...rest };
}

/** Returns the facts that the reader of such a run must know. */
export function limiterNotes(factory: LimiterFactory, asked: Rules | null): string[] {
  const { name, scopes: known = scopes } = factory;
  const claims = claimsInTraces(factory);
  const judged = claims === "all" ? "every law" : `${counted(claims.length, "law")} that it claims`;
  const rules = asked ?? parseRules({});
  const own = ownSemantics(rules, followedRules(factory, rules), known);
  const unknown = scopes.filter((scope) => !known.includes(scope));
  return [
    `the limiter is ${name}, judged by ${judged}`,
    ...(own.length === 0 ? [] : [`its own semantics are taken: ${own.join(", ")}`]),
    ...unknown.map((scope) => `calls of ${scope} are let through: it knows ${known.join(" and ")} alone`),
  ];
}

/** Returns the switches in which the limiter differs from the rules asked for. */
function ownSemantics(asked: Rules, own: Rules, known: readonly Scope[]): string[] {
  return (Object.keys(asked.semantics) as SwitchName[]).flatMap((name) => {
    const differing = known.filter((scope) => asked.semantics[name][scope] !== own.semantics[name][scope]);
    const values = new Set(differing.map((scope) => String(own.semantics[name][scope])));
    const meant = name === "graphqlCharge" ? differing.includes("graphql") : differing.length > 0;
    return meant ? [`${name} ${[...values].join(", ")}`] : [];
  });
}
