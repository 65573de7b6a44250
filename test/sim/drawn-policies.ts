// Drawn policies: quotas of all kinds, keys and charges, decided together in every relation, whose answers show all of
// them or some, and whose refusals name a quota or none; and clients that meet them.
import fc from "fast-check";
import { simulateQuotas } from "../../sim/simulate-quotas.ts";
import { parsePolicy } from "../../src/policy/parse.ts";
import type { PolicyInput } from "../../src/policy/schema.ts";
import { adjustScenario } from "../../src/scenario/adjust.ts";
import { burst, defineScenario, poller, rest, retryAfter, waitReset } from "../../src/scenario/index.ts";
import type { OutageInput } from "../../src/scenario/network.ts";
import type { ScenarioInput } from "../../src/scenario/scenario.ts";
import type { SpreadInput } from "../../src/scenario/spread.ts";
import type { QuotaTraceHeader } from "../../src/trace/quota-record.ts";
import type { QuotaLine } from "../../src/trace/quota-stream.ts";

const names = ["alpha", "beta", "gamma"];
const often = <T>(usual: T, ...rare: readonly T[]): fc.Arbitrary<T> =>
  fc.oneof({ weight: 3, arbitrary: fc.constant(usual) }, { weight: 2, arbitrary: fc.constantFrom(...rare) });
const small = (least: number, most: number): fc.Arbitrary<number> => fc.integer({ min: least, max: most });

const algorithm = fc.oneof(
  fc.record({
    kind: fc.constant("fixed-window" as const),
    limit: small(1, 25),
    windowSeconds: fc.constantFrom(2, 3, 5, 10, 60),
    anchor: fc.constantFrom("epoch" as const, "first-request" as const, { offsetMs: 400 }),
  }),
  fc.record({
    kind: fc.constant("token-bucket" as const),
    capacity: small(3, 20),
    refill: fc.record({ amount: small(1, 5), everyMs: fc.constantFrom(100, 333, 1500) }),
  }),
  fc.record({
    kind: fc.constant("fixed-window" as const),
    limit: small(5, 60),
    // Clocks go forward in New York ten seconds after the scenario begins.
    anchor: fc.constant({ calendar: "day" as const, zone: "America/New_York" }),
  }),
);
const quota = fc.record({
  algorithm,
  key: fc.subarray(["tenant", "user", "region"]),
  charge: fc.record({
    when: fc.constantFrom("admission" as const, "completion" as const, "reserve-settle" as const),
    fits: often("whole" as const, "any-left" as const),
    refused: often("nothing" as const, "counted" as const),
    refusedByOther: often("nothing" as const, "charged" as const),
  }),
  enforced: often(true, false),
  shown: fc.record({ remaining: fc.constantFrom("clamped" as const, "signed" as const) }),
});
const operation = fc.record({
  uses: fc
    .tuple(...names.map(() => fc.constantFrom(null, 1, 1, 2, "declared" as const)))
    .map((costs) => names.flatMap((name, at) => (costs[at] == null ? [] : [[name, costs[at]] as const])))
    .map((costs) => Object.fromEntries(costs.length === 0 ? [["alpha", 1 as const]] : costs)),
  relation: fc.constantFrom("all-or-nothing" as const, "each-alone" as const, "first-refusal-stops" as const),
});
const wire = fc.record({
  shown: fc.subarray(names, { minLength: 1 }),
  form: fc.constantFrom("delta-s" as const, "epoch-ms" as const, "rfc3339" as const),
  count: fc.constantFrom("{used}/{limit}", "{remaining}/{limit}"),
  isNamed: often(false, true),
  /** Quotas that answers show once more, by their counts alone. */
  again: often<readonly string[]>([], ["alpha"], names),
});

type Change = "nothing" | "limit" | "enforced";
type Drawn = typeof quota extends fc.Arbitrary<infer Value> ? Value : never;

/** Returns what holds for one region alone: the quotas of its own have a limit of 4, or are enforced or not. */
function overridesOf(quotas: readonly Drawn[], changed: Change) {
  const own = quotas.flatMap(({ key, algorithm: { kind }, enforced }, at) => {
    if (!key.includes("region") || changed === "nothing") return [];
    const limit = kind === "fixed-window" ? { limit: 4 } : { capacity: 4 };
    return [[names[at] as string, changed === "limit" ? limit : { enforced: !enforced }] as const];
  });
  return own.length === 0 ? [] : [{ match: { region: "eu" }, quotas: Object.fromEntries(own) }];
}

const drawn = fc.record({
  quotas: fc.tuple(quota, quota, quota),
  one: operation,
  two: operation,
  wire,
  changed: often<Change>("nothing", "limit", "enforced"),
});
/** Three quotas of all kinds, two operations, and a wire that shows some of them. */
export const policies = drawn.map(
  ({ quotas, one, two, wire: { shown, form, count, isNamed, again }, changed }): PolicyInput => ({
    version: 2,
    name: "drawn",
    quotas: Object.fromEntries(names.map((name, at) => [name, quotas[at] as (typeof quotas)[0]])),
    operations: { one, two },
    routes: ["one", "two"].map((name) => ({ path: `/{region}/${name}`, operation: name })),
    overrides: overridesOf(quotas, changed),
    auth: { header: "Authorization", form: "Bearer {token}", attributes: ["tenant", "user"] },
    wire: {
      revision: "1",
      readings: [
        ...again.map((name) => ({ quotas: [name], headers: { [`X-${name}-Used`]: "{used}" } })),
        ...shown.map((name) => ({
          quotas: [name],
          headers: { [`X-${name}`]: count, [`X-${name}-Reset`]: "{reset}" },
          reset: {
            form,
            means:
              quotas[names.indexOf(name)]?.algorithm.kind === "token-bucket"
                ? ("full" as const)
                : ("window-end" as const),
          },
        })),
      ],
      retryAfter: [{ header: "Retry-After", form: "delta-s" }],
      outcomes: isNamed
        ? [{ outcome: "refused", by: "{quota}", status: [403], headers: { "X-By": "{quota}" } }]
        : [],
    },
  }),
);

const call = fc
  .record({ to: fc.constantFrom("/eu/one", "/eu/two", "/us/one"), cost: small(1, 6), used: small(0, 6) })
  .map(({ to, cost, used }) => rest(to, { cost, actual: Math.min(cost, used) }));
const population = fc
  .record({
    clients: small(1, 3),
    user: fc.constantFrom("each" as const, "shared" as const),
    behaviour: fc.oneof(
      fc.record({ call, every: small(100, 1200) }).map((options) => poller(options)),
      fc.record({ call, size: small(1, 8) }).map(({ size, ...of }) => burst({ ...of, size, every: "2s" })),
    ),
  })
  .chain((one) =>
    fc.constantFrom(
      one,
      { ...one, onRefused: retryAfter() },
      { ...one, onRefused: waitReset({ of: "both" }) },
    ),
  );

const network = fc.record({
  latency: fc.constantFrom<SpreadInput>(
    "20ms",
    { least: "1ms", most: "400ms" },
    { least: "1ms", most: "3s" },
  ),
  loss: often(0, 0.1),
  timeout: fc.constantFrom("30s", "1s"),
  execution: fc.constantFrom<SpreadInput>("0ms", { least: "10ms", most: "2s" }),
});
/** A network with losses and outages, and clocks that differ. */
export const surroundings = fc.record({
  network,
  clocks: fc.record({ apart: often("0ms", "200ms") }),
  outages: often<OutageInput[]>(
    [],
    [{ at: "4s", for: "3s", answer: 503 }],
    [{ at: "4s", for: "3s", answer: "none", share: 0.5 }],
  ),
});

/** Clients of a drawn policy. */
export const populations = fc.record({ a: population, b: population });

/** Lets a scenario's clients meet a policy for 20 s. */
export function traceOf(
  input: PolicyInput,
  given: Omit<ScenarioInput, "name" | "duration">,
): { header: QuotaTraceHeader; lines: QuotaLine[] } {
  const scenario = defineScenario({
    name: "drawn",
    duration: "20s",
    startAt: "2026-03-08T06:59:50Z",
    ...given,
  });
  const { header, calls } = simulateQuotas(adjustScenario(scenario, { policy: parsePolicy(input) }));
  return { header, lines: Array.from(calls, (each, at) => ({ line: at + 2, call: structuredClone(each) })) };
}
