/** A part of a proposal that the answers do not settle. */
export interface MapQuestion {
  /** Its path in the policy. */
  readonly path: string;
  /** Sentence on what was seen, and what is assumed. */
  readonly seen: string;
  /** Sentence on how to find out. */
  readonly settle: string;
}
