// Accusations, as they are made and as they are kept.
import type { Whose } from "../trace/whose.ts";
import type { ViolationFacts } from "./verdict.ts";

/** An accusation. `count` is the number of times that it was seen at once, default: 1. */
export type Accusation = Whose & AccusationFacts;

interface AccusationFacts extends Omit<ViolationFacts, "count"> {
  readonly count?: number;
  /** Name of the breach, by law, quota and window. Accusations with the same name are counted together. */
  readonly breach: string;
  /** Kind of the counts that came out too low: counts after a charge, or counts that were only shown. */
  readonly tooLow?: "charges" | "readings" | null;
}

export interface Accused {
  readonly violation: Whose & Omit<ViolationFacts, "count" | "suspects">;
  readonly tooLow: "charges" | "readings" | null;
  /** Name that accusations share if they differ only in caller and time. */
  readonly kind: string;
  count: number;
  /** Weight of the evidence for each fault. */
  readonly scores: Map<string, number>;
}
