// Plans and replays for the report's tests: small, and of every shape that the pages draw.
import { replay, replayQuotas } from "../../sim/replay/replay.ts";
import { policyOf } from "../../src/policy/shorthand.ts";
import { parseRules } from "../../src/rules/parse.ts";
import { waitReset } from "../../src/scenario/retries/wait-reset.ts";
import type {
  PlanFigure,
  PlanPoint,
  PlanResult,
  PlanState,
  PlanValue,
} from "../../src/summary/plan-result.ts";
import type { QuotaReplayResult } from "../../src/summary/quota-replay-result.ts";
import type { ReplayResult } from "../../src/summary/replay-result.ts";
import { logOf, noon, type Row } from "../replay/rows.ts";

const figure = (name: string, mean: number, spread: number): PlanFigure => ({
  figure: name,
  measured: 8,
  mean,
  interval: { low: mean - spread, high: mean + spread },
  least: mean - 2 * spread,
  most: mean + 2 * spread,
});

function point(values: readonly PlanValue[], state: PlanState, refused: number): PlanPoint {
  const held = { holds: 8, fails: 0, unclear: 4 }[state];
  return {
    values,
    replications: 8,
    held,
    heldShare: { low: Math.max(0, held / 8 - 0.3), high: Math.min(1, held / 8 + 0.3) },
    state,
    figures: [
      figure("refusedShare", refused, 0.004),
      figure("waitP95Ms", 1000 + 90_000 * refused, 120),
      { figure: "fairness", measured: 0, mean: null, interval: null, least: null, most: null },
      figure("agents.refusedShare", refused, 0.004),
      figure("agents.waitP95Ms", 1000 + 90_000 * refused, 120),
    ],
  };
}

const plan: PlanResult = {
  format: "spillway-plan",
  version: 1,
  question: {
    scenario: "fleet",
    description: "Agents share a quota",
    seed: 7,
    durationMs: 300_000,
    vary: [{ path: "agents.clients", unit: "count", range: "10..50", from: 10, to: 50, values: 41 }],
    goals: [{ figure: "refusedShare", bound: "<5%", value: 0.05 }],
    find: "largest",
    share: 0.5,
    confidence: 0.95,
    replicationsMost: 64,
    command: "spillway plan fleet --vary agents.clients=10..50 --until 'refusedShare<5%'",
  },
  points: [
    point([50], "fails", 0.2),
    point([10], "holds", 0.01),
    point([30], "unclear", 0.05),
    point([28], "holds", 0.044),
    point([31], "fails", 0.056),
  ],
  answer: { kind: "value", value: 28, holds: 28, fails: 31 },
  heatMap: null,
  storm: null,
  comparison: null,
  simulations: 40,
  sentences: [
    "agents.clients = 28 is the largest for which refusedShare <5% holds.",
    "At 28: refusedShare 4.4%.",
  ],
  notes: ["the largest value is looked for"],
};

/** One varied value, searched. */
export const searched = plan;

/** One varied choice. */
export const chosen: PlanResult = {
  ...plan,
  question: {
    ...plan.question,
    vary: [
      {
        path: "agents.onRefused",
        unit: "choice",
        range: "none,waitReset",
        from: "none",
        to: "waitReset",
        values: 2,
      },
    ],
    find: null,
  },
  points: [point(["none"], "fails", 0.6), point(["waitReset"], "holds", 0.02)],
  answer: { kind: "choices", holding: ["waitReset"], failing: ["none"], unclear: [] },
  sentences: ["refusedShare <5% holds with waitReset and fails with none."],
};

const xs = [10, 20, 30];
const ys = [100, 200, 300, 400];
/** More clients want larger limits; 30 clients at 200 are unclear. */
const stateAt = (x: number, y: number): PlanState =>
  x === 30 && y === 200 ? "unclear" : y >= x * 10 ? "holds" : "fails";

/** Two varied values: 10 clients hold from 100 on, 20 from 200, 30 from 300. */
export const mapped: PlanResult = {
  ...plan,
  question: {
    ...plan.question,
    vary: [
      { path: "agents.clients", unit: "count", range: "10..30", from: 10, to: 30, values: 21 },
      {
        path: "rules.organization.rest.limit",
        unit: "count",
        range: "100..400",
        from: 100,
        to: 400,
        values: 301,
      },
    ],
    find: "smallest",
  },
  points: xs.flatMap((x) => ys.map((y) => point([x, y], stateAt(x, y), x / y / 2))),
  answer: { kind: "frontier", holding: 9, failing: 2, unclear: 1 },
  heatMap: {
    xs,
    ys,
    cells: ys.map((_, row) => xs.map((__, column) => column * ys.length + row)),
    figures: ["refusedShare", "waitP95Ms"],
    frontier: [
      { x: 10, holds: 100, fails: null, monotone: true },
      { x: 20, holds: 200, fails: 100, monotone: true },
      { x: 30, holds: 300, fails: 100, monotone: true },
    ],
  },
  sentences: ["refusedShare <5% holds at 9 of 12 points and fails at 2."],
};

/** A storm, and alternatives beside what is. */
export const stormy: PlanResult = {
  ...plan,
  question: { ...plan.question, vary: [], goals: [], find: null, command: null },
  points: [],
  answer: null,
  storm: {
    trigger: "outage",
    unit: "ms",
    atMs: 60_000,
    windowMs: 60_000,
    withinWindows: null,
    answer: { kind: "value", value: 20_000, holds: 15_000, fails: 20_000 },
    from: 1_000,
    to: 60_000,
    triggers: [
      ["holds", 1_000],
      ["holds", 15_000],
      ["fails", 20_000],
      ["fails", 60_000],
    ].map(([state, size]) => ({
      size: Number(size),
      replications: 8,
      recovered: state === "holds" ? 8 : 0,
      recoveredShare: state === "holds" ? { low: 0.63, high: 1 } : { low: 0, high: 0.37 },
      state: state as PlanState,
      windowsToRecover: state === "holds" ? 1 : null,
    })),
    series: [
      { size: 0, shares: [0.1, 0.1, 0.1, 0.1, null] },
      { size: 15_000, shares: [0.1, 0.5, 0.2, 0.1, 0.1] },
      { size: 20_000, shares: [0.1, 0.6, 0.7, 0.8, 0.8] },
    ],
  },
  comparison: {
    populations: ["agents"],
    alternatives: [
      {
        population: null,
        policy: "as it is",
        limits: "as they are",
        asIs: true,
        held: null,
        replications: 8,
        figures: point([], "fails", 0.3).figures,
      },
      ...["waitReset", "exponential"].flatMap((policy) =>
        ["as they are", "x2"].map((limits) => ({
          population: "agents",
          policy,
          limits,
          asIs: false,
          held: null,
          replications: 8,
          figures: point([], "holds", policy === "waitReset" ? 0.05 : 0.2).figures,
        })),
      ),
    ],
  },
  sentences: [
    "An outage of 20 s is the smallest that it does not recover from.",
    "30 agents: waiting helps.",
  ],
};

/** An hour of calls: one user far above its limit, the others far below, now and then a query. */
function rows(user = (index: number): string => `agent-${index}`): Row[] {
  const calls = Array.from({ length: 3_000 }, (_, index): Row => {
    const noisy = index % 3 === 0;
    return {
      atMs: noon + index * 1_200 + (index % 7) * 100,
      user: user(noisy ? 0 : 1 + (index % 9)),
      kind: index % 50 === 0 ? "graphql" : index % 77 === 0 ? "status" : "rest",
      cost: index % 50 === 0 ? 2_000 : 1,
      durationMs: 80,
      status: index % 100 === 3 ? 429 : 200,
    };
  });
  const burst = Array.from(
    { length: 90 },
    (_, index): Row => ({ atMs: noon + 600_000 + index, user: user(0) }),
  );
  return [...calls, ...burst].sort((a, b) => a.atMs - b.atMs);
}

const shown = (user?: (index: number) => string) => ({
  ...logOf(rows(user), 500),
  unread: 2,
  examples: [{ file: "access.log", line: 17, text: "<b>garbage", why: "no time" }],
});
const reaction = { onRefused: waitReset({ of: "both" }), words: "waitReset" };

/** @param react whether the callers do something about a refusal */
export function replayed(react = false, user?: (index: number) => string): Promise<ReplayResult> {
  return replay(shown(user), parseRules({}), {
    files: ["access.log"],
    expect: { refusedShare: "<50%" },
    reaction: react ? reaction : undefined,
  });
}

/** The same log by the quotas of the rules as a policy, with smaller limits, until it is interrupted. */
export function replayedByQuotas(): Promise<QuotaReplayResult> {
  const limits = { rest: { limit: 40 }, graphql: { limit: 9_000 } };
  const log = { ...shown(), unrouted: 3, paths: ["/{id}/parts", "/health"] };
  let batches = 0;
  return replayQuotas(log, policyOf(parseRules({ organization: limits, user: limits })), {
    files: ["monday.log", "tuesday.log"],
    expect: { refusedShare: "<1%", waitP95Ms: "<1s" },
    reaction,
    signal: {
      get aborted() {
        batches += 1;
        return batches > 4;
      },
    },
  });
}
