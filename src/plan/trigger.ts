// The triggers of a retry storm: everything is down for a while, or a crowd arrives at once.
import { SpillwayError } from "../rules/errors.ts";
import { parseArrivals } from "../scenario/arrival-input.ts";
import { burst } from "../scenario/behaviours/burst.ts";
import { Mistakes } from "../scenario/mistakes.ts";
import type { Population, Scenario } from "../scenario/scenario.ts";

/** Something that goes wrong once. */
export interface Trigger {
  readonly kind: "outage" | "burst";
  /** Ms from the run's start. */
  readonly atMs: number;
  /** Ms of outage; calls of a burst. */
  readonly size: number;
}

/** A burst's calls all come within this time. */
const burstMs = 1000;

/** When a trigger is over, ms from the run's start. */
export const overAtMs = ({ kind, atMs, size }: Trigger): number =>
  atMs + (kind === "outage" ? size : burstMs);

/**
 * The scenario with a trigger in it. An outage answers every call 503 while it lasts. A burst is a population of
 * its own: so many clients within a second, each a user that wants one call, the first of the largest
 * population, and does with a refusal what that population does. It comes last, so that the others' draws are
 * what they are without it.
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
      problems: [
        { path: `populations.${like.name}`, got: "status calls alone", allowed: "a REST or GraphQL call" },
      ],
    });
  const mistakes = new Mistakes();
  const arrivals = parseArrivals("burst", arrivalsOf(atMs, size), mistakes);
  mistakes.finish("this burst cannot be made");
  if (arrivals === null) throw new RangeError(`a burst of ${size} calls has no arrivals`);
  return {
    name: crowdName(scenario),
    organization: like.organization,
    user: "each",
    behaviour: burst({ call, size: 1 }),
    onRefused: like.onRefused,
    clients: null,
    arrivals,
  };
}

/** Nothing until then, and then all of them evenly within a second: `size` calls a second for one second. */
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
  const [first] = ordered;
  if (first === undefined) throw new RangeError("a scenario has a population");
  return first;
}

/** A name that no population has. */
function crowdName({ populations }: Scenario): string {
  let name = "burst";
  while (populations.some((one) => one.name === name)) name += "-";
  return name;
}
