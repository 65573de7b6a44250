// Promised timers by a clock, each with all that it leaves behind.
import { getEventListeners } from "node:events";
import { afterEach, expect, test } from "vitest";
import { type AfterClock, followClock, waitByClock } from "../../src/runs/promised-timers.ts";

/** Returns a clock that notes what it is asked, and its timers' work. */
function notingClock(): AfterClock & { readonly noted: string[]; readonly due: (() => void)[] } {
  const [noted, due]: [string[], (() => void)[]] = [[], []];
  return {
    noted,
    due,
    after(ms, run) {
      noted.push(`after ${ms}`);
      due.push(run);
      return () => void noted.push(`cancelled ${ms}`);
    },
  };
}

afterEach(() => void followClock(null));

test("a wait ends with the value when the clock says so, and listens to its signal no longer", async () => {
  const clock = notingClock();
  expect(followClock(clock)).toBeNull();
  const { signal } = new AbortController();
  const waits = [waitByClock(5, "value", { signal }), waitByClock(undefined, 7)];
  expect(getEventListeners(signal, "abort")).toHaveLength(1);
  for (const run of clock.due) run();
  expect(await Promise.all(waits)).toEqual(["value", 7]);
  expect(getEventListeners(signal, "abort")).toEqual([]);
  expect(clock.noted).toEqual(["after 5", "after undefined"]);
  expect(followClock(null)).toBe(clock);
});

test("a wait that is aborted cancels its timer, and rejects as the process's own does", async () => {
  const clock = notingClock();
  followClock(clock);
  const stop = new AbortController();
  const wait = waitByClock(5, "value", { signal: stop.signal });
  stop.abort(new Error("enough"));
  const rejection = { name: "AbortError", code: "ABORT_ERR", cause: { message: "enough" } };
  await expect(wait).rejects.toMatchObject(rejection);
  // A signal that is over already asks no clock.
  await expect(waitByClock(6, "value", { signal: stop.signal })).rejects.toMatchObject(rejection);
  expect(clock.noted).toEqual(["after 5", "cancelled 5"]);
  expect(getEventListeners(stop.signal, "abort")).toEqual([]);
});

test("without a clock a wait is the process's own", async () => {
  expect(await waitByClock(0, "value")).toBe("value");
});
