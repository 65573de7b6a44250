// The scheduler tells what is due when, by a clock of the test's own.
import { describe, expect, test } from "vitest";
import { Scheduler } from "../../src/load/node/scheduler.ts";
import { VirtualClock } from "./virtual-run.ts";

const start = 1_800_000_000_000;

function made(earlyMs = 0) {
  const clock = new VirtualClock(start, earlyMs);
  const scheduler = new Scheduler(clock);
  const log: [string, number][] = [];
  const note = (name: string) => () => void log.push([name, clock.now() - start]);
  const toTheEnd = (): void => {
    while (clock.next());
  };
  return { clock, scheduler, log, note, toTheEnd };
}

describe("a scheduler", () => {
  test("calls in the order of instants, ties in the order in which they were planned", () => {
    const { scheduler, log, note, toTheEnd } = made();
    scheduler.at(start + 30, note("late"));
    scheduler.at(start + 10, note("first"));
    scheduler.at(start + 20, note("tie 1"));
    scheduler.at(start + 20, note("tie 2"));
    toTheEnd();
    expect(log).toEqual([
      ["first", 10],
      ["tie 1", 20],
      ["tie 2", 20],
      ["late", 30],
    ]);
  });

  test("has one timer, however much is planned, and sets it anew for what comes sooner", () => {
    const { clock, scheduler, log, note, toTheEnd } = made();
    for (let ms = 100; ms > 0; ms -= 5) scheduler.at(start + ms, note(`${ms}`));
    expect(clock.timersMost).toBe(1);
    toTheEnd();
    expect(log).toHaveLength(20);
    expect(log[0]).toEqual(["5", 5]);
  });

  // Node's timers are over up to a millisecond early; who waits for a reset would be refused, and accuse the target.
  test("calls nothing before it is due, where timers are over too early", () => {
    const { scheduler, log, note, toTheEnd } = made(1);
    for (const ms of [7, 8, 20]) scheduler.at(start + ms, note(`${ms}`));
    toTheEnd();
    expect(log).toEqual([
      ["7", 7],
      ["8", 8],
      ["20", 20],
    ]);
  });

  test("calls nothing at once, and gives the network a turn before what is planned for now", () => {
    const { clock, scheduler, log, note, toTheEnd } = made();
    let times = 0;
    const again = (): void => {
      times += 1;
      if (times < 3) scheduler.at(clock.now(), again);
    };
    scheduler.at(start - 5, again);
    expect(times).toBe(0);
    clock.next();
    expect(times).toBe(1);
    scheduler.at(start, note("later"));
    toTheEnd();
    expect(times).toBe(3);
    expect(log).toEqual([["later", 0]]);
  });

  test("waits for what is farther away than a timer can be", () => {
    const { scheduler, log, note, toTheEnd } = made();
    const year = 365 * 86_400_000;
    scheduler.at(start + year, note("next year"));
    toTheEnd();
    expect(log).toEqual([["next year", year]]);
  });

  test("calls nothing more once it is closed, not even what was due", () => {
    const { scheduler, log, note, toTheEnd } = made();
    scheduler.at(start + 1, () => scheduler.close());
    scheduler.at(start + 1, note("due with it"));
    scheduler.at(start + 2, note("later"));
    toTheEnd();
    expect(log).toEqual([]);
  });
});
