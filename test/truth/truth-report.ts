// The comparison for people (README.md) and programs (truth.json).
import { mkdir, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { count, duration, share } from "../../src/report/format.ts";
import type { Compared, Comparison } from "./comparison.ts";
import { shortRules } from "./runs.ts";
import type { Settings } from "./settings.ts";

/** One scenario. */
export interface Truth {
  readonly name: string;
  readonly description: string;
  readonly again: Comparison;
  readonly forecast: Comparison;
}

export type Versions = Readonly<Record<string, string | undefined>>;

/** What is aimed at: by how much a prediction may be off, as a share of what was measured. */
const aims = { refused: 0.03, admitted: 0.01, waitP95: 0.1 } as const;

interface Row {
  readonly what: string;
  readonly text: (amount: number) => string;
  readonly aim: number;
  readonly of: (comparison: Comparison) => Compared | undefined;
}

function rowsOf({ again }: Truth): Row[] {
  const inWindows = again.windows.flatMap(({ scope, saturated, windows }): Row[] => {
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

/** One scenario as a table of Markdown; what misses its aim is marked. */
export function tableOf(truth: Truth): string {
  const lines = rowsOf(truth).map((row) => {
    const again = row.of(truth.again);
    const forecast = row.of(truth.forecast);
    const cells = [
      row.what,
      amount(row, again?.measured),
      amount(row, again?.predicted),
      error(row, again),
      percent(again?.typical),
      chance(row, again),
      amount(row, forecast?.predicted),
      error(row, forecast),
    ];
    return `| ${cells.join(" | ")} |`;
  });
  return [
    `## ${truth.name}: ${truth.description}`,
    "",
    "| | measured | again | error | typical distance | chance | forecast | error |",
    "|---|---|---|---|---|---|---|---|",
    ...lines,
    "",
    `The curves of waits lie at most ${share(truth.again.waitsApart)} apart (again), ${share(truth.forecast.waitsApart)} (forecast).`,
  ].join("\n");
}

const amount = ({ text }: Row, value: number | undefined): string =>
  value === undefined ? "–" : text(Math.round(value * 10) / 10);

const off = (compared: Compared): number =>
  compared.error === null ? Number.POSITIVE_INFINITY : Math.abs(compared.error);

/** Whether the prediction is within what so few runs may be off by themselves. */
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

/** How many figures of all scenarios are within their aims, or within chance. */
function within(truths: readonly Truth[], which: "again" | "forecast"): [held: number, of: number] {
  const errors = truths.flatMap((truth) =>
    rowsOf(truth).flatMap((row) => {
      const compared = row.of(truth[which]);
      return compared === undefined ? [] : [off(compared) <= row.aim || isWithinChance(compared)];
    }),
  );
  return [errors.filter(Boolean).length, errors.length];
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
    version: 1,
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
  const [held, of] = within(truths, "again");
  const [heldBefore, ofBefore] = within(truths, "forecast");
  const said = Object.entries(versions).map(([name, version]) => `${name} ${version}`);
  return `# Prediction against reality

Every scenario of \`scenarios/\`, run by k6 against the reference deployment and simulated: ${settings.seeds} seeds each, ${settings.duration} a run,
windows of ${rest.windowSeconds} s (REST, ${rest.limit} an organization) and ${graphql.windowSeconds} s (GraphQL, ${count(graphql.limit)} points), the default rules' rates. Repeat it with

    ${settings.command}

${said.join(", ")}. Real runs take real time, so their figures differ a little from run to run; \`truth.json\` has all of them.

- *measured*: by k6. Means of ${settings.seeds} runs, or of the windows of the organization; waits are of the jobs of all runs together.
- *again*: the simulator with the same seed, users and start, latency from that run's trace. The difference is what the model leaves out.
- *forecast*: the simulator with seeds that k6 never ran, ten for each run, latency from the trace of another run: what one can
  know beforehand.
- *chance*: two standard errors to either side of what was measured, since so few runs differ by themselves; for waits, the percentiles
  that so many jobs leave in doubt.
- *error*: of the mean. *Typical distance*: of one run or window, whichever way, in the mean. Aims: refused within ${share(aims.refused)}, admitted
  within ${share(aims.admitted)}, waits within ${share(aims.waitP95)}.

Where jobs wait for one reset or the next, as in \`herd\`, waits jump by a window's length: a percentile that lies on such a step
is decided by a few jobs, however near the curves are. The distance of the curves, under each table, has no such steps.

Within their aims, or within chance: ${held} of ${of} figures again, ${heldBefore} of ${ofBefore} forecast.

${truths.map(tableOf).join("\n\n")}
`;
}

async function writeWhole(path: string, text: string): Promise<void> {
  await writeFile(`${path}.part`, text);
  await rename(`${path}.part`, path);
}
