// Ctrl-C in a verb: the first one asks it to end.
import { SpillwayError } from "../rules/errors.ts";
import { INTERRUPTED, onInterrupt } from "../runs/interrupt.ts";
import type { Terminal } from "./terminal.ts";

/**
 * Does a verb's work under a signal that Ctrl-C aborts.
 * @param said words on work that threw because it was interrupted. Without them, what it threw is thrown
 * @param isCut true if input that ends where it was interrupted looks like a user's mistake
 */
export async function untilInterrupted(
  terminal: Pick<Terminal, "progress" | "say">,
  work: (signal: AbortSignal) => Promise<void>,
  said?: string,
  isCut = false,
): Promise<void> {
  const { signal, release } = onInterrupt();
  try {
    await work(signal);
  } catch (error) {
    if (!signal.aborted || said === undefined || (error instanceof SpillwayError && !isCut)) throw error;
    terminal.progress(null);
    terminal.say(said);
    process.exitCode = INTERRUPTED;
  } finally {
    terminal.progress(null);
    release();
  }
}
