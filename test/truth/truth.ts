// `npm run truth`: is it true, what the simulator predicts? Each scenario of scenarios/ is run for real, by each driver
// against the reference deployment, with short windows and ten seeds; and simulated twice for each run:
//   again:    the same seed, users and network: what the simulator leaves out shows as the difference;
//   forecast: seeds that were never run, the network of another run: what one knows beforehand.
// The drivers' own figures are compared, too.
//   npm run truth                         all of it, into reports/truth
//   npm run truth -- --quick              one short run each, for CI
//   npm run truth -- --only herd --seeds 3 --driver node
//   npm run truth -- --worlds             fitted scenarios before worlds that they do not know (worlds.ts)
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { DriverName } from "../../src/load/driver.ts";
import { readRun } from "../../src/report/run-folder.ts";
import type { Scenario } from "../../src/scenario/scenario.ts";
import { type Comparison, comparisonOf, type Pair } from "./comparison.ts";
import type { RunFigures } from "./run-figures.ts";
import { measuredFigures, predictedFigures, runForReal, shortRules } from "./runs.ts";
import { type Settings, settingsOf } from "./settings.ts";
import { type Truth, tableOf, type Versions, writeTruth } from "./truth-report.ts";
import { runWorlds } from "./worlds.ts";

/** @returns the exit status: 1 where a run failed or broke a law, or a world's aim was missed; 130 where it was interrupted */
export async function run(args: string[]): Promise<number> {
  if (args.includes("--worlds")) return runWorlds(args);
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

interface Made {
  readonly scenario: Scenario;
  readonly driver: DriverName;
  readonly seed: number;
}

const folderOf = (workshop: string, { scenario, driver, seed }: Made): string =>
  join(workshop, `${scenario.name}-${driver}-${seed}`);

/**
 * All real runs, some at a time; seeds outermost, so that what else the machine does falls on every scenario. Drivers run
 * side by side, for the same reason.
 */
async function measure(settings: Settings, workshop: string, signal: AbortSignal): Promise<Versions> {
  const { scenarios, drivers, seeds, duration, lanes } = settings;
  const rules = join(workshop, "rules.json");
  await writeFile(rules, JSON.stringify(shortRules));
  const wanted = seedsUpTo(seeds).flatMap((seed) => scenarios.map((scenario) => ({ scenario, seed })));
  const total = wanted.length;
  let done = 0;
  const lane = async (): Promise<void> => {
    for (let next = wanted.shift(); next !== undefined; next = wanted.shift()) {
      const { scenario, seed } = next;
      await Promise.all(
        drivers.map((driver) => {
          const folder = folderOf(workshop, { scenario, driver, seed });
          return runForReal({ name: scenario.name, seed, duration, rules, folder, signal, driver });
        }),
      );
      done += 1;
      console.error(`${done} of ${total}: ${scenario.name}, seed ${seed}, by ${drivers.join(" and ")}`);
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return versionsOf(settings, workshop);
}

/** Every program's version, by the runs' own records. */
async function versionsOf({ scenarios, drivers }: Settings, workshop: string): Promise<Versions> {
  const [scenario] = scenarios;
  if (scenario === undefined) throw new RangeError("no scenario");
  const runs = drivers.map((driver) => readRun(folderOf(workshop, { scenario, driver, seed: 1 })));
  return Object.assign({}, ...(await Promise.all(runs)).map(({ record }) => record.versions));
}

async function judge(scenario: Scenario, settings: Settings, workshop: string): Promise<Truth> {
  const { name, description } = scenario;
  const measured = new Map<DriverName, RunFigures[]>();
  const predictions: Truth["predictions"][number][] = [];
  for (const driver of settings.drivers) {
    const ours = await Promise.all(
      seedsUpTo(settings.seeds).map((seed) =>
        measuredFigures(folderOf(workshop, { scenario, driver, seed })),
      ),
    );
    measured.set(driver, ours);
    predictions.push({ driver, ...(await predictionsOf({ scenario, driver, workshop, measured: ours })) });
  }
  const [k6, node] = [measured.get("k6"), measured.get("node")];
  return { name, description, predictions, between: k6 && node ? betweenOf(k6, node) : null };
}

/** Drivers take a different while to start, so their runs lie elsewhere in their windows: windows are not compared. */
function betweenOf(k6: readonly RunFigures[], node: readonly RunFigures[]): Comparison {
  const whole = (figures: RunFigures): RunFigures => ({ ...figures, windows: [] });
  return comparisonOf(
    k6.map((ours, index) => ({ measured: whole(ours), predicted: whole(node[index] as RunFigures) })),
  );
}

/** Forecasts for each run: their own chance is small then, beside that of the runs. */
const forecasts = 10;

interface Runs {
  readonly scenario: Scenario;
  readonly driver: DriverName;
  readonly workshop: string;
  /** Figures of the seeds from 1 on. */
  readonly measured: readonly RunFigures[];
}

async function predictionsOf({
  scenario,
  driver,
  workshop,
  measured: runs,
}: Runs): Promise<{ again: Comparison; forecast: Comparison }> {
  const again: Pair[] = [];
  const forecast: Pair[] = [];
  for (const [index, measured] of runs.entries()) {
    const seed = index + 1;
    const folder = folderOf(workshop, { scenario, driver, seed });
    const other = folderOf(workshop, { scenario, driver, seed: (seed % runs.length) + 1 });
    const startAtMs = (await readRun(folder)).record.startedAt;
    again.push({ measured, predicted: await predictedFigures(scenario, { like: folder, seed }) });
    for (let draw = 0; draw < forecasts; draw++) {
      const unseen = 1_000 * (draw + 1) + seed;
      const predicted = await predictedFigures(scenario, { like: other, seed: unseen, startAtMs });
      forecast.push({ measured, predicted });
    }
  }
  return { again: comparisonOf(again), forecast: comparisonOf(forecast) };
}

const seedsUpTo = (last: number): number[] => Array.from({ length: last }, (_, index) => index + 1);
