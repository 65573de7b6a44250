// Fits a scenario to a recording. It has populations of like callers, with behaviour, arrivals and retry policies. It
// has the network and rules that they met, too.

import { quote } from "../../src/rules/errors.ts";
import { mostOf } from "../../src/rules/extremes.ts";
import { parseRules } from "../../src/rules/parse.ts";
import type { Rules } from "../../src/rules/rules.ts";
import { adaptIn } from "./adapting.ts";
import { type Cluster, clustersOf } from "./clusters.ts";
import { doubtsOf, refusalsTelling } from "./doubts.ts";
import { limitsOf } from "./limits.ts";
import type { FittedBehaviour, FittedModel, FittedPopulation, RulesFrom } from "./model.ts";
import { fittedNetwork } from "./network.ts";
import { outagesIn } from "./outages.ts";
import { takenApart } from "./parts.ts";
import { fittedPopulation } from "./population.ts";
import { type Profile, profilesOf, slackOf } from "./profile.ts";
import type { Recording } from "./recording.ts";
import { type DaysApart, daysApart, evenRhythm } from "./rhythm.ts";
import { joinedMs } from "./sessions.ts";
import { toldWhileShut } from "./shut.ts";
import { sumOf } from "./statistics.ts";
import { busyVisitDays } from "./weekdays.ts";
import { timeText } from "./words.ts";

export interface FitOptions {
  /** Name of the scenario: letters, digits, dashes, underscores. Default: `fitted`. */
  readonly name?: string | undefined;
  /** Rules that the calls met. Default: the recording's, or else its headers' limits, or else the default rules. */
  readonly rules?: Rules | undefined;
}

/** A model, and the recording that it was fitted to. */
export interface Fit {
  readonly model: FittedModel;
  readonly recording: Recording;
  /** Callers of each population, in the model's order. */
  readonly members: readonly (readonly Profile[])[];
}

/**
 * Fits a scenario to what was recorded. The same recording gives the same model.
 *
 * @example
 * const model = fitScenario(recorder.finish(), { name: "monday" });
 * const scenario = fittedScenario(model);
 */
export const fitScenario = (recording: Recording, options: FitOptions = {}): FittedModel =>
  fitTo(recording, options).model;

/** Fits a scenario, and keeps the callers of each population. */
export function fitTo(recording: Recording, { name = "fitted", rules: given }: FitOptions = {}): Fit {
  if (!/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/.test(name))
    throw new RangeError(`name must be letters, digits, dashes, underscores, at most 64, got ${quote(name)}`);
  const { rules, rulesFrom } = rulesOf(recording, given);
  const { policy } = recording;
  const limits = limitsOf({ rules, policy });
  const whole = toldWhileShut(profilesOf(recording, limits), recording, limits);
  const profiles = takenApart(whole, recording);
  const clusters = clustersOf(profiles, slackOf(recording));
  const names = new Names();
  const fits = clusters.map((cluster) => fittedPopulation(cluster, recording));
  const rhythms = fits.flatMap((fit) => fit.rhythms);
  const days = daysApart(
    rhythms,
    rhythms.some(({ rhythm }) => rhythm.weekdays !== null) ? [] : busyVisitDays(profiles),
  );
  const named = fits.map(({ population }, index): FittedPopulation => {
    const behaviour = withDays(population.behaviour, days);
    const { profiles, mixture } = clusters[index] as Cluster;
    return { name: names.of(population, profiles, mixture), ...population, behaviour };
  });
  const populations = named.map((population) => asOthersDo(population, named));
  const calendars = rhythms.map(({ calendar }) => calendar);
  const doubts = doubtsOf(profiles, recording, days.deviation, limits, calendars, populations);
  const model = {
    name,
    startAtMs: Math.floor(recording.startedAtMs),
    durationMs: durationOf(recording),
    settledAtMs: Math.floor(mostOf(profiles.map(({ jobs }) => joinedMs(jobs, recording)))),
    rules,
    rulesFrom,
    policy,
    network: fittedNetwork(recording),
    outages: outagesIn(recording),
    populations,
    calls: recording.calls,
    callers: recording.callers.length,
    unexplained: sumOf(populations.map(({ unexplained }) => unexplained)),
    uncounted: recording.uncounted,
    doubts: doubts.map(({ text }) => text),
    untold: [...new Set(doubts.flatMap(({ about }) => about ?? []))],
  };
  return { model, recording, members: clusters.map(({ profiles }) => profiles) };
}

/** Returns the behaviour with the factors by which days differ. Only all populations together show these. */
function withDays<Kind extends FittedBehaviour>(behaviour: Kind, days: DaysApart): Kind {
  if (behaviour.kind === "together")
    return {
      ...behaviour,
      parts: behaviour.parts.map((part) => ({ ...part, behaviour: withDays(part.behaviour, days) })),
    };
  const { factors, weekdays } = days;
  if (behaviour.kind !== "sessions") return behaviour;
  if (behaviour.rhythm === null && factors.length === 0 && weekdays === null) return behaviour;
  const rhythm = behaviour.rhythm ?? evenRhythm;
  return { ...behaviour, rhythm: { ...rhythm, days: factors, weekdays: weekdays ?? rhythm.weekdays } };
}

/**
 * Gives a population without refusals the retry policy of its organization's most refused: many share a client. If nobody
 * of its organization was refused, gives it that of others who behave alike.
 */
function asOthersDo(population: FittedPopulation, all: readonly FittedPopulation[]): FittedPopulation {
  if (population.refused > 0) return population;
  const isOwn = ({ organization }: FittedPopulation): boolean => organization === population.organization;
  const [like] = all
    .filter(
      (other) =>
        adaptIn(other.behaviour) === undefined &&
        (isOwn(other) || other.behaviour.kind === population.behaviour.kind) &&
        other.refused >= refusalsTelling &&
        other.onRefused.kind !== "unknown",
    )
    .toSorted((a, b) => Number(isOwn(b)) - Number(isOwn(a)) || b.refused - a.refused);
  if (like === undefined) return population;
  const onRefused = `none was refused: they are taken to do as ${like.name} do`;
  return {
    ...population,
    onRefused: like.onRefused,
    attempts: like.attempts,
    failedWaitMs: population.failedWaitMs ?? like.failedWaitMs,
    reasons: { ...population.reasons, onRefused },
  };
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

/** Returns the recording's length, rounded up to what people would write, ms. */
function durationOf({ startedAtMs, endedAtMs }: Recording): number {
  const ms = Math.max(1, Math.ceil(endedAtMs - Math.floor(startedAtMs)));
  const step = ms <= 120_000 ? 1_000 : ms <= 600_000 ? 5_000 : 60_000;
  return Math.ceil(ms / step) * step;
}

/** Names that tell populations apart: the trace's own name if there is a single one, else a name by behaviour. */
class Names {
  readonly #taken = new Set<string>();

  of(population: Omit<FittedPopulation, "name">, profiles: readonly Profile[], mixture: boolean): string {
    const base = mixture ? "others" : (groupOf(profiles) ?? nameOf(population));
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
  if (behaviour.kind === "timetable") return `${status}crons`;
  if (behaviour.kind === "sessions")
    return `${status}${behaviour.of.kind === "poller" ? "watchers" : "workers"}`;
  const every = "everyMs" in behaviour && behaviour.everyMs !== null ? `-${timeText(behaviour.everyMs)}` : "";
  if (behaviour.kind === "worker") return status + (arrivals.kind === "closed" ? "workers" : "visitors");
  return `${status}${behaviour.kind}${every}`;
}
