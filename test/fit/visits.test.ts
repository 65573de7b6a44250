// A token that stands for many people: its calls overlap by chance, come in visits, and events bring many of them.
import { describe, expect, test } from "vitest";
import { fitScenario } from "../../sim/fit/fit.ts";
import type { FittedModel, FittedPart } from "../../sim/fit/model.ts";
import { fittedScenario, fittedSource } from "../../sim/fit/source.ts";
import { simulateNumbers } from "../../sim/simulate.ts";
import {
  type Behaviour,
  none,
  rest,
  sessions,
  together,
  waitReset,
  worker,
} from "../../src/scenario/index.ts";
import type { PopulationInput } from "../../src/scenario/scenario.ts";
import { logged, world } from "./recordings.ts";

const calls = [{ call: rest("/v2/organizations/:org/pipelines") }];
const network = { roundTrip: { least: 100, most: 300 } };
/** Two calls in a row, then pages that are read one by one; one visit of ten reads a list of fifteen pages to its end. */
const paces = [
  { think: { least: 100, most: 300 }, next: [0, 7, 1, 2] },
  { think: { median: "6s", p95: "20s" }, next: [0, 7, 0, 3] },
  { think: { least: 20, most: 60 }, times: 15, next: [0, 0, 0, 1] },
];
const visit = worker({ calls, think: { paces, first: [1, 0, 0] } });
const hours = Array.from({ length: 24 }, (_, hour) => (hour < 6 ? 0.1 : 1));
const comes = sessions({ of: visit, away: { least: 0, most: "80m" }, rhythm: { hours } });

const tokenOf = (behaviour: Behaviour, more: Partial<PopulationInput> = {}): PopulationInput =>
  ({ clients: 60, user: "shared", behaviour, onRefused: none(), ...more }) as PopulationInput;

const recordingOf = (populations: Record<string, PopulationInput>, limit = 1_000) =>
  logged(
    world(populations, {
      duration: "48h",
      network,
      rules: {
        organization: { rest: { limit, windowSeconds: 60 } },
        user: { rest: { limit, windowSeconds: 60 } },
      },
    }),
  );

function partsOf({ populations }: FittedModel): readonly FittedPart[] {
  const [population] = populations;
  if (population === undefined) throw new RangeError("there is a token");
  const { behaviour, mix } = population;
  return behaviour.kind === "together" ? behaviour.parts : [{ behaviour: behaviour as never, mix }];
}

test("visits of many are told apart in quiet hours, and come as often as they did", () => {
  const recording = recordingOf({ app: tokenOf(comes) });
  const model = fitScenario(recording);
  const [part, ...others] = partsOf(model);
  expect(others).toEqual([]);
  expect(model.populations[0]?.user).toBe("shared");
  if (part?.behaviour.kind !== "sessions" || part.behaviour.of.kind !== "worker")
    throw new RangeError("its people come for visits");
  const { arrivals } = model.populations[0] as (typeof model.populations)[number];
  expect(arrivals.kind === "closed" && arrivals.clients).toBeGreaterThanOrEqual(20);
  const [night, day] = [3, 12].map(
    (hour) => part.behaviour.kind === "sessions" && part.behaviour.rhythm?.hours[hour],
  );
  expect(Number(day) / Number(night)).toBeGreaterThan(4);
  // Lists that are read to their end are no chance: fifteen pauses in a row.
  const { think } = part.behaviour.of;
  const times = think.kind === "paces" ? think.paces.flatMap((pace) => pace.times ?? []) : [];
  expect(JSON.stringify(times)).toMatch(/1[45]/);
  expect(fittedSource(model)).toContain("times:");
  let simulated = 0;
  simulateNumbers(fittedScenario(model), { seed: 2 }, () => (simulated += 1));
  expect(Math.abs(simulated / recording.calls - 1)).toBeLessThan(0.12);
});

test("an event that wakes many of several tokens is told from those who come anyway", () => {
  const within = { quantiles: ["0s", "30s", "3m"] } as const;
  const woken = sessions({ of: visit, wakes: { perDay: 4, within, share: 0.6, group: 3 } });
  const token = tokenOf(together([comes, woken]));
  const recording = recordingOf({ here: token, there: token });
  const model = fitScenario(recording);
  expect(model.populations.length).toBe(2);
  const wakes = partsOf(model).flatMap(({ behaviour }) => (behaviour.kind === "woken" ? [behaviour] : []));
  expect(wakes.length).toBe(1);
  const [{ events, share } = { events: null, share: 0 }] = wakes;
  expect(events?.kind === "chance" && events.perDay).toBeGreaterThan(2);
  const { arrivals } = model.populations[0] as (typeof model.populations)[number];
  const visitors = share * (arrivals.kind === "closed" ? arrivals.clients : 0);
  expect(visitors).toBeGreaterThan(20);
  expect(visitors).toBeLessThan(55);
  expect(model.doubts.join(" ")).toContain("Events woke many callers together");
});

test("events of each token alone are its own, so that more tokens have more of them", () => {
  const wakes = { perDay: 6, within: "2m", by: "user" } as const;
  const job = worker({ calls, think: { median: "2s", p95: "9s" }, jobs: 2 });
  const looks = sessions({ of: job, away: { least: 0, most: "80m" } });
  const behaviour = together([looks, sessions({ of: job, wakes })]);
  const model = fitScenario(recordingOf({ repositories: tokenOf(behaviour, { clients: 120, user: 4 }) }));
  const woken = model.populations.flatMap(({ behaviour }) =>
    behaviour.kind === "together" ? behaviour.parts.filter((part) => part.behaviour.kind === "woken") : [],
  );
  expect(woken.length).toBe(4);
  const eventsOf = ({ behaviour }: FittedPart) =>
    behaviour.kind === "woken" && behaviour.events.kind === "chance" ? behaviour.events.perDay : 0;
  for (const part of woken) {
    expect(part.behaviour).toMatchObject({ byUser: true });
    // Of twelve in two days, of which some follow each other too soon.
    expect(eventsOf(part)).toBeGreaterThan(2.5);
    expect(eventsOf(part)).toBeLessThan(10);
  }
  expect(fittedSource(model)).toContain('by: "user"');
  expect(model.doubts.join(" ")).toContain("events of its own");
});

describe("after a refusal", () => {
  const refused = (onRefused: NonNullable<PopulationInput["onRefused"]>) =>
    fitScenario(recordingOf({ app: tokenOf(comes, { onRefused }) }, 16)).populations[0]?.onRefused;

  test("those who wait for the reset come together then", () => {
    const found = refused(waitReset({ of: "both", jitter: { least: 0, most: "1s" } }));
    expect(found).toMatchObject({ kind: "waitReset" });
  });

  test("of those who go nothing is assumed", () => {
    expect(refused(none())).toEqual({ kind: "unknown" });
  });
});

test("a call that overlaps another one now and then makes no loop of its own", () => {
  const loop = sessions({ of: worker({ calls, think: { median: "2s", p95: "6s" }, jobs: 30 }), away: "1h" });
  const rare = sessions({ of: worker({ calls, jobs: 2 }), away: { least: "5h", most: "7h" } });
  const recording = recordingOf({ agent: tokenOf(together([loop, rare]), { clients: 1 }) });
  const model = fitScenario(recording);
  let simulated = 0;
  simulateNumbers(fittedScenario(model), { seed: 1 }, () => (simulated += 1));
  expect(simulated).toBeLessThan(1.3 * recording.calls);
});
