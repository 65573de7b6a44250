// `npm run limiters`: runs the laws over limiters of npm, and publishes which of them each keeps, breaks, or does
// not claim. With `--only NAME --publish` the others keep the cells that they have.
import { join } from "node:path";
import { parseArgs } from "node:util";
import { checkLaws } from "../../src/laws/check.ts";
import { checkInterleavings } from "../../src/laws/interleavings.ts";
import type { LawOutcome } from "../../src/laws/report.ts";
import { renderInterleaving } from "../../src/laws/timeline.ts";
import { type LimiterLawName, limiterLawNames } from "../../src/rules/laws.ts";
import { claimsOf, strangers } from "./limiters.ts";
import { RealRedis } from "./redis.ts";
import { keep, published, reportFolder, timelineOf, withoutRepeat } from "./report.ts";
import { type Fault, overlapping, type Stranger } from "./stranger.ts";
import { installStrangers, versionOf } from "./strangers.ts";

/** The rows: the laws over calls that follow one another, and all of them over calls that overlap. */
const rows: readonly Row[] = [...limiterLawNames, overlapping];
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

const outcomes: { readonly [O in LawOutcome]?: Cell["outcome"] } = {
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
  /** True to make counterexamples smaller, which takes most of their time. Default: `true`. */
  readonly shrinks?: boolean;
}

/** Fewer runs than this may come to nothing that a law judges. */
const runsLeast = 5;

/**
 * Runs the laws over one limiter.
 * @throws Error where the limiter fails: an adapter that does not fit is no finding
 */
export async function cellsOf(stranger: Stranger, wish: Wish, redis: RealRedis): Promise<Cell[]> {
  const { seed } = wish;
  const runs = Math.max(runsLeast, Math.ceil(wish.runs * (stranger.share ?? 1)));
  const factory = stranger.limiter(claimsOf(stranger), redis);
  const laws = limiterLawNames.filter((law) => wish.laws.includes(law));
  const under = stranger.rules === undefined ? {} : { rules: stranger.rules };
  const signal = { aborted: false };
  const onProgress = ({ shrinking }: { readonly shrinking: boolean }): void => {
    signal.aborted = shrinking && wish.shrinks === false;
  };
  const goOn = (): void => {
    signal.aborted = false;
  };
  const wanted = { seed, runs, signal, onProgress, ...under };
  const { laws: reports } = await checkLaws(factory, { ...wanted, laws, onLaw: goOn });
  const cells = reports.map((report) => cellOf(stranger, wish, { ...report, timeline: timelineOf(report) }));
  if (!wish.laws.includes(overlapping)) return cells;
  const report = await checkInterleavings(factory, wanted);
  const { overlapped: judged } = report;
  const isSilent = report.outcome === "no-counterexample" && judged === 0;
  const outcome = isSilent ? "not-observed" : report.outcome;
  const timeline = withoutRepeat(renderInterleaving(report));
  return [...cells, cellOf(stranger, wish, { ...report, outcome, law: overlapping, judged, timeline })];
}

/** Findings under one law. */
interface Found {
  readonly law: Row;
  readonly outcome: LawOutcome;
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
      publish: { type: "boolean", default: false },
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
  if (values.law === undefined && (values.only === undefined || values.publish))
    publish(cells, Number(values.seed));
  return 0;
}

/** Writes the table, with the cells that are published already of the limiters that were not run. */
function publish(found: readonly Cell[], seed: number): void {
  const file = join(reportFolder, "table.json");
  const run = new Set(found.map(({ limiter }) => limiter));
  const known = new Set(strangers.map(({ name }) => name));
  const { cells: earlier } = published<{ cells: Cell[] }>(file) ?? { cells: [] };
  const others = earlier.filter(({ limiter }) => known.has(limiter) && !run.has(limiter));
  const cells = strangers.flatMap(({ name }) =>
    [...others, ...found].filter(({ limiter }) => limiter === name),
  );
  keep(file, `${JSON.stringify({ seed, cells }, null, 1)}\n`);
  keep(join(reportFolder, "README.md"), page(cells, `${seed}`));
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

/** Reason that no limiter here claims a law. */
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
  const claimed = limiterLawNames.filter((law) =>
    cells.some((cell) => cell.law === law && cell.outcome !== "not claimed"),
  );
  const columns: readonly Row[] = [...claimed, overlapping];
  const row = (stranger: Stranger): string => {
    const marked = columns.map((law) => {
      const cell = cells.find((candidate) => candidate.law === law && candidate.limiter === stranger.name);
      return cell === undefined ? "" : marks[cell.outcome];
    });
    const about = [stranger.name, versionOf(stranger.package), runsOf(cells, stranger)];
    return `| ${[...about, ...marked].join(" | ")} |`;
  };
  return `${[
    "# Laws over limiters of npm",
    "",
    `Written by \`npm run limiters\` (seed ${seed}). *keeps*: no counterexample was found, which proves nothing; *–*: its documentation does not promise this law, so nothing is held against it; *not seen*: it is promised, and nothing that the limiter shows could be judged by it. [Bugs of the past](past-bugs.md) shows what the same laws find where there is something to find.`,
    "",
    `| limiter | version | runs a law | ${columns.map((law) => (law === overlapping ? law : `\`${law}\``)).join(" | ")} |`,
    `|---|---|---|${columns.map(() => "---|").join("")}`,
    ...strangers.map(row),
    "",
    "Laws that none of them claims:",
    "",
    ...limiterLawNames
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

function breaks(cells: readonly Cell[]): string[] {
  const faulty = strangers.flatMap(({ name, broken }) => {
    const own = cells.filter(({ limiter, outcome }) => limiter === name && outcome === "breaks");
    return own.length === 0 ? [] : [...faultText(own, broken)];
  });
  return faulty.length === 0 ? [] : ["## What is broken", "", ...faulty];
}

const faultText = (cells: readonly Cell[], fault: Fault | undefined): string[] => [
  `### ${cells[0]?.limiter} ${cells[0]?.version}`,
  "",
  ...(fault === undefined ? [] : [`${fault.why} [The issue](${fault.issue}).`, ""]),
  ...cells.flatMap(({ law, command, counterexample = [] }) => [
    `\`${law}\`, by \`${command}\`:`,
    "",
    "```",
    ...counterexample,
    "```",
    "",
  ]),
];

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
  "- Time: while a package's code runs, `Date`, timers, `performance.now` and `process.hrtime` are a clock of ours (`src/runs/virtual-clock.ts`); a microsecond passes at each reading of the monotonic one.",
  "- Redis is a real one, Debian's `redis-server`. It runs under libfaketime, which gives it our clock by a file (`test/limiters/redis.ts`). Redis keeps a key for the whole millisecond in which it ends, so windows on Redis end late here.",
  "- *Overlapping calls*: two or three calls of one instant are started together, in every order; some order of them, one after the other, must explain who was admitted, by the laws that the limiter claims. In all other rows calls follow one another. [Over HTTP](overlap.md) they go wrong like this.",
  "- `ratelimiter` and `async-ratelimiter` round their reset down, and it is read as the next unit: that waiting is over a moment later is no fault.",
  "- Not seen by a law, but by reading on: `@nest-lab/throttler-storage-redis` has the fault of hono-rate-limiter's RedisStore ([the issue](issues/key-that-ends.md)), which the guard's blocks hide from what it promises; and hono-rate-limiter's `skipFailedRequests` takes failed calls off the next window ([the issue](issues/skip-failed-requests.md)). `axios-rate-limit` 1.9.0, which has no row, lets more through than its limit where answers come at once, as from a cache ([the issue](issues/axios-rate-limit.md)). Each issue has a program that shows it by the package's own client.",
  "- `@nestjs/throttler` keeps a log of hits and `limiter` refills all the time: theirs are no fixed windows, so of the laws on windows they claim none. `bottleneck` queues; without a queue it is a limiter.",
  "- A queue (`p-throttle`, `async-sema`) delays what is beyond the limit. A call that begins at once is let through here; one that waits is a refusal, and takes up room when it begins.",
  "- `rolling-rate-limiter` reads the time by a native package, `microtime`, which is given our clock. `sveltekit-rate-limiter` knows windows of certain lengths alone, and is asked by 3 calls in 10 s.",
  "- `koa2-ratelimit` on Redis has a second fault, which shows where the clock moves while a call is under way ([the issue](issues/koa2-ratelimit.md)); the table's clock stands still meanwhile.",
  "- Left out: `@upstash/ratelimit`. Its scripts ask for a flag that only Upstash's own Redis knows (`allow-key-locking`; Redis 7.0 answers `Unexpected flag in script shebang`), and a stand-in that takes it out would be another program.",
];
