// The counters behind a set of figures: one tally for each population and user; the whole run is the
// populations' sum. Waits are kept one by one (8 bytes a job), so percentiles are exact.
import type { FigureName } from "../rules/figures.ts";
import type { Owner } from "../rules/rules.ts";
import type { Figures } from "./summary.ts";

/** The value of rank `ceil(share x n)` of sorted values (nearest rank); `null` of none. */
export function quantile(sorted: Float64Array, share: number): number | null {
  // 0.07 x 100 is 7.000000000000001 in floating point, and its rank is 7.
  const rank = Math.max(1, Math.ceil(share * sorted.length - 1e-9));
  return sorted[rank - 1] ?? null;
}

/**
 * Jain's index, (sum x)^2 / (n x sum x^2): 1 when all have the same, 1/n when one has everything.
 * `null` where nobody has anything.
 */
function jainIndex(amounts: Iterable<number>): number | null {
  let n = 0;
  let sum = 0;
  let squares = 0;
  for (const amount of amounts) {
    n += 1;
    sum += amount;
    squares += amount * amount;
  }
  return squares === 0 ? null : (sum * sum) / (n * squares);
}

export class Tally {
  admitted = 0;
  refused = 0;
  refusedByOrganization = 0;
  refusedByUser = 0;
  unanswered = 0;
  jobs = 0;
  /** Retries of refused calls: each takes back one `gaveUp`. */
  retriedRefusals = 0;
  statusCalls = 0;
  points = 0;
  /** The last answer that was not a refusal, ms from the run's start; below 0 where there was none. */
  finishedMs = -1;
  /** Windows that refused one of these calls. */
  windowsExhausted = 0;
  /** Calls sent within a second after a reset, and the refused ones among them. */
  afterReset = 0;
  refusedAfterReset = 0;
  readonly waitsMs: number[] = [];

  addRefusal(owner: Owner | null): void {
    this.refused += 1;
    if (owner === "organization") this.refusedByOrganization += 1;
    if (owner === "user") this.refusedByUser += 1;
  }

  /** A call that was sent within a second after a reset. */
  addAfterReset(refused: boolean): void {
    this.afterReset += 1;
    if (refused) this.refusedAfterReset += 1;
  }

  /** Adds what another tally counted; but for `windowsExhausted`: one window may refuse calls of both. */
  merge(other: Tally): void {
    this.admitted += other.admitted;
    this.refused += other.refused;
    this.refusedByOrganization += other.refusedByOrganization;
    this.refusedByUser += other.refusedByUser;
    this.unanswered += other.unanswered;
    this.jobs += other.jobs;
    this.retriedRefusals += other.retriedRefusals;
    this.statusCalls += other.statusCalls;
    this.points += other.points;
    this.finishedMs = Math.max(this.finishedMs, other.finishedMs);
    this.afterReset += other.afterReset;
    this.refusedAfterReset += other.refusedAfterReset;
    for (const waitMs of other.waitsMs) this.waitsMs.push(waitMs);
  }

  sortedWaits(): Float64Array {
    return Float64Array.from(this.waitsMs).sort();
  }

  /** @param admittedByUser the calls admitted for each user, for fairness */
  figures(admittedByUser: Iterable<number>, sortedWaits = this.sortedWaits()): Figures {
    const answered = this.admitted + this.refused;
    return {
      calls: answered + this.unanswered,
      admitted: this.admitted,
      refused: this.refused,
      refusedShare: answered === 0 ? null : this.refused / answered,
      refusedByOrganization: this.refusedByOrganization,
      refusedByUser: this.refusedByUser,
      unanswered: this.unanswered,
      jobs: this.jobs,
      gaveUp: Math.max(0, this.refused - this.retriedRefusals),
      statusCalls: this.statusCalls,
      points: this.points,
      waitP50Ms: quantile(sortedWaits, 0.5),
      waitP95Ms: quantile(sortedWaits, 0.95),
      waitP99Ms: quantile(sortedWaits, 0.99),
      waitMaxMs: quantile(sortedWaits, 1),
      finishedMs: this.finishedMs < 0 ? null : this.finishedMs,
      windowsExhausted: this.windowsExhausted,
      refusedFirstSecondShare: this.afterReset === 0 ? null : this.refusedAfterReset / this.afterReset,
      fairness: jainIndex(admittedByUser),
    } satisfies Record<FigureName, number | null>;
  }
}
