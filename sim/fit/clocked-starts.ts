// Starts that a clock set: ticks of a poller or of a job, or the minutes of a line of cron.
import { isSteady, plainProfile, slackOf } from "./profile.ts";
import type { RecordedCaller, Recording } from "./recording.ts";
import { timetablesOf } from "./timetables.ts";

/** Returns the instants at which a caller's clock began calls, ms since the epoch; refused calls count as others do. */
export function clockedStarts(
  caller: RecordedCaller,
  watched: Pick<Recording, "startedAtMs" | "endedAtMs">,
  resolutionMs: number,
): readonly number[] {
  const profile = plainProfile(caller, slackOf({ resolutionMs }));
  if (profile.pace.kind === "ticks") return profile.runs.map(({ startMs }) => startMs);
  if (isSteady(profile)) return [];
  return timetablesOf(profile, watched).timetables.flatMap(({ startsMs }) => startsMs);
}
