// Handles of timers under a virtual clock: what limiters do with them, and timers of odd lengths.
import { expect, test } from "vitest";
import { VirtualClock } from "../../src/runs/virtual-clock.ts";

const atMs = Date.UTC(2026, 0, 1);

/** Runs code under a clock of its own, which then moves to each of the times. @returns what it noted, and when */
function played(run: (note: (what: string) => () => void, clock: VirtualClock) => void, ...times: number[]) {
  const clock = new VirtualClock();
  clock.set(atMs);
  const noted: string[] = [];
  clock.during(() => run((what) => () => void noted.push(`${what} at ${clock.nowMs - atMs}`), clock));
  for (const ms of times) clock.set(atMs + ms);
  return noted;
}

test("a timer that is refreshed begins anew, and an interval, too", () => {
  let timer: NodeJS.Timeout;
  let every: NodeJS.Timeout;
  const noted = played(
    (note) => {
      timer = setTimeout(note("once"), 100);
      every = setInterval(note("each"), 100);
      setTimeout(() => {
        expect(timer.refresh()).toBe(timer);
        every.refresh();
      }, 60);
    },
    159,
    160,
    260,
  );
  expect(noted).toEqual(["once at 160", "each at 160", "each at 260"]);
});

test("a timer that is over is not refreshed to life", () => {
  const noted = played(
    (note) => {
      const timer = setTimeout(note("once"), 10);
      setTimeout(() => timer.refresh(), 20);
    },
    15,
    500,
  );
  expect(noted).toEqual(["once at 10"]);
});

test("handles are what Node's are to those who ask", () => {
  played(() => {
    const timer = setTimeout(() => {}, 10);
    const next = setTimeout(() => {}, 10);
    expect([timer.ref(), timer.unref(), timer.hasRef()]).toEqual([timer, timer, false]);
    expect(Number(next) - Number(timer)).toBe(1);
    expect(Number(timer)).toBeGreaterThan(0);
  });
});

test("a timer is cleared by its handle, by the handle's number, and by that as a text", () => {
  const noted = played((note) => {
    clearTimeout(setTimeout(note("handle"), 10));
    clearTimeout(Number(setTimeout(note("number"), 10)));
    clearInterval(String(Number(setInterval(note("text"), 10))));
    clearTimeout(undefined);
    setTimeout(note("left"), 10);
  }, 500);
  expect(noted).toEqual(["left at 10"]);
});

test.each([
  [undefined, 1],
  [0, 1],
  [-5, 1],
  [0.5, 1],
  [1.9, 1],
  [2.5, 2],
  [Number.NaN, 1],
  [2_147_483_647, 2_147_483_647],
  [2_147_483_648, 1],
])("a timer of %s ms fires after %d", (ms, expected) => {
  const noted = played((note) => void setTimeout(note("x"), ms), expected - 1, expected);
  expect(noted).toEqual([`x at ${expected}`]);
});

test("timers pass on what they were given, and those of one time fire in their order", () => {
  const told: unknown[] = [];
  played((note) => {
    setTimeout((...all: unknown[]) => told.push(all), 5, "a", 2);
    setTimeout(() => told.push("second"), 5);
    const never = setTimeout(note("never"), 5);
    clearTimeout(never);
    clearTimeout(undefined);
    clearInterval("odd" as never);
  }, 5);
  expect(told).toEqual([["a", 2], "second"]);
});

test("a clock that is cleared forgets its timers, and counts its readings anew", () => {
  const clock = new VirtualClock();
  clock.set(1000);
  const read = () => clock.during(() => process.hrtime());
  expect([read(), read()]).toEqual([
    [1, 1000],
    [1, 2000],
  ]);
  let fired = 0;
  clock.during(() => void setInterval(() => fired++, 10));
  clock.set(1025);
  clock.clear();
  clock.set(2000);
  expect([fired, read()]).toEqual([2, [2, 1000]]);
});

test("a yield fires the short timers one by one, and leaves the others", async () => {
  const clock = new VirtualClock();
  clock.set(atMs);
  const told: string[] = [];
  clock.during(() => {
    setTimeout(() => told.push("2 ms"), 2);
    setInterval(() => told.push("each"), 1);
    setTimeout(() => told.push("1 ms"), 1);
    setTimeout(() => {
      told.push("0 ms");
      setTimeout(() => told.push("later"), 0);
    }, 0);
    clock.fireShort();
  });
  expect(told).toEqual(["1 ms", "0 ms"]);
  clock.during(() => clock.fireShort());
  expect(told).toEqual(["1 ms", "0 ms", "later"]);
  expect(clock.nowMs).toBe(atMs);
  clock.frozen = true;
  clock.set(atMs + 1);
  clock.during(() => clock.fireShort());
  expect(told).toHaveLength(3);
  clock.set(atMs);
  expect(await clock.advance(atMs)).toBeUndefined();
});
