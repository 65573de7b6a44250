// `npm run past-bugs`: checks versions of limiters that had a bug, and versions beside them that had not, each
// by the law that should find it, and publishes the track record.
import { join } from "node:path";
import { parseArgs } from "node:util";
import { checkLaws } from "../../src/laws/check.ts";
import type { LawReport } from "../../src/laws/report.ts";
import { type PastBug, pastBugs } from "./bugs.ts";
import { RealRedis } from "./redis.ts";
import { keep, reportFolder, timelineOf } from "./report.ts";
import { installStrangers, versionOf } from "./strangers.ts";

/** One version, checked by its bug's law. */
export interface Trial {
  readonly bug: PastBug;
  readonly alias: string;
  readonly version: string;
  readonly bad: boolean;
  readonly report: LawReport;
}

/** Whether a version was judged as it should be: accused if and only if it has the bug. */
export const asExpected = ({ bad, report }: Trial): boolean =>
  report.outcome === (bad ? "violated" : "no-counterexample");

/** Calls in the shrunk counterexample. */
export const callsOf = ({ report }: Trial): number =>
  report.counterexample?.history.filter(({ op }) => op.do === "call").length ?? 0;

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
    const { laws } = await checkLaws(bug.limiter(alias, bug.law, redis), {
      seed,
      runs,
      laws: [bug.law],
      ...(bug.rules === undefined ? {} : { rules: bug.rules }),
    });
    for (const report of laws) trials.push({ bug, alias, version: versionOf(alias), bad, report });
  }
  return trials;
}

export async function run(args: string[]): Promise<number> {
  const { values } = parseArgs({
    args,
    options: { only: { type: "string", multiple: true }, seed: { type: "string", default: "1" } },
  });
  const wanted = values.only ?? pastBugs.map(({ name }) => name);
  const unknown = wanted.find((name) => !pastBugs.some((bug) => bug.name === name));
  if (unknown !== undefined) {
    console.error(`no bug is called ${unknown}; there are ${pastBugs.map(({ name }) => name).join(", ")}`);
    return 2;
  }
  installStrangers(console.log);
  const bugs = pastBugs.filter(({ name }) => wanted.includes(name));
  const redis = bugs.some(({ onRedis }) => onRedis) ? await RealRedis.start() : null;
  const trials: Trial[] = [];
  try {
    for (const bug of bugs) {
      const found = await tryBug(bug, Number(values.seed), redis);
      for (const trial of found) console.log(lineOf(trial));
      if (values.only !== undefined) console.log(timelines(found).join("\n"));
      trials.push(...found);
    }
  } finally {
    await redis?.stop();
  }
  if (values.only === undefined) keep(join(reportFolder, "past-bugs.md"), page(trials, values.seed));
  const wrong = trials.filter((trial) => !asExpected(trial));
  console.log(
    wrong.length === 0
      ? `${bugs.length} bugs found in the ${trials.filter(({ bad }) => bad).length} versions that have them, and in none of the ${trials.filter(({ bad }) => !bad).length} beside them`
      : `${wrong.length} of ${trials.length} versions were not judged as they should be`,
  );
  return wrong.length === 0 ? 0 : 1;
}

function lineOf(trial: Trial): string {
  const { bug, version, bad, report } = trial;
  const verdict =
    report.outcome === "violated"
      ? `${bug.law} violated in run ${report.runs}, shrunk to ${callsOf(trial)} calls`
      : `${report.outcome} in ${report.runs} runs, ${report.judged} answers judged`;
  const mark = asExpected(trial) ? "" : "  <- NOT AS EXPECTED";
  return `${bug.name.padEnd(26)} ${`${bug.package} ${version}`.padEnd(34)} ${bad ? "bad " : "good"}  ${verdict}${mark}`;
}

const timelines = (trials: readonly Trial[]): string[] =>
  trials.filter(({ bad }) => bad).flatMap(({ report }) => ["", ...timelineOf(report)]);

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
    const calls = group
      .filter(({ bad }) => bad)
      .map((trial) => (asExpected(trial) ? callsOf(trial) : "missed"));
    const runs = group.filter(({ bad }) => bad).map(({ report }) => report.runs);
    const accused = group.filter((trial) => !trial.bad && !asExpected(trial)).map(({ version }) => version);
    return `| [${bug.name}](${bug.source}) | ${bug.package} | ${versions(group, true)} | ${versions(group, false)}${accused.length > 0 ? ` (accused: ${accused.join(", ")})` : ""} | \`${bug.law}\` | ${runs.join(", ")} | ${calls.join(", ")} | \`npm run past-bugs -- --only ${bug.name}\` |`;
  });
  const details = groups.flatMap((group) => {
    const [first] = group;
    if (first === undefined) return [];
    return ["", `## ${first.bug.name}`, "", first.bug.wrong, "", "```", ...timelineOf(first.report), "```"];
  });
  return `${[
    "# Bugs of the past",
    "",
    `Written by \`npm run past-bugs\` (seed ${seed}). Each bug was shipped by a limiter on npm. The law is run over the versions that have it and over those beside them, with one adapter for all; it must accuse the former and none of the latter. A law knows nothing of the package: it is one of the invariants of [SPEC.md](../../src/rules/SPEC.md) §7. *calls*: those of the counterexample, as small as it was made.`,
    "",
    "| bug | package | bad | good | law | found in run | calls | command |",
    "|---|---|---|---|---|---|---|---|",
    ...rows,
    ...details,
  ].join("\n")}\n`;
}
