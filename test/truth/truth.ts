// `npm run truth`: is it true, what the simulator predicts? Each scenario of scenarios/ is run for real, by k6 against
// the reference deployment, with short windows and ten seeds; and simulated twice for each run:
//   again:    the same seed, users and network: what the simulator leaves out shows as the difference;
//   forecast: seeds that were never run, the network of another run: what one knows beforehand.
//   npm run truth                         all of it, into reports/truth
//   npm run truth -- --quick              one short run each, for CI
//   npm run truth -- --only herd --seeds 3
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readRun } from "../../src/report/run-folder.ts";
import type { Scenario } from "../../src/scenario/scenario.ts";
import { comparisonOf, type Pair } from "./comparison.ts";
import { measuredFigures, predictedFigures, runForReal, shortRules } from "./runs.ts";
import { type Settings, settingsOf } from "./settings.ts";
import { type Truth, tableOf, type Versions, writeTruth } from "./truth-report.ts";

/** @returns the exit status: 1 where a run failed or broke a law, 130 where it was interrupted */
export async function run(args: string[]): Promise<number> {
  const settings = settingsOf(args);
  const stop = new AbortController();
  const onSignal = (): void => stop.abort();
  process.once("SIGINT", onSignal).once("SIGTERM", onSignal);
  const workshop = await mkdtemp(join(tmpdir(), "spillway-truth-"));
  try {
    const versions = await measure(settings, workshop, stop.signal);
    const truths: Truth[] = [];
    for (const scenario of settings.scenarios) truths.push(await judge(scenario, settings, workshop));
    console.log(truths.map(tableOf).join("\n\n"));
    if (settings.out !== null) await writeTruth(settings.out, { truths, settings, versions });
    return 0;
  } catch (error) {
    if (!stop.signal.aborted) throw error;
    console.error("interrupted: nothing is written");
    return 130;
  } finally {
    process.off("SIGINT", onSignal).off("SIGTERM", onSignal);
    await rm(workshop, { recursive: true, force: true });
  }
}

const folderOf = (workshop: string, scenario: Scenario, seed: number): string =>
  join(workshop, `${scenario.name}-${seed}`);

/** All real runs, some at a time; seeds outermost, so that what else the machine does falls on every scenario. */
async function measure(
  { scenarios, seeds, duration, lanes }: Settings,
  workshop: string,
  signal: AbortSignal,
): Promise<Versions> {
  const rules = join(workshop, "rules.json");
  await writeFile(rules, JSON.stringify(shortRules));
  const wanted = Array.from({ length: seeds }, (_, index) => index + 1).flatMap((seed) =>
    scenarios.map((scenario) => ({ scenario, seed })),
  );
  const total = wanted.length;
  let done = 0;
  const lane = async (): Promise<void> => {
    for (let next = wanted.shift(); next !== undefined; next = wanted.shift()) {
      const { scenario, seed } = next;
      const folder = folderOf(workshop, scenario, seed);
      await runForReal({ name: scenario.name, seed, duration, rules, folder, signal });
      done += 1;
      console.error(`${done} of ${total} real runs: ${scenario.name}, seed ${seed}`);
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  const [first] = scenarios;
  if (first === undefined) throw new RangeError("no scenario");
  return (await readRun(folderOf(workshop, first, 1))).record.versions;
}

/** Forecasts for each run: their own chance is small then, beside that of the runs. */
const forecasts = 10;

async function judge(scenario: Scenario, { seeds }: Settings, workshop: string): Promise<Truth> {
  const again: Pair[] = [];
  const forecast: Pair[] = [];
  for (let seed = 1; seed <= seeds; seed++) {
    const folder = folderOf(workshop, scenario, seed);
    const measured = await measuredFigures(folder);
    const startAtMs = (await readRun(folder)).record.startedAt;
    const other = folderOf(workshop, scenario, (seed % seeds) + 1);
    again.push({ measured, predicted: await predictedFigures(scenario, { like: folder, seed }) });
    for (let draw = 0; draw < forecasts; draw++) {
      const unseen = 1_000 * (draw + 1) + seed;
      const predicted = await predictedFigures(scenario, { like: other, seed: unseen, startAtMs });
      forecast.push({ measured, predicted });
    }
  }
  const { name, description } = scenario;
  return { name, description, again: comparisonOf(again), forecast: comparisonOf(forecast) };
}
