// The matrix as it is published: a table for people, the figures as JSON, both written whole or not at all.
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Net } from "../../src/faults/fault.ts";
import type { Alarms } from "./matrix-alarms.ts";
import type { AuditCell } from "./matrix-audit.ts";
import type { K6Cell } from "./matrix-k6.ts";
import type { LawsCell, SimulatedCell } from "./matrix-nets.ts";

/** Findings of each net on one fault; `null` where it was not cast. */
export interface Cells {
  readonly laws: LawsCell | null;
  readonly simulated: SimulatedCell | null;
  readonly k6: K6Cell | null;
  readonly audits: AuditCell | null;
}

/** One fault of the catalogue, with a rate where it has one. */
export interface Row extends Cells {
  readonly fault: string;
  readonly wrong: string;
  readonly seenIn: readonly string[];
  /** The nets that must catch it. */
  readonly nets: readonly Net[];
}

/** A right deployment in the faults' place: whatever catches it is wrong. */
export interface Control extends Cells {
  readonly control: string;
}

export interface Matrix {
  readonly seed: number;
  readonly versions: Readonly<Record<string, string>>;
  /** Command that repeats it. */
  readonly command: string;
  readonly lawRuns: number;
  readonly seeds: number;
  /** Ctrl-C came before it was done. */
  readonly interrupted: boolean;
  readonly rows: readonly Row[];
  readonly controls: readonly Control[];
  readonly alarms: Alarms | null;
}

/** Nets that a row names and that were cast in vain; controls that were accused; false alarms. */
export function shortcomings({ rows, controls, alarms }: Matrix): string[] {
  const missed = rows.flatMap(({ fault, nets, laws, simulated, k6, audits }) => [
    ...(nets.includes("P") && laws?.caught === false ? [`${fault}: P, the laws, missed it`] : []),
    ...(nets.includes("V") && simulated?.caught === false
      ? [`${fault}: V, the oracle, missed it in ${simulated.seeds - simulated.caughtSeeds} simulations`]
      : []),
    ...(nets.includes("V") && k6?.verdict.caught === false
      ? [`${fault}: V, the oracle, missed it in the real run's trace`]
      : []),
    ...(nets.includes("L") && k6?.checks.caught === false
      ? [`${fault}: L, the driver's checks, missed it`]
      : []),
    ...(nets.includes("A") && audits?.caught === false ? [`${fault}: A, the audit, missed it`] : []),
    ...(k6 === null || k6.failure === null ? [] : [`${fault}: the real run failed: ${k6.failure}`]),
  ]);
  const accused = controls.flatMap(({ control, laws, simulated, k6, audits }) => [
    ...(laws?.caught ? [`${control}: accused by the laws (${laws.laws.join(", ")})`] : []),
    ...((simulated?.caughtSeeds ?? 0) > 0
      ? [`${control}: accused in a simulation (${simulated?.example?.law})`]
      : []),
    ...(k6?.verdict.caught ? [`${control}: accused in the real run's trace (${k6.verdict.law})`] : []),
    ...(audits?.caught ? [`${control}: accused by the audit (${audits.experiment}: ${audits.law})`] : []),
    ...(k6?.checks.caught
      ? [`${control}: accused by the driver's checks (${Object.keys(k6.checks.failed).join("; ")})`]
      : []),
  ]);
  const false_ = (alarms?.alarms ?? []).map(({ seed, law }) => `a false alarm: ${law}, world ${seed}`);
  return [...missed, ...accused, ...false_];
}

/** Counts the times that the oracle put the right name first, over all traces in which it caught a fault of its. */
export function naming({ rows }: Matrix) {
  let [caught, first, among] = [0, 0, 0];
  for (const { nets, simulated, k6 } of rows) {
    if (!nets.includes("V")) continue;
    caught += (simulated?.caughtSeeds ?? 0) + (k6?.verdict.caught ? 1 : 0);
    first += (simulated?.firstSeeds ?? 0) + (k6?.verdict.isFirst ? 1 : 0);
    among += (simulated?.amongSeeds ?? 0) + (k6?.verdict.isAmong ? 1 : 0);
  }
  return { caught, first, among };
}

const share = (part: number, whole: number): string =>
  whole === 0 ? "–" : `${part} of ${whole} (${((100 * part) / whole).toFixed(1)} %)`;
const counted = (count: number): string => count.toLocaleString("en");
const calls = (count: number | null | undefined): string =>
  count === 1 ? "1 call" : `${counted(count ?? 0)} calls`;

/** Returns a net's cell in the table; in bold if the row names it and it missed. */
function cell(isNamed: boolean, caught: boolean | undefined, how: string): string {
  if (caught === undefined) return "";
  if (caught) return isNamed ? how : `(${how})`;
  return isNamed ? "**missed**" : "·";
}

function tableRow({ fault, nets, laws, simulated, k6, audits }: Row): string {
  const example = simulated?.example ?? null;
  const failed = Object.entries(k6?.checks.failed ?? {});
  const [check = ""] = failed.map(([name]) => name.split(":")[0] ?? name);
  const failures = failed.reduce((sum, [, count]) => sum + count, 0);
  const named =
    simulated === null
      ? ""
      : `${simulated.firstSeeds}/${simulated.caughtSeeds}${k6?.verdict.isFirst ? " + k6" : ""}`;
  return `| ${[
    `\`${fault}\``,
    nets.join(" "),
    cell(nets.includes("P"), laws?.caught, `${laws?.law}, run ${laws?.runs}`),
    cell(nets.includes("V"), simulated?.caught ?? undefined, `${example?.law}, ${calls(example?.calls)}`),
    cell(nets.includes("V"), k6?.verdict.caught, `${k6?.verdict.law}, ${calls(k6?.verdict.calls)}`),
    cell(
      nets.includes("L"),
      k6?.checks.caught,
      `${check}, ${failures} of ${counted(k6?.checks.answers ?? 0)} answers`,
    ),
    cell(nets.includes("A"), audits?.caught, `${audits?.experiment} (${audits?.law})`),
    nets.includes("V") ? named : "",
  ].join(" | ")} |`;
}

function controlRow({ control, laws, simulated, k6, audits }: Control): string {
  const said = (caught: boolean | undefined, of: string): string =>
    caught === undefined ? "" : caught ? "**accused**" : `clean (${of})`;
  return `| ${[
    control,
    said(laws?.caught, `${laws?.runs} runs a law`),
    said(simulated === null ? undefined : simulated.caughtSeeds > 0, `${simulated?.seeds} simulations`),
    said(k6?.verdict.caught, `${counted(k6?.verdict.records ?? 0)} records`),
    said(k6?.checks.caught, `${counted(k6?.checks.answers ?? 0)} answers`),
    said(audits?.caught, `${audits?.experiments} experiments`),
  ].join(" | ")} |`;
}

function alarmText(alarms: Alarms): string {
  const { runs, records, unknown, withoutRules, switches, commit } = alarms;
  const fewest = Math.min(...Object.values(switches));
  return `${counted(alarms.alarms.length)} in ${counted(runs)} simulated runs of right deployments, ${counted(records)} records in
all${commit === undefined ? "" : `, at commit ${commit}`}. Each run is a world of its own: rules over every value of every switch (the rarest value of a scope in
${counted(fewest)} runs), ${counted(withoutRules)} judged without being told the rules, some traces not complete, cut at the start, with calls
that have no answer or no line. ${unknown === 0 ? "All could be judged." : `${counted(unknown)} could not be judged.`} The unit of a false alarm is a run${
    runs >= 3_000 && alarms.alarms.length === 0
      ? ": three thousand clean ones bound the rate below 0.1 % (at 95 %)."
      : "."
  }`;
}

/** The table for people. It has no date: the same run writes the same text, but for what real time does. */
export function readme(matrix: Matrix): string {
  const { rows, controls, alarms, command, seed, versions, lawRuns, seeds, interrupted } = matrix;
  const { caught, first, among } = naming(matrix);
  const wrong = shortcomings(matrix);
  const versionText = Object.entries(versions).map(([name, version]) => `${name} ${version}`);
  return `# The fault matrix

Known bugs of real rate limiters, each injected into a right deployment, against four nets: **P** the laws
(\`spillway check\`), **V** the oracle over a trace (\`spillway verify\`), simulated and of a real run by k6, **L** the
checks inside k6 alone, and **A** \`spillway audit\`, here of those faults that it alone finds ([all of them](../audit/README.md)). ${interrupted ? "**It was interrupted before it was done.** " : ""}Repeat it with

    ${command}

Seed ${seed}; ${versionText.join(", ")}. Real runs take real time, so their counts differ a little from run to run; \`matrix.json\`
has all figures.

${
  wrong.length === 0
    ? "Every net that a row names caught its fault; no control was accused."
    : `Not as it must be:\n\n${wrong.map((line) => `- ${line}`).join("\n")}`
}

The oracle put the right name first in ${share(first, caught)} of the traces in which it caught a fault of its, and had it among
its suspects in ${share(among, caught)}.

## Faults

What caught it, and after how much: the law with the fewest runs (of ${lawRuns}); the violation that the oracle put first,
and how many calls it takes to show one; the check that failed most. In brackets: caught, though the row does not
name the net. A dot: not caught, nor must it be. The last column: in how many of ${seeds} simulations, and whether in k6's run, the right name
came first.

| fault | must be caught by | P | V, simulated | V, k6's run | L | A | right name first |
|---|---|---|---|---|---|---|---|
${rows.map(tableRow).join("\n")}

## Controls

The same runs without a fault.

| deployment | P | V, simulated | V, k6's run | L | A |
|---|---|---|---|---|---|
${controls.map(controlRow).join("\n")}
${alarms === null ? "" : `\n## False alarms\n\n${alarmText(alarms)}\n`}
## What a net cannot see

- \`boundary-inclusive\` needs a call at the very millisecond of a reset, \`overflow\` two thousand million points in
  one window: only the laws ask for that.
- \`user-key-from-header\`: no trace has the request's headers. The oracle sees its effect only where a client varies
  the header while others, or a limit, hold its count; the laws send no headers at all.
- Overlapping calls are no part of the laws' scripts here, so \`race-read-then-write\` is the oracle's.
- To the checks inside k6 each client is alone with what it was told: what takes two clients to contradict each other
  is the oracle's. They do not know the target's clock either: \`reset-disagrees\` shows to them because \`reset_at\`
  leaves the epoch's grid; a shift that every window length divides, or one of first-request windows, would not.
`;
}

/** Writes a file whole: readers see the old one or the new one. */
export async function writeWhole(path: string, text: string): Promise<void> {
  const temporary = `${path}.${process.pid}.tmp`;
  await writeFile(temporary, text);
  await rename(temporary, path);
}

/**
 * Puts rows into a matrix that stands in a folder, in the catalogue's order; other rows keep what they have. Where there
 * are no rows, it puts the count of false alarms there.
 * @param order all rows' names
 * @throws Error where the two were not made alike
 */
export async function withRowsOf(folder: string, found: Matrix, order: readonly string[]): Promise<Matrix> {
  const kept = JSON.parse(await readFile(join(folder, "matrix.json"), "utf8")) as Matrix;
  if (found.rows.length === 0) return { ...kept, alarms: found.alarms };
  const made = ({ seed, seeds, lawRuns, versions }: Matrix): string =>
    JSON.stringify([seed, seeds, lawRuns, versions]);
  if (made(kept) !== made(found))
    throw new Error(`its rows were made otherwise (${made(kept)}, not ${made(found)}): run it whole`);
  const rowOf = (name: string) => [...found.rows, ...kept.rows].find(({ fault }) => fault === name) ?? [];
  const controls = kept.controls.map(
    (known) => found.controls.find(({ control }) => control === known.control) ?? known,
  );
  return { ...found, rows: order.flatMap(rowOf), controls, alarms: found.alarms ?? kept.alarms };
}

/** Writes `README.md` and `matrix.json`. */
export async function writeMatrix(folder: string, matrix: Matrix): Promise<void> {
  await mkdir(folder, { recursive: true });
  await writeWhole(join(folder, "matrix.json"), `${JSON.stringify(matrix, null, 2)}\n`);
  await writeWhole(join(folder, "README.md"), readme(matrix));
}
