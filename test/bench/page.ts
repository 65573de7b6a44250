// The published table of benches, reports/bench: what was measured, when and on which machine, as data and as a page.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { cpus, loadavg } from "node:os";
import { join } from "node:path";
import { type BenchRow, isMet, told } from "./row.ts";

/** Circumstances of a measurement. */
interface Machine {
  /** `2026-11-25`. */
  readonly date: string;
  readonly commit: string;
  readonly node: string;
  readonly processor: string;
  /** Processes that wanted a processor as it began, averaged over a minute. */
  readonly load: number;
}

/** One bench, as it was measured last. */
interface Measured extends Machine {
  readonly rows: readonly BenchRow[];
}

export type Benches = Readonly<Record<string, Measured>>;

const folder = "reports/bench";

export function machine(): Machine {
  const [processor] = cpus();
  return {
    date: new Date().toISOString().slice(0, 10),
    commit: execFileSync("git", ["rev-parse", "--short=7", "HEAD"], { encoding: "utf8" }).trim(),
    node: process.version,
    processor: `${cpus().length} x ${processor?.model.trim() ?? "unknown processor"}`,
    load: Math.round(10 * (loadavg()[0] ?? 0)) / 10,
  };
}

/** Puts what a bench measured in the place of what it measured before. */
export function publish(name: string, measured: Measured): void {
  const file = join(folder, "rows.json");
  const known = existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as Benches) : {};
  const benches = Object.fromEntries(
    Object.entries({ ...known, [name]: measured }).sort(([a], [b]) => (a < b ? -1 : 1)),
  );
  mkdirSync(folder, { recursive: true });
  writeFileSync(file, `${JSON.stringify(benches, null, 1)}\n`);
  writeFileSync(join(folder, "README.md"), pageOf(benches));
}

const line = (...cells: readonly string[]): string => `| ${cells.join(" | ")} |`;

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [line(...head), line(...head.map(() => "---")), ...rows.map((cells) => line(...cells))].join("\n");
}

function cells(row: BenchRow): string[] {
  const { figure, compared } = told(row);
  const met = isMet(row);
  return [row.name, figure, compared, row.bar ?? "", met === null ? "" : met ? "met" : "**missed**"];
}

/** The page of what was measured. */
export function pageOf(benches: Benches): string {
  const all = Object.entries(benches);
  const barred = all.flatMap(([name, { rows }]) =>
    rows.filter(({ bar }) => bar !== undefined).map((row) => [name, ...cells(row)]),
  );
  const missed = barred.filter((row) => row.at(-1) !== "met").length;
  const head = ["row", "figure", "beside its peer", "bar", ""];
  const sections = all.map(([name, { rows, ...at }]) =>
    [
      `## ${name}`,
      `${at.date}, commit ${at.commit}, Node ${at.node.slice(1)}, ${at.processor}; ${at.load} processes wanted a processor as it began.`,
      table(head, rows.map(cells)),
    ].join("\n\n"),
  );
  return `${[
    "# Benches",
    "`npm run bench -- --publish` wrote this page: each figure beside a named peer, both measured in the same run, by turns. Machines drift, and other programs disturb; ratios say more than figures. What misses its bar stands here, too.",
    `Of ${barred.length} rows with a bar, ${missed} ${missed === 1 ? "misses" : "miss"} it.`,
    table(["bench", ...head], barred),
    ...sections,
  ].join("\n\n")}\n`;
}
