// Finds many people behind one name: calls of people who know nothing of each other overlap as often as by chance.
import { hourMs } from "./days.ts";
import type { RecordedJob } from "./jobs.ts";
import { SortedSample, sumOf } from "./statistics.ts";

/** Number of overlaps below which they show nothing. */
const overlapsLeast = 5;
/** Bounds of overlaps, as multiples of chance's number: a loop has none, and calls made at once have far more. */
const chanceLeast = 0.5;
const chanceMost = 4;

/** Least ratio of a long pause to the usual one. Steady loops overlap by chance, too, but have few long pauses. */
const muchLonger = 10;
const longLeast = 30;

/** Tells whether a caller's jobs come and go, and overlap as often as those of independent people. */
export function overlapByChance(jobs: readonly RecordedJob[], slackMs: number): boolean {
  const hours = new Map<number, { jobs: number; ms: number }>();
  const pausesMs: number[] = [];
  let [seen, lastMs] = [0, 0];
  for (const { startMs, first } of jobs) {
    if (lastMs > 0) pausesMs.push(Math.max(0, startMs - lastMs));
    if (startMs < lastMs - slackMs) seen += 1;
    lastMs = Math.max(lastMs, first.endMs);
    const hour = hours.get(Math.floor(startMs / hourMs)) ?? { jobs: 0, ms: 0 };
    hours.set(Math.floor(startMs / hourMs), hour);
    hour.jobs += 1;
    hour.ms += Math.max(0, first.endMs - startMs - slackMs);
  }
  if (seen < overlapsLeast) return false;
  const usual = sumOf([...hours.values()].map((hour) => ((hour.jobs - 1) * hour.ms) / hourMs));
  if (seen < chanceLeast * usual || seen > chanceMost * usual) return false;
  const pauses = new SortedSample(pausesMs);
  return pauses.sorted.filter((ms) => ms > muchLonger * pauses.median).length >= longLeast;
}
