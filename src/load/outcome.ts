// The end of a run in words: the reason of its failure, failed checks, crossed thresholds, and notes for a reader of
// its figures.
import { counted } from "../rules/words.ts";
import type { LoadAccount } from "./account.ts";
import { type K6Outcome, k6Exit } from "./run-k6.ts";

/** A check (`response-checks.ts`) that answers failed. */
export interface FailedCheck {
  readonly name: string;
  readonly fails: number;
}

/** Returns why the run is not what was asked for; `null` if it is, or was interrupted on purpose. */
export function failureOf(account: LoadAccount, outcome: K6Outcome): string | null {
  const { exitCode, killedBy, interrupted, linesFailed, complaints } = outcome;
  if (linesFailed > 0) return `k6 could not write ${counted(linesFailed, "line")} (is the disk full?)`;
  if (interrupted || exitCode === k6Exit.interrupted) return null;
  if (killedBy !== null) return `k6 was killed (${killedBy})`;
  if (exitCode === 0 || exitCode === k6Exit.thresholds) return silenceOf(account);
  const [first] = complaints;
  return `k6 ended with status ${exitCode}${first === undefined ? "" : `: ${first}`}`;
}

/** Says when the target fell silent. One call without an answer may be bad luck. */
export function silenceOf({ silence, calls, unanswered }: LoadAccount): string | null {
  if (silence === null || silence.calls < 2) return null;
  if (unanswered === calls) return `the target answered none of ${counted(calls, "call")}`;
  const time = new Date(silence.sinceMs).toISOString().slice(11, 19);
  return `the target stopped answering at ${time} UTC: none of the ${counted(silence.calls, "call")} since then has an answer`;
}

/** Returns `metric expression` of each threshold that k6 reports as crossed. */
export function crossedThresholds({ summary }: K6Outcome): string[] {
  return Object.entries(summary?.metrics ?? {}).flatMap(([metric, { thresholds = {} }]) =>
    Object.entries(thresholds).flatMap(([expression, { ok }]) => (ok ? [] : [`${metric} ${expression}`])),
  );
}

/** Returns the checks that answers failed, as k6 reports them. */
export function failedChecks({ summary }: K6Outcome): FailedCheck[] {
  return (summary?.root_group?.checks ?? []).filter(({ fails }) => fails > 0);
}

/** Returns the notes for a reader of the figures, for runs by either driver. */
export function accountNotes(account: LoadAccount, checks: readonly FailedCheck[]): string[] {
  const { failures, cutOff, lost } = account;
  const notes = checks.map(({ name, fails }) => `${counted(fails, "answer")} failed the check ${name}`);
  for (const [status, count] of failures) notes.push(`${counted(count, "answer")} had status ${status}`);
  if (cutOff > 0)
    notes.push(`${counted(cutOff, "client")} cut off before ${cutOff === 1 ? "its" : "their"} end`);
  if (lost > 0) notes.push(`up to ${counted(lost, "call")} may have been sent that the trace has no line of`);
  return notes;
}

/** Returns the notes of a run by k6 alone. */
export function k6Notes({ torn, printed }: LoadAccount, outcome: K6Outcome): string[] {
  const notes: string[] = [];
  if (torn > 0) notes.push(`${counted(torn, "line")} of k6's were cut off and left out`);
  const dropped = outcome.summary?.metrics["dropped_iterations"]?.values["count"] ?? 0;
  if (dropped > 0)
    notes.push(`${counted(dropped, "arrival")} found no free client: raise the population's maxVUs`);
  for (const line of outcome.complaints) notes.push(`k6 says: ${line}`);
  for (const line of printed) notes.push(`the scenario printed: ${line}`);
  return notes;
}
