// One run of a plan: its changes to the scenario, its trigger, its seed, and its counts. Jobs are plain data, so that
// they can be done in other threads and kept in files.
import { drawsOf, next32 } from "../scenario/random.ts";
import type { Change } from "./paths.ts";
import type { Trigger } from "./trigger.ts";

/** A scenario with changes. All replications of it are one point. */
export interface Variant {
  readonly changes: readonly Change[];
  /** Trouble for a while; `null` for none. */
  readonly trigger: Trigger | null;
  /** Length of the windows to count by, ms, in place of figures; `null` for figures. */
  readonly windowMs: number | null;
}

/** One replication of a variant. */
export interface PlanJob {
  readonly variant: Variant;
  readonly replication: number;
}

/** Calls sent in each whole window of a run, and those of them that were refused or not answered. */
export type CountsByWindow = readonly (readonly [calls: number, bad: number])[];

/** Outcome of a job. Plain JSON. */
export interface JobOutcome {
  /** The plan's figures in their order; `null` if there was nothing to measure. Empty for a job by windows. */
  readonly figures: readonly (number | null)[];
  /** `null` for figures. */
  readonly windows: CountsByWindow | null;
}

/** Returns a job's name, which depends on the run alone. */
export function jobKey({ variant: { changes, trigger, windowMs }, replication }: PlanJob): string {
  const words = changes.map(({ path, value }) => `${path}=${value}`);
  if (trigger !== null) words.push(`${trigger.kind}@${trigger.atMs}=${trigger.size}`);
  if (windowMs !== null) words.push(`windows=${windowMs}`);
  return `${words.join(" ")}#${replication}`;
}

/**
 * Returns the seed of a replication. The first has the plan's own, so that `simulate` repeats it; the others are
 * independent draws. A replication has the same seed at every point (common random numbers).
 */
export function replicationSeed(seed: number, replication: number): number {
  if (replication === 0) return seed;
  // Clients' streams are their populations' places; this one is no population's.
  const state = drawsOf(seed, 0x7fff_ffff, replication);
  return (next32(state) >>> 11) * 4_294_967_296 + next32(state);
}
