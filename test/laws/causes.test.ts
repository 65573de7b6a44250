// What two counterexamples have in common, and the evidence of two runs.
import { expect, test } from "vitest";
import { LimiterFailure } from "../../src/engine/limiter-failure.ts";
import { type KnownCause, sharedCause, violationOf } from "../../src/laws/causes.ts";
import { joined } from "../../src/laws/evidence.ts";
import type { LimiterFactory } from "../../src/laws/index.ts";

test("a script breaks a law by a violation, and not by a limiter that fails at it", async () => {
  const throwing = async (error: Error): Promise<never> => {
    throw error;
  };
  expect(await violationOf(async () => ({ violation: {} }))).toEqual({});
  expect(await violationOf(async () => ({ violation: null }))).toBeNull();
  expect(
    await violationOf(() => throwing(new LimiterFailure("decide()", "nothing", "an answer"))),
  ).toBeNull();
  await expect(violationOf(() => throwing(new TypeError("a mistake")))).rejects.toThrow("a mistake");
});

test("limiters that fail alike have one cause; without scripts nothing is played", async () => {
  const factory = null as unknown as LimiterFactory;
  const failed = (law: KnownCause["law"], got: string | null): KnownCause => ({ law, script: null, got });
  const known = [failed("bounded", "a throw"), failed("recovers", null), failed("isolated", "nothing")];
  const causeOf = async (got: string | null) =>
    (await sharedCause(factory, known, { script: null, got }))?.law;
  expect([
    await causeOf("a throw"),
    await causeOf("nothing"),
    await causeOf("other"),
    await causeOf(null),
  ]).toEqual([...["bounded", "isolated", undefined, undefined]]);
});

test("the evidence of two runs is the sum of each number", () => {
  const one = { readings: 1, refusals: 20, windows: 300, resets: 4000 };
  const other = { readings: 5, refusals: 60, windows: 700, resets: 8000 };
  expect(joined(one, other)).toEqual({ readings: 6, refusals: 80, windows: 1000, resets: 12_000 });
});
