// Ctrl-C in a verb: the first one asks the verb to end.
import { SpillwayError } from "../rules/errors.ts";
import { INTERRUPTED, onInterrupt } from "../runs/interrupt.ts";
import type { Terminal } from "./terminal.ts";

/**
 * Does a verb's work under a signal that Ctrl-C aborts.
 * @param said words to say if interrupted work throws; without them, the error is thrown on
 * @param isCut true if interrupted input looks like a user's mistake
 * @returns the work's result; `null` if the words were said
 */
export async function untilInterrupted<T>(
  terminal: Pick<Terminal, "say">,
  work: (signal: AbortSignal) => Promise<T>,
  said?: string,
  isCut = false,
): Promise<T | null> {
  const { signal, release } = onInterrupt();
  try {
    return await work(signal);
  } catch (error) {
    if (!signal.aborted || said === undefined || (error instanceof SpillwayError && !isCut)) throw error;
    terminal.say(said);
    process.exitCode = INTERRUPTED;
    return null;
  } finally {
    release();
  }
}
