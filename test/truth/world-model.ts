// Answers of a scenario that was fitted to a world's first week: to the same questions as the world itself.

import type { FittedModel, FittedPopulation } from "../../sim/fit/model.ts";
import type { FittedRetry } from "../../sim/fit/policies.ts";
import { fittedScenario } from "../../sim/fit/source.ts";
import { simulateNumbers } from "../../sim/simulate.ts";
import { adjustScenario } from "../../src/scenario/adjust.ts";
import { askedMs } from "../worlds/answers.ts";
import { chanceOf } from "../worlds/chance.ts";
import { type DayFigures, dayFigures } from "../worlds/figures.ts";
import type { patiences } from "../worlds/patience.ts";
import { dayMs, type Row } from "../worlds/world.ts";

export interface Asked {
  readonly agents?: number;
  readonly policy?: keyof typeof patiences;
}

const isAgent = (user: string): boolean => user.startsWith("agent-");

/** Simulates the asked day so many times; each with agents drawn for it, as the world draws them. */
export function simulatedDays(model: FittedModel, runs: number, asked: Asked = {}): DayFigures[] {
  return Array.from({ length: runs }, (_, index) => {
    const drawn = asked.agents === undefined ? model : withAgents(model, asked.agents, index);
    const scenario = adjustScenario(
      fittedScenario(asked.policy === undefined ? drawn : withPolicy(drawn, policies[asked.policy])),
      { startAtMs: askedMs, durationMs: dayMs },
    );
    const rows: Row[] = [];
    const waitsMs: number[] = [];
    simulateNumbers(scenario, { seed: 1 + index }, ({ sentMs, wantedMs, status }) => {
      rows.push({ atMs: sentMs, durationMs: 0, user: "", status });
      if (status === 200) waitsMs.push(sentMs - wantedMs);
    });
    return dayFigures({ rows, waitsMs }, askedMs);
  });
}

const policies: Readonly<Record<keyof typeof patiences, FittedRetry>> = {
  reset: { kind: "waitReset", of: "both", from: "answer", jitter: { least: 0, most: 80 } },
  spread: { kind: "waitReset", of: "both", from: "answer", jitter: { least: 0, most: 10_000 } },
  backoff: { kind: "exponential", first: 1_000, factor: 2, most: 60_000, jitter: "equal" },
};

const withPolicy = (model: FittedModel, onRefused: FittedRetry): FittedModel => ({
  ...model,
  populations: model.populations.map((population) => ({ ...population, onRefused, attempts: 8 })),
});

/** The model with fewer agents, drawn from its own, or with more, drawn from them again. */
function withAgents(model: FittedModel, wanted: number, seed: number): FittedModel {
  const homes = model.populations.flatMap(({ users }, index) => users.filter(isAgent).map(() => index));
  const chance = chanceOf(seed, 6);
  const extra = Array.from(
    { length: Math.max(0, wanted - homes.length) },
    () => homes[Math.floor(chance.next() * homes.length)] as number,
  );
  const kept =
    wanted >= homes.length
      ? homes
      : homes
          .map((home) => ({ home, key: chance.next() }))
          .sort((a, b) => a.key - b.key)
          .slice(0, wanted)
          .map(({ home }) => home);
  const counts = new Map<number, number>();
  for (const home of [...kept, ...extra]) counts.set(home, (counts.get(home) ?? 0) + 1);
  return {
    ...model,
    populations: model.populations.flatMap((population, index) => {
      const agents = population.users.filter(isAgent).length;
      const others = population.users.length - agents;
      return scaled(population, ((counts.get(index) ?? 0) + others) / (agents + others));
    }),
  };
}

function scaled(population: FittedPopulation, factor: number): FittedPopulation[] {
  if (factor === 0) return [];
  const { arrivals, user } = population;
  const users = typeof user === "number" ? Math.max(1, Math.round(user * factor)) : user;
  switch (arrivals.kind) {
    case "closed":
      return [
        {
          ...population,
          user: user === "shared" && factor > 1 ? Math.round(factor) : users,
          arrivals: { ...arrivals, clients: Math.max(1, Math.round(arrivals.clients * factor)) },
        },
      ];
    case "steady":
      return [{ ...population, user: users, arrivals: { ...arrivals, perHour: arrivals.perHour * factor } }];
    case "hours": {
      const perHour = arrivals.perHour.map((rate) => rate * factor);
      return [{ ...population, user: users, arrivals: { ...arrivals, perHour } }];
    }
  }
}
