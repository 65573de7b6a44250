// Reads and applies the choice of a fault and its rate: `NAME` or `NAME=RATE`, as people write it.
import { scopeOf } from "../policy/names.ts";
import type { Policy, Quota } from "../policy/policy.ts";
import { policyOf } from "../policy/shorthand.ts";
import { closest } from "../rules/closest.ts";
import { quote, SpillwayError } from "../rules/errors.ts";
import { parseRules } from "../rules/parse.ts";
import type { Rules } from "../rules/rules.ts";
import type { SwitchName } from "../rules/switches.ts";
import { faults } from "./catalogue.ts";
import type { Fault, Faulty, FaultyQuotas } from "./fault.ts";
import { faultyRules } from "./rules-store.ts";

export interface ChosenFault {
  readonly fault: Fault;
  /** Rate of the fault; 1 if it has no degrees. */
  readonly rate: number;
}

/** Names of all faults, in the catalogue's order. */
export const faultNames: readonly string[] = faults.map(({ name }) => name);

const invalid = (got: string, allowed: string, hint: string): SpillwayError =>
  new SpillwayError("FAULT_INVALID", "this fault cannot be injected", {
    problem: { path: "fault", got: quote(got), allowed },
    hint,
  });

/** Returns a fault. @throws SpillwayError `FAULT_INVALID`, with the nearest name there is */
export function faultNamed(name: string): Fault {
  const fault = faults.find((known) => known.name === name);
  if (fault !== undefined) return fault;
  const meant = closest(name, faultNames);
  throw invalid(name, "a name of the catalogue", meant === null ? listHint : `did you mean ${meant}?`);
}

const listHint = "--fault list shows the catalogue";

/**
 * Reads `NAME` or `NAME=RATE`.
 * @throws SpillwayError `FAULT_INVALID` if there is no such fault, or it has no such rate
 */
export function parseFault(text: string): ChosenFault {
  const at = text.indexOf("=");
  const fault = faultNamed(at === -1 ? text : text.slice(0, at));
  if (at === -1) return { fault, rate: fault.rate?.default ?? 1 };
  if (fault.rate === null) throw invalid(text, fault.name, `${fault.name} has no degrees`);
  const number = text.slice(at + 1).trim();
  const rate = /^\d+(\.\d+)?$/.test(number) ? Number(number) : Number.NaN;
  const { least, most, whole, meaning } = fault.rate;
  if (!(rate >= least && rate <= most) || (whole === true && !Number.isInteger(rate)))
    throw invalid(
      text,
      `${fault.name}=${whole ? "a whole number" : "a number"} from ${least} to ${most}`,
      `the number is: ${meaning}`,
    );
  return { fault, rate };
}

/** Returns text that `parseFault` reads. A fault's rate is always in it, also the default one. */
export function faultText({ fault, rate }: ChosenFault): string {
  return fault.rate === null ? fault.name : `${fault.name}=${rate}`;
}

/** Returns the first suitable value of each switch whose default does not suit the fault. */
export function semanticsFor({ semantics = {} }: Fault): Partial<Record<SwitchName, string | boolean>> {
  const defaults = parseRules({}).semantics;
  const entries = (Object.entries(semantics) as [SwitchName, readonly (string | boolean)[]][]).flatMap(
    ([name, [first, ...others]]) =>
      first === undefined || [first, ...others].includes(defaults[name].graphql)
        ? []
        : [[name, first] as const],
  );
  return Object.fromEntries(entries);
}

/** @throws SpillwayError `FAULT_INVALID` if these rules make it no fault, or not the only one */
export function requireSuitable({ fault }: ChosenFault, rules: Rules): void {
  const found = firstDifferent(fault, policyOf(rules));
  if (found === null) return;
  const { quota, name, got, allowed } = found;
  throw new SpillwayError("FAULT_INVALID", `${fault.name} cannot be injected under these rules`, {
    problem: { path: `rules.semantics.${name}.${scopeOf(quota)}`, got: quote(got), allowed },
    hint: `under these rules it is no fault, or not the only one; choose others: ${rulesHint(fault)}`,
  });
}

/**
 * Returns a deployment with this fault and no other.
 * @param random returns numbers in [0, 1), from a seeded generator
 */
export function injectFault(chosen: ChosenFault, rules: Rules, random: () => number): Faulty {
  requireSuitable(chosen, rules);
  const policy = policyOf(rules);
  return faultyRules(policy, chosen.fault.inject(policy, { random, rate: chosen.rate }));
}

/**
 * Returns a deployment by a policy with this fault and no other.
 * @throws SpillwayError `FAULT_INVALID` if only the default API can have it, or this policy cannot
 */
export function injectQuotaFault(chosen: ChosenFault, policy: Policy, random: () => number): FaultyQuotas {
  requirePolicy(chosen, policy);
  return chosen.fault.inject(policy, { random, rate: chosen.rate });
}

/** @throws SpillwayError `FAULT_INVALID` as `injectQuotaFault` does */
export function requirePolicy({ fault }: ChosenFault, policy: Policy): void {
  const found = firstDifferent(fault, policy);
  const different = found && {
    path: `quotas.${found.quota}`,
    got: `${found.name} ${quote(found.got)}`,
    allowed: found.allowed,
  };
  const problem = fault.unfit(policy) ?? different;
  if (problem === null) return;
  throw new SpillwayError(
    "FAULT_INVALID",
    `${fault.name} cannot be injected under the policy ${policy.name}`,
    {
      problem,
      hint: "under this policy it is no fault, or not the only one",
    },
  );
}

/** Returns the values of switches in a quota, as rules name them. */
const switchesOf = ({ algorithm, charge, shown }: Quota): Partial<Record<SwitchName, string>> => ({
  anchor:
    algorithm.kind === "fixed-window" && algorithm.anchor === "first-request" ? "first-request" : "epoch",
  graphqlCharge: { admission: "prepaid", completion: "postpaid", "reserve-settle": "reserved" }[charge.when],
  refused: charge.refused === "counted" ? "counted" : "uncounted",
  refusedByUser: charge.refusedByOther === "charged" ? "charges-organization" : "charges-nothing",
  reset: shown.reset,
});

/** A switch whose value in a quota does not suit a fault. */
interface Different {
  readonly quota: string;
  readonly name: SwitchName;
  readonly got: string | undefined;
  readonly allowed: string;
}

/** Returns the first quota whose switches do not suit a fault. Only windows have switches to compare. */
function firstDifferent({ semantics = {} }: Fault, { quotas }: Policy): Different | null {
  for (const [name, allowed] of Object.entries(semantics) as [SwitchName, readonly unknown[]][])
    for (const [quota, one] of Object.entries(quotas)) {
      const got = switchesOf(one)[name];
      if (one.algorithm.kind === "fixed-window" && !allowed.includes(got))
        return { quota, name, got, allowed: allowed.map(quote).join(" or ") };
    }
  return null;
}

/** Returns the option for suitable rules, as the command line takes it. */
function rulesHint(fault: Fault): string {
  const semantics = semanticsFor(fault);
  return Object.keys(semantics).length === 0
    ? "--rules default"
    : `--rules FILE, with ${JSON.stringify({ semantics })} in it`;
}
