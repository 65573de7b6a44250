// What the table and the track record share: where they are kept, and how a counterexample is shown there.
import { mkdirSync, renameSync, writeFileSync } from "node:fs";
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

/** A counterexample's rules and timeline, without the command of the CLI, which has no such adapter. */
export const timelineOf = (report: LawReport): string[] => {
  const lines = renderCounterexample(report).filter((line) => !line.startsWith("repeat: "));
  const last = lines.findLastIndex((line) => line !== "");
  return lines.slice(0, last + 1);
};
