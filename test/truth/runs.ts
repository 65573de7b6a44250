// Real runs and their predictions. A real run is `spillway load` as a process of its own, with its own deployment,
// so that runs side by side do not wait for each other; a prediction is made afterwards.
import { spawn } from "node:child_process";
import { createReadStream } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { simulate } from "../../sim/simulate.ts";
import type { DriverName } from "../../src/load/driver.ts";
import type { RulesInput } from "../../src/rules/rules.ts";
import { conditionsOf } from "../../src/runs/simulate-job.ts";
import { adjustScenario } from "../../src/scenario/adjust.ts";
import type { Scenario } from "../../src/scenario/scenario.ts";
import { readTrace } from "../../src/trace/read.ts";
import { RunCounter, type RunFigures } from "./run-figures.ts";

/** The rates of the default rules, a fifth and a twelfth and a half of their windows' lengths. */
export const shortRules = {
  organization: {
    rest: { limit: 40, windowSeconds: 12 },
    graphql: { limit: 1_600, windowSeconds: 24 },
  },
  user: { rest: { limit: 10, windowSeconds: 12 }, graphql: { limit: 800, windowSeconds: 24 } },
} as const satisfies RulesInput;

export interface RealRun {
  readonly name: string;
  readonly seed: number;
  readonly duration: string;
  /** Path of the rules. */
  readonly rules: string;
  readonly folder: string;
  readonly signal: AbortSignal;
  readonly driver: DriverName;
}

/**
 * Runs a scenario for real, as a user would.
 * @throws Error with what it said, where a law was broken or the run failed; expectations are not asked for
 */
export async function runForReal({
  name,
  seed,
  duration,
  rules,
  folder,
  signal,
  driver,
}: RealRun): Promise<void> {
  const words = ["load", name, "--driver", driver, "--rules", rules, "--duration", duration];
  words.push("--seed", String(seed), "--out", folder);
  const child = spawn(process.execPath, ["dist/src/cli/main.js", ...words], {
    stdio: ["ignore", "ignore", "pipe"],
    signal,
    killSignal: "SIGINT",
  });
  let said = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    said += text;
  });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on("error", reject).on("close", resolve);
  });
  const verdict: unknown =
    code === 0 || code === 1 ? JSON.parse(await readFile(join(folder, "verdict.json"), "utf8")) : null;
  const isRight =
    typeof verdict === "object" && verdict !== null && "verdict" in verdict && verdict.verdict === "ok";
  if (!isRight) throw new Error(`${name}, seed ${seed}, by ${driver}: the run ended with ${code}\n${said}`);
}

/** Measures of the run, from its trace. */
export async function measuredFigures(folder: string): Promise<RunFigures> {
  const { header, calls } = await readTrace(createReadStream(join(folder, "trace.ndjson")));
  const counter = new RunCounter(header);
  for await (const { call } of calls) counter.add(call);
  return counter.finish();
}

/**
 * Returns the simulator's figures of a run.
 * @param like the run whose users and network it takes
 * @param startAtMs where the run's windows were when it began is no secret: a forecast takes that of the run
 */
export async function predictedFigures(
  scenario: Scenario,
  { like, seed, startAtMs }: { like: string; seed: number; startAtMs?: number },
): Promise<RunFigures> {
  const conditions = await conditionsOf(scenario, { like, seed });
  const { header, calls } = simulate(adjustScenario(conditions.scenario, { startAtMs }), conditions.options);
  const counter = new RunCounter(header);
  for (const call of calls) counter.add(call);
  return counter.finish();
}
