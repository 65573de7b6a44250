// Calls that begin at their caller's clock, as cron starts a job: they come at their time, even if the job before was held
// up. All others follow the answers to earlier calls.
import { clockedStarts } from "../fit/clocked-starts.ts";
import type { ReplayCallers } from "./callers.ts";
import { byUser, type ReplayCalls } from "./calls.ts";
import { recordedUser } from "./recorded-user.ts";

/**
 * Marks the calls that keep to their caller's clock: 1, or else 0.
 * @param untold users whose refused calls are left out: their limits may have set the clock that the others show
 */
export function clockedCalls(
  calls: ReplayCalls,
  callers: ReplayCallers,
  untold: ReadonlySet<number>,
): Uint8Array {
  const marks = new Uint8Array(calls.count);
  for (const own of byUser(calls)) {
    const [first] = own;
    if (first === undefined || untold.has(calls.user[first] as number)) continue;
    const { caller, resolutionMs } = recordedUser(own, calls, callers);
    const starts = new Set(clockedStarts(caller, resolutionMs));
    for (const call of own) marks[call] = Number(starts.has(calls.atMs[call] as number));
  }
  return marks;
}
