// The triggers of a retry storm: everything is down for a while, or a crowd arrives at once.
import { SpillwayError } from "../rules/errors.ts";
import { parseArrivals } from "../scenario/arrival-input.ts";
import type { ArrivalSchedule } from "../scenario/arrivals.ts";
import { burst } from "../scenario/behaviours/burst.ts";
import { Mistakes } from "../scenario/mistakes.ts";
import type { Population, Scenario } from "../scenario/scenario.ts";

/** Something that goes wrong once. */
export interface Trigger {
  readonly kind: "outage" | "burst";
  /** Start, ms from the run's start. */
  readonly atMs: number;
  /** Length of an outage, ms; or number of calls of a burst. */
  readonly size: number;
}

/** Time within which all calls of a burst come, ms. */
const burstMs = 1000;

/** Returns when a trigger is over, ms from the run's start. */
export const overAtMs = ({ kind, atMs, size }: Trigger): number =>
  atMs + (kind === "outage" ? size : burstMs);

/**
 * Returns the scenario with a trigger. An outage answers every call 503 while it lasts. A burst is a population of its
 * own: `size` clients within a second, each a user that wants one call. The call is the first of the largest
 * population, and so is the reaction to a refusal. The burst comes last, so that the other populations' draws stay the
 * same.
 */
export function withTrigger(scenario: Scenario, trigger: Trigger): Scenario {
  const { kind, atMs, size } = trigger;
  if (kind === "outage")
    return { ...scenario, outages: [...scenario.outages, { atMs, forMs: size, answer: 503, share: 1 }] };
  return { ...scenario, populations: [...scenario.populations, crowd(scenario, atMs, size)] };
}

function crowd(scenario: Scenario, atMs: number, size: number): Population {
  const like = largest(scenario);
  const call = like.behaviour.calls.find(({ kind }) => kind === "call");
  if (call === undefined)
    throw new SpillwayError("USAGE", "a burst needs a population whose calls count", {
      problem: {
        path: `populations.${like.name}`,
        got: "status calls alone",
        allowed: "a REST or GraphQL call",
      },
    });
  const mistakes = new Mistakes();
  const arrivals = parseArrivals("burst", arrivalsOf(atMs, size), mistakes);
  mistakes.finish("this burst cannot be made");
  return {
    name: crowdName(scenario),
    organization: like.organization,
    user: "each",
    behaviour: burst({ call, size: 1 }),
    onRefused: like.onRefused,
    clients: null,
    arrivals: arrivals as ArrivalSchedule,
  };
}

/** Returns `size` calls a second for one second from `atMs` on, evenly. */
function arrivalsOf(atMs: number, size: number): unknown {
  const stages = [
    { target: 0, duration: atMs },
    { target: size, duration: 0 },
    { target: size, duration: burstMs },
  ];
  return { executor: "ramping-arrival-rate", startRate: 0, stages, preAllocatedVUs: 1 };
}

function largest({ populations }: Scenario): Population {
  const counting = populations.filter(({ behaviour }) => behaviour.calls.some(({ kind }) => kind === "call"));
  const ordered = (counting.length > 0 ? counting : populations).toSorted(
    (a, b) => (b.clients ?? 0) - (a.clients ?? 0),
  );
  return ordered[0] as Population;
}

function crowdName({ populations }: Scenario): string {
  let name = "burst";
  while (populations.some((one) => one.name === name)) name += "-";
  return name;
}
