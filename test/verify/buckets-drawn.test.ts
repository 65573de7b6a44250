// Right deployments of drawn buckets, alone and together, are never accused by what they let through and refuse.
//   BUCKETS=1000 npx vitest run --config test/vitest.config.ts test/verify/buckets-drawn.test.ts
import fc from "fast-check";
import { expect, test } from "vitest";
import { simulateQuotas } from "../../sim/simulate-quotas.ts";
import { parsePolicy } from "../../src/policy/parse.ts";
import type { PolicyInput } from "../../src/policy/schema.ts";
import { adjustScenario } from "../../src/scenario/adjust.ts";
import { burst, defineScenario, rest, retryAfter, worker } from "../../src/scenario/index.ts";
import { judgeQuotas } from "../../src/verify/policy-judge.ts";
import { seed } from "../support/seed.ts";

const worlds = Number(process.env["BUCKETS"] ?? 30);

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
      refused: fc.constantFrom("nothing" as const, "nothing" as const, "counted" as const),
      refusedByOther: fc.constantFrom("nothing" as const, "nothing" as const, "charged" as const),
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
  loss: fc.constantFrom(0, 0, 0.1),
});

test("drawn buckets that are right are not accused", async () => {
  let [tested, enveloped] = [0, 0];
  for (const world of fc.sample(drawn, { numRuns: worlds, seed })) {
    const named = Object.fromEntries(world.quotas.map((quota, at) => [`q${at}`, quota]));
    const uses = Object.fromEntries(world.quotas.map((_, at) => [`q${at}`, world.costs[at] ?? 1]));
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
          onRefused: retryAfter({ fallback: "300ms" }),
        },
        bursts: { clients: 2, behaviour: burst({ call: rest("/y"), size: 9, every: "8s" }) },
      },
    });
    const { header, calls } = simulateQuotas(adjustScenario(scenario, { policy: parsePolicy(policy) }));
    const lines = [...calls].map((call, at) => ({ line: at + 2, call }));
    const { violations, questions = [], evidence } = await judgeQuotas(header, lines);
    expect(violations, JSON.stringify(world)).toEqual([]);
    expect(questions.filter(({ question }) => !question.startsWith("None of"))).toEqual([]);
    tested += evidence?.["refusal-justified"].refusals ?? 0;
    enveloped += evidence?.bounded.readings ?? 0;
  }
  expect(tested).toBeGreaterThan(5 * worlds);
  expect(enveloped).toBeGreaterThan(100 * worlds);
});
