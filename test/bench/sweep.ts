// Figures of many runs, as a plan asks for them. Counted as they happen, against traces that are summed up; by two
// threads against one, over a sweep that takes one of them two seconds or more.
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import ciFleet from "../../scenarios/ci-fleet.ts";
import { measure } from "../../sim/measure.ts";
import { simulate } from "../../sim/simulate.ts";
import type { PlanJob } from "../../src/plan/job.ts";
import type { startJobs } from "../../src/runs/job-thread.ts";
import type { createRunner } from "../../src/runs/plan-runner.ts";
import { summarize } from "../../src/summary/summarizer.ts";
import { worldOf } from "./peers/world.ts";
import { type BenchRow, median, sized } from "./row.ts";

const ROUNDS = sized(5, 1);
const nowMs = (): number => Number(process.hrtime.bigint()) / 1e6;

function seconds(work: () => unknown): number {
  const beginMs = nowMs();
  work();
  return (nowMs() - beginMs) / 1000;
}

function figureRows(): BenchRow[] {
  const world = worldOf(2_000, 300);
  const [measured, summed]: [number[], number[]] = [[], []];
  let calls = 0;
  for (let round = 0; round <= ROUNDS; round++) {
    const counting = seconds(() => {
      calls = measure(world).records;
    });
    const { header, calls: lines } = simulate(world);
    const summing = seconds(() => summarize(header, lines));
    // The first round is for the compiler.
    if (round === 0) continue;
    measured.push(calls / counting);
    summed.push(calls / summing);
  }
  const [value, peer] = [median(measured), median(summed)];
  const against = "its trace, summed up";
  return [
    {
      name: "figures of a run, measured",
      value,
      unit: "calls/s",
      ratio: value / peer,
      against,
      bar: ">= 2,000,000 calls/s",
    },
    { name: "figures of a run, of its trace", value: peer, unit: "calls/s" },
  ];
}

// Benches run from a bundle in the cache.
const root = fileURLToPath(new URL("../../..", import.meta.url));

/** Of the built package, since a thread needs a file of its own. */
const built = <T>(file: string): Promise<T> => import(join(root, "dist/src/runs", file));

const setting = { adjustments: {}, figures: [{ population: null, name: "refusedShare" }] } as const;
const variant = { changes: [], trigger: null, windowMs: null };
const sweepOf = (runs: number): PlanJob[] =>
  Array.from({ length: runs }, (_, replication) => ({ variant, replication }));

/** Runs a second, once threads are there and warm. */
async function sweeping(most: number, jobs: readonly PlanJob[]): Promise<number> {
  const start = (await built<{ startJobs: typeof startJobs }>("job-thread.js")).startJobs;
  const create = (await built<{ createRunner: typeof createRunner }>("plan-runner.js")).createRunner;
  const { signal } = new AbortController();
  const threads = await start({ scenario: "ci-fleet" }, { importMs: 30_000, signal });
  try {
    const runner = create(most, threads, setting);
    await runner.run(jobs, () => undefined);
    const beginMs = nowMs();
    await runner.run(jobs, () => undefined);
    return (1000 * jobs.length) / (nowMs() - beginMs);
  } finally {
    await threads.close();
  }
}

async function threadRows(): Promise<BenchRow[]> {
  const twenty = (): void => {
    for (let seed = 0; seed < 20; seed++) measure(ciFleet, { seed });
  };
  twenty();
  const jobs = sweepOf(Math.ceil(20 * (sized(4, 0.2) / seconds(twenty))));
  const [ones, twos]: [number[], number[]] = [[], []];
  for (let round = 0; round < ROUNDS; round++) {
    ones.push(await sweeping(1, jobs));
    twos.push(await sweeping(2, jobs));
  }
  const [one, two] = [median(ones), median(twos)];
  const name = `sweep of ${jobs.length} runs of ci-fleet: `;
  return [
    {
      name: `${name}two threads`,
      value: two,
      unit: "runs/s",
      ratio: two / one,
      against: "one",
      bar: ">= 1.6",
    },
    { name: `${name}one thread`, value: one, unit: "runs/s" },
  ];
}

export async function run(): Promise<BenchRow[]> {
  return [...figureRows(), ...(await threadRows())];
}
