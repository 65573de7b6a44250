// What callers do after a refusal is found again: each policy simulated, recorded, fitted.
import { describe, expect, test } from "vitest";
import { fitScenario } from "../../sim/fit/fit.ts";
import type { FittedPopulation } from "../../sim/fit/model.ts";
import type { Recording } from "../../sim/fit/recording.ts";
import type { FittedSpan } from "../../sim/fit/spread.ts";
import {
  exponential,
  fixed,
  none,
  poller,
  type RefusalPolicy,
  rest,
  retryAfter,
  waitReset,
  worker,
} from "../../src/scenario/index.ts";
import type { Scenario, ScenarioInput } from "../../src/scenario/scenario.ts";
import { logged, traced, world } from "./recordings.ts";

const pipelines = rest("/v2/organizations/:org/pipelines");
const seeds = [1, 2];

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

describe.each(seeds)("seed %i", (seed) => {
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

  test("the number of attempts, where that ends them", () => {
    const { attempts } = only(traced(crowd(fixed({ wait: "1s", attempts: 4 })), seed));
    expect(attempts).toBe(4);
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
