// A user's limiter under a moved clock: which of its code runs under it, and when its timers end.
import { expect, test } from "vitest";
import type { LimiterClock } from "../../sim/adapter/asker.ts";
import type { LimiterFactory } from "../../src/engine/adapter.ts";
import { clockedFactory } from "../../src/runs/clocked-limiter.ts";

test("all but a clock of the limiter's own runs under the clock; its timers end before the next one is made, and with it", async () => {
  const seen: string[] = [];
  let isUnder = false;
  const saw = (what: string): void => void seen.push(isUnder ? `${what}, under the clock` : what);
  const clock = {
    set: async (nowMs: number) => saw(`set ${nowMs}`),
    clear: () => saw("clear"),
    during<T>(run: () => T): T {
      isUnder = true;
      try {
        return run();
      } finally {
        isUnder = false;
      }
    },
  } as unknown as LimiterClock;
  const mine = {
    name: "mine",
    setNow(this: unknown, nowMs: number) {
      saw(`factory's setNow ${nowMs} as ${this === mine ? "itself" : "another"}`);
    },
    create: (...args: unknown[]) => {
      saw(`create ${args.join(" ")}`);
      return {
        size: 3,
        decide(...call: unknown[]) {
          saw(`decide ${call.join(" ")} of ${this.size}`);
          return "decided";
        },
        setNow: (nowMs: number) => saw(`setNow ${nowMs}`),
        close: () => saw("close"),
      };
    },
    restore: async (...args: unknown[]) => {
      saw(`restore ${args.join(" ")}`);
      return { decide: () => saw("decide again") };
    },
  };
  const clocked = clockedFactory({
    factory: mine as unknown as LimiterFactory,
    clock,
    frozen: false,
  } as never) as unknown as {
    name: string;
    setNow(nowMs: number): Promise<void>;
    create(...args: unknown[]): ReturnType<typeof mine.create>;
    restore(...args: unknown[]): Promise<{ decide(): void; close(): Promise<void> }>;
  };
  expect(clocked.name).toBe("mine");
  await clocked.setNow(5);
  const one = clocked.create("rules", 1);
  expect([one.size, one.decide("call", 2)]).toEqual([3, "decided"]);
  one.setNow(6);
  await one.close();
  const other = await clocked.restore("state", 7);
  other.decide();
  await other.close();
  expect(seen).toEqual([
    "set 5",
    "factory's setNow 5 as itself",
    "clear",
    "create rules 1, under the clock",
    "decide call 2 of 3, under the clock",
    "setNow 6",
    "close, under the clock",
    "clear",
    "restore state 7, under the clock",
    "decide again, under the clock",
    "clear",
  ]);
  for (const made of [null, 7, undefined]) {
    const none = clockedFactory({ factory: { create: () => made }, clock } as never) as {
      create(): unknown;
      restore?: unknown;
    };
    expect([none.create(), none.restore]).toEqual([made, undefined]);
  }
});
