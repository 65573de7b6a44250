// Drawn fleets: scenarios of drawn clients under small limits, over networks that lose and break.
import { defineScenario, type PopulationInput, type Scenario, together } from "../../src/scenario/index.ts";
import type { OutageInput } from "../../src/scenario/network.ts";
import type { SpreadInput } from "../../src/scenario/spread.ts";
import { arrivalsOf, comingOf, loopOf, policyOf } from "../scenario/drawn-clients.ts";
import { type Chance, chanceOf, pick, whole } from "../worlds/chance.ts";
import { hourMs, mondayMs } from "../worlds/world.ts";

function populationOf(chance: Chance): PopulationInput {
  const isOpen = chance.next() < 0.3;
  const behaviour = isOpen
    ? loopOf(chance)
    : pick(chance, [
        () => loopOf(chance),
        () => comingOf(chance),
        () => together([loopOf(chance), comingOf(chance)]),
      ])();
  const onRefused = chance.next() < 0.8 ? { onRefused: policyOf(chance) } : {};
  const clients = { clients: whole(chance, 1, 6), startWithin: pick(chance, [0, 20_000]) };
  return {
    ...(isOpen ? { arrivals: arrivalsOf(chance) as NonNullable<PopulationInput["arrivals"]> } : clients),
    ...{ behaviour, ...onRefused },
    user: pick<"each" | "shared" | number>(chance, ["each", "shared", 2]),
  };
}

/** Returns a scenario of one to three populations. Some make very few calls, some very many. */
export function drawnFleet(seed: number): Scenario {
  const chance = chanceOf(seed, 77);
  const limit = (least: number, most: number) => ({
    limit: whole(chance, least, most),
    windowSeconds: pick(chance, [10, 20, 60]),
  });
  const populations = Array.from({ length: whole(chance, 1, 3) }, (_, at) => [
    `p${at}`,
    populationOf(chance),
  ]);
  return defineScenario({
    name: `drawn-${seed}`,
    seed,
    duration: pick(chance, [120_000, 600_000, 1_800_000, 6 * hourMs]),
    startAt: new Date(mondayMs + whole(chance, 0, 160) * hourMs).toISOString(),
    rules: {
      organization: { rest: limit(20, 200), graphql: limit(100, 2_000) },
      user: { rest: limit(5, 80), graphql: limit(40, 900) },
      semantics: {
        anchor: pick(chance, ["epoch", "first-request"]),
        graphqlCharge: pick(chance, ["prepaid", "postpaid"]),
      },
    },
    network: {
      latency: pick<SpreadInput>(chance, [
        "4ms",
        { least: "2ms", most: "90ms" },
        { median: "30ms", p95: "2s" },
      ]),
      loss: pick(chance, [0, 0, 0.02]),
      timeout: pick(chance, ["1s", "10s"]),
    },
    outages: pick<OutageInput[]>(chance, [
      [],
      [],
      [{ at: "40s", for: "20s", answer: 503 }],
      [{ at: "30s", for: "40s", answer: "none", share: 0.4 }],
    ]),
    clocks: { apart: pick(chance, ["0ms", "0ms", "300ms"]) },
    populations: Object.fromEntries(populations),
  });
}
