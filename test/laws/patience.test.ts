// How long a check waits for a limiter's answers, by timers that are set off by hand.
import { expect, test } from "vitest";
import { patient } from "../../src/laws/patience.ts";

/** Timers that never go off by themselves. */
function timers() {
  const set: { readonly run: () => void; readonly ms: number; isCleared: boolean }[] = [];
  return {
    set,
    setTimeout: (run: () => void, ms: number) => set.push({ run, ms, isCleared: false }) - 1,
    clearTimeout: (timer: number) => {
      const one = set[timer];
      if (one !== undefined) one.isCleared = true;
    },
  };
}
const never = new Promise<never>(() => {});
/** A limiter that says whose method was called, and with what. */
class Limiter {
  readonly name = "mine";
  decide(...args: unknown[]): unknown {
    return [this.name, ...args];
  }
  later = async (value: unknown): Promise<unknown> => value;
  hangs = (): Promise<never> => never;
}
const factory = {
  name: "a factory",
  create(...args: unknown[]): unknown {
    return Object.assign(new Limiter(), { made: [this.name, ...args] });
  },
};
type Made = Limiter & { readonly made: unknown };
const madeBy = async (from: { create(...args: unknown[]): unknown }): Promise<Made> =>
  (await from.create(1, 2)) as Made;

test("without timers nothing is bounded", () => {
  expect(patient(factory, undefined)).toBe(factory);
});

test("answers in time are passed on, and no timer is left", async () => {
  const clock = timers();
  const limiter = await madeBy(patient(factory, clock, 70));
  expect([limiter.name, limiter.made, limiter.decide(5)]).toEqual([
    ...["mine", ["a factory", 1, 2], ["mine", 5]],
  ]);
  expect(clock.set).toEqual([]);
  expect(await limiter.later("yes")).toBe("yes");
  expect(clock.set.map(({ ms, isCleared }) => [ms, isCleared])).toEqual([[70, true]]);
});

test("a missing answer is a TimeoutError, and the next is waited for less long", async () => {
  const clock = timers();
  const missing = async (limiter: Limiter): Promise<unknown> => {
    const answer = limiter.hangs().catch((error: unknown) => error);
    clock.set.at(-1)?.run();
    return await answer;
  };
  const limiter = await madeBy(patient(factory, clock));
  expect(await missing(limiter)).toMatchObject({ name: "TimeoutError", message: "no answer within 5 s" });
  expect(await missing(limiter)).toMatchObject({ message: "no answer within 0.2 s (5 s at first)" });
  expect(clock.set.map(({ ms }) => ms)).toEqual([5000, 200]);
  const hasty = await madeBy(patient(factory, clock, 150));
  expect(await missing(hasty)).toMatchObject({ message: "no answer within 0.15 s" });
  expect(await missing(hasty)).toMatchObject({ message: "no answer within 0.15 s" });
});

test("a limiter that is made or restored late is waited for, too, and one that is none is passed on", async () => {
  const clock = timers();
  const late = { create: () => never, restore: async (...args: unknown[]) => args };
  const from = patient(late, clock, 60);
  const made = (from.create() as Promise<unknown>).catch((error: Error) => error.name);
  clock.set[0]?.run();
  expect(await made).toBe("TimeoutError");
  expect(await from.restore(1, 2)).toEqual([1, 2]);
  expect(await patient({ create: () => "no limiter" }, clock).create()).toBe("no limiter");
  expect("restore" in patient(factory, clock)).toBe(false);
});
