// A client's own clock face: instants a fixed span apart, from its start on.

/**
 * The first tick that is due at `nowMs` or later, and later than the one that was last taken: a client that
 * was kept waiting skips the ticks it missed.
 * @param lastMs a tick
 */
export function nextTick(lastMs: number, everyMs: number, nowMs: number): number {
  const passed = Math.ceil((nowMs - lastMs) / everyMs);
  return lastMs + everyMs * Math.max(1, passed);
}
