// `npm run mutants -- --sample 100 --seed 7`: small mistakes put into a copy of the sources, to see whether a test fails.
//   npm run mutants -- --sample 100 --seed 7                        says what survives
//   npm run mutants -- --sample 100 --seed 7 --out reports/mutants  keeps it, too
//   npm run mutants -- --seed 7 --out reports/mutants --again       judges the survivors of a kept run again
//   npm run mutants -- --sample 20 --seed 7 --only sim/fit          of one folder
import { execFile } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { parseArgs, promisify } from "node:util";
import { Bench } from "./bench.ts";
import { drawn } from "./drawing.ts";
import { whyEquivalent } from "./equivalents.ts";
import { type Mutation, mutationsOf } from "./mutations.ts";
import { Nets } from "./nets.ts";
import {
  fileOf,
  type JudgedMutant,
  keepRun,
  type MutantRun,
  mutantText,
  readRun,
  scoreText,
} from "./record.ts";
import { Trials } from "./trial.ts";
import { Workshop } from "./workshop.ts";

interface Settings {
  readonly sample: number;
  readonly seed: number;
  readonly budgetSeconds: number;
  /** Start of the paths that mutants are drawn from. */
  readonly only: string;
  readonly out: string | null;
  readonly again: boolean;
  readonly json: boolean;
}

/** @throws TypeError for what cannot be used */
function settingsOf(args: readonly string[]): Settings {
  const { values } = parseArgs({
    args: [...args],
    options: {
      sample: { type: "string", default: "100" },
      seed: { type: "string", default: "1" },
      budget: { type: "string", default: "60" },
      only: { type: "string", default: "" },
      out: { type: "string" },
      again: { type: "boolean", default: false },
      json: { type: "boolean", default: false },
    },
  });
  const whole = (name: "sample" | "seed" | "budget"): number => {
    const number = Number(values[name]);
    if (Number.isSafeInteger(number) && number >= 1) return number;
    throw new TypeError(`--${name}: got ${values[name]}, allowed: a whole number from 1`);
  };
  const { only, out = null, again, json } = values;
  if (again && out === null) throw new TypeError("--again needs --out, the folder of the kept run");
  return {
    sample: whole("sample"),
    seed: whole("seed"),
    budgetSeconds: whole("budget"),
    only,
    out,
    again,
    json,
  };
}

/** @returns the exit status: 1 where a mutant survives, 130 where it was interrupted */
export async function run(args: string[]): Promise<number> {
  const settings = settingsOf(args);
  const kept = settings.again ? await readRun(fileOf(settings.out ?? "", settings.seed)) : null;
  const head = await headOf(settings);
  const workshop = await Workshop.of(process.cwd());
  const bench = new Bench(workshop.root);
  let interrupted = false;
  const onSignal = (): void => {
    interrupted = true;
    bench.end();
  };
  process.once("SIGINT", onSignal).once("SIGTERM", onSignal);
  const times = await knownTimes();
  try {
    const trials = new Trials(
      workshop,
      bench,
      new Nets(workshop.files),
      1000 * settings.budgetSeconds,
      times,
    );
    const startedMs = performance.now();
    const mutations = kept === null ? draw(workshop, settings) : survivors(workshop, kept);
    const mutants: JudgedMutant[] = [];
    for (const mutation of mutations) {
      const judged = await judge(mutation, workshop, trials).catch((error: unknown) => {
        if (interrupted) return null;
        throw error;
      });
      if (judged === null || interrupted) break;
      mutants.push(judged);
      console.error(`${mutants.length} of ${mutations.length}  ${judged.outcome}  ${mutantText(judged)}`);
    }
    const seconds = Math.round((performance.now() - startedMs) / 1000);
    const fresh = { ...head, interrupted, seconds, unsound: trials.unsound, mutants };
    return await tell(kept === null ? fresh : { ...kept, mutants: withNews(kept, mutants) }, settings);
  } finally {
    process.off("SIGINT", onSignal).off("SIGTERM", onSignal);
    bench.end();
    await keepTimes(times);
    await workshop.remove();
  }
}

function draw({ sources }: Workshop, { sample, seed, only }: Settings): Mutation[] {
  return drawn(new Map([...sources].filter(([path]) => path.startsWith(only))), sample, seed);
}

const lineOf = (text: string, line: number): string => text.split("\n")[line - 1]?.trim() ?? "";

const isSame = (one: JudgedMutant, other: Pick<JudgedMutant, "path" | "kind" | "text" | "was" | "becomes">) =>
  (["path", "kind", "text", "was", "becomes"] as const).every((name) => one[name] === other[name]);

/** Those of a kept run that are still in the sources. */
function survivors({ sources }: Workshop, { mutants }: MutantRun): Mutation[] {
  return mutants
    .filter(({ outcome, killedSince }) => outcome === "survived" && killedSince !== true)
    .flatMap((known) => {
      const text = sources.get(known.path) ?? "";
      const found = mutationsOf(known.path, text).find((one) =>
        isSame(known, { ...one, text: lineOf(text, one.line) }),
      );
      return found === undefined ? [] : [found];
    });
}

/** A kept run with what is known of its survivors now. */
function withNews({ mutants }: MutantRun, news: readonly JudgedMutant[]): JudgedMutant[] {
  return mutants.map((known) => {
    if (known.outcome !== "survived") return known;
    const reason = whyEquivalent(known, known.text);
    if (reason !== null) return { ...known, outcome: "equivalent", reason };
    const now = news.find((one) => isSame(known, one));
    if (now === undefined) return known;
    return { ...known, killedSince: now.outcome === "killed", by: now.by, test: now.test };
  });
}

async function judge(mutation: Mutation, workshop: Workshop, trials: Trials): Promise<JudgedMutant> {
  const { path, line, kind, was, becomes } = mutation;
  const text = lineOf(workshop.files.get(path) ?? "", line);
  const reason = whyEquivalent(mutation, text);
  const mutant = { path, line, kind, text, was, becomes, reason };
  if (reason !== null) return { ...mutant, outcome: "equivalent", by: null, test: "", passed: 0, left: 0 };
  return { ...mutant, ...(await trials.judge(mutation)) };
}

async function headOf({ seed, sample, budgetSeconds }: Settings) {
  const { stdout } = await promisify(execFile)("git", ["rev-parse", "--short", "HEAD"]);
  const node = process.versions.node;
  return {
    format: "spillway-mutants",
    version: 1,
    seed,
    sample,
    commit: stdout.trim(),
    node,
    budgetSeconds,
  } as const;
}

async function tell(run: MutantRun, { out, json }: Settings): Promise<number> {
  if (out !== null) await keepRun(out, run);
  const survived = run.mutants.filter((one) => one.outcome === "survived" && one.killedSince !== true);
  if (json) console.log(JSON.stringify(run, null, 2));
  else {
    for (const one of survived) console.log(`survived  ${mutantText(one)}`);
    for (const file of run.unsound) console.log(`not asked: ${file} fails without a mutant here`);
    console.log(`${scoreText(run)}${run.interrupted ? "; interrupted" : ""}`);
  }
  if (run.interrupted) return 130;
  return survived.length > 0 ? 1 : 0;
}

const timesFile = "node_modules/.cache/spillway-mutants.json";

/** Ms of test files in earlier runs: which are cheap. */
async function knownTimes(): Promise<Map<string, number>> {
  const text = await readFile(timesFile, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return "{}";
    throw error;
  });
  return new Map(Object.entries(JSON.parse(text) as Record<string, number>));
}

async function keepTimes(times: ReadonlyMap<string, number>): Promise<void> {
  await mkdir(dirname(timesFile), { recursive: true });
  await writeFile(timesFile, JSON.stringify(Object.fromEntries(times)));
}
