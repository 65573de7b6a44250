// How far a check is; and the turns that signals and the terminal take meanwhile.
import { setImmediate } from "node:timers/promises";
import type { CheckProgress } from "../laws/check.ts";
import type { Terminal } from "./terminal.ts";

/** How long a check goes on without giving the event loop a turn, ms. */
const turnMs = 20;

/** For `CheckOptions.onProgress`, where the check runs in this thread. */
export function showCheckProgress(terminal: Terminal): (progress: CheckProgress) => Promise<void> {
  let lastMs = Date.now();
  return async (progress) => {
    if (Date.now() - lastMs < turnMs) return;
    lastMs = Date.now();
    sayCheckProgress(progress, terminal);
    await setImmediate();
  };
}

/** Shows how far a check is. */
export function sayCheckProgress(
  { law, run, runs, shrinking, done, laws }: CheckProgress,
  terminal: Terminal,
): void {
  const state = shrinking ? "making a counterexample smaller" : `run ${run} of ${runs}`;
  terminal.progress(`law ${done + 1} of ${laws}: ${law}, ${state}`);
}
