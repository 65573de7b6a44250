// Simulated REST traffic, counted again by a few lines that know nothing of the engine. With a constant latency
// calls are decided in the order of the trace, one trip after they were sent.
import fc from "fast-check";
import { expect } from "vitest";
import { simulate } from "../../sim/simulate.ts";
import { burst, defineScenario, exponential, rest, waitReset, worker } from "../../src/scenario/index.ts";
import { property } from "../support/property.ts";

const user = rest("/v2/user");
const policies = [
  waitReset({ of: "both" }),
  waitReset({ of: "organization", jitter: { least: 0, most: "2s" } }),
  exponential({ first: "300ms", most: "10s", jitter: "full" }),
];
const behaviours = [
  worker({ calls: [{ call: user }], think: { least: 0, most: "1s" } }),
  burst({ call: user, size: 4, every: "3s" }),
  burst({ call: user, size: 40, every: "40s" }),
];
const populations = fc.array(
  fc.record({
    clients: fc.integer({ min: 1, max: 6 }),
    user: fc.constantFrom("each" as const, "shared" as const, 2),
    organization: fc.constantFrom("acme", "globex"),
    behaviour: fc.constantFrom(...behaviours),
    onRefused: fc.constantFrom(...policies),
  }),
  { minLength: 1, maxLength: 3 },
);
const worlds = fc.record({
  seed: fc.nat(),
  populations,
  latency: fc.integer({ min: 1, max: 400 }),
  organizationLimit: fc.integer({ min: 1, max: 60 }),
  userLimit: fc.integer({ min: 1, max: 30 }),
  windowSeconds: fc.integer({ min: 1, max: 20 }),
});

property([worlds])("every answer shows what was counted, and no call is refused without need", (world) => {
  const { windowSeconds, latency } = world;
  const scenario = defineScenario({
    name: "count",
    duration: "40s",
    seed: world.seed,
    network: { latency },
    rules: {
      organization: { rest: { limit: world.organizationLimit, windowSeconds } },
      user: { rest: { limit: world.userLimit, windowSeconds } },
    },
    populations: Object.fromEntries(world.populations.map((population, index) => [`p${index}`, population])),
  });
  const counts = new Map<string, number>();
  let calls = 0;
  for (const call of simulate(scenario).calls) {
    const window = Math.floor((call.sent + latency) / (windowSeconds * 1000));
    const [broad, narrow] = [`${call.org} ${window}`, `${call.org}/${call.user} ${window}`];
    const hasRoom =
      (counts.get(broad) ?? 0) < world.organizationLimit && (counts.get(narrow) ?? 0) < world.userLimit;
    if (hasRoom) for (const key of [broad, narrow]) counts.set(key, (counts.get(key) ?? 0) + 1);
    const counted = [
      2 * latency,
      hasRoom ? 200 : 429,
      world.organizationLimit - (counts.get(broad) ?? 0),
      world.userLimit - (counts.get(narrow) ?? 0),
      Math.ceil(((window + 1) * windowSeconds * 1000 - call.sent - latency) / 1000),
    ];
    const shown = [call.received - call.sent, call.status, call.remaining, call.userRemaining, call.reset];
    // An expectation takes longer than the simulation of its call.
    if (shown.some((value, place) => !Object.is(value, counted[place]))) expect(shown).toEqual(counted);
    calls += 1;
  }
  expect(calls).toBeGreaterThan(0);
});
