// Lists that a few workers of one caller read: all begin together, and each takes the next call as soon as one was
// answered. Each list is an event that wakes these workers.
import type { RecordedJob } from "./jobs.ts";
import type { OwnWakes, Profile } from "./profile.ts";
import type { Recording } from "./recording.ts";
import { begunTogether, mostOpen, spellsOf } from "./runs.ts";
import { SortedSample, sumOf } from "./statistics.ts";

/** Least number of lists, and least share of the caller's calls that are of lists. */
const listsLeast = 10;
const callsLeast = 0.5;
/** Least rounds of a list that shows its workers, and most calls open at once for each, as retries make calls overlap. */
const roundsLeast = 2;
const openMost = 2;
/** Largest share of the time in which lists are read. */
const busyMost = 0.2;

/** Takes the lists of a caller whose calls overlap apart; `null` unless most of its calls are of lists. */
export function listsOf(
  { jobs, pace }: Profile,
  { startedAtMs, endedAtMs }: Recording,
  group: number,
): { readonly wakes: OwnWakes; readonly rest: readonly RecordedJob[] } | null {
  if (pace.kind !== "chance" && pace.kind !== "volleys") return null;
  let from = 0;
  const spells = spellsOf(jobs).map((spell) => {
    const own = jobs.slice(from, from + spell.jobs);
    from += spell.jobs;
    const workers = begunTogether(own);
    const open = mostOpen(own);
    const isLong = own.length > roundsLeast * open;
    return { ...spell, own, workers, isList: workers > 1 && isLong && open <= openMost * workers };
  });
  const lists = spells.filter(({ isList }) => isList);
  const callsIn = (some: typeof spells): number => sumOf(some.map(({ own }) => own.length));
  if (lists.length < listsLeast || callsIn(lists) < callsLeast * jobs.length) return null;
  if (sumOf(lists.map(({ startMs, endMs }) => endMs - startMs)) > busyMost * (endedAtMs - startedAtMs))
    return null;
  // Short lists are over before they show how many workers there are.
  const usual = new SortedSample(lists.map(({ workers }) => workers)).median;
  const read = spells.filter(({ isList, workers }) => isList || workers >= usual);
  const taken = new Set(read.flatMap(({ own }) => own));
  const sessions = read.map(({ startMs, own }) => ({ eventMs: startMs, jobs: own }));
  const eventsMs = sessions.map(({ eventMs }) => eventMs);
  return {
    wakes: { group, byUser: true, clock: null, eventsMs, lastsMs: null, sessions },
    rest: jobs.filter((job) => !taken.has(job)),
  };
}
