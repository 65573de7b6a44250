// Right deployments of drawn buckets, alone and together, are never accused by what they let through and refuse.
//   BUCKETS=1000 npx vitest run --config test/vitest.config.ts test/verify/buckets-drawn.test.ts
import fc from "fast-check";
import { expect, test } from "vitest";
import { simulateQuotas } from "../../sim/simulate-quotas.ts";
import { parsePolicy } from "../../src/policy/parse.ts";
import type { PolicyInput } from "../../src/policy/schema.ts";
import { adjustScenario } from "../../src/scenario/adjust.ts";
import { burst, defineScenario, fixed, rest, retryAfter, worker } from "../../src/scenario/index.ts";
import { judgeQuotas } from "../../src/verify/policy-judge.ts";
import { seed } from "../support/seed.ts";

const worlds = Number(process.env["BUCKETS"] ?? 30);

const usually = <T>(value: T): readonly T[] => [value, value, value, value];

const quotas = fc.array(
  fc.record({
    unit: fc.constant("requests"),
    key: fc.constantFrom<string[]>(["org"], ["user"], ["org", "user"], []),
    algorithm: fc.record({
      kind: fc.constant("token-bucket" as const),
      capacity: fc.integer({ min: 3, max: 40 }),
      refill: fc.record({
        amount: fc.integer({ min: 1, max: 20 }),
        everyMs: fc.constantFrom(100, 700, 1000, 5000, 60_000),
      }),
    }),
    charge: fc.record({
      refused: fc.constantFrom(...usually("nothing" as const), "counted" as const),
      refusedByOther: fc.constantFrom(...usually("nothing" as const), "charged" as const),
    }),
  }),
  { minLength: 1, maxLength: 3 },
);

const drawn = fc.record({
  quotas,
  costs: fc.tuple(...Array.from({ length: 3 }, () => fc.constantFrom(1, 1, 2, 3, "declared" as const))),
  relation: fc.constantFrom("all-or-nothing" as const, "each-alone" as const, "first-refusal-stops" as const),
  seed: fc.integer({ min: 1, max: 1_000_000 }),
  clients: fc.integer({ min: 1, max: 12 }),
  think: fc.constantFrom("20ms" as const, "200ms" as const, "2s" as const),
  loss: fc.constantFrom(...usually(0), 0.1),
  waits: fc.boolean(),
});

test("drawn buckets that are right are not accused", async () => {
  let [tested, enveloped] = [0, 0];
  const isEnough = () => tested > 5 * worlds && enveloped > 100 * worlds;
  // Some draws refuse nobody, or nothing that can be judged: more are taken then.
  for (const [at, world] of fc.sample(drawn, { numRuns: 10 * worlds, seed }).entries()) {
    if (at >= worlds && isEnough()) break;
    const named = Object.fromEntries(world.quotas.map((quota, place) => [`q${place}`, quota]));
    const uses = Object.fromEntries(world.quotas.map((_, place) => [`q${place}`, world.costs[place] ?? 1]));
    const policy: PolicyInput = {
      version: 2,
      name: "drawn",
      wire: "fastify",
      auth: { attributes: ["org", "user"] },
      quotas: named,
      operations: { call: { uses, relation: world.relation } },
      routes: [{ path: "/**", operation: "call" }],
    };
    const scenario = defineScenario({
      name: "drawn",
      seed: world.seed,
      duration: "60s",
      network: { loss: world.loss },
      populations: {
        workers: {
          clients: world.clients,
          user: world.seed % 3 === 0 ? "shared" : "each",
          behaviour: worker({ calls: [{ call: rest("/x") }], think: { least: "10ms", most: world.think } }),
          // Half of them do not wait as long as they are told, so that many are refused.
          onRefused: world.waits ? retryAfter({ fallback: "300ms" }) : fixed({ wait: "300ms" }),
        },
        bursts: { clients: 2, behaviour: burst({ call: rest("/y"), size: 9, every: "8s" }) },
      },
    });
    const { header, calls } = simulateQuotas(adjustScenario(scenario, { policy: parsePolicy(policy) }));
    const lines = [...calls].map((call, place) => ({ line: place + 2, call }));
    const { violations, questions = [], evidence } = await judgeQuotas(header, lines);
    expect(violations, JSON.stringify(world)).toEqual([]);
    expect(questions.filter(({ question }) => !question.startsWith("None of"))).toEqual([]);
    tested += evidence?.["refusal-justified"].refusals ?? 0;
    enveloped += evidence?.bounded.readings ?? 0;
  }
  expect({ tested, enveloped, isEnough: isEnough() }).toMatchObject({ isEnough: true });
});
