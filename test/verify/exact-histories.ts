// Small histories for the exact checker: a few calls of one organization over short windows, and what can be done to
// a recorded answer so that, mostly, nothing explains it any more.
import fc from "fast-check";
import { parseRules } from "../../src/rules/parse.ts";
import type { Rules } from "../../src/rules/rules.ts";
import { switchValues } from "../../src/rules/switches.ts";
import type { TraceLine } from "../../src/trace/read.ts";
import type { TraceCall } from "../../src/trace/record.ts";
import type { Fate, History, Plan, World } from "./history.ts";

/** Lengths whose least common multiple is a minute: so many offsets of the target's clock are tried at most. */
const windowSeconds = fc.constantFrom(1, 2, 3, 4, 5, 6, 10);
const window = (limits: readonly number[]) => fc.record({ limit: fc.constantFrom(...limits), windowSeconds });
const organization = (limits: readonly number[]) =>
  fc.tuple(window(limits), fc.constantFrom(true, true, true, false)).map(([limit, enforced]) => ({
    ...limit,
    enforced,
  }));
const often = <T>(usual: T, ...rare: readonly T[]): fc.Arbitrary<T> =>
  fc.oneof({ weight: 3, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: fc.constantFrom(...rare) });
const perScope = <T>(values: readonly [T, ...T[]]) =>
  fc.record({ rest: often(...values), graphql: often(...values) });

const rules: fc.Arbitrary<Rules> = fc
  .record({
    organization: fc.record({ rest: organization([1, 2, 3, 5]), graphql: organization([4, 8]) }),
    user: fc.record({ rest: window([1, 2, 4]), graphql: window([3, 6]) }),
    semantics: fc.record({
      anchor: perScope(switchValues.anchor),
      refused: perScope(switchValues.refused),
      refusedByUser: perScope(switchValues.refusedByUser),
      graphqlCharge: fc.constantFrom(...switchValues.graphqlCharge),
      remaining: perScope(switchValues.remaining),
      reset: perScope(switchValues.reset),
      userEnforced: perScope(switchValues.userEnforced),
    }),
  })
  .map((input) => parseRules(input));

const latency = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 0, max: 20 }) },
  { weight: 2, arbitrary: fc.integer({ min: 0, max: 300 }) },
  { weight: 1, arbitrary: fc.integer({ min: 0, max: 1500 }) },
);
const gap = fc.oneof(
  { weight: 5, arbitrary: fc.integer({ min: 0, max: 30 }) },
  { weight: 4, arbitrary: fc.integer({ min: 0, max: 800 }) },
  { weight: 2, arbitrary: fc.constantFrom(0, 999, 1000, 1001, 3000) },
  { weight: 1, arbitrary: fc.integer({ min: 0, max: 12_000 }) },
);

const plan = (fates: readonly Fate[]) =>
  fc.record({
    gapMs: gap,
    client: fc.integer({ min: 0, max: 3 }),
    user: fc.constantFrom("u1", "u1", "u2"),
    scope: fc.constantFrom("rest" as const, "rest" as const, "graphql" as const),
    kind: fc.constantFrom(
      "call" as const,
      "call" as const,
      "call" as const,
      "status" as const,
      "other" as const,
    ),
    cost: fc.integer({ min: 0, max: 5 }),
    unused: fc.integer({ min: 0, max: 2 }),
    showsActual: fc.constantFrom(true, true, false),
    toDecisionMs: latency,
    workMs: latency,
    backMs: latency,
    fate: fc.oneof(
      { weight: 8, arbitrary: fc.constant<Fate>("answered") },
      { weight: 1, arbitrary: fc.constantFrom(...fates) },
    ),
    bodyMs: fc.oneof(
      { weight: 3, arbitrary: fc.constant({ rest: 0, graphql: 0 }) },
      { weight: 1, arbitrary: fc.record({ rest: latency, graphql: latency }) },
    ),
    instance: fc.nat({ max: 1 }),
    lateMs: fc.constantFrom(0, 0, 0, 900, 5000),
  });

const fates: readonly Fate[] = ["answered", "timeout", "timeout-undecided", "bad-gateway", "lost"];

/** Small worlds whose traces the exact checker knows all about: no drift, one target's clock, nothing unseen. */
export function smallWorlds(callsMost: number): fc.Arbitrary<World> {
  return fc
    .record({
      rules,
      epochMs: fc.integer({ min: 1_767_225_600_000, max: 1_767_225_600_000 + 60_000 }),
      startsAt: fc.constantFrom("long before", "long before", "just before", "between") as fc.Arbitrary<
        "long before" | "just before" | "between"
      >,
      resolutionMs: fc.constantFrom(0, 1, 1, 5),
      errorMs: fc.constantFrom(0, 0, 0, 4, 200),
      offsetMs: fc.oneof(fc.constant(0), fc.integer({ min: -500_000, max: 500_000 })),
      plans: fc.array(plan(fates), { minLength: 1, maxLength: callsMost, size: "max" }),
    })
    .map(({ plans, startsAt, ...world }) => {
      // The clocks of the target's nodes are apart by errorMs: such worlds have one node.
      const timed = timedPlans(plans).map((each) => (world.errorMs === 0 ? each : { ...each, instance: 0 }));
      const began = timed[startsAt === "between" ? Math.floor(timed.length / 2) : 0]?.sentMs ?? 0;
      const reserved = world.rules.semantics.graphqlCharge.graphql === "reserved";
      const before =
        startsAt === "long before" || reserved ? 15_000 : 3 * (world.errorMs + world.resolutionMs);
      return {
        ...world,
        startMs: (reserved ? 0 : began) - before,
        driftPpm: 0,
        showsRules: true,
        lostByQuota: true,
        flips: [],
        plans: timed,
      };
    });
}

type Drawn = Omit<Plan, "sentMs" | "actual" | "org" | "anonymous"> & {
  readonly gapMs: number;
  readonly unused: number;
};

function timedPlans(drawn: readonly Drawn[]): Plan[] {
  let sentMs = 0;
  return drawn.map(({ gapMs, unused, ...plan }) => {
    sentMs += gapMs;
    const scope = plan.kind === "status" ? "rest" : plan.scope;
    const cost = scope === "rest" ? 1 : plan.cost;
    const fate =
      plan.fate === "lost" && (scope === "graphql" || plan.kind !== "call") ? "timeout" : plan.fate;
    const actual = Math.max(0, cost - unused);
    return { ...plan, scope, cost, fate, sentMs, actual, org: "acme", anonymous: false };
  });
}

/** One recorded answer made another; `null` where it has no such thing. */
export interface Mutation {
  readonly kind: string;
  change(call: TraceCall): TraceCall | null;
}

const plus = (
  kind: string,
  name: "remaining" | "userRemaining" | "reset" | "userReset" | "limit",
  by: number,
) => ({
  kind,
  change: (call: TraceCall): TraceCall | null => {
    const value = call[name];
    return typeof value === "number" ? { ...call, [name]: value + by } : null;
  },
});

/** One member of the REST part of a status body. */
const inBody = (kind: string, change: (part: Readonly<Record<string, unknown>>) => object): Mutation => ({
  kind,
  change: (call) => {
    if (call.kind !== "status" || call.body === undefined) return null;
    const { rest, graphql } = call.body as Record<string, Readonly<Record<string, unknown>>>;
    return { ...call, body: { rest: { ...rest, ...change(rest ?? {}) }, graphql } };
  },
});

const shifted = (kind: string, by: number): Mutation => ({
  kind,
  change: (call) =>
    call.status === 0 ? null : { ...call, sent: call.sent + by, received: call.received + by },
});

const moved = (at: unknown, by: number): string =>
  `${new Date(Date.parse(String(at)) + by).toISOString().slice(0, 19)}Z`;

/** Each a small change to one answer; most leave nothing that explains it. */
export const mutations: readonly Mutation[] = [
  plus("remaining + 1", "remaining", 1),
  plus("remaining - 1", "remaining", -1),
  plus("user's remaining + 1", "userRemaining", 1),
  plus("user's remaining - 1", "userRemaining", -1),
  plus("reset + 1", "reset", 1),
  plus("reset - 1", "reset", -1),
  plus("reset + 2", "reset", 2),
  plus("reset - 2", "reset", -2),
  plus("user's reset + 2", "userReset", 2),
  plus("limit + 1", "limit", 1),
  {
    kind: "admitted, shown as refused",
    change: (call) => (call.kind === "call" && call.status === 200 ? { ...call, status: 429 } : null),
  },
  {
    kind: "refused, shown as admitted",
    change: (call) => {
      const { refusal: _, ...admitted } = call;
      return call.status === 429 ? { ...admitted, status: 200 } : null;
    },
  },
  {
    kind: "refusal's current + 1",
    change: (call) => {
      const body = call.refusal as { current?: number } | undefined;
      return body?.current === undefined
        ? null
        : { ...call, refusal: { ...body, current: body.current + 1 } };
    },
  },
  {
    kind: "refusal names the other window",
    change: (call) => {
      const body = call.refusal as { scope?: string } | undefined;
      if (body?.scope === undefined) return null;
      return { ...call, refusal: { ...body, scope: body.scope === "rest" ? "rest_user" : "rest" } };
    },
  },
  {
    kind: "reset dropped",
    change: (call) => (call.reset === null ? null : { ...call, reset: null }),
  },
  {
    kind: "scope's name wrong",
    change: (call) => (call.userScopeName === null ? null : { ...call, userScopeName: call.scope }),
  },
  inBody("body's current + 1", ({ current }) => ({ current: Number(current) + 1 })),
  inBody("body's current - 1", ({ current }) => ({ current: Number(current) - 1 })),
  inBody("body's reset + 2", ({ reset }) => ({ reset: Number(reset) + 2 })),
  inBody("body's reset_at + 1 s", ({ reset_at: at }) => ({ reset_at: moved(at, 1000) })),
  inBody("body's reset_at + 60 s", ({ reset_at: at }) => ({ reset_at: moved(at, 60_000) })),
  shifted("answered 1 s later", 1000),
  shifted("answered 1 s earlier", -1000),
  {
    kind: "cost + 1",
    change: (call) =>
      call.scope === "graphql" && call.cost !== null ? { ...call, cost: call.cost + 1 } : null,
  },
  {
    kind: "actual - 1",
    change: (call) =>
      call.actual !== undefined && call.actual > 0 ? { ...call, actual: call.actual - 1 } : null,
  },
  {
    kind: "user exchanged",
    change: (call) => ({ ...call, user: call.user === "u1" ? "u2" : "u1" }),
  },
];

/** A history with one answer changed; `null` where none can be changed so. `pick` chooses among them. */
export function mutated({ header, lines }: History, mutation: Mutation, pick: number): History | null {
  const places = lines.filter(({ call }) => mutation.change(call) !== null);
  const place = places[pick % Math.max(1, places.length)];
  if (place === undefined) return null;
  return reordered({
    header,
    lines: lines.map((line) =>
      line === place ? { line: line.line, call: mutation.change(line.call) ?? line.call } : line,
    ),
  });
}

export const lineChanges = ["call left out", "call twice"] as const;
type LineChange = (typeof lineChanges)[number];

/** A line taken out, or written twice under another number: a call that was not told of, or told twice. */
export function withLines({ header, lines }: History, kind: LineChange, pick: number): History {
  const index = pick % Math.max(1, lines.length);
  const place = lines[index];
  if (place === undefined) return { header, lines };
  const again = { ...place, call: { ...place.call, call: 1000 } };
  const rest = kind === "call left out" ? lines.toSpliced(index, 1) : lines.toSpliced(index, 0, again);
  return reordered({ header, lines: rest });
}

const reordered = ({ header, lines }: History): History => ({
  header,
  lines: lines.map(({ call }, index): TraceLine => ({ line: index + 2, call })),
});
