// Several behaviours that one caller does in turn: while a call waits for its answer or a retry, the others make none.
// Calls that almost never overlap, though by chance they often would, show this.
import type { FittedLoop, FittedPart, FittedRun } from "./model.ts";
import { type Profile, slackOf } from "./profile.ts";
import type { Recording } from "./recording.ts";
import { flatOf } from "./statistics.ts";

/** Least number of overlaps expected by chance, and most of their share that was seen, for parts in turn. */
const meetingsLeast = 5;
const seenMost = 0.25;

/** Tells whether similar callers do their parts in turn. */
export function areInTurn(
  profiles: readonly Profile[],
  parts: readonly FittedPart[],
  recording: Recording,
): boolean {
  if (
    parts.length < 2 ||
    !parts.every(({ behaviour }) => isSingle("of" in behaviour ? behaviour.of : behaviour))
  )
    return false;
  const slackMs = slackOf(recording);
  const spanMs = Math.max(1, recording.endedAtMs - recording.startedAtMs);
  let [usual, seen] = [0, 0];
  for (const profile of profiles) {
    const met = meetingsOf(profile, slackMs, spanMs);
    usual += met.usual;
    seen += met.seen;
  }
  return usual >= meetingsLeast && seen <= seenMost * usual;
}

/** Tells whether a behaviour makes one call at a time. */
function isSingle(loop: FittedLoop | FittedRun): boolean {
  if (loop.kind === "poller") return true;
  if (loop.kind !== "worker" || loop.atOnce !== null) return false;
  return loop.think.kind !== "paces" || loop.think.paces.every(({ atOnce }) => atOnce === null);
}

/** Counts jobs that begin while another part's job is open: as expected by chance, and as seen. */
function meetingsOf(
  { apart, jobs, retries, guess }: Profile,
  slackMs: number,
  spanMs: number,
): { readonly usual: number; readonly seen: number } {
  if (apart === null) return { usual: 0, seen: 0 };
  const { timetables, wakes, rest } = apart;
  const parts = [
    ...timetables.map((clocked) => clocked.jobs),
    ...wakes.map(({ sessions }) => flatOf(sessions.map((session) => session.jobs))),
    rest?.jobs ?? [],
  ];
  const perMs = jobs.length / spanMs;
  let usual = 0;
  // A retry outside the policy's spans may be a call of another part.
  let seen = (1 - (guess?.explained ?? 1)) * retries.length;
  const all = flatOf(
    parts.map((own, part) => own.map(({ startMs, endMs }) => ({ startMs, endMs, part }))),
  ).sort((a, b) => a.startMs - b.startMs);
  const ends = parts.map(() => Number.NEGATIVE_INFINITY);
  for (const { startMs, endMs, part } of all) {
    const others = perMs * (1 - (parts[part] as readonly unknown[]).length / jobs.length);
    usual += Math.max(0, endMs - startMs - slackMs) * others;
    if (ends.some((end, other) => other !== part && startMs < end - slackMs)) seen += 1;
    ends[part] = Math.max(ends[part] as number, endMs);
  }
  return { usual, seen };
}
