// Random worlds for histories: rules with every switch, clocks that are off, calls that overlap and go wrong.
import fc from "fast-check";
import { parseRules } from "../../src/rules/parse.ts";
import type { Rules } from "../../src/rules/rules.ts";
import { switchValues } from "../../src/rules/switches.ts";
import type { Fate, Flip, Plan, World } from "./history.ts";

const often = <T>(usual: T, ...rare: readonly T[]): fc.Arbitrary<T> =>
  fc.oneof({ weight: 5, arbitrary: fc.constant(usual) }, { weight: 2, arbitrary: fc.constantFrom(...rare) });

const window = (limits: readonly number[]) =>
  fc.record({
    limit: fc.constantFrom(...limits),
    windowSeconds: fc.constantFrom(1, 2, 2, 3, 4, 5, 7, 10, 60, 3600),
  });
const organization = (limits: readonly number[]) =>
  fc.tuple(window(limits), often(true, false)).map(([limit, enforced]) => ({ ...limit, enforced }));

const perScope = <T>(values: readonly [T, ...T[]]) =>
  fc.record({ rest: often(...values), graphql: often(...values) });

const rules: fc.Arbitrary<Rules> = fc
  .record({
    organization: fc.record({ rest: organization([1, 3, 8, 20]), graphql: organization([10, 50, 200]) }),
    user: fc.record({ rest: window([1, 2, 5, 12]), graphql: window([10, 30, 100]) }),
    semantics: fc.record({
      anchor: fc.record({
        rest: fc.constantFrom(...switchValues.anchor),
        graphql: fc.constantFrom(...switchValues.anchor),
      }),
      refused: perScope(switchValues.refused),
      refusedByUser: perScope(switchValues.refusedByUser),
      graphqlCharge: fc.constantFrom(...switchValues.graphqlCharge),
      remaining: perScope(switchValues.remaining),
      reset: perScope(switchValues.reset),
      userEnforced: perScope(switchValues.userEnforced),
      retryAfter: perScope(switchValues.retryAfter),
    }),
    users: fc.constantFrom({}, { "acme/u1": { rest: { limit: 4 } } }),
  })
  .map((input) => parseRules(input));

const latency = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 0, max: 60 }) },
  { weight: 3, arbitrary: fc.integer({ min: 0, max: 900 }) },
  { weight: 1, arbitrary: fc.integer({ min: 0, max: 9000 }) },
);
/** Gaps between sendings: bursts, pauses, and the rest of a window. */
const gap = fc.oneof(
  { weight: 24, arbitrary: fc.integer({ min: 0, max: 40 }) },
  { weight: 16, arbitrary: fc.integer({ min: 0, max: 700 }) },
  { weight: 8, arbitrary: fc.constantFrom(0, 999, 1000, 1001, 3000, 5000, 10_000) },
  { weight: 4, arbitrary: fc.integer({ min: 0, max: 80_000 }) },
  { weight: 1, arbitrary: fc.integer({ min: 0, max: 3_000_000 }) },
);

const plan = (fates: fc.Arbitrary<Fate>, anonymous: fc.Arbitrary<boolean>) =>
  fc.record({
    gapMs: gap,
    client: fc.integer({ min: 0, max: 7 }),
    org: often("acme", "globex"),
    user: fc.constantFrom("u1", "u2", "u3"),
    scope: fc.constantFrom("rest" as const, "graphql" as const),
    kind: fc.oneof(
      { weight: 8, arbitrary: fc.constant("call" as const) },
      { weight: 2, arbitrary: fc.constant("status" as const) },
      { weight: 1, arbitrary: fc.constant("other" as const) },
    ),
    cost: fc.oneof(fc.integer({ min: 0, max: 12 }), fc.constantFrom(1, 30, 50, 51, 500)),
    actualShare: fc.constantFrom(0, 0.1, 0.5, 1, 1),
    showsActual: often(true, false),
    toDecisionMs: latency,
    workMs: latency,
    backMs: latency,
    bodyMs: fc.oneof(
      { weight: 3, arbitrary: fc.constant({ rest: 0, graphql: 0 }) },
      { weight: 1, arbitrary: fc.record({ rest: latency, graphql: latency }) },
    ),
    fate: fates,
    anonymous,
    instance: fc.integer({ min: 0, max: 3 }),
    lateMs: fc.oneof(
      { weight: 4, arbitrary: fc.constant(0) },
      { weight: 1, arbitrary: fc.integer({ min: 0, max: 119_000 }) },
    ),
  });

interface Ranges {
  readonly fates: readonly [Fate, ...Fate[]];
  readonly anonymous: boolean;
  readonly plansMost: number;
}

/** Worlds in which anything may go wrong that a trace is honest about. */
export function worlds({ fates, anonymous, plansMost }: Ranges): fc.Arbitrary<World> {
  const [usual, ...rare] = fates;
  const fate: fc.Arbitrary<Fate> =
    rare.length === 0
      ? fc.constant(usual)
      : fc.oneof(
          { weight: 12, arbitrary: fc.constant(usual) },
          { weight: 1, arbitrary: fc.constantFrom(...rare) },
        );
  const unknown = anonymous
    ? fc.oneof({ weight: 20, arbitrary: fc.constant(false) }, fc.boolean())
    : fc.constant(false);
  return fc
    .record({
      rules,
      epochMs: fc.integer({ min: 1_767_225_600_000, max: 1_767_225_600_000 + 60_000 }),
      startMs: fc.oneof(fc.constant(-1), fc.integer({ min: 0, max: 4000 })),
      resolutionMs: fc.constantFrom(0, 1, 1, 5),
      errorMs: fc.constantFrom(0, 0, 0, 3, 200),
      offsetMs: fc.oneof(fc.constant(0), fc.integer({ min: -500_000, max: 500_000 })),
      driftPpm: fc.oneof(fc.integer({ min: -100, max: 100 }), fc.constantFrom(-100, 100)),
      showsRules: fc.boolean(),
      lostByQuota: fc.boolean(),
      flips: fc.array(
        fc.record({
          atMs: fc.integer({ min: 0, max: 30_000 }),
          org: fc.constant("acme"),
          scope: fc.constantFrom("rest" as const, "graphql" as const),
        }),
        { maxLength: 2 },
      ),
      flips_: fc.integer({ min: 0, max: 3 }),
      lookMs: fc.constantFrom(0, 0, 30, 900, 5000),
      plans: fc.array(plan(fate, unknown), { minLength: 1, maxLength: plansMost, size: "max" }),
    })
    .map(({ plans, flips, flips_, lookMs, ...world }) => ({
      ...world,
      flips: flips_ === 0 ? enclosed(flips, flips.length === 1 ? lookMs : 0, world.startMs) : [],
      plans: timed(plans),
    }));
}

/** A switch that no two bodies of the trace enclose is none that a judge can know of. */
function enclosed(flips: readonly Flip[], lookMs: number, startMs: number): Flip[] {
  return flips.map((flip) => ({ ...flip, lookMs, atMs: flip.atMs + Math.max(0, startMs) + lookMs + 2 }));
}

type Drawn = Omit<Plan, "sentMs" | "actual"> & { readonly gapMs: number; readonly actualShare: number };

function timed(drawn: readonly Drawn[]): Plan[] {
  let sentMs = 0;
  return drawn.map(({ gapMs, actualShare, ...plan }) => {
    sentMs += gapMs;
    const scope = plan.kind === "status" ? "rest" : plan.scope;
    const cost = scope === "rest" ? 1 : plan.cost;
    return { ...plan, scope, cost, sentMs, actual: Math.floor(cost * actualShare) };
  });
}

export const allFates = [
  "answered",
  "timeout",
  "timeout-undecided",
  "bad-gateway",
  "failed",
  "lost",
  "unseen",
] as const;
export const honestFates = [
  "answered",
  "timeout",
  "timeout-undecided",
  "bad-gateway",
  "failed",
  "lost",
] as const;
