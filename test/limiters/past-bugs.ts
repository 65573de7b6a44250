// `npm run past-bugs`: checks versions of limiters that had a bug, and versions beside them that had not, each
// by the law that should find it, and publishes the track record.
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { LimiterFactory } from "../../src/engine/adapter.ts";
import { checkLaws } from "../../src/laws/check.ts";
import type { CheckOptions } from "../../src/laws/check-options.ts";
import { checkInterleavings, type InterleavingOptions } from "../../src/laws/interleavings.ts";
import { renderInterleaving } from "../../src/laws/timeline.ts";
import { pastBugs } from "./bugs.ts";
import type { PastBug } from "./past-bug.ts";
import { RealRedis } from "./redis.ts";
import { keep, published, reportFolder, timelineOf, withoutRepeat } from "./report.ts";
import { installStrangers, versionOf } from "./strangers.ts";

/** One version, checked by its bug's law. */
export interface Trial {
  readonly bug: PastBug;
  readonly version: string;
  readonly bad: boolean;
  readonly outcome: string;
  readonly runs: number;
  /** Answers that were judged; of overlapping calls, the rounds that some order explains. */
  readonly judged: number;
  /** Of the counterexample, made small: how many calls it has, and how it is shown. */
  readonly calls: number;
  readonly timeline: readonly string[];
}

/** Tells whether a version was judged as it should be: accused if and only if it has the bug. */
export const asExpected = ({ bad, outcome }: Trial): boolean =>
  outcome === (bad ? "violated" : "no-counterexample");

/**
 * Checks every version of a bug.
 * @param share of its runs, for the versions that have not got it: those run to the end
 */
export async function tryBug(
  bug: PastBug,
  seed: number,
  redis: RealRedis | null,
  share = 1,
): Promise<Trial[]> {
  const versions = [
    ...bug.bad.map((alias) => ({ alias, bad: true, runs: bug.runs })),
    ...bug.good.map((alias) => ({ alias, bad: false, runs: Math.ceil(bug.runs * share) })),
  ];
  const trials: Trial[] = [];
  for (const { alias, bad, runs } of versions) {
    const options = { seed, runs, ...(bug.rules === undefined ? {} : { rules: bug.rules }) };
    const factory = bug.limiter(alias, bug.law, redis);
    const found =
      bug.overlapping || bug.clockMoves
        ? await overlapping(factory, { ...options, ...(bug.clockMoves && { overlap: 1, clockMoves: true }) })
        : await one(factory, bug, options);
    trials.push({ bug, version: versionOf(alias), bad, ...found });
    // Whoever still tries again ends where no key is left, before the next limiter is asked.
    await redis?.clear();
    for (let turn = 0; turn < 5; turn += 1) await redis?.client.time();
  }
  return trials;
}

/** The real timers: `globalThis` has a limiter's own while it runs. */
const timers = { setTimeout, clearTimeout };

type Found = Omit<Trial, "bug" | "version" | "bad">;

async function one(factory: LimiterFactory, { law }: PastBug, options: CheckOptions): Promise<Found> {
  const { laws } = await checkLaws(factory, { ...options, laws: [law] });
  const [report] = laws;
  if (report === undefined) throw new TypeError(`${law} was not run`);
  const { outcome, runs, judged, counterexample } = report;
  const calls = counterexample?.history.filter(({ op }) => op.do === "call").length ?? 0;
  return { outcome, runs, judged, calls, timeline: timelineOf(report) };
}

async function overlapping(factory: LimiterFactory, options: InterleavingOptions): Promise<Found> {
  // ratelimiter 2.1.3 tries again for ever in the last second of a window.
  const report = await checkInterleavings(factory, { ...options, timers, answerMsMost: 1000 });
  const { outcome, runs, overlapped, counterexample } = report;
  const calls = counterexample?.rounds.reduce((sum, { events }) => sum + events.length, 0) ?? 0;
  return { outcome, runs, judged: overlapped, calls, timeline: withoutRepeat(renderInterleaving(report)) };
}

export async function run(args: string[]): Promise<number> {
  const { values } = parseArgs({
    args,
    options: {
      only: { type: "string", multiple: true },
      seed: { type: "string" },
      publish: { type: "boolean", default: false },
    },
  });
  const wanted = values.only ?? pastBugs.map(({ name }) => name);
  const unknown = wanted.find((name) => !pastBugs.some((bug) => bug.name === name));
  if (unknown !== undefined) {
    console.error(`no bug is called ${unknown}; there are ${pastBugs.map(({ name }) => name).join(", ")}`);
    return 2;
  }
  await installStrangers(console.log);
  const bugs = pastBugs.filter(({ name }) => wanted.includes(name));
  const redis = bugs.some(({ onRedis }) => onRedis) ? await RealRedis.start() : null;
  const trials: Trial[] = [];
  try {
    for (const bug of bugs) {
      const found = await tryBug(bug, Number(values.seed ?? bug.seed ?? 1), redis);
      for (const trial of found) console.log(lineOf(trial));
      if (values.only !== undefined) console.log(timelines(found).join("\n"));
      trials.push(...found);
    }
  } finally {
    await redis?.stop();
  }
  if (values.only === undefined || values.publish) publish(trials, values.seed ?? "1");
  const wrong = trials.filter((trial) => !asExpected(trial));
  console.log(
    wrong.length === 0
      ? `${bugs.length} bugs found in the ${trials.filter(({ bad }) => bad).length} versions that have them, and in none of the ${trials.filter(({ bad }) => !bad).length} beside them`
      : `${wrong.length} of ${trials.length} versions were not judged as they should be`,
  );
  return wrong.length === 0 ? 0 : 1;
}

/** A trial as it is published, by its bug's name. */
interface Entry extends Omit<Trial, "bug"> {
  readonly bug: string;
}

/** Writes the track record, with the trials that are published already of the bugs that were not tried. */
function publish(found: readonly Trial[], seed: string): void {
  const file = join(reportFolder, "past-bugs.json");
  const tried = new Set(found.map(({ bug }) => bug.name));
  const others = (published<Entry[]>(file) ?? []).filter(({ bug }) => !tried.has(bug));
  const trials = pastBugs.flatMap((bug) => [
    ...others.filter((entry) => entry.bug === bug.name).map((entry) => ({ ...entry, bug })),
    ...found.filter((trial) => trial.bug === bug),
  ]);
  const entries: Entry[] = trials.map((trial) => ({ ...trial, bug: trial.bug.name }));
  keep(file, `${JSON.stringify(entries, null, 1)}\n`);
  keep(join(reportFolder, "past-bugs.md"), page(trials, seed));
}

function lineOf(trial: Trial): string {
  const { bug, version, bad, outcome, runs, judged, calls } = trial;
  const verdict =
    outcome === "violated"
      ? `${bug.law} violated in run ${runs}, shrunk to ${calls} calls`
      : `${outcome} in ${runs} runs, ${judged} ${bug.overlapping || bug.clockMoves ? "overlaps" : "answers"} judged`;
  const mark = asExpected(trial) ? "" : "  <- NOT AS EXPECTED";
  return `${bug.name.padEnd(26)} ${`${bug.package} ${version}`.padEnd(34)} ${bad ? "bad " : "good"}  ${verdict}${mark}`;
}

const timelines = (trials: readonly Trial[]): string[] =>
  trials.filter(({ bad }) => bad).flatMap(({ timeline }) => ["", ...timeline]);

const versions = (trials: readonly Trial[], bad: boolean): string =>
  trials
    .filter((trial) => trial.bad === bad)
    .map(({ version }) => version)
    .join(", ");

function page(trials: readonly Trial[], seed: string): string {
  const groups = pastBugs.map((bug) => trials.filter((trial) => trial.bug === bug));
  const rows = groups.flatMap((group) => {
    const [first] = group;
    if (first === undefined) return [];
    const { bug } = first;
    const calls = group.filter(({ bad }) => bad).map((trial) => (asExpected(trial) ? trial.calls : "missed"));
    const runs = group.filter(({ bad }) => bad).map(({ runs }) => runs);
    const accused = group.filter((trial) => !trial.bad && !asExpected(trial)).map(({ version }) => version);
    return `| [${bug.name}](${bug.source}) | ${bug.package} | ${versions(group, true)} | ${versions(group, false) || "none"}${accused.length > 0 ? ` (accused: ${accused.join(", ")})` : ""} | \`${bug.law}\` | ${runs.join(", ")} | ${calls.join(", ")} | \`npm run past-bugs -- --only ${bug.name}\` |`;
  });
  const details = groups.flatMap((group) => {
    const [first] = group;
    if (first === undefined) return [];
    return ["", `## ${first.bug.name}`, "", first.bug.wrong, "", "```", ...first.timeline, "```"];
  });
  const own = pastBugs.map((bug) => (bug.seed === undefined ? "" : `; ${bug.seed} for ${bug.name}`)).join("");
  return `${[
    "# Bugs of the past",
    "",
    `Written by \`npm run past-bugs\` (seed ${seed}${own}). Each bug was shipped by a limiter on npm. The law is run over the versions that have it and over those beside them, with one adapter for all; it must accuse the former and none of the latter. A law knows nothing of the package: it is one of the invariants of [SPEC.md](../../src/rules/SPEC.md) §7. *calls*: those of the counterexample, as small as it was made.`,
    "",
    "| bug | package | bad | good | law | found in run | calls | command |",
    "|---|---|---|---|---|---|---|---|",
    ...rows,
    ...details,
  ].join("\n")}\n`;
}
