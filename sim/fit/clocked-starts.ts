// Starts that a clock set: ticks of a poller or of a job, or the minutes of a line of cron.
import { isSteady, plainProfile, slackOf } from "./profile.ts";
import type { RecordedCaller } from "./recording.ts";
import { timetablesOf } from "./timetables.ts";

/** Returns the instants at which a caller's clock began calls, ms since the epoch; refused calls count as others do. */
export function clockedStarts(caller: RecordedCaller, resolutionMs: number): readonly number[] {
  const profile = plainProfile(caller, slackOf({ resolutionMs }));
  if (profile.pace.kind === "ticks") return profile.runs.map(({ startMs }) => startMs);
  if (isSteady(profile)) return [];
  // A caller may come late or leave early.
  const watched = { startedAtMs: caller.calls[0]?.atMs ?? 0, endedAtMs: caller.calls.at(-1)?.endMs ?? 0 };
  return timetablesOf(profile, watched).timetables.flatMap(({ startsMs }) => startsMs);
}
