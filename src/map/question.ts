/** A part of a proposal that the answers do not settle. */
export interface MapQuestion {
  /** Its path in the policy. */
  readonly path: string;
  /** A sentence: what was seen, and what is assumed. */
  readonly seen: string;
  /** A sentence: how to find out. */
  readonly settle: string;
}
