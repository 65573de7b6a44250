// The clock that strangers read: theirs while they run, the process's before and after.
import { performance } from "node:perf_hooks";
import { scheduler, setInterval as ticks, setTimeout as wait } from "node:timers/promises";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import type { LimiterFactory } from "../../src/engine/adapter.ts";
import { parseRules } from "../../src/rules/parse.ts";
import { clockedFactory } from "../../src/runs/clocked-limiter.ts";
import { VirtualClock } from "../../src/runs/virtual-clock.ts";

const atMs = Date.UTC(2026, 0, 1);

function clockAt(nowMs: number): VirtualClock {
  const clock = new VirtualClock();
  clock.set(nowMs);
  return clock;
}

test("dates, and the monotonic clock's differences, are the clock's while code runs under it", () => {
  const clock = clockAt(atMs);
  const dates = clock.during(() => [Date.now(), new Date().toISOString(), new Date(5).toISOString()]);
  expect(dates).toEqual([atMs, "2026-01-01T00:00:00.000Z", "1970-01-01T00:00:00.005Z"]);
  expect(clock.during(() => [Date(), new Date().constructor === Date])).toEqual([
    new Date(atMs).toString(),
    true,
  ]);
  const start = clock.during(() => process.hrtime());
  clock.set(atMs + 1_500);
  // A microsecond has passed besides: no two readings are equal.
  expect(clock.during(() => process.hrtime(start))).toEqual([1, 500_001_000]);
  clock.set(atMs - 250);
  expect(clock.during(() => process.hrtime(start))).toEqual([-1, 750_002_000]);
  const read = () => clock.during(() => process.hrtime.bigint());
  const first = read();
  expect(read() - first).toBe(1000n);
});

test("performance.now counts from the start of a process that is a day old when a limiter is made", () => {
  const dayMs = 86_400_000;
  // A cache keys its entries by it, and relies on the order of keys, which is that of whole numbers below 2 ** 32.
  for (const madeMs of [atMs, Date.UTC(2077, 0, 1)]) {
    const clock = clockAt(madeMs);
    clock.clear();
    expect(clock.during(() => performance.now())).toBe(dayMs);
    clock.set(madeMs + 1_500);
    expect(clock.during(() => performance.now())).toBe(dayMs + 1_500);
  }
});

test("the monotonic clock counts from 1970, in seconds and nanoseconds", () => {
  const clock = clockAt(1_234);
  const hrtime = (since?: [number, number]) => clock.during(() => process.hrtime(since));
  expect([hrtime(), hrtime()]).toEqual([
    [1, 234_001_000],
    [1, 234_002_000],
  ]);
  expect(clock.during(() => process.hrtime.bigint())).toBe(1_234_003_000n);
  expect([hrtime([0, 900_000_000]), hrtime([1, 234_005_000])]).toEqual([
    [0, 334_004_000],
    [0, 0],
  ]);
});

test("an answer with a `then` of its own is awaited under the clock", async () => {
  const clock = clockAt(atMs);
  const name = "then";
  const later = { [name]: (resolve: (ms: number) => void) => queueMicrotask(() => resolve(Date.now())) };
  expect([await clock.during(() => later), await clock.yielding(() => later)]).toEqual([atMs, atMs]);
  expect(Date.now()).not.toBe(atMs);
});

test("the process's own are back after an answer, a throw, a resolved and a rejected promise", async () => {
  const clock = clockAt(atMs);
  const own = [Date, setTimeout, setInterval, clearTimeout, clearInterval, performance.now, process.hrtime];
  const now = () => [
    Date,
    setTimeout,
    setInterval,
    clearTimeout,
    clearInterval,
    performance.now,
    process.hrtime,
  ];
  clock.during(() => 1);
  expect(now()).toEqual(own);
  expect(() =>
    clock.during(() => {
      throw new Error("no");
    }),
  ).toThrow("no");
  expect(now()).toEqual(own);
  const kept = clock.during(async () => {
    await Promise.resolve();
    return Date.now();
  });
  expect(await kept).toBe(atMs);
  expect(now()).toEqual(own);
  await expect(clock.during(() => Promise.reject(new Error("late")))).rejects.toThrow("late");
  expect(now()).toEqual(own);
});

test("timers fire in order, at their own time, and repeat", () => {
  const clock = clockAt(atMs);
  const fired: [string, number][] = [];
  const note = (name: string) => () => fired.push([name, Date.now() - atMs]);
  clock.during(() => {
    setTimeout(note("late"), 900);
    const every = setInterval(note("every"), 400);
    setTimeout(note("early"), 100);
    setTimeout(() => clearInterval(every), 1_000);
    clearTimeout(setTimeout(note("never"), 50));
  });
  clock.set(atMs + 2_000);
  expect(fired).toEqual([
    ["early", 100],
    ["every", 400],
    ["every", 800],
    ["late", 900],
  ]);
});

test("a timer past 2^31 - 1 ms fires after 1 ms, as in Node", () => {
  const clock = clockAt(atMs);
  let fired = 0;
  clock.during(() => {
    setTimeout(() => {
      fired += 1;
    }, 2_592_000_000);
  });
  clock.set(atMs + 1);
  expect(fired).toBe(1);
});

test("no timer fires while the process is frozen", () => {
  const clock = clockAt(atMs);
  clock.frozen = true;
  let fired = 0;
  clock.during(() => {
    setTimeout(() => {
      fired += 1;
    }, 10);
  });
  clock.set(atMs + 1_000);
  expect(fired).toBe(0);
});

test("a long timer that is due in 1 ms is no yield to the event loop", async () => {
  const clock = clockAt(atMs);
  const fired: string[] = [];
  clock.during(() => void setTimeout(() => fired.push("window"), 10_000));
  clock.set(atMs + 9_999);
  await clock.yielding(async () => {
    await new Promise((resolve) => setTimeout(resolve, 0));
    fired.push("yielded");
  });
  expect(fired).toEqual(["yielded"]);
  clock.set(atMs + 10_000);
  expect(fired).toEqual(["yielded", "window"]);
});

test("what a timer began is done before the next one fires, as in Node", async () => {
  const clock = clockAt(atMs);
  const done: string[] = [];
  const begin = (name: string) => async () => {
    done.push(`${name} fires`);
    for (let step = 0; step < 5; step += 1) await Promise.resolve();
    done.push(`${name} is done`);
  };
  clock.during(() => {
    setTimeout(begin("first"), 10);
    setTimeout(begin("second"), 20);
  });
  await clock.advance(atMs + 1_000);
  expect(done).toEqual(["first fires", "first is done", "second fires", "second is done"]);
  expect(clock.nowMs).toBe(atMs + 1_000);
  done.length = 0;
  await clock.yielding(async () => {
    setTimeout(begin("first"), 0);
    setTimeout(begin("second"), 0);
    await new Promise((resolve) => setTimeout(resolve, 0));
  });
  expect(done).toEqual(["first fires", "first is done", "second fires", "second is done"]);
});

test("what waited for a timer reads this clock, and sets timers of it", async () => {
  const clock = clockAt(atMs);
  const read: number[] = [];
  clock.during(() => {
    void (async () => {
      for (let nap = 0; nap < 2; nap += 1) {
        await new Promise((resolve) => setTimeout(resolve, 10));
        read.push(Date.now() - atMs);
      }
    })();
  });
  await clock.advance(atMs + 1_000);
  expect(read).toEqual([10, 20]);
});

// A limiter's file is imported when there is a clock.
new VirtualClock();
const nap = promisify(setTimeout);

test.each<[string, () => Promise<unknown>]>([
  ["setTimeout of node:timers/promises", () => wait(10, "kept")],
  ["scheduler.wait", () => scheduler.wait(10)],
  ["a promisified setTimeout", () => nap(10)],
  ["one promisified under the clock", () => promisify(setTimeout)(10)],
])("%s follows the clock while code runs under it, and only then", async (_name, sleep) => {
  const clock = clockAt(atMs);
  const read: number[] = [];
  clock.during(() => {
    void sleep()
      .then(() => sleep())
      .then(() => read.push(Date.now() - atMs));
  });
  await clock.advance(atMs + 19);
  expect(read).toEqual([]);
  await clock.advance(atMs + 1_000);
  expect(read).toEqual([20]);
  await expect(wait(0, "real")).resolves.toBe("real");
});

test("promised timers tick, and end by their signal, as the process's own do", async () => {
  const clock = clockAt(atMs);
  const told: unknown[] = [];
  const ending = new AbortController();
  clock.during(() => {
    void (async () => {
      for await (const value of ticks(10, "tick")) told.push([value, Date.now() - atMs]);
    })();
    wait(500, "late", { signal: ending.signal }).then(
      (value) => told.push(value),
      ({ name, code }) => told.push(name, code),
    );
    wait(1, "never", { signal: AbortSignal.abort() }).catch(({ name }) => told.push(name));
  });
  await clock.advance(atMs + 25);
  ending.abort();
  await clock.advance(atMs + 25);
  await expect(wait(0)).resolves.toBeUndefined();
  expect(told).toEqual(["AbortError", ["tick", 10], ["tick", 20], "AbortError", "ABORT_ERR"]);
});

test("an interval that falls due a million times in one step ends", async () => {
  const clock = clockAt(atMs);
  let fired = 0;
  clock.during(() => {
    setInterval(() => {
      fired += 1;
    }, 1);
  });
  await clock.advance(atMs + 100_000);
  expect(fired).toBe(100_000);
});

test("a limiter's timers end with it, whether it can be closed or not", async () => {
  const clock = clockAt(atMs);
  const { set, during, clear } = clock;
  const fired: number[] = [];
  const create = (close: object) => () => {
    setInterval(() => fired.push(clock.nowMs), 10_000);
    return { decide: () => ({ admitted: true }), ...close };
  };
  const made = { set: set.bind(clock), during: during.bind(clock), clear: clear.bind(clock) };
  let closed = 0;
  for (const close of [
    {},
    {
      close: () => {
        closed += 1;
      },
    },
  ]) {
    const factory: LimiterFactory = { name: "mine", algorithm: "unknown", claims: [], create: create(close) };
    const clocked = clockedFactory({ factory, clock: made });
    const limiter = await clocked.create(parseRules({}));
    await clocked.setNow?.(clock.nowMs + 10_000);
    await limiter.close?.();
    await clocked.setNow?.(clock.nowMs + 1e12);
  }
  expect([fired, closed]).toEqual([[atMs + 10_000, atMs + 1e12 + 20_000], 1]);
});

test("an interval that falls due very often yields a thousand times, and no more", async () => {
  const clock = clockAt(atMs);
  let fired = 0;
  clock.during(() => setInterval(() => fired++, 1));
  let turns = 0;
  let isOver = false;
  const count = (): void => {
    turns += 1;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  await clock.advance(atMs + 20_000);
  isOver = true;
  expect(fired).toBe(20_000);
  expect(turns).toBeGreaterThan(990);
  expect(turns).toBeLessThan(1_100);
});

test("a queue that polls sets no timer of the process, however many polls are due at once", async () => {
  const clock = clockAt(atMs);
  const begun: number[] = [];
  const real = globalThis.setTimeout;
  let ofTheProcess = 0;
  const counting = (run: () => void, ms?: number) => {
    ofTheProcess += ms === 100 ? 1 : 0;
    return real(run, ms);
  };
  const poll = (): void => {
    if (Date.now() < atMs + 200_000) setTimeout(poll, 100);
    // A job, after which the queue polls again, a few promises later.
    else
      Promise.resolve(begun.push(Date.now()))
        .then(() => undefined)
        .then(() => undefined)
        .then(() => setTimeout(poll, 100));
  };
  clock.during(poll);
  globalThis.setTimeout = counting as typeof setTimeout;
  try {
    await clock.advance(atMs + 200_000);
    await clock.advance(atMs + 200_100);
  } finally {
    globalThis.setTimeout = real;
  }
  expect([begun, ofTheProcess]).toEqual([[atMs + 200_000, atMs + 200_100], 0]);
});
