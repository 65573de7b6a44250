// A clock of this process that runs faster than the real one, for waits of seconds between calls over a socket.
import type { Server } from "node:http";
import { syncBuiltinESMExports } from "node:module";
import promises from "node:timers/promises";
import { onTestFinished, vi } from "vitest";
// It keeps Node's own timers when it is loaded: those of this clock would stay in it.
import "../../src/runs/promised-timers.ts";

/** Real time between two steps of the clock, ms. */
const stepMs = 2;

/**
 * Lets time go on by so many ms in each turn of the event loop, until the test ends. What waits for the processor holds
 * the clock as well, so that a busy machine changes nothing.
 */
export function quickClock(msATurn: number): void {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"], now: Date.now() });
  const sleeping = vi.spyOn(promises, "setTimeout").mockImplementation(sleep);
  syncBuiltinESMExports();
  const turns = setInterval(() => void vi.advanceTimersByTime(msATurn), stepMs);
  onTestFinished(() => {
    clearInterval(turns);
    vi.useRealTimers();
    sleeping.mockRestore();
    syncBuiltinESMExports();
  });
}

/** Has a server tell the clock's time in its answers' `Date`, which is Node's own otherwise. */
export const tellsTime = (server: Pick<Server, "prependListener">): void =>
  void server.prependListener("request", (_request, response) => {
    response.setHeader("Date", new Date().toUTCString());
  });

/** Waits as Node's own does, by the timers of the moment. */
function sleep<T>(
  ms?: number,
  value?: T,
  { signal }: { readonly signal?: AbortSignal | undefined } = {},
): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve(value as T);
    }, ms);
    if (signal?.aborted === true) stop();
    else signal?.addEventListener("abort", stop, { once: true });
  });
}
