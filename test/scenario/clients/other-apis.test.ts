// Clients of other APIs do what their sources say, under the policies of these APIs.
import { describe, expect, test } from "vitest";
import { measure } from "../../../sim/measure.ts";
import { parsePolicy } from "../../../src/policy/parse.ts";
import { presets } from "../../../src/policy/presets.ts";
import { adjustScenario } from "../../../src/scenario/adjust.ts";
import type { RefusalPolicy } from "../../../src/scenario/client.ts";
import {
  type ClientPreset,
  defineScenario,
  ghApiPaginate,
  octokit,
  openaiNode,
  rest,
  worker,
} from "../../../src/scenario/index.ts";
import { type AnswerShown, Rig } from "../rig.ts";

const START = 0;

/** The wait after an attempt, ms; `null` where it gives up. */
function waitOf(policy: RefusalPolicy, shown: AnswerShown, attempt = 0, seed = 1): number | null {
  const rig = new Rig(worker({ calls: [{ call: rest("/a") }], think: "1h" }), policy, seed);
  const [next] = rig.answer({ ...rig.only(rig.start(START)), attempt }, START, { status: 429, ...shown });
  return next === undefined || next.attempt === 0 ? null : next.atMs - START;
}

function under(name: string, preset: ClientPreset, clients = 1, duration = "10m") {
  const scenario = defineScenario({
    name: "clients",
    duration,
    network: { latency: "20ms", execution: "1s" },
    populations: { all: { clients, user: "shared", ...preset } },
  });
  return measure(adjustScenario(scenario, { policy: parsePolicy(presets[name]?.policy) }));
}

describe("octokit", () => {
  const { onRefused } = octokit();

  test("waits for the reset and a second where nothing remains, once", () => {
    expect(waitOf(onRefused, { limit: 5000, remaining: 0, reset: 30 })).toBe(31_000);
    expect(waitOf(onRefused, { limit: 5000, remaining: 0, reset: 30 }, 1)).toBeNull();
    expect(waitOf(octokit({ retries: 3 }).onRefused, { limit: 5000, remaining: 0, reset: 30 }, 2)).toBe(
      31_000,
    );
  });

  test("waits for the later reset of those of which nothing remains", () => {
    const shown = { limit: 5000, remaining: 0, reset: 30, userLimit: 50, userRemaining: 0, userReset: 20 };
    expect(waitOf(onRefused, shown)).toBe(31_000);
    expect(waitOf(onRefused, { ...shown, userReset: 40 })).toBe(41_000);
    expect(waitOf(onRefused, { ...shown, remaining: 1 })).toBe(21_000);
    expect(waitOf(onRefused, { ...shown, userRemaining: 1, userReset: 40 })).toBe(31_000);
    expect(waitOf(onRefused, { ...shown, userRemaining: 1, reset: 0 })).toBe(1_000);
    expect(waitOf(onRefused, { ...shown, remaining: 1, userReset: 0 })).toBe(1_000);
  });

  test("waits as long as a secondary limit says, or a minute", () => {
    expect(waitOf(onRefused, { limit: 5000, remaining: 4_000, reset: 30, retryAfter: 7 })).toBe(7_000);
    expect(waitOf(onRefused, { limit: 5000, remaining: 4_000, reset: 30 })).toBe(60_000);
    expect(waitOf(octokit({ retries: 0 }).onRefused, { retryAfter: 7 })).toBeNull();
  });

  test("tries again after 1, 4 and 9 s where no answer comes, or a 5xx", () => {
    const waits = [0, 1, 2, 3].map((attempt) => waitOf(onRefused, { status: 502 }, attempt));
    expect(waits).toEqual([1_000, 4_000, 9_000, null]);
    expect(waitOf(onRefused, { status: 0 })).toBe(1_000);
  });

  test("searches each two seconds: thirty a minute, which GitHub allows", () => {
    const { figures } = under("github", octokit({ calls: "search", jobs: 100 }));
    expect(figures).toMatchObject({ jobs: 100, admitted: 100, gaveUp: 0 });
  });

  test("is refused by the points of a minute where four share a token and write", () => {
    const { figures, refusedBy } = under("github", octokit({ calls: "write", jobs: 400 }), 4, "5m");
    expect(refusedBy?.["rest_points"]).toBe(figures.refused);
    expect(figures.refused).toBeGreaterThan(0);
  });

  test("takes no other groups", () => {
    expect(() => octokit({ calls: "auth" as never })).toThrow(/octokit\.calls.*"auth"/s);
    expect(() => octokit({ retries: -1 })).toThrow(/octokit\.retries/);
  });
});

describe("OpenAI's library for Node", () => {
  const { onRefused } = openaiNode();
  const drawn = (attempt: number, shown: AnswerShown = {}): number[] =>
    Array.from({ length: 300 }, (_, seed) => waitOf(onRefused, shown, attempt, seed) ?? Number.NaN);

  test("waits as it is told, up to a minute", () => {
    expect(waitOf(onRefused, { retryAfter: 60 })).toBe(60_000);
    expect(waitOf(onRefused, { retryAfter: 0 })).toBe(0);
    expect(Math.max(...drawn(0, { retryAfter: 61 }))).toBeLessThanOrEqual(500);
  });

  test("else backs off from half a second, less up to a quarter, and tries twice", () => {
    for (const [attempt, most] of [
      [0, 500],
      [1, 1_000],
    ] as const) {
      const waits = drawn(attempt);
      expect(Math.min(...waits)).toBeGreaterThanOrEqual(most * 0.75);
      expect(Math.min(...waits)).toBeLessThan(most * 0.8);
      expect(Math.max(...waits)).toBeLessThanOrEqual(most);
      expect(Math.max(...waits)).toBeGreaterThan(most * 0.95);
    }
    expect(waitOf(onRefused, {}, 2)).toBeNull();
    expect(waitOf(openaiNode({ maxRetries: 9 }).onRefused, {}, 8)).toBeLessThanOrEqual(8_000);
  });

  test("gives up jobs where its calls ask for more tokens than a minute has", () => {
    const { figures, refusedBy } = under(
      "openai",
      openaiNode({ jobs: 400, tokens: 20_000, used: 500 }),
      4,
      "2m",
    );
    expect(refusedBy?.["tokens"]).toBeGreaterThan(0);
    expect(figures.gaveUp).toBeGreaterThan(0);
  });
});

describe("gh api --paginate", () => {
  test("reads page after page, and all of them where there is room", () => {
    const { figures } = under("github", ghApiPaginate({ entries: 3_000 }));
    expect(figures).toMatchObject({ calls: 100, admitted: 100 });
  });

  test("ends with the first refusal", () => {
    const { figures } = under("github", ghApiPaginate({ entries: 60_000 }));
    // 900 points of a minute: the next page is refused, and none is asked for after it.
    expect(figures).toMatchObject({ refused: 1, gaveUp: 1 });
    expect(figures.admitted).toBe(900);
  });
});

test.each([
  ["octokit", octokit(), 500],
  ["openaiNode", openaiNode(), 200],
  ["ghApiPaginate", ghApiPaginate(), 100],
])("%s makes so many calls by default, if none is refused", (_, preset, calls) => {
  const scenario = defineScenario({
    name: "clients",
    duration: "24h",
    populations: { all: { clients: 1, ...preset } },
  });
  const algorithm = { kind: "fixed-window", limit: 1_000_000_000, windowSeconds: 60 } as const;
  const policy = parsePolicy({
    ...{
      version: 2,
      name: "wide",
      quotas: { all: { algorithm } },
      operations: { any: { uses: { all: 1 } } },
    },
    routes: ["GET", "POST"].map((method) => ({ methods: [method], path: "/**", operation: "any" })),
  });
  expect(measure(adjustScenario(scenario, { policy })).records).toBe(calls);
});
