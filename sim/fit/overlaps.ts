// Calls of one name that overlap: those of people who know nothing of each other do so as often as chance has it.
import { hourMs } from "./days.ts";
import type { RecordedJob } from "./jobs.ts";
import { SortedSample } from "./statistics.ts";

/** Fewer overlaps tell nothing. */
const overlapsLeast = 5;
/** Overlaps beside those of chance: a loop has none, calls that are made at once have far more. */
const chanceLeast = 0.5;
const chanceMost = 4;

/** Loops that go on all the time overlap by chance, too, but leave few pauses so many times as long as the usual one. */
const muchLonger = 10;
const longLeast = 30;

/** Tells whether a caller's jobs come and go, and overlap as often as those of people who know nothing of each other. */
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
  const usual = [...hours.values()].reduce((sum, hour) => sum + ((hour.jobs - 1) * hour.ms) / hourMs, 0);
  if (seen < chanceLeast * usual || seen > chanceMost * usual) return false;
  const pauses = new SortedSample(pausesMs);
  return pauses.sorted.filter((ms) => ms > muchLonger * pauses.median).length >= longLeast;
}
