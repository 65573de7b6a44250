// `npm run limiters`: runs the laws over limiters of npm, and publishes which of them each keeps, breaks, or does
// not claim.
import { join } from "node:path";
import { parseArgs } from "node:util";
import { checkLaws } from "../../src/laws/check.ts";
import { checkInterleavings } from "../../src/laws/interleavings.ts";
import { renderInterleaving } from "../../src/laws/interleavings-text.ts";
import type { Outcome } from "../../src/laws/report.ts";
import { type LimiterLawName, lawNames } from "../../src/rules/laws.ts";
import { claimsOf, type Stranger, strangers } from "./limiters.ts";
import { RealRedis } from "./redis.ts";
import { keep, reportFolder, timelineOf, withoutRepeat } from "./report.ts";
import { installStrangers, versionOf } from "./strangers.ts";

/** The rows: the laws over calls that follow one another, and all of them over calls that overlap. */
const overlapping = "overlapping calls";
const rows: readonly Row[] = [...lawNames, overlapping];
type Row = LimiterLawName | typeof overlapping;

/** One limiter under one law. */
export interface Cell {
  readonly limiter: string;
  readonly package: string;
  readonly version: string;
  readonly law: Row;
  readonly outcome: "keeps" | "breaks" | "not claimed" | "not observable";
  readonly runs: number;
  readonly judged: number;
  /** The shrunk counterexample, line by line, and the command that shows it. */
  readonly counterexample?: readonly string[];
  readonly command?: string;
}

const outcomes: { readonly [O in Outcome]?: Cell["outcome"] } = {
  "no-counterexample": "keeps",
  violated: "breaks",
  "not-claimed": "not claimed",
  "not-observed": "not observable",
  skipped: "not observable",
};

interface Wish {
  readonly seed: number;
  readonly runs: number;
  readonly laws: readonly Row[];
}

/**
 * Runs the laws over one limiter.
 * @throws Error where the limiter fails: an adapter that does not fit is no finding
 */
export async function cellsOf(stranger: Stranger, wish: Wish, redis: RealRedis): Promise<Cell[]> {
  const { seed } = wish;
  const runs = Math.ceil(wish.runs * (stranger.share ?? 1));
  const factory = stranger.limiter(claimsOf(stranger), redis);
  const laws = lawNames.filter((law) => wish.laws.includes(law));
  const { laws: reports } = await checkLaws(factory, { seed, runs, laws });
  const cells = reports.map((report) => cellOf(stranger, wish, { ...report, timeline: timelineOf(report) }));
  if (!wish.laws.includes(overlapping)) return cells;
  const report = await checkInterleavings(factory, { seed, runs });
  const { overlapped: judged } = report;
  const timeline = withoutRepeat(renderInterleaving(report));
  return [...cells, cellOf(stranger, wish, { ...report, law: overlapping, judged, timeline })];
}

/** What was found under one law. */
interface Found {
  readonly law: Row;
  readonly outcome: Outcome;
  readonly runs: number;
  /** Answers that were judged; of overlapping calls, the rounds that some order explains. */
  readonly judged: number;
  readonly timeline: readonly string[];
}

function cellOf({ name, package: from }: Stranger, { seed, runs: asked }: Wish, found: Found): Cell {
  const { law, runs, judged, timeline } = found;
  const outcome = outcomes[found.outcome];
  if (outcome === undefined) throw new Error(`${name}, ${law}: ${timeline.join("\n")}`);
  const cell: Cell = { limiter: name, package: from, version: versionOf(from), law, outcome, runs, judged };
  if (outcome !== "breaks") return cell;
  const row = law.includes(" ") ? `"${law}"` : law;
  const command = `npm run limiters -- --only "${name}" --law ${row} --seed ${seed} --runs ${asked}`;
  return { ...cell, counterexample: timeline, command };
}

export async function run(args: string[]): Promise<number> {
  const { values } = parseArgs({
    args,
    options: {
      only: { type: "string", multiple: true },
      law: { type: "string", multiple: true },
      seed: { type: "string", default: "1" },
      runs: { type: "string", default: "200" },
    },
  });
  const chosen = strangers.filter(({ name }) => values.only?.includes(name) ?? true);
  const laws = rows.filter((law) => values.law?.includes(law) ?? true);
  if (chosen.length === 0 || laws.length === 0) {
    console.error(`limiters: ${strangers.map(({ name }) => name).join("; ")}\nlaws: ${rows.join(", ")}`);
    return 2;
  }
  await installStrangers(console.log);
  const redis = await RealRedis.start();
  const cells: Cell[] = [];
  try {
    for (const stranger of chosen) {
      const wish = { seed: Number(values.seed), runs: Number(values.runs), laws };
      const found = await cellsOf(stranger, wish, redis);
      console.log(lineOf(stranger, found));
      for (const { counterexample = [], command } of found)
        if (command !== undefined) console.log(["", ...counterexample, `  ${command}`, ""].join("\n"));
      cells.push(...found);
    }
  } finally {
    await redis.stop();
  }
  if (values.only === undefined && values.law === undefined) {
    keep(
      join(reportFolder, "table.json"),
      `${JSON.stringify({ seed: Number(values.seed), cells }, null, 1)}\n`,
    );
    keep(join(reportFolder, "README.md"), page(cells, values.seed));
  }
  return 0;
}

function lineOf(stranger: Stranger, cells: readonly Cell[]): string {
  const count = (outcome: Cell["outcome"]): number => cells.filter((cell) => cell.outcome === outcome).length;
  const version = versionOf(stranger.package);
  return `${`${stranger.name} ${version}`.padEnd(38)} keeps ${count("keeps")}, breaks ${count("breaks")}, does not claim ${count("not claimed")}, not observable ${count("not observable")}`;
}

const marks: Readonly<Record<Cell["outcome"], string>> = {
  keeps: "keeps",
  breaks: "**breaks**",
  "not claimed": "–",
  "not observable": "not seen",
};

/** Why no limiter here claims a law. */
const unclaimed: { readonly [L in LimiterLawName]?: string } = {
  bounded: "refused calls are counted too, or no count is shown",
  "status-free": "there is no call that shows a window and costs nothing",
  "all-or-nothing": "a call touches one window; what a refused call charges is not promised",
  "unenforced-never-refuses": "a limit cannot be switched off while it runs",
  "never-rolls-back": "nothing is said of a clock that steps back",
  "snapshot-equals": "what is remembered cannot be taken out",
  "headers-present": "it asks for eight headers of an API with two quotas",
  "refusal-agrees": "it asks for a body of such an API",
};

function page(cells: readonly Cell[], seed: string): string {
  const claimed = lawNames.filter((law) =>
    cells.some((cell) => cell.law === law && cell.outcome !== "not claimed"),
  );
  const row = (law: Row): string => {
    const marked = strangers.map(({ name }) => {
      const cell = cells.find((candidate) => candidate.law === law && candidate.limiter === name);
      return cell === undefined ? "" : marks[cell.outcome];
    });
    return `| ${law === overlapping ? law : `\`${law}\``} | ${marked.join(" | ")} |`;
  };
  return `${[
    "# Laws over limiters of npm",
    "",
    `Written by \`npm run limiters\` (seed ${seed}). *keeps*: no counterexample was found, which proves nothing; *–*: its documentation does not promise this law, so nothing is held against it; *not seen*: it is promised, and nothing that the limiter shows could be judged by it. [Bugs of the past](past-bugs.md) shows what the same laws find where there is something to find.`,
    "",
    `| law | ${strangers.map(({ name }) => name).join(" | ")} |`,
    `|---|${strangers.map(() => "---|").join("")}`,
    `| version | ${strangers.map((stranger) => versionOf(stranger.package)).join(" | ")} |`,
    `| runs a law | ${strangers.map((stranger) => runsOf(cells, stranger)).join(" | ")} |`,
    ...claimed.map(row),
    row(overlapping),
    "",
    "Laws that none of them claims:",
    "",
    ...lawNames
      .filter((law) => !claimed.includes(law))
      .map((law) => `- \`${law}\`: ${unclaimed[law] ?? "nothing is said of it"}.`),
    "",
    ...breaks(cells),
    "## What each promises",
    ...strangers.flatMap(promised),
    "",
    ...method,
  ].join("\n")}\n`;
}

const runsOf = (cells: readonly Cell[], { name }: Stranger): number =>
  Math.max(0, ...cells.filter(({ limiter }) => limiter === name).map(({ runs }) => runs));

/** What breaks the row of overlapping calls, found by reading the stores after the laws had named them. */
const sharedCount: readonly string[] = [
  "All of it is one thing, in calls that overlap: the store counts a call and answers with the very object in which it counts; the middleware awaits that answer and reads the count afterwards. Calls of one key that begin in one turn of the event loop are all counted before the first of them reads, so all read the last count: of 6 where 5 are allowed, none is let through. It fails closed, never beyond the limit, and calls of separate turns are not touched.",
  "",
  "A client that pipelines requests in one packet makes it so: `test/limiters/pipelined.test.ts` shows it on the wire, on servers set up by the packages' documentation and without any law.",
  "",
];

function breaks(cells: readonly Cell[]): string[] {
  const broken = cells.filter(({ outcome }) => outcome === "breaks");
  if (broken.length === 0) return [];
  return [
    "## What is broken",
    "",
    ...sharedCount,
    ...broken.flatMap(({ limiter, version, law, command, counterexample = [] }) => [
      `### ${limiter} ${version}: \`${law}\``,
      "",
      `\`${command}\``,
      "",
      "```",
      ...counterexample,
      "```",
      "",
    ]),
  ];
}

const promised = ({ name, package: from, setting, promises }: Stranger): string[] => [
  "",
  `### ${name} ${versionOf(from)}`,
  "",
  `Asked here: ${setting}.`,
  "",
  ...promises.map(
    ({ words, link, laws }) =>
      `- “${words}” ([source](${link})): ${laws.map((law) => `\`${law}\``).join(", ")}`,
  ),
];

const method: readonly string[] = [
  "## How they are asked",
  "",
  "- Limits of 1 to 8 calls (1 to 12 points where a call may cost more than 1) in windows of 1 to 60 s are drawn, and calls that crowd at limits and at the ends of windows. The same seed gives the same table.",
  "- Each package is the published one, pinned in `test/limiters/package-lock.json`. An adapter of some fifty lines (`test/limiters/adapters`) makes a key of an organization's user and reads the answer's headers or result.",
  "- Time: while a package's code runs, `Date`, timers, `performance.now` and `process.hrtime` are a clock of ours (`src/cli/virtual-clock.ts`); a microsecond passes at each reading of the monotonic one.",
  "- Redis is a real one, Debian's `redis-server`. It runs under libfaketime, which gives it our clock by a file (`test/limiters/redis.ts`). Redis keeps a key for the whole millisecond in which it ends, so windows on Redis end late here.",
  "- *Overlapping calls*: two or three calls of one instant are started together, in every order; some order of them, one after the other, must explain who was admitted, by the laws that the limiter claims. In all other rows calls follow one another.",
  "- `@nestjs/throttler` keeps a log of hits and `limiter` refills all the time: theirs are no fixed windows, so of the laws on windows they claim none. `bottleneck` queues; without a queue it is a limiter.",
  "- Left out: `@upstash/ratelimit`. Its scripts ask for a flag that only Upstash's own Redis knows (`allow-key-locking`; Redis 7.0 answers `Unexpected flag in script shebang`), and a stand-in that takes it out would be another program.",
];
