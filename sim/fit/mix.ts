// The kinds of calls that a population makes, and how often each comes.
import type { Cluster } from "./clusters.ts";
import { isRefused, type RecordedJob } from "./jobs.ts";
import type { FittedCall } from "./model.ts";
import type { Profile } from "./profile.ts";
import { addTo, sumOf } from "./statistics.ts";

/** Greatest number of a population's kinds of calls; rarer kinds are left unexplained. */
const kindsMost = 6;
const rareShare = 0.005;

/** Returns the kinds of calls that the population makes, and the number of calls of other kinds. */
export function mixOf(cluster: Cluster, single: boolean): { mix: FittedCall[]; unexplained: number } {
  const ranked = [...cluster.mix].sort(([, a], [, b]) => b - a);
  const kept = ranked
    .slice(0, single ? 1 : kindsMost)
    .filter(([, jobs], index) => index === 0 || jobs >= rareShare * cluster.jobs);
  const keys = new Set(kept.map(([key]) => key));
  const total = sumOf(kept.map(([, jobs]) => jobs));
  const parts = weightsOf(
    kept.map(([, jobs]) => jobs / total),
    total,
  );
  const charged = new Map<string, { sum: number; count: number; job: RecordedJob }>();
  let unexplained = 0;
  for (const { jobs } of cluster.profiles)
    for (const job of jobs) {
      if (!keys.has(job.key)) unexplained += job.attempts;
      const known = charged.get(job.key) ?? { sum: 0, count: 0, job };
      charged.set(job.key, known);
      if (isRefused(job.last)) continue;
      known.sum += job.last.kind.actual;
      known.count += 1;
    }
  const mix = kept.flatMap(([key], index) => {
    const seen = charged.get(key);
    if (seen === undefined) return [];
    const { operation, asked, free, cost } = seen.job.first.kind;
    const actual = seen.count === 0 ? cost : Math.min(cost, Math.round(seen.sum / seen.count));
    return [{ operation, asked, free, cost, actual, weight: parts[index] as number }];
  });
  return { mix, unexplained };
}

/** Returns the mix of calls of all these callers together. */
export function mixOfAll(profiles: readonly Profile[]): FittedCall[] {
  const mix = new Map<string, number>();
  for (const profile of profiles) for (const [key, count] of profile.mix) addTo(mix, key, count);
  const jobs = sumOf(profiles.map((profile) => profile.jobs.length));
  return mixOf({ profiles: [...profiles], mixture: false, mix, jobs }, false).mix;
}

/** Returns the smallest whole weights that are as close to the shares as these are known. */
function weightsOf(shares: readonly number[], jobs: number): number[] {
  for (let total = shares.length; total <= 100; total++) {
    const weights = shares.map((share) => Math.round(share * total));
    const sum = sumOf(weights);
    const fits = weights.every((weight, index) => {
      const share = shares[index] as number;
      return weight >= 1 && Math.abs(weight / sum - share) <= Math.sqrt((share * (1 - share)) / jobs) + 0.002;
    });
    if (fits) return weights;
  }
  return shares.map((share) => Math.round(share * 1000));
}
