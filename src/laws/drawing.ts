// A counterexample as people read it, whatever its scripts are of: what holds, one line an operation with its answer, and at
// the breach what was expected, what was answered, and the arithmetic.
import { isoSecond } from "../wire/bodies.ts";
import type { Breach, LawViolation } from "./law.ts";
import type { Counterexample, Failure, LawReport } from "./report.ts";
import type { LawKind } from "./script.ts";

type PlayedOf<K extends LawKind> = Pick<Counterexample<K>, "script" | "history">;

/** The parts of a drawing that depend on the kind of script. */
export interface ScriptDrawing<K extends LawKind> {
  /** The limits and settings that matter. */
  rules(played: PlayedOf<K>): readonly string[];
  timeline(
    script: K["script"],
    history: K["history"],
    startMs: number,
    violation: LawViolation<K> | null,
  ): readonly string[];
}

/** A violated law with its counterexample, or a limiter that failed, as lines of text; else none. */
export function rendered<K extends LawKind>(report: LawReport<K>, drawing: ScriptDrawing<K>): string[] {
  const { counterexample, failure } = report;
  if (failure !== undefined)
    return renderedFailure(report, `${report.law} cannot be judged: the limiter failed`, failure, drawing);
  if (counterexample === undefined) return [];
  const { script, history, compared, violation } = counterexample;
  return [
    `${report.law} is violated: ${report.statement}`,
    "",
    ...settingOf(counterexample, drawing),
    ...drawing.timeline(script, history, script.startMs, violation),
    ...(compared === undefined
      ? []
      : ["", `The other run, ${compared.label}:`, ...otherRun(counterexample, drawing)]),
    ...(report.repeat === undefined ? [] : ["", `repeat: ${report.repeat}`]),
  ];
}

/** Draws the operations until the limiter failed, and the call at which it did. */
export function renderedFailure<K extends LawKind>(
  report: Pick<LawReport, "repeat">,
  title: string,
  { script, history, call, got, allowed }: Failure<K>,
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
    `${indent}  expected ${allowed}`,
    ...(report.repeat === undefined ? [] : ["", `repeat: ${report.repeat}`]),
  ];
}

/** The rules that matter, and when +0 is. */
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
  // A run of the same operations at other times starts elsewhere; one that leaves some out does not.
  const shifted =
    other.length === history.length &&
    other.every(({ op }, at) => op.atMs - (history[at]?.op.atMs ?? 0) === shiftMs);
  return drawing.timeline(script, other, script.startMs + (shifted ? shiftMs : 0), null);
}

const indent = " ".repeat(14);

/** @param whose the count that it is about, in words */
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
