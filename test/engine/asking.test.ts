// Answers of limiters of somebody else's: now, or once a promise has settled.
import { expect, test } from "vitest";
import { after, guarded } from "../../src/engine/asking.ts";
import { LimiterFailure } from "../../src/engine/limiter-failure.ts";

const then = (resolve: (value: number) => void): void => resolve(5);

test.each<[string, unknown]>([
  ["a number", 5],
  ["nothing", undefined],
  ["null", null],
  ["an object", { admitted: true }],
  ["an object whose then is no function", JSON.parse('{"then":5}')],
  ["a function", () => 5],
])("%s is there at once", (_, answer) => {
  expect(guarded("decide", [], () => answer)).toBe(answer);
  expect(after(answer, (value) => [value])).toEqual([answer]);
});

test.each<[string, PromiseLike<number>]>([
  ["a promise", Promise.resolve(5)],
  ["an object with then", { then } as PromiseLike<number>],
  ["a function with then", Object.assign(() => 0, { then }) as unknown as PromiseLike<number>],
])("%s is waited for", async (_, answer) => {
  const [one, other] = [guarded("decide", [], () => answer), after(answer, (value) => value + 1)];
  expect([one, other].map((each) => each instanceof Promise)).toEqual([true, true]);
  expect(await Promise.all([one, other])).toEqual([5, 6]);
});

test("a failure names the innermost call, though another copy of this code threw it", () => {
  class Copied extends Error {
    override readonly name = "LimiterFailure";
    readonly call = "consume(5)";
    readonly got = "NaN";
    readonly allowed = "a number";
  }
  const asked = (): unknown =>
    guarded("decide", [], () => {
      throw new Copied();
    });
  expect(asked).toThrow(LimiterFailure);
  expect(asked).toThrow("consume(5): got NaN, allowed: a number");
});
