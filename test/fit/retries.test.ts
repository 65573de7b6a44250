// Retry policies are found again: each is simulated, recorded and fitted.
// @module-tag long
import { describe, expect, test } from "vitest";
import { fitScenario } from "../../sim/fit/fit.ts";
import type { RetrySample } from "../../sim/fit/jobs.ts";
import type { FittedPopulation } from "../../sim/fit/model.ts";
import type { Recording } from "../../sim/fit/recording.ts";
import { guessRetry, UsualPauses } from "../../sim/fit/retries.ts";
import type { FittedSpan } from "../../sim/fit/spread.ts";
import {
  exponential,
  fixed,
  none,
  poller,
  type RefusalPolicy,
  rest,
  retryAfter,
  together,
  waitReset,
  worker,
} from "../../src/scenario/index.ts";
import type { Scenario, ScenarioInput } from "../../src/scenario/scenario.ts";
import { drawnRecording } from "./drawn-recordings.ts";
import { logged, traced, tracedNameless, world } from "./recordings.ts";

const pipelines = rest("/v2/organizations/:org/pipelines");

/** More than their windows hold, so that everybody is refused now and then. */
function crowd(onRefused: RefusalPolicy, more: Partial<ScenarioInput> = {}): Scenario {
  const behaviour = worker({ calls: [{ call: pipelines }], think: { least: "300ms", most: "900ms" } });
  return world({ crowd: { clients: 12, behaviour, onRefused } }, more);
}

function only(recording: Recording): FittedPopulation {
  const { populations } = fitScenario(recording);
  expect(populations).toHaveLength(1);
  return populations[0] as FittedPopulation;
}

const near = (actual: number, expected: number, share: number): void =>
  expect(Math.abs(actual - expected), `${actual} for ${expected}`).toBeLessThanOrEqual(share * expected + 5);

/** Both ends within a tenth of the span's upper one: a hundred draws leave as much open. */
function nearSpan(span: FittedSpan, least: number, most: number): void {
  expect(Math.abs(span.least - least), `from ${span.least}`).toBeLessThanOrEqual(0.1 * most);
  expect(Math.abs(span.most - most), `to ${span.most}`).toBeLessThanOrEqual(0.1 * most);
}

const seed = 1;

describe("what callers do after a refusal is found", () => {
  test("never again: in a trace, and in a log by what comes next", () => {
    const scenario = crowd(none());
    for (const recording of [traced(scenario, seed), logged(scenario, { seed })]) {
      const { onRefused, behaviour, refused } = only(recording);
      expect(refused).toBeGreaterThan(100);
      expect(onRefused).toEqual({ kind: "none" });
      expect(behaviour).toMatchObject({ think: { kind: "uniform" } });
    }
  });

  test.each([
    ["at once", undefined, 0],
    ["within two seconds", { least: 0, most: "2s" } as const, 2000],
    ["within half a minute", { least: 0, most: "30s" } as const, 30_000],
  ])("at the reset, %s", (_name, jitter, most) => {
    const scenario = crowd(waitReset({ of: "organization", ...(jitter === undefined ? {} : { jitter }) }));
    const { onRefused, retriesExplained } = only(traced(scenario, seed));
    expect(onRefused).toMatchObject({ kind: "waitReset", from: "answer" });
    if (onRefused.kind === "waitReset") nearSpan(onRefused.jitter, 0, most);
    expect(retriesExplained).toBeGreaterThan(0.95);
  });

  test("at the reset, from a log without headers: by the windows' grid", () => {
    const scenario = crowd(waitReset({ of: "organization", jitter: { least: 0, most: "2s" } }));
    const { onRefused } = only(logged(scenario, { seed }));
    expect(onRefused.kind).toBe("waitReset");
    if (onRefused.kind === "waitReset") nearSpan(onRefused.jitter, 0, 2000);
  });

  test("at the reset as clocks of whole seconds have it", () => {
    const { onRefused } = only(traced(crowd(waitReset({ of: "organization", from: "second" })), seed));
    expect(onRefused).toMatchObject({ kind: "waitReset", from: "second", jitter: { least: 0, most: 0 } });
  });

  test("of the window that lacks room, where the two reset apart", () => {
    const rules = {
      organization: { rest: { limit: 200, windowSeconds: 45 } },
      user: { rest: { limit: 18, windowSeconds: 70 } },
    };
    const both = only(traced(crowd(waitReset({ of: "both" }), { rules }), seed));
    expect(both.onRefused).toMatchObject({ kind: "waitReset", of: "both", jitter: { most: 0 } });
    const one = only(traced(crowd(waitReset({ of: "organization" }), { rules }), seed));
    expect(one.onRefused).toMatchObject({ kind: "waitReset", of: "organization", jitter: { most: 0 } });
  });

  test("after Retry-After, where that is not the reset of both", () => {
    const rules = {
      organization: { rest: { limit: 120, windowSeconds: 50 } },
      user: { rest: { limit: 10, windowSeconds: 70 } },
    };
    const { onRefused } = only(
      traced(crowd(retryAfter({ jitter: { least: "1s", most: "3s" } }), { rules, duration: "30m" }), seed),
    );
    expect(onRefused.kind).toBe("retryAfter");
    if (onRefused.kind !== "retryAfter") return;
    nearSpan(onRefused.jitter, 1000, 3000);
  });

  test.each([
    ["2s", 2000, 2000],
    [{ least: "1s", most: "4s" }, 1000, 4000],
  ] as const)("after a fixed wait of %o", (wait, least, most) => {
    const scenario = crowd(fixed({ wait }));
    for (const recording of [traced(scenario, seed), logged(scenario, { seed })]) {
      const { onRefused } = only(recording);
      expect(onRefused.kind).toBe("fixed");
      if (onRefused.kind !== "fixed") continue;
      nearSpan(onRefused.wait, least, most);
    }
  });

  test.each(["none", "equal", "full", "half", "decorrelated"] as const)(
    "after waits that grow, with jitter %s",
    (jitter) => {
      const scenario = crowd(exponential({ first: "1s", factor: 2, most: "16s", jitter }));
      const { onRefused } = only(traced(scenario, seed));
      expect(onRefused).toMatchObject({ kind: "exponential", jitter, factor: 2 });
      if (onRefused.kind !== "exponential") return;
      near(onRefused.first, 1000, 0.2);
      near(onRefused.most, 16_000, 0.2);
    },
  );

  test("waits that grow, from a log", () => {
    const { onRefused } = only(logged(crowd(exponential({ first: "1s", most: "16s" })), { seed }));
    expect(onRefused).toMatchObject({ kind: "exponential", first: 1000, factor: 2, jitter: "none" });
  });

  test("waits that grow, of a hasty loop that gives up, from a log", () => {
    const behaviour = worker({ calls: [{ call: pipelines }], think: "250ms" });
    const onRefused = exponential({ first: "1s", most: "16s", jitter: "equal", attempts: 6 });
    const rules = { user: { rest: { limit: 90, windowSeconds: 60 } } };
    const scenario = world({ hasty: { clients: 1, behaviour, onRefused } }, { rules, duration: "40m" });
    expect(only(logged(scenario, { seed }))).toMatchObject({
      behaviour: { kind: "worker", think: { kind: "constant", ms: 250 } },
      onRefused: { kind: "exponential", first: 1000, factor: 2, jitter: "equal" },
      attempts: 6,
    });
  });

  test("waits that grow, of three loops of calls at once under one name, from a log", () => {
    const loop = worker({
      calls: [{ call: pipelines }],
      think: { least: "4s", most: "20s" },
      atOnce: { least: 1, most: 4 },
    });
    const crowd = {
      clients: 7,
      behaviour: together([loop, loop, loop]),
      onRefused: exponential({ first: "1s", most: "16s", jitter: "equal" }),
    };
    const { onRefused } = only(logged(world({ crowd }, { duration: "1h" }), { seed }));
    expect(onRefused).toMatchObject({ kind: "exponential", factor: 2 });
    if (onRefused.kind === "exponential") near(onRefused.most, 16_000, 0.1);
  });

  test("the number of attempts, where that ends them", () => {
    const { attempts } = only(traced(crowd(fixed({ wait: "1s", attempts: 4 })), seed));
    expect(attempts).toBe(4);
  });

  test.each([
    [4, 4],
    [undefined, null],
  ])("given up after %s attempts, in a log that numbers none", (attempts, found) => {
    const behaviour = worker({ calls: [{ call: pipelines }], think: { least: "4s", most: "20s" } });
    const onRefused = fixed({ wait: { least: "900ms", most: "1100ms" }, ...(attempts && { attempts }) });
    const scenario = world({ crowd: { clients: 60, behaviour, onRefused } }, { duration: "20m" });
    const fitted = only(logged(scenario, { seed }));
    expect(fitted.attempts).toBe(found);
    expect(fitted.onRefused.kind).toBe("fixed");
    if (fitted.onRefused.kind === "fixed") nearSpan(fitted.onRefused.wait, 900, 1100);
  });
});

test("callers who never try again are others than those who do, alike as they are else", () => {
  const behaviour = worker({ calls: [{ call: pipelines }], think: { least: "300ms", most: "900ms" } });
  const scenario = world({
    patient: { clients: 6, behaviour, onRefused: waitReset({ of: "both" }) },
    careless: { clients: 6, behaviour, onRefused: none() },
  });
  const { populations } = fitScenario(tracedNameless(scenario));
  expect(populations.map(({ onRefused }) => onRefused.kind).sort()).toEqual(["none", "waitReset"]);
});

describe("of attempts after refusals", () => {
  /** An attempt that came so long after its refusal, which announced nothing. */
  const retry = (waitMs: number, attempt = 0): RetrySample => ({
    waitMs,
    attempt,
    beforeMs: 0,
    nowMs: 0,
    cost: 1,
    userCost: 1,
    remaining: 0,
    reset: -1,
    userRemaining: 0,
    userReset: -1,
    retryAfter: -1,
  });
  const even = (count: number, most: number): number[] =>
    Array.from({ length: count }, (_, index) => Math.round((index * most) / (count - 1)));

  // -ln(likelihood) differs by ln(1.25) = 0.22, and by ln(1.45) = 0.37: a policy is assumed from 0.3 on.
  test.each([
    [1.25, "none"],
    [1.45, "fixed"],
  ])("a span %f times as narrow as usual pauses says %s", (times, kind) => {
    const usual = new UsualPauses(even(4_000, 10_000 * times), 1);
    const samples = even(4_000, 10_000).map((waitMs) => retry(waitMs));
    expect(guessRetry(samples, 1, usual)?.retry.kind).toBe(kind);
  });

  test("the cap of growing waits is the round one within the clock's slack of the longest", () => {
    const slackMs = 50;
    const samples = even(60, slackMs - 10).flatMap((lateMs) =>
      [1_000, 2_000, 4_000, 8_000, 16_000, 16_000].map((waitMs, attempt) => retry(waitMs + lateMs, attempt)),
    );
    const first = guessRetry(samples, slackMs, null);
    expect(first).toMatchObject({ explained: 1, retry: { factor: 2, jitter: "none", most: 16_000 } });
  });

  test("waits that grow begin at a millisecond at least, though a call came before the answer", () => {
    const { populations } = fitScenario(drawnRecording(90));
    const growing = populations.flatMap(({ onRefused }) =>
      onRefused.kind === "exponential" ? [onRefused.first] : [],
    );
    expect(growing).toContain(1);
    expect(Math.min(...growing)).toBe(1);
  });

  test.each([
    [4, { least: 0, most: 0 }],
    [9, { least: 4, most: 4 }],
    [30, { least: 0, most: 30 }],
  ])("tries within %i ms of the reset need the jitter that explains them", (mostMs, jitter) => {
    const samples = even(400, 50_000).flatMap((waitMs) =>
      even(mostMs + 1, mostMs).map((lateMs) => ({ ...retry(waitMs + lateMs), reset: waitMs / 1000 })),
    );
    expect(guessRetry(samples, 5, null)).toMatchObject({
      explained: expect.closeTo(1, 2),
      retry: { kind: "waitReset", jitter },
    });
  });
});

describe("what cannot be known", () => {
  test("without refusals nothing is assumed, and it says so", () => {
    const quiet = world({ quiet: { clients: 2, behaviour: poller({ every: "30s", call: pipelines }) } });
    const { onRefused, reasons } = only(traced(quiet));
    expect(onRefused).toEqual({ kind: "unknown" });
    expect(reasons.onRefused).toBe("none was refused: what they would do is unknown, none is assumed");
  });

  test("what says the same spans is named beside", () => {
    const { onRefused, reasons } = only(traced(crowd(retryAfter())));
    expect(onRefused.kind).toBe("waitReset");
    expect(reasons.onRefused).toContain("retryAfter would explain them as well");
  });

  test("of calls that overlap in a log, retries are not guessed", () => {
    const behaviour = worker({ calls: [{ call: pipelines }], think: { least: "50ms", most: "150ms" } });
    const scenario = world({ noisy: { clients: 4, user: "shared", behaviour } });
    const recording = logged(scenario);
    const { onRefused, reasons, calls } = only(recording);
    expect(onRefused).toEqual({ kind: "unknown" });
    expect(reasons.onRefused).toContain("cannot be told from those that come anyway");
    expect(calls).toBe(recording.calls);
  });
});
