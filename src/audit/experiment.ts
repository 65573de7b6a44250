// An experiment of the audit as data: its name, its law, and a generator of steps that ends in a finding. It has no
// clock and no socket: it says which calls to make and when, and receives their answers.
import type { LimiterLawName } from "../rules/laws.ts";
import type { Lab } from "./lab.ts";
import type { Answer, AuditFinding, ExperimentSteps, Subject } from "./step.ts";

export interface Experiment {
  readonly name: string;
  readonly law: LimiterLawName;
  /** Section of the document that states the law. */
  readonly section: string;
  /** The promise in one sentence. */
  readonly promise: string;
  /** Needs besides a subject, in words. */
  readonly needs: string;
  /** Most calls of one run, unless the limits determine it. */
  readonly calls: number;
  /** Number of windows that it empties, and of windows whose end it waits for. Default: 0. */
  readonly empties?: number;
  readonly waits?: number;
  /** True if it runs alone, because anybody's calls disturb it or are disturbed by it. */
  readonly isLone?: boolean;
  /** True if others of its kind may run beside it with other callers, whose calls do not affect its verdict. */
  readonly isGentle?: boolean;
  /** Returns why this subject does not allow the experiment; `null` if it does. */
  lacks(lab: Lab, subject: Subject): string | null;
  run(lab: Lab, subject: Subject): ExperimentSteps<AuditFinding>;
  /** Judges all answers of the audit at its end. */
  judge?(lab: Lab, answers: readonly Answer[]): AuditFinding;
}
