// The oracle must not accuse a right deployment of any policy: quotas of all kinds, keys and charges, decided together
// in every relation, whose answers show all of them or some, and whose refusals name a quota or none.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { PolicyInput } from "../../src/policy/schema.ts";
import { poller, rest } from "../../src/scenario/index.ts";
import { judgeQuotas } from "../../src/verify/policy-judge.ts";
import { property } from "../support/property.ts";
import { policies, populations, surroundings, traceOf } from "./drawn-policies.ts";

async function accusedOf(...given: Parameters<typeof traceOf>): Promise<string[]> {
  const { header, lines } = traceOf(...given);
  const { violations } = await judgeQuotas(header, lines);
  return violations.map(({ law, explanation }) => `${law}: ${explanation}`);
}

describe("a policy that is kept to is not accused", () => {
  property([policies, populations, fc.nat(), surroundings], { numRuns: 50 })(
    "whatever it says, and whatever its answers show",
    async (input, clients, seed, around) => {
      expect(await accusedOf(input, { seed, populations: clients, ...around })).toEqual([]);
    },
  );

  test("though a count passes its limit by refusals of a quota that an override alone enforces", async () => {
    const window = { kind: "fixed-window", anchor: "epoch" } as const;
    const limits: PolicyInput = {
      ...{ version: 2, name: "override" },
      wire: {
        revision: "1",
        readings: [
          {
            ...{ quotas: ["all"], headers: { "X-All": "{used}/{limit}", "X-Reset": "{reset}" } },
            reset: { form: "delta-s", means: "window-end" },
          },
        ],
      },
      quotas: {
        regional: { algorithm: { ...window, limit: 2, windowSeconds: 10 }, key: ["region"], enforced: false },
        all: {
          ...{ algorithm: { ...window, limit: 1, windowSeconds: 2 }, key: [] },
          charge: { refusedByOther: "charged" },
        },
      },
      operations: { call: { uses: { regional: 1, all: 1 } } },
      routes: [{ path: "/{region}", operation: "call" }],
      overrides: [{ match: { region: "eu" }, quotas: { regional: { enforced: true } } }],
    };
    const clients = { all: { clients: 3, behaviour: poller({ every: "500ms", call: rest("/eu") }) } };
    expect(await accusedOf(limits, { seed: 1, populations: clients })).toEqual([]);
  });
});
