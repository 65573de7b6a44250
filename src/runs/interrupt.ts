// Ctrl-C: the first one asks a command to end and keep what it has, a second one ends the process.

/** Exit status of a command that was interrupted. */
export const INTERRUPTED = 130;

/** Ctrl-C, `kill`, and a terminal that is closed. */
const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** A signal that aborts on any of these; call `release` when the command is over. */
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
 * Ends the process as the signal does by itself. `process.exit` would wait for threads in native code, and for reads
 * that are blocked: for ever.
 */
function endBy(signal: NodeJS.Signals): void {
  // Programs that were started are ended by those who started them.
  process.emit("exit", INTERRUPTED);
  if (process.platform === "win32") process.exit(INTERRUPTED);
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
}

let isStuck = false;

/** Says that something runs on which nothing can end but the end of the process. */
export function noteStuck(): void {
  isStuck = true;
}

/** To be called once all is said and done. */
export function endIfStuck(): void {
  if (isStuck) endBy("SIGINT");
}
