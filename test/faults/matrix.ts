// `npm run faults`: each fault of the catalogue against each net, and right deployments in their place.
//   npm run faults                          all of it, into reports/faults
//   npm run faults -- --quick               a bounded form, for CI
//   npm run faults -- --only double-count,skewed-nodes=3.7 --nets V
import { mkdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { simulate } from "../../sim/simulate.ts";
import { faults } from "../../src/faults/catalogue.ts";
import { type ChosenFault, faultText, parseFault } from "../../src/faults/choice.ts";
import type { Net } from "../../src/faults/fault.ts";
import { checkLaws, engineFactory } from "../../src/laws/index.ts";
import { parseRules } from "../../src/rules/parse.ts";
import { judge } from "../../src/verify/judge.ts";
import { crowd, crowdRules } from "./crowd.ts";
import { type Alarms, falseAlarms } from "./matrix-alarms.ts";
import { type K6Cell, type K6Rig, openRig } from "./matrix-k6.ts";
import {
  type LawsCell,
  laws,
  numbered,
  type SimulatedCell,
  simulated,
  takeTurn,
  verdictCell,
} from "./matrix-nets.ts";
import {
  type Control,
  type Matrix,
  naming,
  type Row,
  shortcomings,
  writeMatrix,
  writeWhole,
} from "./matrix-report.ts";

export interface Settings {
  readonly only: readonly ChosenFault[];
  readonly nets: readonly Net[];
  readonly seed: number;
  /** Runs of each law. */
  readonly lawRuns: number;
  /** Simulations of each fault. */
  readonly seeds: number;
  /** Whether a fault is run by k6 in this form of the matrix. */
  readonly isReal: (chosen: ChosenFault) => boolean;
  readonly k6Ms: number;
  /** Real runs at a time: they mostly wait. */
  readonly lanes: number;
  readonly alarmRuns: number;
  readonly alarmRecords: number;
  readonly out: string | null;
  readonly resume: boolean;
  readonly command: string;
}

const ALL: readonly Net[] = ["P", "V", "L"];

/** The catalogue's forms: nodes are skewed by a whole number of short windows, and by none. */
const forms: readonly ChosenFault[] = faults
  .flatMap(({ name }) => (name === "skewed-nodes" ? [`${name}=10`, `${name}=3.7`] : [name]))
  .map(parseFault);

/** @throws SpillwayError or TypeError for what cannot be used */
export function settingsOf(args: readonly string[]): Settings {
  const { values } = parseArgs({
    args: [...args],
    options: {
      only: { type: "string" },
      nets: { type: "string" },
      runs: { type: "string" },
      records: { type: "string" },
      seed: { type: "string", default: "1" },
      out: { type: "string" },
      quick: { type: "boolean", default: false },
      resume: { type: "boolean", default: false },
    },
  });
  const { quick, only, nets } = values;
  const whole = (text: string | undefined, usual: number): number => {
    const number = text === undefined ? usual : Number(text);
    if (!Number.isSafeInteger(number) || number < 0) throw new TypeError(`${text} is no whole number`);
    return number;
  };
  const wanted = nets?.split(",") ?? ALL;
  const isPart = only !== undefined || nets !== undefined;
  return {
    only: only === undefined ? forms : only.split(",").flatMap(formsOf),
    nets: ALL.filter((net) => wanted.includes(net)),
    seed: whole(values.seed, 1),
    lawRuns: 100,
    seeds: quick ? 2 : 10,
    isReal: ({ fault }) =>
      !quick || only !== undefined || fault.nets.includes("L") || fault.processes !== "one",
    k6Ms: quick ? 11_000 : 15_000,
    lanes: 3,
    alarmRuns: whole(values.runs, isPart ? 0 : quick ? 60 : 3_000),
    alarmRecords: whole(values.records, isPart || quick || values.runs !== undefined ? 0 : 10_000_000),
    // Half of a matrix is not published.
    out: values.out ?? (isPart || quick ? null : "reports/faults"),
    resume: values.resume,
    command: [
      "npm run faults",
      ...(args.length === 0 ? [] : ["--", ...args.filter((word) => word !== "--resume")]),
    ].join(" "),
  };
}

/** One fault with its rate, or all forms of it. */
function formsOf(text: string): ChosenFault[] {
  const chosen = parseFault(text);
  return text.includes("=") ? [chosen] : forms.filter(({ fault }) => fault === chosen.fault);
}

/** @returns the exit status: 1 where a net missed what it must catch, or a control was accused */
export async function run(args: string[]): Promise<number> {
  const settings = settingsOf(args);
  const stop = new AbortController();
  const onSignal = (): void => {
    if (stop.signal.aborted) process.exit(130);
    console.error("\nending: what is done is kept; once more ends at once");
    stop.abort();
  };
  process.on("SIGINT", onSignal).on("SIGTERM", onSignal);
  try {
    const matrix = await makeMatrix(settings, stop.signal);
    if (settings.out !== null) await writeMatrix(settings.out, matrix);
    return say(matrix, settings);
  } finally {
    process.off("SIGINT", onSignal).off("SIGTERM", onSignal);
  }
}

function say(matrix: Matrix, { out }: Settings): number {
  const wrong = shortcomings(matrix);
  const { caught, first, among } = naming(matrix);
  const { rows, controls, alarms } = matrix;
  console.log(`${rows.length} faults, ${controls.length} controls`);
  if (caught > 0)
    console.log(`the right name first in ${first} of ${caught} traces, among the suspects in ${among}`);
  if (alarms !== null)
    console.log(`${alarms.alarms.length} false alarms in ${alarms.runs} runs, ${alarms.records} records`);
  for (const { seed, law, explanation } of alarms?.alarms ?? [])
    console.log(`  world ${seed}: ${law}: ${explanation}`);
  for (const line of wrong) console.log(`NOT AS IT MUST BE  ${line}`);
  if (wrong.length === 0) console.log("all as it must be");
  if (out !== null) console.log(`written to ${out}`);
  return matrix.interrupted ? 130 : wrong.length === 0 ? 0 : 1;
}

/** Casts the nets, one after the other; the real runs side by side. */
export async function makeMatrix(settings: Settings, signal: AbortSignal): Promise<Matrix> {
  const { only, nets, seed, lawRuns, seeds } = settings;
  const kept = await Kept.open(settings);
  const real = nets.includes("V") || nets.includes("L");
  const rig = real ? await openRig(signal) : null;
  const none = { laws: null, simulated: null, k6: null };
  const rows: Row[] = only.map((chosen) => {
    const { wrong, seenIn, nets: named } = chosen.fault;
    return { fault: faultText(chosen), wrong, seenIn, nets: named, ...none };
  });
  const controls: Control[] = [];
  let alarms: Alarms | null = null;
  try {
    if (nets.includes("P"))
      for (const [at, chosen] of only.entries()) {
        const found = await kept.cell(`P ${faultText(chosen)}`, () =>
          laws(chosen, { runs: lawRuns, seed, signal }),
        );
        rows[at] = { ...rowAt(rows, at), laws: found };
      }
    if (nets.includes("V"))
      for (const [at, chosen] of only.entries()) {
        const found = await kept.cell(`V ${faultText(chosen)}`, () =>
          simulated(chosen, { seed, seeds, signal }),
        );
        rows[at] = { ...rowAt(rows, at), simulated: found };
      }
    controls.push(...(await pureControls(settings, kept, signal)));
    if (rig !== null) {
      await inLanes(settings.lanes, [...only.entries()], signal, async ([at, chosen]) => {
        if (!settings.isReal(chosen)) return;
        const found = await kept.cell(`k6 ${faultText(chosen)}`, () =>
          rig.run(chosen, { seed, signal, durationMs: settings.k6Ms }),
        );
        rows[at] = { ...rowAt(rows, at), k6: found };
      });
      await realControls(settings, rig, kept, signal, controls);
    }
    if (settings.alarmRuns + settings.alarmRecords > 0) alarms = await countAlarms(settings, signal);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  const interrupted = signal.aborted;
  if (!interrupted) await kept.forget();
  const { command } = settings;
  const versions = await versionsOf(rig);
  return { seed, versions, command, lawRuns, seeds, interrupted, rows, controls, alarms };
}

function rowAt(rows: readonly Row[], at: number): Row {
  const row = rows[at];
  if (row === undefined) throw new RangeError(`there is no row ${at}`);
  return row;
}

/** Right deployments before the laws and in the simulator. */
async function pureControls(
  { nets, seed, lawRuns, seeds }: Settings,
  kept: Kept,
  signal: AbortSignal,
): Promise<Control[]> {
  const found: LawsCell | null = nets.includes("P")
    ? await kept.cell("P control", async () => {
        const report = await checkLaws(engineFactory, { runs: lawRuns, seed, signal, onProgress: takeTurn });
        const broken = report.laws.filter(({ outcome }) => outcome === "violated").map(({ law }) => law);
        return { caught: broken.length > 0, law: broken[0] ?? null, runs: lawRuns, laws: broken };
      })
    : null;
  const seen: SimulatedCell | null = nets.includes("V")
    ? await kept.cell("V control", async () => {
        const cells = [];
        for (let n = seed; n < seed + seeds; n++) {
          const rules = parseRules({
            ...crowdRules,
            semantics: { graphqlCharge: n % 2 === 0 ? "reserved" : "prepaid" },
          });
          const { header, calls } = simulate(crowd, { seed: n, rules });
          cells.push(verdictCell(await judge(header, numbered(calls)), ""));
          await takeTurn();
          signal.throwIfAborted();
        }
        const accused = cells.filter(({ caught }) => caught);
        const { length } = accused;
        return {
          caught: length > 0,
          seeds,
          caughtSeeds: length,
          firstSeeds: 0,
          amongSeeds: 0,
          example: accused[0] ?? null,
        };
      })
    : null;
  return found === null && seen === null
    ? []
    : [{ control: "the engine", laws: found, simulated: seen, k6: null }];
}

/** Right deployments under k6: one process, and several with shared counters. */
async function realControls(
  { seed, lanes, k6Ms }: Settings,
  rig: K6Rig,
  kept: Kept,
  signal: AbortSignal,
  controls: Control[],
): Promise<void> {
  const several: readonly (readonly [string, number])[] = [
    ["the deployment, one process", 1],
    ["the deployment, three processes with shared counters", 3],
  ];
  const cells = new Map<string, K6Cell>();
  await inLanes(lanes, several, signal, async ([control, workers]) => {
    cells.set(
      control,
      await kept.cell(`k6 ${control}`, () => rig.run(null, { seed, signal, workers, durationMs: k6Ms })),
    );
  });
  for (const [control] of several) {
    const k6 = cells.get(control) ?? null;
    if (k6 !== null) controls.push({ control, laws: null, simulated: null, k6 });
  }
}

/** Not kept: what an interrupted count has is part of its report. */
function countAlarms({ seed, alarmRuns, alarmRecords }: Settings, signal: AbortSignal): Promise<Alarms> {
  return falseAlarms({
    seed,
    runs: alarmRuns,
    records: alarmRecords,
    signal,
    onProgress: (runs, records) => progress(`false alarms: ${runs} runs, ${records} records`),
  });
}

async function versionsOf(rig: K6Rig | null): Promise<Record<string, string>> {
  const manifest = JSON.parse(await readFile("package.json", "utf8")) as { readonly version: string };
  return {
    spillway: manifest.version,
    node: process.versions.node,
    ...(rig === null ? {} : { k6: rig.k6.version }),
  };
}

/** Works through a list with so many hands. */
async function inLanes<T>(
  lanes: number,
  list: readonly T[],
  signal: AbortSignal,
  work: (one: T) => Promise<void>,
): Promise<void> {
  const left = [...list];
  const lane = async (): Promise<void> => {
    for (let one = left.shift(); one !== undefined && !signal.aborted; one = left.shift()) await work(one);
  };
  await Promise.all(Array.from({ length: lanes }, lane));
}

function progress(text: string): void {
  if (process.stderr.isTTY === true) process.stderr.write(`\r\u001b[2K${text}`);
}

/** What was found so far, in a file beside the report, so that `--resume` need not find it again. */
class Kept {
  readonly #file: string | null;
  readonly #cells: Map<string, unknown>;
  #written: Promise<void> = Promise.resolve();

  private constructor(file: string | null, cells: Map<string, unknown>) {
    this.#file = file;
    this.#cells = cells;
  }

  static async open({ out, resume, seed, seeds, lawRuns, k6Ms }: Settings): Promise<Kept> {
    if (out === null) return new Kept(null, new Map());
    await mkdir(out, { recursive: true });
    const file = join(out, `partial-${seed}-${seeds}-${lawRuns}-${k6Ms}.json`);
    const text = resume ? await readFile(file, "utf8").catch(() => "[]") : "[]";
    return new Kept(file, new Map(JSON.parse(text) as [string, unknown][]));
  }

  /** What stands there under this name, or else what `find` finds. */
  async cell<T>(name: string, find: () => Promise<T>): Promise<T> {
    if (this.#cells.has(name)) return this.#cells.get(name) as T;
    progress(name);
    const found = await find();
    if (process.stderr.isTTY !== true) console.error(name);
    this.#cells.set(name, found);
    await this.#write();
    return found;
  }

  /** One write after the other: several hands keep what they find. */
  #write(): Promise<void> {
    const file = this.#file;
    if (file !== null)
      this.#written = this.#written.then(() => writeWhole(file, JSON.stringify([...this.#cells])));
    return this.#written;
  }

  async forget(): Promise<void> {
    if (this.#file !== null) await rm(this.#file, { force: true });
  }
}
