// Figures of a simulated world, whoever simulates it.

export interface WorldCount {
  readonly events: number;
  readonly calls: number;
  readonly refused: number;
  /** Time that it took, ms; what is built before the first event left out. */
  readonly ms: number;
}
