// Trouble added to a scenario: whom a burst is like, what it is called, and when its calls come.
import { burst, defineScenario, fixed, none, poller, rest, status } from "spillway/scenario";
import { expect, test } from "vitest";
import { withTrigger } from "../../src/plan/trigger.ts";
import { arrivalTimes } from "../../src/scenario/arrivals.ts";
import type { PopulationInput } from "../../src/scenario/scenario.ts";

const call = rest("/v2/user");
const polls = (clients: number, organization: string, more: Partial<PopulationInput> = {}): PopulationInput =>
  ({
    clients,
    organization,
    behaviour: poller({ every: "5s", call }),
    onRefused: none(),
    ...more,
  }) as PopulationInput;
const scenarioOf = (populations: Readonly<Record<string, PopulationInput>>) =>
  defineScenario({ name: "hit", duration: "5m", populations });
const burstIn = (populations: Readonly<Record<string, PopulationInput>>, size = 40) =>
  withTrigger(scenarioOf(populations), { kind: "burst", atMs: 60_000, size }).populations.at(-1);

test("a burst is like the population of most clients whose calls count", () => {
  const onRefused = fixed({ wait: "1s" });
  const watches = polls(50, "watching", { behaviour: poller({ every: "5s", call: status() }) });
  const arriving: PopulationInput = {
    arrivals: { executor: "constant-arrival-rate", rate: 1, preAllocatedVUs: 1 },
    ...{ organization: "arriving", behaviour: burst({ call, size: 1 }) },
  };
  const few = polls(2, "few");
  const many = polls(9, "many", { onRefused });
  for (const populations of [
    { few, many, watches, arriving },
    { arriving, many, few, watches },
  ])
    expect(burstIn(populations)).toMatchObject({
      name: "burst",
      organization: "many",
      onRefused,
      user: "each",
    });
  expect(burstIn({ arriving, few })?.organization).toBe("few");
  expect(burstIn({ few, other: polls(2, "other") })?.organization).toBe("few");
});

test("a burst has a name of its own", () => {
  expect(burstIn({ burst: polls(1, "acme"), "burst-": polls(1, "acme") })?.name).toBe("burst--");
});

test("a burst's calls come within a second, evenly", () => {
  const found = burstIn({ few: polls(2, "few") }, 4);
  const run = { startAtMs: 0, durationMs: 300_000, seed: 1, stream: 0 };
  expect(found?.behaviour).toMatchObject({ name: "burst", calls: [call] });
  expect([...arrivalTimes(found?.arrivals as NonNullable<typeof found>["arrivals"] & object, run)]).toEqual([
    60_250, 60_500, 60_750, 61_000,
  ]);
});

test("a burst needs a call that counts", () => {
  const watches = polls(50, "watching", { behaviour: poller({ every: "5s", call: status() }) });
  expect(() => burstIn({ watches })).toThrow("a burst needs a population whose calls count");
});
