// Policies of any shape, and scripts of calls, completions, readings, switches, sweeps and clock steps, for properties.
import fc from "fast-check";
import type { PolicyDecision, PolicyReservation, Reading } from "../../src/engine/decision.ts";
import { parsePolicy } from "../../src/policy/parse.ts";
import type { Policy } from "../../src/policy/policy.ts";

/** The doors of both engines. */
export interface AnyPolicyLimiter {
  decide(
    call: { caller: Record<string, string>; operation: string; cost: number },
    nowMs: number,
  ): PolicyDecision;
  settle(reservation: PolicyReservation, actual: number, nowMs: number): readonly Reading[];
  read(caller: Record<string, string>, quotas: readonly string[], nowMs: number): readonly Reading[];
  setEnforced(quota: string, caller: Record<string, string>, enforced: boolean): void;
  sweep(nowMs: number): unknown;
}

export type Step =
  | {
      readonly do: "call";
      readonly byMs: number;
      readonly caller: Record<string, string>;
      readonly operation: number;
      readonly cost: number;
    }
  | { readonly do: "settle"; readonly byMs: number; readonly which: number; readonly part: number }
  | { readonly do: "read"; readonly byMs: number; readonly caller: Record<string, string> }
  | {
      readonly do: "enforce";
      readonly byMs: number;
      readonly quota: number;
      readonly caller: Record<string, string>;
      readonly enforced: boolean;
    }
  | { readonly do: "sweep"; readonly byMs: number }
  | { readonly do: "snapshot"; readonly byMs: number };

const attributes = ["tenant", "user", "model"];
const key = fc.subarray(attributes);
const fixedWindow = fc.record({
  kind: fc.constant("fixed-window" as const),
  limit: fc.integer({ min: 1, max: 7 }),
  windowSeconds: fc.constantFrom(1, 2, 7, 60),
  anchor: fc.constantFrom("epoch" as const, "first-request" as const, { offsetMs: 250 }, { offsetMs: 999 }),
  opens: fc.constantFrom("exact" as const, "whole-second" as const),
});
const calendarWindow = fc.record({
  kind: fc.constant("fixed-window" as const),
  limit: fc.integer({ min: 1, max: 7 }),
  anchor: fc.constantFrom(
    { calendar: "day" as const, zone: "America/New_York" },
    { calendar: "week" as const, zone: "UTC" },
  ),
});
const tokenBucket = fc.record({
  kind: fc.constant("token-bucket" as const),
  capacity: fc.integer({ min: 1, max: 9 }),
  refill: fc.record({
    amount: fc.constantFrom(1, 2, 3, 10),
    everyMs: fc.constantFrom(1, 7, 500, 1_000, 60_000),
  }),
});
const charge = fc.record({
  when: fc.constantFrom("admission" as const, "completion" as const, "reserve-settle" as const),
  fits: fc.constantFrom("whole" as const, "any-left" as const),
  refused: fc.constantFrom("nothing" as const, "counted" as const),
  refusedByOther: fc.constantFrom("nothing" as const, "charged" as const),
});
const quota = fc.record({
  algorithm: fc.oneof(
    { arbitrary: fixedWindow, weight: 4 },
    { arbitrary: calendarWindow, weight: 1 },
    { arbitrary: tokenBucket, weight: 4 },
  ),
  key,
  charge,
  enforced: fc.constantFrom(true, true, true, false),
  shown: fc.record({ remaining: fc.constantFrom("clamped" as const, "signed" as const) }),
  /** Takes the first quota's switch where it may. */
  joins: fc.constantFrom(false, false, true),
});
const cost = fc.constantFrom<"declared" | "atMost" | number>(1, 2, 0, "declared", "declared", "atMost");
const relation = fc.constantFrom(
  "all-or-nothing" as const,
  "each-alone" as const,
  "first-refusal-stops" as const,
);

/** A policy of one to four quotas and one to three operations. */
export const anyPolicy: fc.Arbitrary<Policy> = fc
  .record({
    quotas: fc.array(quota, { minLength: 1, maxLength: 4 }),
    operations: fc.array(
      fc.record({ uses: fc.array(fc.option(cost), { minLength: 4, maxLength: 4 }), relation }),
      { minLength: 1, maxLength: 3 },
    ),
    override: fc.option(fc.integer({ min: 1, max: 12 })),
  })
  .map(({ quotas, operations, override }) => {
    const [first] = quotas;
    const isSubset = (one: readonly string[]) =>
      first?.key.every((attribute) => one.includes(attribute)) === true;
    const named = quotas.map(({ joins, ...one }, index) => [
      `q${index}`,
      { ...one, enforced: joins && index > 0 && isSubset(one.key) ? { with: "q0" } : one.enforced },
    ]);
    const used = operations.map(({ uses, relation: how }, index) => {
      const costs = quotas.flatMap(({ charge: { when, fits } }, place) => {
        const asked = uses[place] ?? (place === 0 ? 1 : null);
        if (asked === null) return [];
        const isLate = when === "reserve-settle" || (when === "completion" && fits === "any-left");
        const known = asked === "atMost" ? (isLate ? { atMost: 4 } : 3) : asked;
        return [[`q${place}`, known] as const];
      });
      return [`o${index}`, { uses: Object.fromEntries(costs), relation: how }];
    });
    const own = first !== undefined && first.key.length > 0 && override !== null;
    const [attribute = ""] = first?.key ?? [];
    const member = first?.algorithm.kind === "token-bucket" ? "capacity" : "limit";
    return parsePolicy({
      version: 2,
      name: "drawn",
      quotas: Object.fromEntries(named),
      operations: Object.fromEntries(used),
      auth: { attributes },
      overrides: own ? [{ match: { [attribute]: "a" }, quotas: { q0: { [member]: override } } }] : [],
    });
  });

const caller = fc.record({
  tenant: fc.constantFrom("a", "b"),
  user: fc.constantFrom("a", "b"),
  model: fc.constantFrom("x", "y"),
});
/** Mostly small steps; now and then past windows, and back. */
const byMs = fc.oneof(
  { arbitrary: fc.integer({ min: 0, max: 400 }), weight: 12 },
  { arbitrary: fc.constantFrom(1_000, 999, 7_000, 60_000, 86_400_000), weight: 3 },
  { arbitrary: fc.integer({ min: -3_000, max: -1 }), weight: 2 },
);
const small = fc.nat({ max: 11 });

export const anyScript: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.oneof(
    {
      arbitrary: fc.record({
        do: fc.constant("call" as const),
        byMs,
        caller,
        operation: small,
        cost: fc.nat({ max: 5 }),
      }),
      weight: 12,
    },
    {
      arbitrary: fc.record({ do: fc.constant("settle" as const), byMs, which: small, part: small }),
      weight: 5,
    },
    { arbitrary: fc.record({ do: fc.constant("read" as const), byMs, caller }), weight: 2 },
    {
      arbitrary: fc.record({
        do: fc.constant("enforce" as const),
        byMs,
        quota: small,
        caller,
        enforced: fc.boolean(),
      }),
      weight: 2,
    },
    { arbitrary: fc.record({ do: fc.constant("sweep" as const), byMs }), weight: 1 },
    { arbitrary: fc.record({ do: fc.constant("snapshot" as const), byMs }), weight: 1 },
  ),
  { minLength: 1, maxLength: 40 },
);

/** Monday, 2026-03-02 at 04:59:58.250 UTC: two seconds before midnight in New York. */
const startMs = Date.UTC(2026, 2, 2, 4, 59, 58, 250);

/** Plays a script, and returns all that the limiter said. @param stored makes a limiter of a stored one */
export function played<L extends AnyPolicyLimiter>(
  policy: Policy,
  script: readonly Step[],
  limiter: L,
  stored: (limiter: L) => L = (same) => same,
): unknown[] {
  let now = startMs;
  let at = limiter;
  const open: PolicyReservation[] = [];
  const operations = Object.keys(policy.operations);
  const quotas = Object.keys(policy.quotas);
  return script.map((step): unknown => {
    now = Math.max(0, now + step.byMs);
    switch (step.do) {
      case "call": {
        const operation = operations[step.operation % operations.length] ?? "";
        const decision = at.decide({ caller: step.caller, operation, cost: step.cost }, now);
        if (decision.reservation !== null) open.push(decision.reservation);
        return decision;
      }
      case "settle": {
        const [reservation] = open.splice(step.which % Math.max(1, open.length), 1);
        if (reservation === undefined) return null;
        const uses = Object.values(policy.operations[reservation.operation]?.uses ?? {});
        const most = Math.min(
          ...uses.flatMap((one) =>
            one === "declared" ? [reservation.cost] : typeof one === "object" ? [one.atMost] : [],
          ),
          11,
        );
        return at.settle(reservation, step.part % (most + 1), now);
      }
      case "read":
        return at.read(step.caller, quotas, now);
      case "enforce": {
        const quota = quotas[step.quota % quotas.length] ?? "";
        if (typeof policy.quotas[quota]?.enforced !== "object")
          at.setEnforced(quota, step.caller, step.enforced);
        return null;
      }
      case "sweep":
        at.sweep(now);
        return null;
      default:
        at = stored(at);
        return null;
    }
  });
}
