// Ctrl-C: the first one asks a command to end and keep its results, a second one ends the process.

/** Exit status of a command that was interrupted. */
export const INTERRUPTED = 130;

/** Signals of Ctrl-C, of `kill`, and of a terminal that is closed. */
const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Returns a signal that aborts on any of these; call `release` when the command is over. */
export function onInterrupt(): { readonly signal: AbortSignal; release(): void } {
  const controller = new AbortController();
  const stop = (signal: NodeJS.Signals): void => {
    if (controller.signal.aborted) endBy(signal);
    controller.abort();
  };
  for (const signal of signals) process.on(signal, stop);
  return {
    signal: controller.signal,
    release() {
      for (const signal of signals) process.off(signal, stop);
    },
  };
}

/**
 * Ends the process as the signal does by itself. `process.exit` would wait, perhaps for ever, for threads in native
 * code and for blocked reads.
 */
function endBy(signal: NodeJS.Signals): void {
  // Programs that were started are ended by those who started them.
  process.emit("exit", INTERRUPTED);
  if (process.platform === "win32") process.exit(INTERRUPTED);
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
}

let isStuck = false;

/** Notes that something runs that only the end of the process can end. */
export function noteStuck(): void {
  isStuck = true;
}

/** Ends the process if something is stuck. Call it as the last step. */
export function endIfStuck(): void {
  if (isStuck) endBy("SIGINT");
}
