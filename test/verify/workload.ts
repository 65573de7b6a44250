// Workloads as load tests make them: some clients, steady and in bursts, with a status poller, over several windows.
import { parseRules } from "../../src/rules/parse.ts";
import type { Rules } from "../../src/rules/rules.ts";
import type { SwitchValue } from "../../src/rules/switches.ts";
import { between, type RandomState, seedRandom } from "../../src/scenario/random.ts";
import type { Plan, World } from "./history.ts";

export interface WorkloadOptions {
  readonly calls: number;
  readonly graphqlCharge: SwitchValue<"graphqlCharge">;
  readonly showsRules: boolean;
  /** Keeps to the epoch's windows; otherwise GraphQL's may open with their first call. */
  readonly epochOnly: boolean;
}

/** A workload drawn from a seed: windows of 10 and 20 s, three users, a poller twice a second. */
export function workload(
  seed: number,
  { calls, graphqlCharge, showsRules, epochOnly }: WorkloadOptions,
): World {
  const random: RandomState = { random0: 0, random1: 0, random2: 0, random3: 0 };
  seedRandom(random, seed, 0, 0);
  const draw = (least: number, most: number): number => between(random, least, most);
  const anchor = draw(0, 1) === 0 || epochOnly ? "epoch" : "first-request";
  const rules: Rules = parseRules({
    organization: { rest: { limit: 40, windowSeconds: 10 }, graphql: { limit: 600, windowSeconds: 20 } },
    user: { rest: { limit: 20, windowSeconds: 10 }, graphql: { limit: 300, windowSeconds: 20 } },
    semantics: {
      graphqlCharge,
      anchor: { rest: "epoch", graphql: anchor },
    },
  });
  const plans: Plan[] = [];
  let sentMs = 100;
  for (let index = 0; index < calls; index++) {
    sentMs += draw(0, 9) === 0 ? draw(200, 1500) : draw(0, 180);
    plans.push(plan(index, sentMs, draw));
  }
  return {
    rules,
    epochMs: 1_767_225_600_000 + draw(0, 20_000),
    startMs: 0,
    resolutionMs: 1,
    errorMs: 0,
    offsetMs: draw(-100_000, 100_000),
    driftPpm: draw(-50, 50),
    showsRules,
    lostByQuota: false,
    flips: [],
    plans,
  };
}

function plan(index: number, sentMs: number, draw: (least: number, most: number) => number): Plan {
  const status = draw(0, 9) === 0;
  const scope = status || draw(0, 3) > 0 ? "rest" : "graphql";
  const cost = scope === "rest" ? 1 : draw(1, 60);
  return {
    sentMs,
    client: index % 12,
    org: "acme",
    // One user is busier than the others, and is refused by its own window.
    user: ["u1", "u1", "u1", "u2", "u3"][draw(0, 4)] ?? "u1",
    scope,
    kind: status ? "status" : "call",
    cost,
    actual: draw(Math.ceil(cost / 2), cost),
    showsActual: true,
    toDecisionMs: draw(1, 25),
    workMs: draw(0, 40),
    backMs: draw(1, 15),
    fate: "answered",
    anonymous: false,
    instance: draw(0, 1),
    lateMs: 0,
  };
}
