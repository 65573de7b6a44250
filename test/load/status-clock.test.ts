// The clock of a status: its lead over the client's is constant, but for drift and what whole seconds leave open.
import { describe, expect, test } from "vitest";
import { StatusClock } from "../../src/load/lone-organization.ts";

const two = "reset-agrees: reset and reset_at of the status are of two clocks";
/** Rounded up: up to one second less is left. */
const left = (seconds: number) => ({ least: seconds - 1, most: seconds });

describe("two statuses of a window that ends at 60 s", () => {
  // The first leaves a lead from -14 to 1,002 ms open: sent at 50 s, received at 50.011 s, 10 s left.
  test.each<[string, number, number, string | null]>([
    ["the same again", 60_000, 10, null],
    ["as late as its whole second leaves open", 61_016, 10, null],
    ["a ms later than that", 61_017, 10, two],
    ["as early as its whole second leaves open", 58_984, 10, null],
    ["a ms earlier than that", 58_983, 10, two],
    ["a reset of another second", 60_000, 11, null],
    ["a reset of two seconds more", 60_000, 12, two],
  ])("%s", (_, resetAtMs, seconds, expected) => {
    const clock = new StatusClock();
    expect(clock.fault(60_000, left(10), 50_000, 50_011)).toBeNull();
    expect(clock.fault(resetAtMs, left(seconds), 50_000, 50_011)).toBe(expected);
  });

  test("clocks drift by 100 ppm of the time between them", () => {
    for (const [resetAtMs, expected] of [
      [161_017, null],
      [161_026, null],
      [161_027, two],
    ] as const) {
      const clock = new StatusClock();
      clock.fault(60_000, left(10), 50_000, 50_011);
      expect(clock.fault(resetAtMs, left(10), 150_000, 150_011)).toBe(expected);
    }
  });

  test("all statuses together narrow the lead, and one that contradicts them begins anew", () => {
    const clock = new StatusClock();
    expect(clock.fault(60_000, left(10), 50_000, 50_011)).toBeNull();
    expect(clock.fault(60_900, left(10), 50_000, 50_011)).toBeNull();
    expect(clock.fault(59_800, left(10), 50_000, 50_011)).toBe(two);
    expect(clock.fault(59_800, left(10), 50_000, 50_011)).toBeNull();
  });
});
