// `npm run faults`: each fault of the catalogue against each net, and right deployments in their place.
//   npm run faults                          all of it, into reports/faults
//   npm run faults -- --quick               a bounded form, for CI
//   npm run faults -- --only double-count,skewed-nodes=3.7 --nets V
//   npm run faults -- --only double-count --publish   all of it, whose other rows stay as they are
//   npm run faults -- --alarms              the count of false alarms alone, into reports/faults
//   npm run faults -- --nets L --driver node        real runs by Node; by k6 where it is found otherwise

import { execFile } from "node:child_process";
import { access, readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { type ChosenFault, faultText } from "../../src/faults/choice.ts";
import { type Alarms, falseAlarmsByThreads } from "./matrix-alarms.ts";
import { type AuditCell, auditCell } from "./matrix-audit.ts";
import { type K6Cell, type K6Rig, openRig } from "./matrix-k6.ts";
import { Kept, progress } from "./matrix-kept.ts";
import { type LawsCell, laws, type SimulatedCell, simulated } from "./matrix-nets.ts";
import { type Cells, type Matrix, naming, shortcomings, withRowsOf, writeMatrix } from "./matrix-report.ts";
import { forms, type Settings, settingsOf } from "./matrix-settings.ts";

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
    const { out, publish } = settings;
    // The file for new rows is looked for first: counting takes long.
    if (publish && out !== null) await access(join(out, "matrix.json"));
    const found = await makeMatrix(settings, stop.signal);
    const matrix = publish && out !== null ? await withRowsOf(out, found, forms.map(faultText)) : found;
    if (out !== null) await writeMatrix(out, matrix);
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

/** A deployment: one with a fault, or a right one. */
interface Subject {
  readonly name: string;
  /** `null`: right. */
  readonly chosen: ChosenFault | null;
  readonly workers?: number;
}

/** Findings of each net on each subject, by name. */
interface Found {
  readonly laws: Map<string, LawsCell>;
  readonly simulated: Map<string, SimulatedCell>;
  readonly k6: Map<string, K6Cell>;
  readonly audits: Map<string, AuditCell>;
}

const engine: Subject = { name: "the engine", chosen: null };
const deployments: readonly Subject[] = [
  { name: "the deployment, one process", chosen: null, workers: 1 },
  { name: "the deployment, three processes with shared counters", chosen: null, workers: 3 },
];

/** Casts the nets, one after the other; the real runs side by side. */
async function makeMatrix(settings: Settings, signal: AbortSignal): Promise<Matrix> {
  const { only, nets, command, seed, lawRuns, seeds } = settings;
  const kept = await Kept.open(settings);
  const rig = nets.includes("V") || nets.includes("L") ? await openRig(signal, settings.driver) : null;
  const found: Found = { laws: new Map(), simulated: new Map(), k6: new Map(), audits: new Map() };
  // Threads of their own count false alarms meanwhile.
  const counting = settings.alarmRuns + settings.alarmRecords > 0 ? countAlarms(settings, signal) : null;
  try {
    await castPure(settings, kept, found, signal);
    if (rig !== null) await castReal(settings, rig, kept, found, signal);
    if (nets.includes("A")) await castAudits(settings, kept, found, signal);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  const alarms = await counting;
  const interrupted = signal.aborted;
  if (!interrupted) await kept.forget();
  const versions = await versionsOf(rig);
  const rows = only.map((chosen) => {
    const { wrong, seenIn, nets: named } = chosen.fault;
    return { fault: faultText(chosen), wrong, seenIn, nets: named, ...cellsOf(found, faultText(chosen)) };
  });
  const controls = [engine, ...deployments]
    .map(({ name }) => ({ control: name, ...cellsOf(found, name) }))
    .filter((cells) => netNames.some((net) => cells[net] !== null));
  return { seed, versions, command, lawRuns, seeds, interrupted, rows, controls, alarms };
}

const netNames = ["laws", "simulated", "k6", "audits"] as const;

const cellsOf = (found: Found, name: string): Cells => ({
  laws: found.laws.get(name) ?? null,
  simulated: found.simulated.get(name) ?? null,
  k6: found.k6.get(name) ?? null,
  audits: found.audits.get(name) ?? null,
});

const subjectOf = (chosen: ChosenFault): Subject => ({ name: faultText(chosen), chosen });

/** Such a fault needs calls that neither scripts of the laws nor scenarios make. */
const isAuditAlone = (chosen: ChosenFault | null): boolean =>
  chosen?.fault.nets.every((net) => net === "A") === true;

/** The laws, and simulated traces. */
async function castPure(settings: Settings, kept: Kept, found: Found, signal: AbortSignal): Promise<void> {
  const { only, nets, seed, seeds, lawRuns: runs, allLaws: all } = settings;
  const subjects = [...only.map(subjectOf), engine];
  for (const { name, chosen } of nets.includes("P") ? subjects : []) {
    if (isAuditAlone(chosen) || (!all && chosen?.fault.nets.includes("P") === false)) continue;
    const cell = await kept.cell(`P ${name}`, () => laws(chosen, { runs, seed, all, signal }));
    found.laws.set(name, cell);
  }
  for (const { name, chosen } of nets.includes("V") ? subjects : []) {
    if (isAuditAlone(chosen)) continue;
    const cell = await kept.cell(`V ${name}`, () => simulated(chosen, { seed, seeds, signal }));
    found.simulated.set(name, cell);
  }
}

/** Real runs, several at a time: they mostly wait. */
async function castReal(
  { only, isReal, lanes, seed, k6Ms: durationMs }: Settings,
  rig: K6Rig,
  kept: Kept,
  found: Found,
  signal: AbortSignal,
): Promise<void> {
  const left: Subject[] = [
    ...only.filter((one) => isReal(one) && !isAuditAlone(one)).map(subjectOf),
    ...deployments,
  ];
  const lane = async (): Promise<void> => {
    for (let one = left.shift(); one !== undefined && !signal.aborted; one = left.shift()) {
      const { name, chosen, workers } = one;
      const run = () => rig.run(chosen, { seed, signal, durationMs, workers });
      found.k6.set(name, await kept.cell(`k6 ${name}`, run));
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
}

/** Audits of what the audit alone finds, and of a right deployment; `npm run audits` has those of all faults. */
async function castAudits(
  { only, lanes }: Settings,
  kept: Kept,
  found: Found,
  signal: AbortSignal,
): Promise<void> {
  const left: Subject[] = only.filter(({ fault }) => fault.nets.includes("A")).map(subjectOf);
  left.push(...deployments.slice(0, 1));
  const lane = async (): Promise<void> => {
    for (let one = left.shift(); one !== undefined && !signal.aborted; one = left.shift()) {
      const { name, chosen } = one;
      found.audits.set(name, await kept.cell(`A ${name}`, () => auditCell(chosen, signal)));
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
}

/** Not kept: what an interrupted count has is part of its report. */
async function countAlarms(
  { seed, alarmRuns, alarmRecords }: Settings,
  signal: AbortSignal,
): Promise<Alarms> {
  const { stdout } = await promisify(execFile)("git", ["rev-parse", "--short", "HEAD"]);
  const alarms = await falseAlarmsByThreads({
    seed,
    runs: alarmRuns,
    records: alarmRecords,
    signal,
    onProgress: (runs, records) => progress(`false alarms: ${runs} runs, ${records} records`),
  });
  return { ...alarms, commit: stdout.trim() };
}

async function versionsOf(rig: K6Rig | null): Promise<Record<string, string>> {
  const manifest = JSON.parse(await readFile("package.json", "utf8")) as { readonly version: string };
  return {
    spillway: manifest.version,
    node: process.versions.node,
    ...(rig?.by.driver === "k6" ? { k6: rig.by.k6.version } : {}),
  };
}
