// A scenario without its functions, which stay in the thread that imported its file. Elsewhere it is data: it can be
// named, adjusted, planned and bundled, but not run.
import type { Behaviour, RefusalPolicy } from "../scenario/client.ts";
import type { Population, Scenario } from "../scenario/scenario.ts";

/** A scenario as it passes from thread to thread. */
export type ScenarioData = Omit<Scenario, "populations"> & {
  readonly populations: readonly PopulationData[];
};

type PopulationData = Omit<Population, "behaviour" | "onRefused"> & {
  readonly behaviour: Omit<Behaviour, "start" | "next">;
  readonly onRefused: Omit<RefusalPolicy, "retryAt">;
};

/** @throws TypeError if calls of a behaviour are no data */
export function dataOf(scenario: Scenario): ScenarioData {
  const populations = scenario.populations.map(({ behaviour, onRefused, ...rest }) => {
    const { name, calls, inFlightMost } = behaviour;
    const { unanswered } = onRefused;
    return {
      ...rest,
      // A user's behaviour may keep anything beside its calls.
      behaviour: { name, calls: JSON.parse(JSON.stringify(calls)) as typeof calls, inFlightMost },
      onRefused: { name: onRefused.name, ...(unanswered === undefined ? {} : { unanswered }) },
    };
  });
  return { ...scenario, populations };
}

/** Returns a scenario made of its data. Code that runs its clients gets an error that they are elsewhere. */
export function scenarioOf(data: ScenarioData): Scenario {
  const elsewhere = (): never => {
    throw new RangeError(`the clients of ${data.name} can run only in the thread that imported them`);
  };
  const populations = data.populations.map((population) => ({
    ...population,
    behaviour: { ...population.behaviour, start: elsewhere, next: elsewhere },
    onRefused: { ...population.onRefused, retryAt: elsewhere },
  }));
  return { ...data, populations: populations as Population[] };
}
