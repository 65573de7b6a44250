// Small runs of what is rare: figures by numbers equal a summary of the same run's trace.
import { expect, test } from "vitest";
import { measure, measureSteps } from "../../sim/measure.ts";
import { type SimulateOptions, simulate } from "../../sim/simulate.ts";
import { burst, defineScenario, fixed, none, poller, rest } from "../../src/scenario/index.ts";
import type { ScenarioInput } from "../../src/scenario/scenario.ts";
import { seatingLike } from "../../src/scenario/seats.ts";
import { summarize } from "../../src/summary/summarizer.ts";

const call = rest("/v2/user");
const scenarioOf = (input: Partial<ScenarioInput> & Pick<ScenarioInput, "populations">) =>
  defineScenario({ name: "rare", duration: "20s", ...input });

function both(scenario: ReturnType<typeof scenarioOf>, options: SimulateOptions = {}) {
  const { header, calls } = simulate(scenario, options);
  const { figures, populations, endedAt, records } = summarize(header, calls);
  return { measured: measure(scenario, options), summary: { figures, populations, endedAt, records } };
}

test("users of two populations count once in all, and by themselves in each", () => {
  const polls = (every: string) => ({ clients: 2, behaviour: poller({ every, call }), onRefused: none() });
  const scenario = scenarioOf({ populations: { slow: polls("5s"), quick: polls("1s"), third: polls("2s") } });
  const ann = { organization: "acme", user: "ann" };
  const seating = seatingLike(
    scenario,
    new Map(["slow/0", "quick/0", "quick/1", "third/1"].map((client) => [client, ann])),
  );
  const { measured, summary } = both(scenario, { seating });
  expect(measured).toEqual(summary);
  // Hers are 4, 40 and 10 calls of each population, of which a minute's limit of 50 refuses four.
  const admitted = measured.populations.map(({ name, figures }) => [name, figures.admitted] as const);
  expect([measured.figures.admitted, Object.fromEntries(admitted)]).toEqual([
    ...[64, { slow: 8, quick: 36, third: 20 }],
  ]);
});

test("hundreds of users are told apart", () => {
  const many = { clients: 300, behaviour: burst({ call, size: 2 }), onRefused: none() };
  const { measured, summary } = both(scenarioOf({ populations: { many } }));
  expect(measured).toEqual(summary);
  expect(measured.figures.admitted).toBe(200);
});

test("a retry of a call without an answer follows no refusal", () => {
  const retries = (clients: number) => ({
    ...{ clients, behaviour: poller({ every: "2s", call }) },
    onRefused: fixed({ wait: "300ms", attempts: 5, unanswered: true }),
  });
  const { measured, summary } = both(
    scenarioOf({
      network: { loss: 0.4, timeout: "1s" },
      rules: { organization: { rest: { limit: 20, windowSeconds: 10 } } },
      populations: { some: retries(3), others: retries(4) },
    }),
  );
  expect(measured).toEqual(summary);
  expect(measured.figures.unanswered).toBeGreaterThan(20);
  expect(measured.figures.refused).toBeGreaterThan(20);
});

test("each step tells the calls so far, and the time", () => {
  const polls = { clients: 50, behaviour: poller({ every: "20ms", call }), onRefused: none() };
  const scenario = scenarioOf({ duration: "60s", populations: { polls } });
  const steps = [...measureSteps(scenario)];
  expect(steps.map(({ calls }) => calls)).toEqual([65_536, 131_072]);
  // They call 2,500 times a second, and have their answers within a second.
  for (const { calls, nowMs } of steps) {
    const lateMs = nowMs - scenario.startAtMs - calls / 2.5;
    expect(lateMs).toBeGreaterThan(-100);
    expect(lateMs).toBeLessThan(1_000);
  }
});
