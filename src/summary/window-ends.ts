// Finds the window that an answer shows. A call sent at s is answered at e with a reset of R seconds, rounded up: the
// window ends in (s + R - 1 s, e + R] on the client's clock. Readings whose spans overlap show one window, and their
// intersection narrows its end. Figures and pictures use this; the judge has its own reading.

/** One window, whose end lies in `[earliestEnd, latestEnd]`, ms since the epoch. */
export interface WindowEnd {
  /** The window's length, ms; `null` if unknown. */
  readonly windowMs: number | null;
  earliestEnd: number;
  latestEnd: number;
}

/** Most by which lines of a trace may be out of order, ms (FORMAT.md). */
export const disorderMs = 120_000;
/** Largest gap between readings of one window, ms: unknown rounding and drifting clocks cause smaller gaps. */
export const slackMs = 500;

/**
 * Returns the window that a reading's span shows, narrowed by the span; `undefined` if the window is new.
 * @param windows the known windows of the reading's owner
 */
export function narrowed<W extends WindowEnd>(
  windows: readonly W[],
  earliest: number,
  latest: number,
): W | undefined {
  let best: W | undefined;
  let mostOverlap = -slackMs;
  for (let index = 0; index < windows.length; index++) {
    const window = windows[index] as W;
    const overlap = Math.min(latest, window.latestEnd) - Math.max(earliest, window.earliestEnd);
    if (overlap < mostOverlap) continue;
    mostOverlap = overlap;
    best = window;
  }
  if (best !== undefined && mostOverlap >= 0) {
    best.earliestEnd = Math.max(best.earliestEnd, earliest);
    best.latestEnd = Math.min(best.latestEnd, latest);
  }
  return best;
}

/** Removes and returns the first window if no later line can show it. */
export function takeOver<W extends WindowEnd>(windows: W[], receivedMs: number): W | undefined {
  const first = windows[0];
  return first !== undefined && first.latestEnd < receivedMs - disorderMs ? windows.shift() : undefined;
}

/**
 * Returns the likeliest end of a window in its span. A multiple of its length (as under `epoch`) comes first, then a
 * whole second (as under either anchor, SPEC.md §3), then the middle.
 */
export function endOf({ windowMs, earliestEnd, latestEnd }: WindowEnd): number {
  const multiple = (step: number): number => Math.floor(latestEnd / step) * step;
  if (windowMs !== null && multiple(windowMs) >= earliestEnd) return multiple(windowMs);
  const middle = Math.round((earliestEnd + latestEnd) / 2);
  const second = Math.round(middle / 1000) * 1000;
  return second >= earliestEnd && second <= latestEnd ? second : middle;
}

/** Tells whether an instant is a window's end, or less than a second later. */
export const isJustAfter = (endsAt: number, atMs: number): boolean => endsAt <= atMs && atMs < endsAt + 1000;

/** Tells whether one of an owner's windows ended at this instant, or less than a second before. */
export const endedJustBefore = (windows: readonly WindowEnd[], atMs: number): boolean =>
  windows.some((window) => isJustAfter(endOf(window), atMs));
