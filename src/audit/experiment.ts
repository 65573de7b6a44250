// An experiment of the audit as data: its name, its law, and a generator of steps that ends in a finding. It has no
// clock and no socket: it says which calls to make and when, and gets their answers.
import type { LimiterLawName } from "../rules/laws.ts";
import type { Lab } from "./lab.ts";
import type { Answer, AuditFinding, ExperimentSteps, Subject } from "./step.ts";

export interface Experiment {
  readonly name: string;
  readonly law: LimiterLawName;
  /** Section of the rules. */
  readonly section: string;
  /** The promise in one sentence. */
  readonly promise: string;
  /** Needs beside a subject, in words. */
  readonly needs: string;
  /** Calls that one run makes, at most, where the limits do not say it. */
  readonly calls: number;
  /** Windows that it empties, and that it waits for to end. Default: 0. */
  readonly empties?: number;
  readonly waits?: number;
  /** True if it disturbs, or is disturbed by, calls of anybody: it runs alone. */
  readonly isLone?: boolean;
  /** True if others of its kind may run beside it, by callers of their own: its verdict bears calls of other callers. */
  readonly isGentle?: boolean;
  /** Returns why it cannot be made with this subject; `null` where it can. */
  lacks(lab: Lab, subject: Subject): string | null;
  run(lab: Lab, subject: Subject): ExperimentSteps<AuditFinding>;
  /** Judges all answers of the audit, once it is over. */
  judge?(lab: Lab, answers: readonly Answer[]): AuditFinding;
}
