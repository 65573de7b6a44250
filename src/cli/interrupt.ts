// Ctrl-C: the first one asks a command to end and keep what it has, a second one ends the process.

/** Exit status of a command that was interrupted. */
export const INTERRUPTED = 130;

/** A signal that aborts on SIGINT or SIGTERM; call `release` when the command is over. */
export function onInterrupt(): { readonly signal: AbortSignal; release(): void } {
  const controller = new AbortController();
  const stop = (): void => {
    if (controller.signal.aborted) process.exit(INTERRUPTED);
    controller.abort();
  };
  process.on("SIGINT", stop);
  process.on("SIGTERM", stop);
  return {
    signal: controller.signal,
    release() {
      process.off("SIGINT", stop);
      process.off("SIGTERM", stop);
    },
  };
}
