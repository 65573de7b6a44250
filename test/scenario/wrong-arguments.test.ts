// Wrong arguments of every public function of `spillway/scenario`: coded errors with the argument's path, never one of
// JavaScript's own.
import { describe, expect, test } from "vitest";
import { SpillwayError } from "../../src/rules/errors.ts";
import * as scenario from "../../src/scenario/index.ts";

const circle: Record<string, unknown> = {};
circle["itself"] = circle;
const wrong: readonly unknown[] = [
  undefined,
  null,
  true,
  -1,
  0.5,
  Number.NaN,
  Number.POSITIVE_INFINITY,
  10n,
  Symbol("s"),
  "",
  "soon",
  "5",
  [],
  [null],
  {},
  { a: 1n },
  circle,
  () => undefined,
  new Date(0),
];

const call = scenario.rest("/v2/user");
const calls = [{ call, weight: 2 }];
const retries = { attempts: 3, deadline: "5m", unanswered: true };
const populations = { all: { clients: 1, behaviour: scenario.poller({ every: "1s", call }) } };
const own = scenario.defineScenario({ name: "own", duration: "5s", populations });

/** Arguments that each function takes, each option given. */
const right: Readonly<Record<string, readonly unknown[]>> = {
  adjustScenario: [own, { seed: 1, durationMs: 5, startAtMs: 0, rules: {} }],
  adviseScenario: [own, {}],
  aimd: [{ call, start: 60, increase: 1, decrease: 0.5, least: 1, most: 100 }],
  agentStackK8s: [{ first: 4 }],
  autoscalerMetrics: [{ every: "10s" }],
  bkBuildWatch: [],
  bkJobList: [{ jobs: 5 }],
  bkPreflight: [],
  burst: [{ call, size: 3, every: "1s" }],
  ciCommentBot: [{ calls: 2 }],
  dashboardPerViewer: [{ queries: 1 }],
  defineScenario: [{ name: "x", duration: "1s", populations }],
  exponential: [{ first: "1s", factor: 2, most: "1m", jitter: "full", ...retries }],
  fixed: [{ wait: "1s", ...retries }],
  goBuildkiteNext: [{ calls, think: "1s", jobs: 2 }],
  goBuildkiteV423: [{ calls, think: "1s", jobs: 2 }],
  graphql: ["{ user { id } }", { cost: 3, actual: 2, name: "me" }],
  herd: [{ calls, think: "1s", jobs: 2 }],
  logFetcher: [{ logs: 3 }],
  looker: [{ calls, leave: 1, callsPerLook: 2, think: "1s" }],
  mcpBuildWait: [],
  none: [],
  paced: [{ calls, sharedBy: 2, userSharedBy: 2, least: "1s", jobs: 2 }],
  pager: [{ call, pages: 2, perPage: 30, parallel: 2, every: "1m", entries: 70 }],
  pipelinesQuery: [10, 10],
  poller: [{ every: "1s", call }],
  queue: [{ call, every: "1s", jobs: 2, workers: 1 }],
  rest: ["/v2/user", "me"],
  retryAfter: [{ fallback: "1s", most: "1m", jitter: "1s", ...retries }],
  sessions: [
    {
      of: scenario.poller({ every: "1s", call }),
      calls: { least: 1, most: 5 },
      length: "1h",
      away: { quantiles: [1, 5, 900], shares: [0, 0.9, 1] },
      rhythm: {
        hours: new Array(24).fill(1),
        weekend: new Array(24).fill(0.5),
        weekdays: [0, 1, 1, 1, 1, 1, 0],
      },
    },
  ],
  status: [],
  terraformApply: [{ resources: 3, api: "rest" }],
  octokit: [{ calls: "write", jobs: 3, retries: 2 }],
  openaiNode: [{ jobs: 3, parallel: 2, tokens: 90, used: 40, maxRetries: 1 }],
  ghApiPaginate: [{ entries: 90, perPage: 10 }],
  together: [[scenario.poller({ every: "1s", call }), scenario.burst({ call, size: 2 })]],
  vscodeExtension: [{ version: "later" }],
  waitReset: [
    { of: "both", from: "answer", jitter: "1s", least: "1s", most: "1m", fallback: "1s", ...retries },
  ],
  withHeaders: [call, { "X-Forwarded-For": "203.0.113.1" }],
  worker: [{ calls, think: "1s", jobs: 2 }],
};
/** Draws of a behaviour of one's own, made millions of times a second: they check nothing. */
const unchecked = ["below", "between"];

type Make = (...given: readonly unknown[]) => unknown;
const functions: readonly (readonly [string, Make])[] = Object.entries(scenario).flatMap(([name, value]) =>
  typeof value === "function" ? [[name, value as Make] as const] : [],
);
const checked = functions.filter(([name]) => !unchecked.includes(name));

/** Errors are coded, and name the place. */
function expectCoded(act: () => unknown, tried: string): SpillwayError | null {
  try {
    act();
    return null;
  } catch (error) {
    expect(error, tried).toBeInstanceOf(SpillwayError);
    const { code, problems } = error as SpillwayError;
    expect(code, tried).toBe("SCENARIO_INVALID");
    expect(problems.length, tried).toBeGreaterThan(0);
    for (const problem of problems)
      expect(
        Object.values(problem).every((text) => text !== ""),
        tried,
      ).toBe(true);
    return error as SpillwayError;
  }
}

const shown = (value: unknown): string =>
  typeof value === "object" ? Object.prototype.toString.call(value) : String(value);

describe("every function of spillway/scenario", () => {
  test("is known here", () => {
    expect(functions.map(([name]) => name).sort()).toEqual([...Object.keys(right), ...unchecked].sort());
  });

  test.each(checked)("%s takes what is right", (name, make) => {
    expect(() => make(...(right[name] ?? []))).not.toThrow();
  });

  test.each(checked)("%s tells wrong arguments by code and path", (name, make) => {
    const given = right[name] ?? [];
    for (const [place, argument] of given.entries()) {
      const instead = (value: unknown): readonly unknown[] =>
        given.map((one, index) => (index === place ? value : one));
      for (const value of wrong) {
        expectCoded(() => make(...instead(value)), `${name}, argument ${place}: ${shown(value)}`);
        if (typeof argument !== "object" || argument === null || argument === own || argument === call)
          continue;
        for (const member of [...Object.keys(argument), "nothing-of-the-kind"]) {
          const tried = `${name}, ${member}: ${shown(value)}`;
          expectCoded(() => make(...instead({ ...argument, [member]: value })), tried);
        }
      }
    }
  });

  test.each([
    ["exponential", undefined, "exponential"],
    ["waitReset", undefined, "waitReset"],
    ["fixed", null, "fixed"],
    ["worker", "often", "worker"],
    ["poller", [], "poller"],
    ["agentStackK8s", { frist: 3 }, "agentStackK8s.frist"],
    ["vscodeExtension", { version: "latest" }, "vscodeExtension.version"],
    ["terraformApply", { api: "soap" }, "terraformApply.api"],
    ["aimd", { call, start: "5" }, "aimd.start"],
    ["exponential", { first: "1s", most: "1m", factor: "2" }, "exponential.factor"],
    ["burst", { call: circle, size: 1 }, "burst.call"],
  ])("%s(%s) names %s", (name, argument, path) => {
    const make = functions.find(([known]) => known === name)?.[1];
    const error = expectCoded(() => make?.(argument), name);
    expect(error?.problems[0]?.path).toBe(path);
  });
});
