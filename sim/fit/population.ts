// One cluster of callers → one population: its number of clients, behaviour, arrivals and retry policy.

import { shortName } from "../../src/rules/printable.ts";
import { count, counted } from "../../src/rules/words.ts";
import { adaptIn } from "./adapting.ts";
import type { Cluster } from "./clusters.ts";
import type { RhythmFit } from "./comings.ts";
import { mixOf } from "./mix.ts";
import type { FittedPopulation } from "./model.ts";
import { mixturePace, paceOf } from "./pace.ts";
import { attemptsOf, failedWaitOf, type RetryFit, retryOf } from "./reaction.ts";
import type { Recording } from "./recording.ts";
import { sumOf } from "./statistics.ts";
import { spanText } from "./words.ts";

/** A population without its name, and its clients' rhythms. */
export interface PopulationFit {
  readonly population: Omit<FittedPopulation, "name">;
  readonly rhythms: readonly RhythmFit[];
}

export function fittedPopulation(cluster: Cluster, recording: Recording): PopulationFit {
  const { profiles } = cluster;
  const pace = cluster.mixture ? mixturePace(cluster, recording) : paceOf(cluster, recording);
  const { mix, unexplained } = mixOf(cluster, pace.single);
  const refused = sumOf(profiles.map((profile) => profile.refused));
  const failedWaitMs = failedWaitOf(profiles);
  const again = adaptIn(pace.behaviour)?.waits === true;
  const onRefused = again
    ? triedAtPace
    : asAfterFailures(retryOf(profiles, recording, refused), failedWaitMs);
  const names = [...new Set(profiles.map(({ caller }) => caller.user))];
  const users = names.length;
  const clients = pace.arrivals.kind === "closed" ? pace.arrivals.clients : null;
  const calls = sumOf(profiles.map(({ caller }) => caller.calls.length));
  const organization = profiles[0]?.caller.organization ?? "";
  const population: PopulationFit["population"] = {
    organization,
    user: users === clients ? "each" : users === 1 ? "shared" : users,
    callers: profiles.length,
    users: names,
    calls,
    refused,
    unexplained,
    behaviour: pace.behaviour,
    mix,
    arrivals: pace.arrivals,
    onRefused: onRefused.retry,
    retriesExplained: onRefused.guess?.explained ?? null,
    attempts: onRefused.guess?.attempts ?? attemptsOf(profiles),
    failedWaitMs,
    reasons: {
      population: `${counted(profiles.length, recording.knowsAttempts ? "client" : "caller")}, ${recording.knowsAttempts ? counted(users, "user") : usersText(names)}, ${counted(calls, "call")}, ${refused === 0 ? "none" : count(refused)} refused`,
      behaviour: pace.why,
      arrivals: pace.arrivalsWhy,
      onRefused: onRefused.why,
    },
  };
  return { population, rhythms: pace.rhythms };
}

/** Retries of callers whose own behaviour makes refused calls again. */
const triedAtPace: RetryFit = {
  retry: { kind: "none" },
  guess: null,
  why: "refused calls are made again after the longer pause",
};

/** Assumes that callers who retry failed calls, but were never refused, would retry refused calls at the reset. */
function asAfterFailures(fit: RetryFit, failedWaitMs: number | null): RetryFit {
  if (fit.retry.kind !== "unknown" || failedWaitMs === null) return fit;
  const retry = { kind: "waitReset", of: "both", from: "answer", jitter: { least: 0, most: 0 } } as const;
  const why = `failed calls were tried again ${spanText({ least: failedWaitMs, most: failedWaitMs })} later: refused ones are taken to wait for the reset`;
  return { ...fit, retry, why };
}

/** Number of users that a sentence names; it counts the others. */
const namedMost = 3;

function usersText(names: readonly string[]): string {
  const named = names.slice(0, namedMost).map((name) => shortName(name));
  const rest = names.length - named.length;
  return `${counted(names.length, "user")} (${named.join(", ")}${rest === 0 ? "" : `, ${counted(rest, "other")}`})`;
}
