// Parts that the table and the track record share: their folder, and the form of a counterexample.
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { LawReport } from "../../src/laws/report.ts";
import { renderCounterexample } from "../../src/laws/timeline.ts";

export const reportFolder = resolve("reports/limiters");

/** Writes a file whole or not at all. */
export function keep(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  const unfinished = `${file}.${process.pid}.tmp`;
  writeFileSync(unfinished, text);
  renameSync(unfinished, file);
}

/** Returns what was published before, as JSON; `null` if nothing was. */
export const published = <T>(file: string): T | null =>
  existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as T) : null;

/** A counterexample's rules and timeline. */
export const timelineOf = (report: LawReport): string[] => withoutRepeat(renderCounterexample(report));

/** Lines without the command of the CLI, which has no such adapter, and without empty ones at the end. */
export function withoutRepeat(lines: readonly string[]): string[] {
  const kept = lines.filter((line) => !line.startsWith("repeat: "));
  return kept.slice(0, kept.findLastIndex((line) => line !== "") + 1);
}
