// Each preset does what its source says of the real client: alone, by the clock, or in the company that made it
// known. Runs are simulated; waits are asked of the policy itself.
import { describe, expect, test } from "vitest";
import { simulate } from "../../../sim/simulate.ts";
import type { RulesInput } from "../../../src/rules/rules.ts";
import type { RefusalPolicy } from "../../../src/scenario/client.ts";
import {
  agentStackK8s,
  autoscalerMetrics,
  bkBuildWatch,
  bkJobList,
  bkPreflight,
  type ClientPreset,
  ciCommentBot,
  dashboardPerViewer,
  defineScenario,
  goBuildkiteNext,
  goBuildkiteV423,
  herd,
  logFetcher,
  mcpBuildWait,
  rest,
  terraformApply,
  vscodeExtension,
  worker,
} from "../../../src/scenario/index.ts";
import type { TraceCall } from "../../../src/trace/record.ts";
import { type AnswerShown, Rig } from "../rig.ts";

interface World {
  readonly clients?: number;
  readonly duration?: string;
  readonly rules?: RulesInput;
  readonly user?: "each" | "shared";
  readonly latency?: string;
}

/** Returns the calls of a number of clients. */
function run(
  preset: ClientPreset,
  { clients = 1, duration = "2m", rules = {}, user, latency = "20ms" }: World = {},
) {
  const scenario = defineScenario({
    name: "presets",
    duration,
    rules,
    network: { latency },
    populations: { all: { clients, ...preset, ...(user === undefined ? {} : { user }) } },
  });
  const calls = [...simulate(scenario, { seed: 1 }).calls];
  const refused = calls.filter(({ status }) => status === 429);
  return { calls, refused, startMs: scenario.startAtMs };
}

const refusedWait = (policy: RefusalPolicy, shown: AnswerShown, attempt = 0, seed = 1): number | null => {
  const rig = new Rig(worker({ calls: [{ call: rest("/v2/user") }], think: "1h" }), policy, seed);
  const [next] = rig.answer({ ...rig.only(rig.start(0)), attempt }, 0, { status: 429, ...shown });
  return next === undefined || next.attempt === 0 ? null : next.atMs;
};
const drawn = (policy: RefusalPolicy, shown: AnswerShown): number[] =>
  Array.from({ length: 200 }, (_, seed) => refusedWait(policy, shown, 0, seed) ?? Number.NaN);

const spent = { limit: 200, remaining: 0, reset: 30, userLimit: 50, userRemaining: 9, userReset: 30 };
const perMinute = (calls: readonly TraceCall[], startMs: number): number =>
  calls.filter(({ sent }) => sent < startMs + 60_000).length;

describe("bk build watch", () => {
  test("alone exceeds its user's 50 a minute", () => {
    const { refused, calls } = run(bkBuildWatch());
    expect(refused.length).toBeGreaterThan(0);
    expect(refused.every(({ userRemaining }) => userRemaining === 0)).toBe(true);
    expect(calls.filter(({ status }) => status === 200)).toHaveLength(100);
  });

  test("would send 60 a minute if nobody refused", () => {
    const rules = { user: { rest: { limit: 1_000, windowSeconds: 60 } } };
    const { calls, startMs } = run(bkBuildWatch(), { rules, duration: "1m" });
    expect(perMinute(calls, startMs)).toBe(60);
  });

  test("waits the reset without jitter, 10 s where it is not shown, and retries 3 times", () => {
    const { onRefused } = bkBuildWatch();
    expect(new Set(drawn(onRefused, spent))).toEqual(new Set([30_000]));
    expect(refusedWait(onRefused, {})).toBe(10_000);
    expect(refusedWait(onRefused, spent, 2)).toBe(30_000);
    expect(refusedWait(onRefused, spent, 3)).toBe(null);
  });
});

test("bk preflight asks every 2 s", () => {
  const { calls, startMs } = run(bkPreflight());
  expect(perMinute(calls, startMs)).toBe(30);
});

test("bk job list asks for 50 pages of 100, 10 at a time: a user's whole minute in seconds", () => {
  const { calls, startMs } = run(bkJobList(), { duration: "30s" });
  expect(calls).toHaveLength(50);
  expect(calls.every(({ status }) => status === 200)).toBe(true);
  expect(Math.max(...calls.map(({ received }) => received)) - startMs).toBeLessThan(2_000);
  const inFlight = calls.map(
    ({ sent }) => calls.filter((other) => other.sent <= sent && other.received > sent).length,
  );
  expect(Math.max(...inFlight)).toBe(10);
});

describe("go-buildkite v4.23", () => {
  /** Its retries from a first 429 with 60 s to go: how many, and how long after the reset the last one came. */
  function retries(seed: number): { count: number; lostMs: number } {
    const { onRefused } = goBuildkiteV423();
    const rig = new Rig(worker({ calls: [{ call: rest("/v2/user") }] }), onRefused, seed);
    let call = rig.only(rig.start(0));
    let count = 0;
    while (call.atMs < 60_000) {
      call = rig.only(rig.answer(call, call.atMs, { status: 429, ...spent, reset: 60 }));
      count += 1;
    }
    return { count, lostMs: call.atMs - 60_000 };
  }
  const median = (values: number[]): number => values.sort((a, b) => a - b)[values.length >> 1] ?? 0;
  const found = Array.from({ length: 2_001 }, (_, seed) => retries(seed));

  test("makes 11 retries in the median, and loses about 14.5 s past the reset", () => {
    expect(median(found.map(({ count }) => count))).toBe(11);
    expect(median(found.map(({ lostMs }) => lostMs))).toBeGreaterThan(12_000);
    expect(median(found.map(({ lostMs }) => lostMs))).toBeLessThan(17_000);
  });

  test("looks at no header, and gives up after 15 minutes", () => {
    const { onRefused } = goBuildkiteV423();
    expect(refusedWait(onRefused, { ...spent, retryAfter: 9 })).toBe(refusedWait(onRefused, {}));
    const rig = new Rig(worker({ calls: [{ call: rest("/v2/user") }] }), onRefused);
    let call = rig.only(rig.start(0));
    let lastMs = 0;
    for (;;) {
      const next = rig.only(rig.answer(call, call.atMs, { status: 429 }));
      if (next.attempt === 0) break;
      expect(next.atMs - call.atMs).toBeLessThanOrEqual(60_000);
      lastMs = next.atMs;
      call = next;
    }
    expect(lastMs).toBeLessThanOrEqual(900_000);
    expect(lastMs).toBeGreaterThan(820_000);
  });
});

test("go-buildkite next waits the organization's reset and 0.5 to 1.5 s, at most 120 s, 3 times", () => {
  const { onRefused } = goBuildkiteNext();
  const waits = drawn(onRefused, { ...spent, userRemaining: 0, userReset: 250 });
  expect(Math.min(...waits)).toBeGreaterThanOrEqual(30_500);
  expect(Math.max(...waits)).toBeLessThanOrEqual(31_500);
  expect(Math.max(...drawn(onRefused, { ...spent, reset: 280 }))).toBeLessThanOrEqual(121_500);
  expect(refusedWait(onRefused, spent, 3)).toBe(null);
});

describe("terraform apply", () => {
  test("has ten calls on the way, until all resources are read", () => {
    const rules = { user: { rest: { limit: 1_000, windowSeconds: 60 } } };
    const { calls } = run(terraformApply({ resources: 120 }), { rules });
    expect(calls).toHaveLength(120);
    expect(calls.filter(({ sent }) => sent === calls[0]?.sent)).toHaveLength(10);
  });

  test.each([
    ["rest", 5, 15_000],
    ["rest", 30, 32_000],
    ["rest", 250, 180_000],
    ["graphql", 250, 252_000],
  ] as const)("by %s, told a reset of %i s, waits %i ms", (api, reset, expected) => {
    expect(refusedWait(terraformApply({ api }).onRefused, { ...spent, reset })).toBe(expected);
  });

  test("retries 10 times", () => {
    const { onRefused } = terraformApply();
    expect(refusedWait(onRefused, spent, 9)).toBe(32_000);
    expect(refusedWait(onRefused, spent, 10)).toBe(null);
  });
});

test("agent-stack-k8s: nine controllers fit an organization's points, ten do not", () => {
  const refusals = (clients: number): number =>
    run(agentStackK8s(), { clients, duration: "5m" }).refused.length;
  expect(refusals(9)).toBe(0);
  expect(refusals(10)).toBeGreaterThan(0);
});

test("the extension asks every 120 s for a heavy page, later every 30 s for a light one", () => {
  const early = run(vscodeExtension(), { duration: "6m" }).calls;
  expect(early.map(({ cost }) => cost)).toEqual([503, 503, 503]);
  const later = run(vscodeExtension({ version: "later" }), { duration: "1m" }).calls;
  expect(later).toHaveLength(2);
});

test.each([
  ["mcp-build-wait", mcpBuildWait(), 12],
  ["autoscaler-metrics", autoscalerMetrics(), 6],
  ["autoscaler-metrics at 15 s", autoscalerMetrics({ every: "15s" }), 4],
])("%s", (_, preset, expected) => {
  const { calls, startMs } = run(preset);
  expect(perMinute(calls, startMs)).toBe(expected);
});

test("dashboard-per-viewer: ten viewers exhaust 20,000 points where what is asked for is charged", () => {
  const rules = {
    user: { graphql: { limit: 20_000, windowSeconds: 300 } },
    semantics: { graphqlCharge: "prepaid" },
  } as const;
  const viewers = (clients: number) => run(dashboardPerViewer(), { clients, rules, duration: "1m" }).refused;
  expect(viewers(9)).toHaveLength(0);
  expect(viewers(10).length).toBeGreaterThan(0);
});

describe("log-fetcher", () => {
  test("asks for 160 logs in one instant, and what is refused is lost where no Retry-After comes", () => {
    const rules = { user: { rest: { limit: 127, windowSeconds: 60 } }, semantics: { retryAfter: false } };
    const { calls, refused, startMs } = run(logFetcher(), { rules });
    expect(calls.every(({ sent }) => sent === startMs)).toBe(true);
    expect(calls).toHaveLength(160);
    expect(refused).toHaveLength(33);
  });

  test("waits as it says where it comes", () => {
    const rules = { user: { rest: { limit: 127, windowSeconds: 60 } } };
    const { calls } = run(logFetcher(), { rules });
    expect(calls.filter(({ status }) => status === 200)).toHaveLength(160);
  });
});

test("ci-comment-bot waits for the window that refused, 1 to 5 s longer, in 4 attempts", () => {
  const { onRefused } = ciCommentBot();
  const byUser = { ...spent, remaining: 70, reset: 9, userRemaining: 0, userReset: 40 };
  const waits = drawn(onRefused, byUser);
  expect(Math.min(...waits)).toBeGreaterThanOrEqual(41_000);
  expect(Math.max(...waits)).toBeLessThanOrEqual(45_000);
  expect(refusedWait(onRefused, byUser, 3)).toBe(null);
  expect(run(ciCommentBot(), { duration: "5s" }).calls).toHaveLength(20);
});

test("herd: thirty agents come back in the one millisecond of the reset", () => {
  const { calls } = run(herd(), { clients: 30, duration: "3m" });
  const perMs = new Map<number, number>();
  for (const { sent, attempt = 0 } of calls) if (attempt > 0) perMs.set(sent, (perMs.get(sent) ?? 0) + 1);
  const [[edge, together] = [1, 0]] = [...perMs].sort((a, b) => b[1] - a[1]);
  expect(edge % 60_000).toBe(0);
  expect(together).toBeGreaterThanOrEqual(30);
});
