// The comparison for people (README.md) and programs (truth.json).
import { mkdir, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { DriverName } from "../../src/load/driver.ts";
import { share } from "../../src/report/format.ts";
import { duration } from "../../src/rules/duration.ts";
import { count } from "../../src/rules/words.ts";
import type { Compared, Comparison } from "./comparison.ts";
import { shortRules } from "./runs.ts";
import type { Settings } from "./settings.ts";

/** One driver's runs, and what was predicted for them. */
interface Predictions {
  readonly driver: DriverName;
  readonly again: Comparison;
  readonly forecast: Comparison;
}

/** One scenario. */
export interface Truth {
  readonly name: string;
  readonly description: string;
  readonly predictions: readonly Predictions[];
  /** Node's measurements as predictions of k6's; `null` where only one of them drove. */
  readonly between: Comparison | null;
}

export type Versions = Readonly<Record<string, string | undefined>>;

/** Aim: the greatest error of a prediction, as a share of the measured value. */
const aims = { refused: 0.03, admitted: 0.01, waitP95: 0.1 } as const;

interface Row {
  readonly what: string;
  readonly text: (amount: number) => string;
  readonly aim: number;
  readonly of: (comparison: Comparison) => Compared | undefined;
}

function rowsOf({ windows }: Comparison): Row[] {
  const inWindows = windows.flatMap(({ scope, saturated, windows }): Row[] => {
    const kind = `${scope === "rest" ? "REST" : "GraphQL"} window ${saturated ? "with" : "without"} refusals (${windows})`;
    const same = (comparison: Comparison) =>
      comparison.windows.find((one) => one.scope === scope && one.saturated === saturated);
    const admitted: Row = {
      what: `admitted per ${kind}`,
      text: count,
      aim: aims.admitted,
      of: (comparison) => same(comparison)?.admitted,
    };
    const refused: Row = {
      what: `refused per ${kind}`,
      text: count,
      aim: aims.refused,
      of: (comparison) => same(comparison)?.refused,
    };
    return saturated ? [admitted, refused] : [admitted];
  });
  return [
    { what: "refused a run", text: count, aim: aims.refused, of: ({ refused }) => refused },
    { what: "admitted a run", text: count, aim: aims.admitted, of: ({ admitted }) => admitted },
    { what: "wait, half of the jobs", text: duration, aim: aims.waitP95, of: ({ waitP50Ms }) => waitP50Ms },
    { what: "wait, 95% of the jobs", text: duration, aim: aims.waitP95, of: ({ waitP95Ms }) => waitP95Ms },
    ...inWindows,
  ];
}

/** One scenario as tables of Markdown, one a driver; what misses its aim is marked. */
export function tableOf({ name, description, predictions, between }: Truth): string {
  const tables = predictions.map(({ driver, again, forecast }) => {
    const lines = rowsOf(again).map((row) => {
      const [once, unseen] = [row.of(again), row.of(forecast)];
      return lineOf([
        row.what,
        amount(row, once?.measured),
        amount(row, once?.predicted),
        error(row, once),
        percent(once?.typical),
        chance(row, once),
        amount(row, unseen?.predicted),
        error(row, unseen),
      ]);
    });
    return [
      `| by ${driver} | measured | again | error | typical distance | chance | forecast | error |`,
      "|---|---|---|---|---|---|---|---|",
      ...lines,
      "",
      `The curves of waits lie at most ${share(again.waitsApart)} apart (again), ${share(forecast.waitsApart)} (forecast).`,
    ].join("\n");
  });
  return [`## ${name}: ${description}`, ...tables, ...(between ? [betweenOf(between)] : [])].join("\n\n");
}

/** The drivers beside each other. */
function betweenOf(between: Comparison): string {
  const lines = rowsOf(between).map((row) => {
    const compared = row.of(between);
    const cells = [amount(row, compared?.measured), amount(row, compared?.predicted), error(row, compared)];
    return lineOf([row.what, ...cells, chance(row, compared)]);
  });
  return [
    "| the drivers | k6 | node | difference | chance |",
    "|---|---|---|---|---|",
    ...lines,
    "",
    `The drivers' curves of waits lie at most ${share(between.waitsApart)} apart.`,
  ].join("\n");
}

const lineOf = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;

const amount = ({ text }: Row, value: number | undefined): string =>
  value === undefined ? "–" : text(Math.round(value * 10) / 10);

const off = (compared: Compared): number =>
  compared.error === null ? Number.POSITIVE_INFINITY : Math.abs(compared.error);

/** Tells whether the prediction is within what so few runs may be off by themselves. */
const isWithinChance = ({ chance, predicted }: Compared): boolean =>
  chance !== null && predicted >= chance[0] && predicted <= chance[1];

function error({ aim }: Row, compared: Compared | undefined): string {
  if (compared === undefined) return "–";
  const judged = off(compared) <= aim ? "" : isWithinChance(compared) ? " (chance)" : " **missed**";
  return percent(compared.error) + judged;
}

const chance = (row: Row, compared: Compared | undefined): string =>
  compared?.chance == null ? "–" : compared.chance.map((bound) => amount(row, bound)).join(" to ");

function percent(value: number | null | undefined): string {
  if (value == null) return "–";
  const rounded = Math.round(value * 1000) / 10;
  return `${rounded > 0 ? "+" : ""}${rounded}%`.replace("-", "−");
}

/** Counts the figures of some comparisons that are within their aims, or within chance. */
function within(comparisons: readonly Comparison[]): string {
  const held = comparisons.flatMap((comparison) =>
    rowsOf(comparison).flatMap((row) => {
      const compared = row.of(comparison);
      return compared === undefined ? [] : [off(compared) <= row.aim || isWithinChance(compared)];
    }),
  );
  return `${held.filter(Boolean).length} of ${held.length}`;
}

/** One driver's count of figures, or that of the drivers beside each other, as a line. */
function withinLines(truths: readonly Truth[], drivers: readonly DriverName[]): string {
  const lines = drivers.map((driver) => {
    const ours = truths.flatMap(({ predictions }) => predictions.filter((one) => one.driver === driver));
    return `- by ${driver}: ${within(ours.map(({ again }) => again))} figures again, ${within(ours.map(({ forecast }) => forecast))} forecast`;
  });
  const between = truths.flatMap((truth) => truth.between ?? []);
  if (between.length > 0) lines.push(`- node beside k6: ${within(between)} figures`);
  return lines.join("\n");
}

export interface TruthReport {
  readonly truths: readonly Truth[];
  readonly settings: Settings;
  readonly versions: Versions;
}

/** Writes README.md and truth.json, each whole or not at all. */
export async function writeTruth(folder: string, report: TruthReport): Promise<void> {
  const { truths, settings, versions } = report;
  const { seeds, duration: length, command } = settings;
  await mkdir(folder, { recursive: true });
  const data = {
    format: "spillway-truth",
    version: 2,
    command,
    versions,
    seeds,
    duration: length,
    aims,
    truths,
  };
  await writeWhole(join(folder, "truth.json"), `${JSON.stringify(data, null, 2)}\n`);
  await writeWhole(join(folder, "README.md"), textOf(report));
}

function textOf({ truths, settings, versions }: TruthReport): string {
  const { rest, graphql } = shortRules.organization;
  const said = Object.entries(versions).map(([name, version]) => `${name} ${version}`);
  return `# Prediction against reality

Every scenario of \`scenarios/\` for the default API, run by ${settings.drivers.join(" and by ")} against the reference deployment and simulated: ${settings.seeds} seeds each, ${settings.duration} a run,
windows of ${rest.windowSeconds} s (REST, ${rest.limit} an organization) and ${graphql.windowSeconds} s (GraphQL, ${count(graphql.limit)} points), the default rules' rates. Repeat it with

    ${settings.command}

${said.join(", ")}. Real runs take real time, so their figures differ a little from run to run; \`truth.json\` has all of them.

- *measured*: by the driver. Means of ${settings.seeds} runs, or of the windows of the organization; waits are of the jobs of all runs together.
- *again*: the simulator with the same seed, users and start, latency from that run's trace. The difference is what the model leaves out.
- *forecast*: the simulator with seeds that the driver never ran, ten for each run, latency from the trace of another run: what one can
  know beforehand.
- *chance*: two standard errors to either side of what was measured, since so few runs differ by themselves; for waits, the percentiles
  that so many jobs leave in doubt.
- *error*: of the mean. *Typical distance*: of one run or window, whichever way, in the mean. Aims: refused within ${share(aims.refused)}, admitted
  within ${share(aims.admitted)}, waits within ${share(aims.waitP95)}.

Where jobs wait for one reset or the next, as in \`herd\`, waits jump by a window's length: a percentile that lies on such a step
is decided by a few jobs, however near the curves are. The distance of the curves, under each table, has no such steps.

Drivers run the same seed at the same time, each against a deployment of its own. *Difference*: of node's mean from k6's.
Waits are whole milliseconds, and k6 takes about one more for a call than Node does: half of the jobs in 3 ms beside 2 ms is one
step, though it is more than the aim.

Within their aims, or within chance:

${withinLines(truths, settings.drivers)}

${truths.map(tableOf).join("\n\n")}
`;
}

async function writeWhole(path: string, text: string): Promise<void> {
  await writeFile(`${path}.part`, text);
  await rename(`${path}.part`, path);
}
