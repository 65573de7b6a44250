import type { LawName } from "../rules/laws.ts";
import type { Whose } from "../trace/whose.ts";
import type { Docket } from "./docket.ts";
import type { Suspect } from "./suspects.ts";

export interface AnswerBreach {
  readonly law: LawName;
  /** Name of the breach. Breaches of the same name are counted together. */
  readonly breach: string;
  readonly suspects: readonly Suspect[];
  readonly explanation: string;
}

/** Accuses the quota whose window one answer shows. */
export function accuseAnswer(docket: Docket, line: number, whose: Whose, breach: AnswerBreach): void {
  const explanation = `line ${line} ${breach.explanation}`;
  docket.accuse({ ...breach, ...whose, window: null, lines: [line], explanation });
}
