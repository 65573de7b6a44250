// `npm run mutants -- --sample 100 --seed 7`: small mistakes put into a copy of the sources, to see whether a test fails.
//   npm run mutants -- --sample 100 --seed 7                        says what survives
//   npm run mutants -- --sample 100 --seed 7 --out reports/mutants  keeps it, too
//   npm run mutants -- --seed 7 --out reports/mutants --again       judges the survivors of a kept run again
//   npm run mutants -- --seed 7 --out reports/mutants --resume --budget 300
//                        goes on with a kept run: what it did not come to, and survivors whose time was over
//   npm run mutants -- --sample 20 --seed 7 --only sim/fit          of one folder
//   npm run mutants -- --seed 7 --near --budget 30
//                        asks the tests that import a mutant's file or are of its room: nothing is counted before
import { execFile } from "node:child_process";
import { parseArgs, promisify } from "node:util";
import { Bench } from "./bench.ts";
import { Coverage } from "./coverage.ts";
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
  readonly resume: boolean;
  /** Tests are chosen by what earlier runs measured and by imports: no test is run beforehand. */
  readonly near: boolean;
  readonly json: boolean;
}

/** @throws TypeError for what cannot be used */
function settingsOf(args: readonly string[]): Settings {
  const { values } = parseArgs({
    args: [...args],
    options: {
      sample: { type: "string", default: "100" },
      seed: { type: "string", default: "1" },
      budget: { type: "string", default: "300" },
      only: { type: "string", default: "" },
      out: { type: "string" },
      again: { type: "boolean", default: false },
      resume: { type: "boolean", default: false },
      near: { type: "boolean", default: false },
      json: { type: "boolean", default: false },
    },
  });
  const whole = (name: "sample" | "seed" | "budget"): number => {
    const number = Number(values[name]);
    if (Number.isSafeInteger(number) && number >= 1) return number;
    throw new TypeError(`--${name}: got ${values[name]}, allowed: a whole number from 1`);
  };
  const { only, out = null, again, resume, near, json } = values;
  if ((again || resume) && out === null)
    throw new TypeError("--again and --resume need --out, the folder of the kept run");
  if (again && resume)
    throw new TypeError("--resume ends a run, and --again is of one that is over: use one");
  return {
    sample: whole("sample"),
    seed: whole("seed"),
    budgetSeconds: whole("budget"),
    only,
    out,
    again,
    resume,
    near,
    json,
  };
}

/** @returns the exit status: 1 where a mutant survives, 130 where it was interrupted */
export async function run(args: string[]): Promise<number> {
  const settings = settingsOf(args);
  const { again, resume, out, seed } = settings;
  const kept = again || resume ? await readRun(fileOf(out ?? "", seed)) : null;
  if (resume && kept !== null) await requireSame(kept);
  const head = await headOf(settings);
  const workshop = await Workshop.of(process.cwd());
  const bench = new Bench(workshop.root);
  const over = new AbortController();
  const onSignal = (): void => {
    over.abort();
    bench.end();
  };
  process.once("SIGINT", onSignal).once("SIGTERM", onSignal);
  try {
    const nets = new Nets(workshop.files);
    const coverage = await Coverage.of(workshop, nets, coverageFile);
    if (!settings.near) await coverage.measure(nets.tests, (text) => console.error(text), over.signal);
    const trials = new Trials(workshop, bench, nets, coverage, 1000 * settings.budgetSeconds);
    const startedMs = performance.now();
    const mutations = mutationsFor(workshop, settings, kept);
    const mutants: JudgedMutant[] = [];
    for (const mutation of mutations) {
      if (over.signal.aborted) break;
      const judged = await judge(mutation, workshop, trials).catch((error: unknown) => {
        if (over.signal.aborted) return null;
        throw error;
      });
      if (judged === null || over.signal.aborted) break;
      mutants.push(judged);
      console.error(`${mutants.length} of ${mutations.length}  ${judged.outcome}  ${mutantText(judged)}`);
    }
    const seconds = Math.round((performance.now() - startedMs) / 1000);
    const interrupted = over.signal.aborted;
    const fresh = { ...head, interrupted, seconds, unsound: trials.unsound, mutants };
    if (kept === null) return await tell(fresh, settings);
    return await tell(again ? { ...kept, mutants: withNews(kept, mutants) } : goneOn(kept, fresh), settings);
  } finally {
    process.off("SIGINT", onSignal).off("SIGTERM", onSignal);
    bench.end();
    await workshop.remove();
  }
}

function draw({ sources }: Workshop, { sample, seed, only }: Settings): Mutation[] {
  return drawn(new Map([...sources].filter(([path]) => path.startsWith(only))), sample, seed);
}

function mutationsFor(workshop: Workshop, settings: Settings, kept: MutantRun | null): Mutation[] {
  if (kept === null) return draw(workshop, settings);
  if (settings.again) return survivors(workshop, kept).filter(({ path }) => path.startsWith(settings.only));
  const sample = draw(workshop, { ...settings, sample: kept.sample });
  return sample.filter((_, at) => isOpen(kept.mutants[at]));
}

/** Tells whether a run did not come to a mutant, or to the end of its tests. */
const isOpen = (one: JudgedMutant | undefined): boolean =>
  one === undefined || (one.outcome === "survived" && one.left > 0);

/** @throws Error where the sources or their tests are not those of the kept run */
async function requireSame({ commit }: MutantRun): Promise<void> {
  const paths = ["src", "sim", "scenarios", "test", ":!test/mutants"];
  await promisify(execFile)("git", ["diff", "--quiet", commit, "--", ...paths]).catch(() => {
    throw new Error(`sources or tests are not those of the kept run (${commit}): begin anew`);
  });
}

/** A kept run and what was judged after it, in the sample's order. */
function goneOn(kept: MutantRun, more: MutantRun): MutantRun {
  const judged = [...more.mutants];
  const before = kept.mutants.map((one) => (isOpen(one) ? (judged.shift() ?? one) : one));
  return {
    ...kept,
    budgetSeconds: more.budgetSeconds,
    interrupted: more.interrupted,
    seconds: kept.seconds + more.seconds,
    unsound: [...new Set([...kept.unsound, ...more.unsound])],
    mutants: [...before, ...judged],
  };
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

const coverageFile = "node_modules/.cache/spillway-mutants.json";
