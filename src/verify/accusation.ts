// Accusations, as they are made and as they are kept.
import type { Whose } from "../trace/whose.ts";
import type { ViolationFacts } from "./verdict.ts";

/** An accusation; `count` is how many times this was seen at once, 1 where it is left out. */
export type Accusation = Whose & AccusationFacts;

interface AccusationFacts extends Omit<ViolationFacts, "count"> {
  readonly count?: number;
  /** Name of the breach, by law, quota and window. Accusations with the same name are counted together. */
  readonly breach: string;
  /** Kind of the counts that came out too low: of what was charged, or only of what was shown. */
  readonly tooLow?: "charges" | "readings" | null;
}

export interface Accused {
  readonly violation: Whose & Omit<ViolationFacts, "count" | "suspects">;
  readonly tooLow: "charges" | "readings" | null;
  /** Accusations that differ only in whom and when have the same. */
  readonly kind: string;
  count: number;
  /** Weight of the evidence for each fault. */
  readonly scores: Map<string, number>;
}
