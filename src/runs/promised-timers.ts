// Lets `node:timers/promises` and promisified timers follow a virtual clock. A module keeps the functions that it
// imported, so that they cannot be exchanged for each of a limiter's calls, as globals can: they are replaced once, and
// ask which clock runs.
import { syncBuiltinESMExports } from "node:module";
import promised from "node:timers/promises";

/** A clock that runs code after a time. @returns a function that cancels it */
export interface AfterClock {
  after(ms: number | undefined, run: () => void): () => void;
}

interface Aborting {
  readonly signal?: AbortSignal | undefined;
}

const { setTimeout: wait, setInterval: ticks } = promised;

/** The process's own timers, even while a clock's are in their place. */
export const ownTimers = { setTimeout, clearTimeout };

/** Clock under which code runs; `null` between a limiter's calls. */
let running: AfterClock | null = null;

/** Sets the clock that promised timers follow; `null` for the process's. Returns the one before. */
export function followClock(clock: AfterClock | null): AfterClock | null {
  const before = running;
  running = clock;
  return before;
}

/** `setTimeout` of `node:timers/promises`, by the clock that runs. */
export function waitByClock<T>(ms?: number, value?: T, options: Aborting = {}): Promise<T | undefined> {
  const clock = running;
  const { signal } = options;
  // The process's own rejects at once if it is aborted.
  if (clock === null || signal?.aborted === true) return wait(ms, value, options);
  return new Promise((resolve, reject) => {
    const cancel = clock.after(ms, () => {
      signal?.removeEventListener("abort", onAbort);
      resolve(value);
    });
    const onAbort = (): void => {
      cancel();
      wait(ms, value, options).catch(reject);
    };
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}

async function* ticksByClock<T>(
  ms?: number,
  value?: T,
  options: Aborting = {},
): AsyncGenerator<T | undefined> {
  if (running === null) return yield* ticks(ms, value, options);
  for (;;) yield await waitByClock(ms, value, options);
}

/** Replaces the promised timers, for modules that are loaded already, too. */
export function replacePromisedTimers(): void {
  if ((promised.setTimeout as unknown) === waitByClock) return;
  Object.assign(promised, { setTimeout: waitByClock, setInterval: ticksByClock });
  Object.assign(promised.scheduler, {
    wait: (ms: number, options?: Aborting) => waitByClock(ms, undefined, options),
  });
  syncBuiltinESMExports();
}
