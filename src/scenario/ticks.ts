// A client's ticks: instants a fixed span apart, from its start on.

/**
 * Returns the first tick at `nowMs` or later that is also later than `lastMs`. A client that was kept waiting misses
 * the ticks before it.
 * @param lastMs the tick that the client took last
 */
export function nextTick(lastMs: number, everyMs: number, nowMs: number): number {
  const passed = Math.ceil((nowMs - lastMs) / everyMs);
  return lastMs + everyMs * Math.max(1, passed);
}
