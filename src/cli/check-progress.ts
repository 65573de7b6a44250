// Shows the progress of a check.
import { setImmediate } from "node:timers/promises";
import type { CheckProgress } from "../laws/check-options.ts";
import type { OverlapProgress } from "../laws/overlaps.ts";
import { inTurns } from "../runs/turns.ts";
import type { Terminal } from "./terminal.ts";

/** Returns a callback for `CheckOptions.onProgress`, for a check in this thread. */
export const showCheckProgress = (
  terminal: Terminal,
): ((progress: CheckProgress) => Promise<void> | undefined) =>
  inTurns(async (progress: CheckProgress) => {
    sayCheckProgress(progress, terminal);
    await setImmediate();
  });

/** Shows the progress of a check. */
export function sayCheckProgress(progress: CheckProgress, terminal: Terminal): void {
  const { law, done, laws } = progress;
  terminal.progress(`law ${done + 1} of ${laws}: ${law}, ${stateText(progress)}`);
}

/** Shows the progress of a check of overlapping calls. */
export const sayOverlapProgress = (progress: OverlapProgress, terminal: Terminal): void =>
  terminal.progress(`overlapping calls: ${stateText(progress)}`);

const stateText = ({ run, runs, shrinking }: OverlapProgress): string =>
  shrinking ? "making a counterexample smaller" : `run ${run} of ${runs}`;
