// Checks the laws: one fast-check property for each law, with the same scripts for the same seed.
import fc from "fast-check";
import type { LimiterFactory } from "../engine/adapter.ts";
import type { LimiterLawName } from "../rules/laws.ts";
import type { CheckOptions } from "./check-options.ts";
import { parseKnown } from "./known.ts";
import { KnownList } from "./known-list.ts";
import { patient } from "./patience.ts";
import { answeredAlike, decisionsOf, scriptsTwice } from "./repeats.ts";
import { type CheckReport, hasJudged, isFine, type LawReport } from "./report.ts";
import { rulesKit } from "./rules-kit.ts";
import type { LawKind } from "./script.ts";
import { type LawKit, Search, type Setting, unrun } from "./search.ts";
import { anySeed, requireInteger, requireLaws } from "./subject.ts";

/**
 * Looks for a counterexample to each law.
 *
 * @example
 * const report = await checkLaws(engineFactory, { runs: 1000, rules: {} });
 * for (const law of report.laws) console.log(renderCounterexample(law).join("\n"));
 *
 * @throws SpillwayError `ADAPTER_INVALID` if no limiter can be made (one that fails later is reported as
 *   `failed`); `RULES_INVALID` if the rules contradict the limiter; `USAGE` if the path leads nowhere
 * @throws RangeError if an option is out of range, or names no law
 */
export async function checkLaws(given: LimiterFactory, options: CheckOptions = {}): Promise<CheckReport> {
  const factory = patient(given, options.timers, options.answerMsMost);
  return checkKit(() => rulesKit(factory, options), options);
}

/**
 * Looks for a counterexample to each law of a kit.
 * @throws the errors of `checkLaws`
 */
export async function checkKit<K extends LawKind>(
  prepare: () => Promise<LawKit<K>>,
  options: Omit<CheckOptions<K>, "rules">,
): Promise<CheckReport<K>> {
  const runs = requireInteger("runs", options.runs ?? 100, 1, 10_000_000);
  const seed = requireInteger("seed", options.seed ?? anySeed(), -0x8000_0000, 0x7fff_ffff);
  const names = requireLaws(options.laws);
  if (options.path !== undefined && (names.length !== 1 || options.seed === undefined))
    throw new RangeError("a path needs the seed and the one law that it was found with");
  const kit = await prepare();
  const known = new KnownList(
    options.path === undefined ? parseKnown<K>(options.known ?? [], kit.limits) : [],
    kit,
  );
  let steady: Promise<boolean> | undefined;
  const isSteady = (): Promise<boolean> => {
    steady ??= decidesAlike(kit, seed);
    return steady;
  };
  const setting = { kit, options, runs, seed, names, isSteady };
  const reports: LawReport<K>[] = [];
  const isSilent = (): boolean => reports.some(({ failure }) => failure?.hung);
  for (const law of names) {
    const isOver = options.signal?.aborted || isSilent();
    const report = isOver
      ? unrun(kit, law, seed, "not-run")
      : await checkLaw(law, setting, known, reports.length);
    reports.push(report);
    options.onLaw?.(report);
  }
  const isCut = reports.some(({ outcome }) => outcome === "interrupted" || outcome === "not-run");
  const ok = reports.every(isFine) && hasJudged(reports);
  return {
    limiter: kit.name,
    seed,
    runs,
    laws: reports,
    known: known.states,
    interrupted: isCut && !isSilent(),
    ok,
  };
}

/**
 * Tells whether the limiter decides the same calls alike, by scripts of a law that plays each once. Their time never goes
 * back: a live deployment may have seen the time before a script's first call in the play before.
 */
function decidesAlike<K extends LawKind>(kit: LawKit<K>, seed: number): Promise<boolean> {
  const { judge } = kit.runs("bounded");
  const scripts = fc.sample(kit.scripts("bounded"), { seed, numRuns: scriptsTwice }).map(goingOn);
  return answeredAlike(scripts, async (script) => decisionsOf(await judge(script)));
}

/** Returns a script whose clock stands still where it would go back. */
function goingOn<K extends LawKind>(script: K["script"]): K["script"] {
  let atMs = script.startMs;
  return {
    ...script,
    ops: script.ops.map((op) => {
      atMs = Math.max(atMs, op.atMs);
      return { ...op, atMs };
    }),
  };
}

async function checkLaw<K extends LawKind>(
  law: LimiterLawName,
  setting: Setting<K>,
  known: KnownList<K>,
  done: number,
): Promise<LawReport<K>> {
  const { kit, seed } = setting;
  if (!kit.claims.includes(law)) return unrun(kit, law, seed, "not-claimed");
  const reason = kit.voidReason(law);
  if (reason !== null) return unrun(kit, law, seed, "skipped", reason);
  const search = new Search(law, setting, done);
  await known.lookUp(law, search);
  return goOn(await search.run(seed, setting.runs), search, known, setting.runs);
}

/** Looks for further counterexamples while the last one is known and runs are left. */
async function goOn<K extends LawKind>(
  found: LawReport<K>,
  search: Search<K>,
  known: KnownList<K>,
  most: number,
): Promise<LawReport<K>> {
  let report = found;
  let { runs } = report;
  let met = 0;
  while (report.counterexample !== undefined && known.has(report)) {
    met += 1;
    const isWhole = known.isWhole(report.law);
    const other = isWhole
      ? null
      : await search.past(report, (violation) => known.isAlike(found.law, violation));
    if (other !== null) return { ...other, runs, known: met };
    if (runs >= most || isWhole) {
      const { path: _, repeat: __, counterexample: ___, plays: ____, ...quiet } = report;
      return { ...quiet, runs, known: met, outcome: "known" };
    }
    report = await search.run((report.seed + 1) | 0, most - runs);
    runs += report.runs;
  }
  const isQuiet = report.outcome === "no-counterexample" || report.outcome === "not-observed";
  return { ...report, runs, known: met, outcome: met > 0 && isQuiet ? "known" : report.outcome };
}
