import type { LawName } from "../rules/laws.ts";
import type { Owner, Scope } from "../rules/rules.ts";
import type { Suspect } from "./suspects.ts";

/** Details that a law's breach in one answer is accused with. */
export interface AnswerBreach {
  readonly law: LawName;
  readonly owner: Owner;
  readonly scope: Scope;
  /** Answers whose breaches are the same are counted together. */
  readonly breach: string;
  readonly suspects: readonly Suspect[];
  readonly explanation: string;
}
