// The members of a scenario that may be varied: every number and choice of its data, found by walking through it. A new
// field of scenarios can thus be varied at once. Behaviours are functions and stay as they are.

import { parsePolicy as parseLimits } from "../policy/parse.ts";
import { closest } from "../rules/closest.ts";
import { type Problem, quote, SpillwayError } from "../rules/errors.ts";
import { parseRules } from "../rules/parse.ts";
import { switchValues } from "../rules/switches.ts";
import { rateMost, timeUnitMostMs } from "../scenario/arrival-input.ts";
import { arrivalsMost, roughArrivals } from "../scenario/arrivals.ts";
import { longestMs, type MsSpan } from "../scenario/mistakes.ts";
import { clocksApartMostMs, queueMost, serversMost, tripMostMs } from "../scenario/network.ts";
import type { Population, Scenario } from "../scenario/scenario.ts";
import type { PlanAxis, PlanValue } from "../summary/plan-result.ts";
import { fleetOf, fleetPath, withFleet } from "./fleet.ts";
import { parsePolicy, policyWords } from "./policies.ts";

/** A place in a scenario that may have another value. */
export interface ScenarioPlace {
  /** Path as people write it: `agents.clients`, `network.latency`. */
  readonly path: string;
  readonly unit: PlanAxis["unit"];
  /** Keys of the place in the scenario's data. */
  readonly keys: readonly string[];
  /** Words of a choice; `null` for policies. */
  readonly choices: readonly (string | boolean)[] | null;
  /** True for a span, both ends of which get the value. */
  readonly span: boolean;
}

export interface Change {
  readonly path: string;
  readonly value: PlanValue;
}

// Fixed members: names and texts, identity of the run, functions, and the number of clients that k6 keeps ready.
const fixedKeys = new Set([
  ...["format", "name", "description", "seed", "startAtMs", "expect", "populations", "fitError"],
  ...["organization", "behaviour", "preAllocatedVUs", "maxVUs", "executor", "cron", "answer"],
]);

/** Members of a policy that hold numbers of its limits. */
const limitKeys = new Set(["quotas", "overrides"]);

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null;

/** Returns a scenario with limits to vary: the default rules if it has none. */
const withRules = (scenario: Scenario): Scenario =>
  scenario.rules === null && scenario.policy === undefined
    ? { ...scenario, rules: parseRules({}) }
    : scenario;

/** Path of a change of every limit at once, by a factor, for comparisons. */
export const limitsPath = "limits";

/** Returns every place that may be varied, the populations' places before the scenario's own. */
export function placesOf(given: Scenario): readonly ScenarioPlace[] {
  const scenario = withRules(given);
  const places = scenario.populations.flatMap((population, index) => [
    ...walk(population, population.name, ["populations", String(index)]),
    ...policyPlace(population, index),
  ]);
  return [...places, ...fleetPlace(scenario), ...walk(scenario, "", [])];
}

/** Returns the place of all clients together. */
const fleetPlace = (scenario: Scenario): ScenarioPlace[] =>
  fleetOf(scenario) === 0
    ? []
    : [{ path: fleetPath, unit: "count", keys: [fleetPath], choices: null, span: false }];

function policyPlace({ name }: Population, index: number): ScenarioPlace[] {
  const keys = ["populations", String(index), "onRefused"];
  return [{ path: `${name}.onRefused`, unit: "choice", keys, choices: null, span: false }];
}

function* walk(value: object, lead: string, keys: readonly string[]): Generator<ScenarioPlace, void> {
  for (const [key, member] of Object.entries(value)) {
    if (fixedKeys.has(key) && keys[0] !== "rules" && keys[0] !== "policy") continue;
    if (keys[0] === "policy" && keys.length === 1 && !limitKeys.has(key)) continue;
    const at = [...keys, key];
    yield* place(member, joined(lead, isTime(key, at.length - 1, at) ? key.slice(0, -2) : key), at);
  }
}

const joined = (lead: string, key: string): string => (lead === "" ? key : `${lead}.${key}`);

/** Tells whether a key's member is a time. Names of quotas and callers are keys as well, and may end in Ms. */
const isTime = (key: string, at: number, keys: readonly string[]): boolean =>
  key.endsWith("Ms") && !["quotas", "organizations", "users"].includes(keys[at - 1] ?? "");

/** Greatest length of a list of settings. Longer ones are data, such as measured latencies. */
const listMost = 20;

function* place(value: unknown, path: string, keys: readonly string[]): Generator<ScenarioPlace, void> {
  const key = keys.at(-1) ?? "";
  const at = { path, keys, choices: null, span: false };
  const isShare = key === "loss" || key === "share";
  const unit = keys.some(isTime) ? "ms" : isShare ? "share" : "count";
  if (key === "user" && keys[0] === "populations") yield { ...at, unit: "count" };
  else if (typeof value === "number") yield { ...at, unit };
  else if (typeof value === "boolean" || (typeof value === "string" && keys[1] === "semantics"))
    yield { ...at, unit: "choice", choices: choicesOf(keys) };
  else if (isObject(value) && !ArrayBuffer.isView(value) && Object.keys(value).length <= listMost) {
    const isSpread = isTime(key, keys.length - 1, keys);
    if (isSpread) yield { ...at, unit, span: true };
    if (!isSpread || isSpan(value)) yield* walk(value, path, keys);
  }
}

/** Tells whether a spread is a span. Numbers of other spreads depend on each other. */
const isSpan = (value: Readonly<Record<string, unknown>>): boolean =>
  Object.keys(value).sort().join() === "least,most";

function choicesOf(keys: readonly string[]): readonly (string | boolean)[] {
  const [room, part, name = ""] = keys;
  const isSwitch = room === "rules" && part === "semantics" && Object.hasOwn(switchValues, name);
  return isSwitch ? switchValues[name as keyof typeof switchValues] : [true, false];
}

/**
 * Finds a place by the path that people write; `populations.agents.clients` is `agents.clients`.
 * @returns the place, or the problem with a suggestion
 */
export function findPlace(scenario: Scenario, path: string): ScenarioPlace | Problem {
  const places = placesOf(scenario);
  const plain = path.replace(/^populations\./, "").replace(/Ms$/, "");
  const found = places.find((one) => one.path === plain);
  if (found !== undefined) return found;
  const paths = places.map((one) => one.path);
  const meant = closest(plain, paths);
  const first = plain.split(".")[0] ?? "";
  const beside = paths.filter((one) => one.startsWith(`${first}.`));
  const limits = paths.filter((one) => /\.(?:limit|capacity)$/.test(one)).slice(0, 3);
  const others = paths.filter((one) => !one.startsWith("rules.semantics") && !limits.includes(one));
  const known = beside.length > 0 ? beside.slice(0, 8) : [...others.slice(0, 8 - limits.length), ...limits];
  const allowed =
    meant === null ? `a path such as ${known.join(", ")}` : `${quote(meant)}, if that was meant`;
  return { path, got: "no such path in this scenario", allowed };
}

/** Returns the words of a choice, or the names of the refusal policies. */
export const wordsOf = ({ choices }: ScenarioPlace): readonly string[] => choices?.map(String) ?? policyWords;

/**
 * Returns the scenario with other values in some places.
 * @throws SpillwayError `USAGE` if a path or value cannot be used; `RULES_INVALID` if the rules cannot
 */
export function changeScenario(given: Scenario, changes: readonly Change[]): Scenario {
  let scenario = given;
  for (const change of changes) {
    if (change.path === limitsPath) {
      scenario = withLimits(withRules(scenario), Number(change.value));
      continue;
    }
    const found = findPlace(scenario, change.path);
    if (!("keys" in found)) throw unusable(found);
    scenario = changed(withRules(scenario), found, change);
  }
  const { rules, policy } = scenario;
  if (policy !== undefined) return { ...scenario, policy: parseLimits(policy) };
  return rules === null ? scenario : { ...scenario, rules: parseRules(rules) };
}

/** Returns the scenario with every limit, overrides included, times a factor, rounded to whole calls and points. */
function withLimits(scenario: Scenario, factor: number): Scenario {
  const scaled = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(scaled);
    if (!isObject(value)) return value;
    const entries = Object.entries(value).map(([key, member]) => [
      key,
      typeof member === "number" && ["limit", "capacity", "amount"].includes(key)
        ? Math.max(1, Math.round(member * factor))
        : scaled(member),
    ]);
    return Object.fromEntries(entries) as unknown;
  };
  const { policy } = scenario;
  if (policy !== undefined)
    return {
      ...scenario,
      policy: parseLimits({
        ...policy,
        quotas: scaled(policy.quotas),
        overrides: scaled(policy.overrides),
      }),
    };
  return { ...scenario, rules: parseRules(scaled(scenario.rules)) };
}

const unusable = (problem: Problem): SpillwayError =>
  new SpillwayError("USAGE", "the scenario cannot be changed like that", { problem });

function changed(scenario: Scenario, at: ScenarioPlace, { value }: Change): Scenario {
  const problem = check(scenario, at, value);
  if (problem !== null) throw unusable(problem);
  if (at.path === fleetPath) return withFleet(scenario, Number(value));
  const after = replaceAt(scenario, at.keys, meant(scenario, at, value)) as Scenario;
  for (const { name, arrivals } of after.populations)
    if (arrivals !== null && roughArrivals(arrivals, after) > arrivalsMost)
      throw unusable({
        path: at.path,
        got: quote(value),
        allowed: `at most ${arrivalsMost} arrivals of ${name}`,
      });
  return after;
}

/** Returns the value as the scenario's data has it. */
function meant(scenario: Scenario, { keys, choices, span }: ScenarioPlace, value: PlanValue): unknown {
  if (span) return { least: value, most: value };
  if (choices !== null) return choices.find((one) => String(one) === String(value));
  if (keys.at(-1) !== "onRefused") return value;
  const own = scenario.populations[Number(keys[1])];
  return own === undefined ? value : parsePolicy(keys.join("."), String(value), own.onRefused);
}

function check(
  scenario: Scenario,
  { path, unit, keys, choices }: ScenarioPlace,
  value: PlanValue,
): Problem | null {
  const problem = (allowed: string): Problem => ({ path, got: quote(value), allowed });
  if (unit === "share") {
    const most = keys.at(-1) === "loss" ? 0.99 : 1;
    return Number(value) >= 0 && Number(value) <= most ? null : problem(`a share from 0% to ${most * 100}%`);
  }
  if (unit !== "choice") {
    const [least, most] = bounds(scenario, keys, unit);
    const fits = Number.isSafeInteger(value) && Number(value) >= least && Number(value) <= most;
    return fits ? null : problem(`a whole number${unit === "ms" ? " of ms" : ""} from ${least} to ${most}`);
  }
  if (choices !== null)
    return choices.some((one) => String(one) === String(value))
      ? null
      : problem(`one of ${choices.join(", ")}`);
  const own = scenario.populations[Number(keys[1])];
  const policy = own === undefined ? null : parsePolicy(path, String(value), own.onRefused);
  return policy !== null && "path" in policy ? policy : null;
}

const numbers: readonly [number, number] = [0, Number.MAX_SAFE_INTEGER];
const some: readonly [number, number] = [1, Number.MAX_SAFE_INTEGER];
const many: readonly [number, number] = [1, 1_000_000];

/** Least and greatest values of members that do not take every whole number, as scenarios have them. */
const boundsOf: Readonly<Record<string, readonly [number, number]>> = {
  durationMs: [1, longestMs],
  timeoutMs: [1, longestMs],
  timeUnitMs: [1, timeUnitMostMs],
  apartMs: [0, clocksApartMostMs],
  ...{ latencyMs: [1, tripMostMs], roundTripMs: [1, tripMostMs], executionMs: [0, tripMostMs] },
  ...{ latenessMs: [0, tripMostMs], timeMs: [0, tripMostMs] },
  ...{ clients: many, user: many, [fleetPath]: many },
  ...{ servers: [1, serversMost], queue: [0, queueMost] },
  ...{ rate: [1, rateMost], startRate: [0, rateMost], target: [0, rateMost], startVUs: [0, 1_000_000] },
  ...{ limit: some, windowSeconds: some },
};

/** Returns the bounds of a number; those of one end of a span depend on its other end. */
function bounds(
  scenario: Scenario,
  keys: readonly string[],
  unit: PlanAxis["unit"],
): readonly [number, number] {
  const [key = "", around = ""] = keys.toReversed();
  const usual = unit === "ms" ? ([0, longestMs] as const) : numbers;
  if (key !== "least" && key !== "most") return boundsOf[key] ?? usual;
  const [low, high] = boundsOf[around] ?? usual;
  const { least, most } = valueAt(scenario, keys.slice(0, -1)) as MsSpan;
  return key === "least" ? [low, Math.min(high, most)] : [Math.max(low, least), high];
}

const valueAt = (value: unknown, keys: readonly string[]): unknown =>
  keys.reduce((at, key) => (at as Readonly<Record<string, unknown>>)[key], value);

/** Returns a copy with another value at one place. It shares all parts that are not on the way there. */
function replaceAt(value: unknown, [key, ...rest]: readonly string[], by: unknown): unknown {
  if (key === undefined) return by;
  if (Array.isArray(value))
    return value.map((member, index) => (String(index) === key ? replaceAt(member, rest, by) : member));
  const object = value as Readonly<Record<string, unknown>>;
  return { ...object, [key]: replaceAt(object[key], rest, by) };
}
