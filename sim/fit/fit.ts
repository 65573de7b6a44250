// A recording → the scenario that explains it: populations of callers that are alike, what they do, when they come, what
// they do when refused, and the network and rules they met.
import { quote } from "../../src/rules/errors.ts";
import { parseRules } from "../../src/rules/parse.ts";
import type { Rules } from "../../src/rules/rules.ts";
import { type Cluster, clustersOf } from "./clusters.ts";
import type { FittedModel, FittedPopulation, RulesFrom } from "./model.ts";
import { fittedNetwork } from "./network.ts";
import { isOpenCalls } from "./pace.ts";
import { fittedPopulation } from "./population.ts";
import { type Profile, profileApart, profileOf, slackOf } from "./profile.ts";
import type { Recording } from "./recording.ts";
import { timeText } from "./words.ts";

export interface FitOptions {
  /** The scenario's: letters, digits, dashes, underscores. `fitted` where it is left out. */
  readonly name?: string | undefined;
  /** In place of what the recording says; its headers' limits, or the default rules, where neither says. */
  readonly rules?: Rules | undefined;
}

/**
 * Fits a scenario to what was recorded. The same recording gives the same model.
 *
 * @example
 * const model = fitScenario(recorder.finish(), { name: "monday" });
 * const scenario = fittedScenario(model);
 */
export function fitScenario(
  recording: Recording,
  { name = "fitted", rules: given }: FitOptions = {},
): FittedModel {
  if (!/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/.test(name))
    throw new RangeError(`name must be letters, digits, dashes, underscores, at most 64, got ${quote(name)}`);
  const { rules, rulesFrom } = rulesOf(recording, given);
  const profiles = recording.callers.map((caller) => profileOf(caller, recording, rules));
  const { clusters, others } = clustersOf(withoutPace(profiles, recording, rules), slackOf(recording));
  const names = new Names();
  const populations = clusters.map((cluster): FittedPopulation => {
    const population = fittedPopulation(cluster, recording);
    return { name: names.of(population, cluster.profiles), ...population };
  });
  const outside = others.reduce((sum, { caller }) => sum + caller.calls.length, 0);
  return {
    name,
    startAtMs: Math.floor(recording.startedAtMs),
    durationMs: durationOf(recording),
    rules,
    rulesFrom,
    network: fittedNetwork(recording),
    populations,
    calls: recording.calls,
    callers: recording.callers.length,
    unexplained: outside + populations.reduce((sum, { unexplained }) => sum + unexplained, 0),
    uncounted: recording.uncounted,
  };
}

/**
 * Callers whose calls will be arrivals anyway have no pace of their own: without it they are alike, however often each
 * of them calls. So are those of whom there would be too many populations.
 */
function withoutPace(profiles: readonly Profile[], recording: Recording, rules: Rules): Profile[] {
  const { clusters, others } = clustersOf(profiles, slackOf(recording));
  const loose = new Set(others.filter(({ shape }) => shape.kind === "call"));
  const open = clusters.filter((cluster) => isOpenCalls(cluster, recording));
  const crowded = new Set(open.map(organizationOf));
  // Beside a crowd, a few who were hardly seen are of it.
  const stray = clusters.filter(
    (cluster) => isStray(cluster, recording) && crowded.has(organizationOf(cluster)),
  );
  for (const { profiles: callers } of [...open, ...stray]) for (const profile of callers) loose.add(profile);
  return profiles.map((profile) => {
    if (!loose.has(profile)) return profile;
    // Where nobody numbered attempts, each call comes by itself.
    const own = recording.knowsAttempts ? profile : profileApart(profile.caller, rules, slackOf(recording));
    return { ...own, pace: { kind: "chance" } };
  });
}

const organizationOf = ({ profiles }: Cluster): string => profiles[0]?.caller.organization ?? "";

function isStray({ profiles, jobs }: Cluster, { calls }: Recording): boolean {
  const [model] = profiles;
  return model?.shape.kind === "call" && model.pace.kind !== "ticks" && jobs < 0.01 * calls;
}

function rulesOf(
  { rules, shown }: Recording,
  given: Rules | undefined,
): { rules: Rules; rulesFrom: RulesFrom } {
  if (given !== undefined) return { rules: given, rulesFrom: "given" };
  if (rules !== null) return { rules, rulesFrom: "trace" };
  return shown.any
    ? { rules: shown.rules(), rulesFrom: "headers" }
    : { rules: parseRules({}), rulesFrom: "defaults" };
}

/** The recording's length, rounded up to what people would write. */
function durationOf({ startedAtMs, endedAtMs }: Recording): number {
  const ms = Math.max(1, Math.ceil(endedAtMs - Math.floor(startedAtMs)));
  const step = ms <= 120_000 ? 1_000 : ms <= 600_000 ? 5_000 : 60_000;
  return Math.ceil(ms / step) * step;
}

/** Names that tell populations apart: as the trace calls them where it calls them by one name, else by what they do. */
class Names {
  readonly #taken = new Set<string>();

  of(population: Omit<FittedPopulation, "name">, profiles: readonly Profile[]): string {
    const base = groupOf(profiles) ?? nameOf(population);
    for (let number = 1; ; number++) {
      const name = number === 1 ? base : `${base}-${number}`;
      if (this.#taken.has(name)) continue;
      this.#taken.add(name);
      return name;
    }
  }
}

function groupOf(profiles: readonly Profile[]): string | null {
  const groups = new Set(profiles.map(({ caller }) => caller.group));
  const [group] = groups;
  return groups.size === 1 && group != null && /^[A-Za-z0-9][A-Za-z0-9_-]{0,59}$/.test(group) ? group : null;
}

function nameOf({ behaviour, arrivals, mix }: Omit<FittedPopulation, "name">): string {
  const status = mix.length === 1 && mix[0]?.free === true ? "status-" : "";
  if (arrivals.kind === "cron") return `${status}crons`;
  const every = "everyMs" in behaviour && behaviour.everyMs !== null ? `-${timeText(behaviour.everyMs)}` : "";
  if (behaviour.kind === "worker") return status + (arrivals.kind === "closed" ? "workers" : "visitors");
  return `${status}${behaviour.kind}${every}`;
}
