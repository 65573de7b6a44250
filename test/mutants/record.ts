// Record of a run of mutants: JSON for programs, and a README of all seeds that a folder keeps.
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { counted } from "../../src/rules/words.ts";
import { type MutationKind, mutationKinds } from "./mutations.ts";

export interface JudgedMutant {
  readonly path: string;
  readonly line: number;
  readonly kind: MutationKind;
  /** The line, trimmed. */
  readonly text: string;
  readonly was: string;
  readonly becomes: string;
  readonly outcome: "killed" | "survived" | "equivalent";
  /** Test file that killed it. */
  readonly by: string | null;
  readonly test: string;
  /** Reason that it is equivalent. */
  readonly reason: string | null;
  /** Test files that passed with it, and those that its time left out. */
  readonly passed: number;
  readonly left: number;
  /** True if it is killed by tests that were written since. */
  readonly killedSince?: boolean;
}

export interface MutantRun {
  readonly format: "spillway-mutants";
  readonly version: 1;
  readonly seed: number;
  readonly sample: number;
  /** Commit of the sources. */
  readonly commit: string;
  readonly node: string;
  /** Seconds of tests for one mutant. */
  readonly budgetSeconds: number;
  readonly interrupted: boolean;
  readonly seconds: number;
  /** Test files that failed without any mutant where this ran, and so were not asked. */
  readonly unsound: readonly string[];
  readonly mutants: readonly JudgedMutant[];
}

export interface Score {
  readonly judged: number;
  readonly equivalent: number;
  readonly killed: number;
  readonly killedSince: number;
}

/** Counts of a run; equivalent mutants are not judged. */
function scoreOf({ mutants }: Pick<MutantRun, "mutants">): Score {
  const equivalent = mutants.filter(({ outcome }) => outcome === "equivalent").length;
  const killed = mutants.filter(({ outcome }) => outcome === "killed").length;
  const killedSince = mutants.filter((one) => one.killedSince === true).length;
  return { judged: mutants.length - equivalent, equivalent, killed, killedSince };
}

const percent = (part: number, whole: number): string =>
  whole === 0 ? "–" : `${((100 * part) / whole).toFixed(1)}%`;

/** `6 of 8 killed (75.0%)`, with the equivalent ones. */
export function scoreText(run: Pick<MutantRun, "mutants">): string {
  const { judged, killed, equivalent } = scoreOf(run);
  return `${killed} of ${counted(judged, "mutant")} killed (${percent(killed, judged)}); ${equivalent} equivalent`;
}

const oneLine = (text: string): string => {
  const flat = text.replace(/\s+/g, " ");
  return flat.length <= 80 ? flat : `${flat.slice(0, 79)}…`;
};

/** `src/engine/policy-core.ts:12  boundary  < → <=  in: if (a < b)`. */
export const mutantText = ({ path, line, kind, was, becomes, text }: JudgedMutant): string =>
  `${path}:${line}  ${kind}  ${oneLine(was)} → ${becomes === ";" || becomes === "" ? "(left out)" : oneLine(becomes)}  in: ${oneLine(text)}`;

/** Writes a run as `seed-N.json` into the folder, and its README anew from all runs there. */
export async function keepRun(folder: string, run: MutantRun): Promise<void> {
  await mkdir(folder, { recursive: true });
  await writeFile(fileOf(folder, run.seed), `${JSON.stringify(run, null, 1)}\n`);
  const names = (await readdir(folder)).filter((name) => /^seed-\d+\.json$/.test(name));
  const runs = await Promise.all(names.map((name) => readRun(join(folder, name))));
  await writeFile(join(folder, "README.md"), readmeOf(runs.sort((a, b) => a.seed - b.seed)));
}

export const fileOf = (folder: string, seed: number): string => join(folder, `seed-${seed}.json`);

export const readRun = async (file: string): Promise<MutantRun> =>
  JSON.parse(await readFile(file, "utf8")) as MutantRun;

function readmeOf(runs: readonly MutantRun[]): string {
  const rows = runs.map((run) => {
    const { judged, equivalent, killed, killedSince } = scoreOf(run);
    const left = run.mutants.filter((one) => one.outcome === "survived" && one.left > 0).length;
    return `| ${run.seed} | ${run.commit} | ${run.mutants.length} of ${run.sample} | ${equivalent} | ${killed} of ${judged} | ${percent(killed, judged)} | ${killedSince} | ${left} | ${run.budgetSeconds} |`;
  });
  const scores = runs.map(scoreOf);
  const [killed, judged] = (["killed", "judged"] as const).map((name) =>
    scores.reduce((sum, score) => sum + score[name], 0),
  );
  return `# Mutants

Small mistakes, drawn at random over \`src\` and \`sim\` and put into a copy of them, one at a time. A mutant is killed
where a test fails, or never ends, that passes without it. Repeat a row at its commit with

    npm run mutants -- --sample N --seed N

A mutant meets the test files that run its place, as V8 counted before, the near and cheap ones first, until its time is
over. (Up to seed 88105, tests were chosen by imports alone.) Test files that depend on
real time or on other programs come last, and have to fail twice; so does one that never ends: it takes ten times as long
as without the mutant, but at least 30 s, and at most 2 min or three times as long.

The share is of a first run: no test had been written for its survivors, and nobody had seen the seed. All first runs
together: ${killed} of ${judged} killed (${percent(killed ?? 0, judged ?? 0)}); the aim is 95%. *Killed since* are survivors that a later look kills, by
tests that were written afterwards or with more time: they are no part of the share. *Out of time* are survivors that some test files were not asked about: on a busy machine, most of them. \`--resume --budget 300\`
asks the rest, before tests are written.

| seed | commit | judged | equivalent | killed | share | killed since | out of time | s of tests for one |
|---|---|---|---|---|---|---|---|---|
${rows.join("\n")}

${Object.entries(mutationKinds)
  .map(([kind, example]) => `- *${kind}*: ${example}`)
  .join("\n")}
${runs.map(survivorsOf).join("")}`;
}

const code = (text: string): string => (text.includes("`") ? `\`\` ${text} \`\`` : `\`${text}\``);

function survivorsOf(run: MutantRun): string {
  const lines = run.mutants.flatMap((one) => {
    if (one.outcome === "equivalent") return [`- equivalent: ${code(mutantText(one))}: ${one.reason}`];
    if (one.outcome === "killed") return [];
    return [`- ${one.killedSince === true ? "killed since" : "**survives**"}: ${code(mutantText(one))}`];
  });
  const unsound = run.unsound.map(
    (file) => `- not asked, since it fails without a mutant where this ran: ${file}`,
  );
  return `\n## Seed ${run.seed}\n\n${run.interrupted ? "Interrupted.\n\n" : ""}${[...lines, ...unsound].join("\n")}\n`;
}
