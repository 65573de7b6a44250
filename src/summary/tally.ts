// The counters behind a set of figures: one tally for each population and each user. The whole run's tally is the
// sum of the populations' tallies.
import type { FigureName } from "../rules/figures.ts";
import type { Owner } from "../rules/rules.ts";
import type { Figures } from "./summary.ts";
import type { Waits } from "./waits.ts";

/**
 * Returns Jain's index, (sum x)^2 / (n x sum x^2): 1 if all amounts are equal, 1/n if one has everything.
 * `null` if all amounts are 0.
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

/** @typeParam W the form in which waits are kept */
export class Tally<W extends Waits<W>> {
  admitted = 0;
  refused = 0;
  refusedByOrganization = 0;
  refusedByUser = 0;
  unanswered = 0;
  jobs = 0;
  /** Number of retries of refused calls; each lowers `gaveUp` by one. */
  retriedRefusals = 0;
  statusCalls = 0;
  points = 0;
  /** Time of the last admission, ms from the run's start; negative if there was none. */
  finishedMs = -1;
  /** Number of windows that refused at least one of these calls. */
  windowsExhausted = 0;
  /** Number of calls sent within a second after a reset, and the refused ones among them. */
  afterReset = 0;
  refusedAfterReset = 0;
  readonly waits: W;

  /** @param waits an empty collection */
  constructor(waits: W) {
    this.waits = waits;
  }

  /**
   * Adds a call that was answered, and not refused.
   * @param atMs time of the answer, ms from the run's start
   * @param waitMs time since its job was wanted, ms
   */
  addAdmission(atMs: number, waitMs: number, points: number): void {
    this.admitted += 1;
    this.points += points;
    this.finishedMs = Math.max(this.finishedMs, atMs);
    this.waits.add(waitMs);
  }

  addRefusal(owner: Owner | null): void {
    this.refused += 1;
    if (owner === "organization") this.refusedByOrganization += 1;
    if (owner === "user") this.refusedByUser += 1;
  }

  /** Adds a call that was sent within a second after a reset. */
  addAfterReset(refused: boolean): void {
    this.afterReset += 1;
    if (refused) this.refusedAfterReset += 1;
  }

  /** Adds another tally, except `windowsExhausted`: one window may refuse calls of both. */
  merge(other: Tally<W>): void {
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
    this.waits.merge(other.waits);
  }

  /** @param admittedByUser the calls admitted for each user, for fairness */
  figures(admittedByUser: Iterable<number>): Figures {
    const [p50 = null, p95 = null, p99 = null, most = null] = this.waits.quantiles([0.5, 0.95, 0.99, 1]);
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
      waitP50Ms: p50,
      waitP95Ms: p95,
      waitP99Ms: p99,
      waitMaxMs: most,
      finishedMs: this.finishedMs < 0 ? null : this.finishedMs,
      windowsExhausted: this.windowsExhausted,
      refusedFirstSecondShare: this.afterReset === 0 ? null : this.refusedAfterReset / this.afterReset,
      fairness: jainIndex(admittedByUser),
    } satisfies Record<FigureName, number | null>;
  }
}
