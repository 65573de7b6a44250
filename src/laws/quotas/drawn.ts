// Draws scripts under a policy: its operations, callers by its attributes, costs near limits, and times near the ends of
// windows. Intents are drawn, so that each keeps its meaning when shrinking drops others; a planner turns them into
// operations. The readable reference guesses the limiter's answers for it.
import fc from "fast-check";
import { attributesOf } from "../../engine/compiled-policy.ts";
import type { QuotaLimiterFactory } from "../../engine/quota-limiter.ts";
import { ReferenceLimiter } from "../../engine/reference.ts";
import { oddDays } from "../../policy/calendar.ts";
import { filledQuotas, limitOf, quotaFor } from "../../policy/effective.ts";
import type { FixedWindow, Operation, Policy, QuotaAlgorithm, QuotaOverride } from "../../policy/policy.ts";
import {
  actArbitrary,
  amountArbitrary,
  morePoints,
  moveArbitrary,
  type OpFrequencies,
  offsetMs,
  phaseMs,
} from "../arbitraries.ts";
import {
  type Amount,
  callsMost,
  type Move,
  movedMs,
  type Part,
  type PlainAct,
  partOf,
  pick,
} from "../planner.ts";
import { windowMsOf } from "../sight.ts";
import type { CallerAttributes, QuotaCallOp, QuotaOp, QuotaScript } from "./script.ts";

/** Cost of a call that declares its cost, or else number of calls at one instant. */
type QuotaAmount = Amount<"limit">;

type QuotaAct =
  | {
      readonly do: "call";
      readonly caller: number;
      readonly operation: number;
      readonly amount: QuotaAmount;
    }
  | PlainAct
  | { readonly do: "status"; readonly caller: number }
  | {
      readonly do: "enforce";
      readonly caller: number;
      readonly quota: number;
      readonly enforced: boolean;
    };

/** A move relative to a quota's windows (the quota by its place), or to when the last refused call fits. */
type QuotaMove = Move<number> | { readonly to: "room"; readonly offsetMs: number };

interface QuotaIntent {
  readonly move: QuotaMove;
  readonly act: QuotaAct;
}

/** Callers and operations in the scripts of one check. */
interface QuotaWorld {
  readonly callers: readonly CallerAttributes[];
  readonly operations: readonly string[];
}

/** Returns callers that differ in each attribute, and callers that the first two overrides match. */
function callersOf(policy: Policy): CallerAttributes[] {
  const names = [
    ...new Set([...attributesOf(policy), ...policy.overrides.flatMap(({ match }) => Object.keys(match))]),
  ];
  const first = Object.fromEntries(names.map((name) => [name, `${name}-1`]));
  const others = names.toReversed().map((name) => ({ ...first, [name]: `${name}-2` }));
  const matched = policy.overrides.slice(0, 2).map(({ match }) => ({ ...first, ...match }));
  return [first, ...others, ...matched];
}

const numberOf = (cost: Operation["uses"][string]): number =>
  typeof cost === "number" ? cost : cost === "declared" ? 1 : cost.atMost;

/** Returns the greatest cost of a call to a quota, points; a declared cost counts as 1. */
const dearest = ({ operations }: Policy, quota: string): number =>
  Math.max(1, ...Object.values(operations).map(({ uses }) => numberOf(uses[quota] ?? 0)));

/** Returns the same algorithm with a smaller limit. A bucket takes as long to fill as before. */
function smaller(algorithm: QuotaAlgorithm, limit: number): QuotaAlgorithm {
  if (algorithm.kind !== "token-bucket") return { ...algorithm, limit };
  const { capacity, refill } = algorithm;
  const everyMs = Math.max(1, Math.round((capacity * refill.everyMs) / refill.amount));
  const isExact = Number.isSafeInteger(limit * everyMs);
  return isExact ? { ...algorithm, capacity: limit, refill: { amount: limit, everyMs } } : algorithm;
}

const isDeclared = ({ operations }: Policy, quota: string): boolean =>
  Object.values(operations).some(({ uses }) => uses[quota] === "declared");

/** Draws policies: the given one, or more often one with limits that few calls use up. */
function policies(policy: Policy): fc.Arbitrary<Policy> {
  const names = Object.keys(policy.quotas);
  const drawnLimits = fc.array(
    fc.record({ times: fc.integer({ min: 1, max: 3 }), plus: fc.integer({ min: 0, max: 4 }) }),
    {
      minLength: names.length,
      maxLength: names.length,
    },
  );
  const shrunk = fc
    .record({ limits: drawnLimits, more: morePoints })
    .map(({ limits: drawn, more }): Policy => {
      const most = new Map(
        names.map((name, place) => {
          const { times = 1, plus = 0 } = drawn[place] ?? {};
          return [name, dearest(policy, name) * times + plus];
        }),
      );
      const quotas = Object.entries(policy.quotas).map(([name, quota]) => {
        const least = Math.min(limitOf(quota.algorithm), most.get(name) as number);
        const limit = isDeclared(policy, name) ? least + more : least;
        return [name, { ...quota, algorithm: smaller(quota.algorithm, limit) }] as const;
      });
      return {
        ...policy,
        quotas: Object.fromEntries(quotas),
        overrides: policy.overrides.map((one) => ({
          ...one,
          quotas: Object.fromEntries(
            Object.entries(one.quotas).map(([name, changed]) => [
              name,
              smallerOverride(policy, name, changed, (most.get(name) as number) + 2),
            ]),
          ),
        })),
      };
    });
  return fc.oneof(
    { withCrossShrink: true },
    { weight: 5, arbitrary: shrunk },
    { weight: 1, arbitrary: fc.constant(policy) },
  );
}

function smallerOverride(
  { quotas }: Policy,
  name: string,
  changed: QuotaOverride,
  most: number,
): QuotaOverride {
  const { limit, capacity, refill, ...rest } = changed;
  const algorithm = quotas[name]?.algorithm;
  if (algorithm === undefined) return changed;
  if (algorithm.kind !== "token-bucket")
    return { ...rest, ...(limit !== undefined && { limit: Math.min(limit, most) }) };
  const whole = {
    ...algorithm,
    ...(capacity !== undefined && { capacity }),
    ...(refill !== undefined && { refill }),
  };
  const less = smaller(whole, Math.min(whole.capacity, most));
  return less.kind === "token-bucket" ? { ...rest, capacity: less.capacity, refill: less.refill } : changed;
}

class QuotaPlanner {
  readonly ops: QuotaOp[] = [];
  readonly #policy: Policy;
  readonly #world: QuotaWorld;
  readonly #model: ReferenceLimiter;
  readonly #names: readonly string[];
  readonly #inFlight: { readonly call: QuotaCallOp; readonly asked: number }[] = [];
  readonly #reservations = new Map<number, ReturnType<ReferenceLimiter["decide"]>["reservation"]>();
  #nowMs: number;
  #clockMs: number;
  #calls = 0;
  #caller: CallerAttributes;
  #operation: string;
  #roomAtMs: number | null = null;

  constructor(policy: Policy, world: QuotaWorld, startMs: number) {
    this.#policy = policy;
    this.#world = world;
    this.#model = new ReferenceLimiter(policy);
    this.#names = Object.keys(policy.quotas);
    this.#nowMs = startMs;
    this.#clockMs = startMs;
    this.#caller = pick(world.callers, 0);
    this.#operation = pick(world.operations, 0);
  }

  take({ move, act }: QuotaIntent): void {
    const settled =
      act.do === "settle" ? this.#inFlight[act.which % Math.max(1, this.#inFlight.length)] : undefined;
    if (act.do === "settle" && settled === undefined) return;
    if ("caller" in act) this.#caller = pick(this.#world.callers, act.caller);
    if (settled !== undefined) this.#caller = settled.call.caller;
    if (act.do === "call") this.#operation = pick(this.#world.operations, act.operation);
    this.#nowMs =
      move.to === "room"
        ? Math.max(this.#nowMs, (this.#roomAtMs ?? this.#nowMs) + move.offsetMs)
        : movedMs(move, this.#nowMs, this.ops.length === 0, {
            lengthMs: (place) => this.#lengthOf(place),
            endMs: (place) => this.#endOf(place),
          });
    this.#clockMs = Math.max(this.#clockMs, this.#nowMs);
    const atMs = this.#nowMs;
    const caller = this.#caller;
    switch (act.do) {
      case "call":
        this.#call(act.amount);
        return;
      case "settle":
        if (settled !== undefined) this.#settle(settled, act.actual);
        return;
      case "status":
        if (filledQuotas(this.#policy, caller).length > 0) this.ops.push({ do: "status", atMs, caller });
        return;
      case "enforce": {
        const quota = pick(this.#names, act.quota);
        if (typeof this.#policy.quotas[quota]?.enforced === "object") return;
        this.#model.setEnforced(quota, caller, act.enforced);
        this.ops.push({ do: "enforce", atMs, quota, caller, enforced: act.enforced });
        return;
      }
      case "sweep":
        this.#model.sweep(atMs);
        this.ops.push({ do: "sweep", atMs });
        return;
      case "snapshot":
        this.ops.push({ do: "snapshot", atMs });
    }
  }

  #call({ of, points, plus }: QuotaAmount): void {
    const { uses } = this.#policy.operations[this.#operation] as Operation;
    const isDeclared = Object.values(uses).includes("declared");
    const used = Object.entries(uses);
    const quotas = used.filter(([, cost]) => !isDeclared || cost === "declared");
    const readings = this.#model.read(
      this.#caller,
      quotas.map(([name]) => name),
      this.#clockMs,
    );
    const whole = readings.map(({ limit, used: taken }, place) => {
      const left = of === "room" ? Math.max(0, limit - taken) : limit;
      return isDeclared ? left : Math.floor(left / Math.max(1, numberOf(quotas[place]?.[1] ?? 1)));
    });
    const amount = of === "points" ? points : Math.min(...whole, callsMost * 1000) + plus;
    // A charge of 0 must not be the first of a window: whether it opens one is left open.
    const least = readings.some(({ used: taken }) => taken === 0) ? 1 : 0;
    const cost = isDeclared ? Math.max(least, amount) : 1;
    const times = isDeclared ? 1 : Math.max(1, amount);
    const settles = used
      .filter(([, each]) => typeof each !== "number")
      .map(([, each]) => (each === "declared" ? cost : numberOf(each)));
    const asked = settles.length === 0 ? 0 : Math.min(...settles);
    for (let n = 0; n < times && this.#calls < callsMost; n += 1) {
      const op: QuotaCallOp = {
        ...{ do: "call", atMs: this.#nowMs, id: this.#calls },
        ...{ caller: this.#caller, operation: this.#operation, cost },
      };
      this.#calls += 1;
      this.ops.push(op);
      const { retryAtMs, refusedBy, reservation } = this.#model.decide(op, this.#nowMs);
      if (refusedBy !== null) this.#roomAtMs = retryAtMs;
      if (reservation === null) continue;
      const held = { call: op, asked };
      this.#inFlight.push(held);
      this.#reservations.set(op.id, reservation);
      // If only completed calls count, most complete at once; else no window would fill.
      if (plus <= 0 && used.every(([name]) => this.#policy.quotas[name]?.charge.when === "completion"))
        this.#settle(held, "all");
    }
  }

  #settle(held: { readonly call: QuotaCallOp; readonly asked: number }, part: Part): void {
    this.#inFlight.splice(this.#inFlight.indexOf(held), 1);
    const { call, asked } = held;
    const actual = partOf(asked, part);
    this.ops.push({ do: "settle", atMs: this.#nowMs, id: call.id, actual });
    const reservation = this.#reservations.get(call.id);
    if (reservation) this.#model.settle(reservation, actual, this.#nowMs);
  }

  /** Returns the instant at which a quota's window ends or its bucket is full, ms. */
  #endOf(place: number): number {
    const [reading] = this.#model.read(this.#caller, [this.#quotaAt(place)], this.#clockMs);
    return reading?.resetAtMs ?? this.#clockMs;
  }

  #lengthOf(place: number): number {
    return windowMsOf(quotaFor(this.#policy, this.#quotaAt(place), this.#caller));
  }

  #quotaAt(place: number): string {
    return pick(Object.keys(this.#policy.operations[this.#operation]?.uses ?? {}), place);
  }
}

function actsIn(profile: OpFrequencies): fc.Arbitrary<QuotaAct> {
  // One caller makes most calls, so that its counts fill.
  const caller = fc.oneof(
    { withCrossShrink: true },
    { weight: 3, arbitrary: fc.constant(0) },
    fc.nat({ max: 9 }),
  );
  const place = fc.nat({ max: 9 });
  return actArbitrary(profile, {
    call: { caller, operation: place, amount: amountArbitrary("limit") },
    status: { caller },
    enforce: { caller, quota: place, enforced: fc.boolean() },
  });
}

/** Returns the starts, ms, of days within a year that clock changes make longer or shorter, in the policy's zones. */
function oddDaysOf({ quotas }: Policy, fromMs: number): number[] {
  const zones = Object.values(quotas).flatMap(({ algorithm }) => {
    const anchor = algorithm.kind === "fixed-window" ? (algorithm as FixedWindow).anchor : null;
    return typeof anchor === "object" && anchor !== null && "calendar" in anchor ? [anchor.zone] : [];
  });
  return [...new Set(zones)].flatMap((zone) => oddDays(zone, fromMs));
}

/** Draws scripts for one law under a policy. */
export function quotaScripts(
  policy: Policy,
  { limits, isExact = false, callers, operations }: QuotaLimiterFactory,
  profile: OpFrequencies,
  aboutMs: number,
  intentsMost = 30,
): fc.Arbitrary<QuotaScript> {
  const world: QuotaWorld = {
    callers: callers ?? callersOf(policy),
    operations: operations ?? Object.keys(policy.operations),
  };
  const usual = moveArbitrary(profile, fc.nat({ max: 5 }));
  const room = fc.record({ to: fc.constant("room" as const), offsetMs });
  const move: fc.Arbitrary<QuotaMove> = fc.oneof(
    { withCrossShrink: true },
    { weight: 12, arbitrary: usual },
    { weight: 1, arbitrary: room },
  );
  const intent: fc.Arbitrary<QuotaIntent> = fc.record({ move, act: actsIn(profile) });
  const odd = oddDaysOf(policy, aboutMs);
  const started = fc.tuple(fc.constantFrom(aboutMs, ...odd), phaseMs).map(([day, phase]) => day + phase);
  return fc
    .record({
      policy: limits === "any" ? policies(policy) : fc.constant(policy),
      startMs: odd.length === 0 ? phaseMs.map((phase) => aboutMs + phase) : started,
      intents: fc.noBias(fc.array(intent, { maxLength: intentsMost, size: "max" })),
      pick: fc.nat({ max: 60 }),
    })
    .map(({ policy: drawn, startMs, intents, pick }) => {
      const planner = new QuotaPlanner(drawn, world, startMs);
      for (const each of intents) planner.take(each);
      return { policy: drawn, isExact, startMs, ops: planner.ops, pick };
    });
}
