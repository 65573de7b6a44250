// Draws a counterexample of any kind as text: the rules, one line for each operation with its answer, and at the breach
// the expectation, the answer and the arithmetic.
import { isoSecond } from "../wire/bodies.ts";
import type { Breach, LawViolation } from "./law.ts";
import { playsText, repeatHint } from "./repeats.ts";
import type { Counterexample, Failure, LawReport } from "./report.ts";
import type { LawKind } from "./script.ts";

type PlayedOf<K extends LawKind> = Pick<Counterexample<K>, "script" | "history">;

/** The parts of a drawing that depend on the kind of script. */
export interface ScriptDrawing<K extends LawKind> {
  /** Returns the limits and settings that the script meets, as lines. */
  rules(played: PlayedOf<K>): readonly string[];
  timeline(
    script: K["script"],
    history: K["history"],
    startMs: number,
    violation: LawViolation<K> | null,
  ): readonly string[];
}

/** Returns a law with its counterexample, or a limiter's failure, as lines of text; else no lines. */
export function rendered<K extends LawKind>(report: LawReport<K>, drawing: ScriptDrawing<K>): string[] {
  const { counterexample, failure, plays } = report;
  if (failure !== undefined)
    return renderedFailure(report, `${report.law} cannot be judged: the limiter failed`, failure, drawing);
  if (counterexample === undefined) return [];
  const { script, history, compared, violation } = counterexample;
  return [
    plays === undefined
      ? `${report.law} is violated: ${report.statement}`
      : `${report.law} cannot be judged: ${playsText(plays)}`,
    "",
    ...settingOf(counterexample, drawing),
    ...drawing.timeline(script, history, script.startMs, violation),
    ...(compared === undefined
      ? []
      : ["", `The other run, ${compared.label}:`, ...otherRun(counterexample, drawing)]),
    ...(plays === undefined ? [] : ["", `note: ${repeatHint}`]),
    ...(report.repeat === undefined || plays !== undefined ? [] : ["", `repeat: ${report.repeat}`]),
  ];
}

/** Draws the operations up to a limiter's failure, and the call that failed. */
export function renderedFailure<K extends LawKind>(
  report: Pick<LawReport, "repeat">,
  title: string,
  { script, history, call, got, allowed, at: place, hung }: Failure<K>,
  drawing: ScriptDrawing<K>,
): string[] {
  const failed = script.ops.find((op) => !history.some((event) => event.op === op));
  const last = history.at(-1)?.op.atMs ?? script.startMs;
  const at = failed?.atMs ?? last;
  return [
    title,
    "",
    ...settingOf({ script, history }, drawing),
    ...drawing.timeline(script, history, script.startMs, null),
    `${time(at, script.startMs)}  ${call}`,
    `${indent}^ got      ${got}`,
    ...(place === undefined ? [] : [`${indent}  at       ${place}`]),
    `${indent}  expected ${allowed}`,
    ...(hung
      ? [noteLine("its promise did not settle: see which timer, lock or connection it waits for")]
      : []),
    ...(place === undefined
      ? []
      : [noteLine("if the limiter throws to refuse, catch that: a refusal is an answer")]),
    ...(report.repeat === undefined ? [] : ["", `repeat: ${report.repeat}`]),
  ];
}

/** Returns the lines of the rules, and the time that the timeline calls +0. */
export const settingOf = <K extends LawKind>(played: PlayedOf<K>, { rules }: ScriptDrawing<K>): string[] => {
  const { startMs } = played.script;
  const start = isoSecond(startMs).replace("Z", `.${String(startMs % 1000).padStart(3, "0")}Z`);
  return [...rules(played), `+0 is ${start}`, ""];
};

function otherRun<K extends LawKind>(
  { script, history, compared }: Counterexample<K>,
  drawing: ScriptDrawing<K>,
): readonly string[] {
  const other = compared?.history ?? [];
  const shiftMs = (other[0]?.op.atMs ?? 0) - (history[0]?.op.atMs ?? 0);
  // A run whose operations are all shifted starts later by the shift; a run that omits some starts at the same time.
  const shifted =
    other.length === history.length &&
    other.every(({ op }, at) => op.atMs - (history[at] as (typeof history)[number]).op.atMs === shiftMs);
  return drawing.timeline(script, other, script.startMs + (shifted ? shiftMs : 0), null);
}

export const indent = " ".repeat(14);

/** @param whose owner of the count at fault, in words; `null` if an answer as a whole is at fault */
export function breachLines({ expected, got, arithmetic }: Breach, whose: string | null): string[] {
  return [
    `${indent}^ expected ${expected}${whose === null ? "" : ` (${whose})`}`,
    `${indent}  answered ${got}`,
    `${indent}  because  ${arithmetic}`,
  ];
}

export const noteLine = (text: string): string => `${indent}  note     ${text}`;

export const time = (atMs: number, startMs: number): string => {
  const seconds = (atMs - startMs) / 1000;
  return `${seconds < 0 ? "-" : "+"}${Math.abs(seconds).toFixed(3)} s`.padStart(12);
};
