// What a limiter threw, in words.
import { expect, test } from "vitest";
import { thrown } from "../../src/engine/limiter-failure.ts";

test.each([
  [new TypeError("no store"), "TypeError: no store"],
  [
    new TypeError("fetch failed", { cause: new Error("connect ECONNREFUSED 127.0.0.1:8771") }),
    "TypeError: fetch failed (connect ECONNREFUSED 127.0.0.1:8771)",
  ],
  [new Error("full", { cause: new Error("") }), "Error: full"],
  [new Error("full", { cause: "tokens" }), "Error: full"],
  ["full", 'a throw of "full"'],
])("%s is told with its cause", (error, said) => {
  expect(thrown(error)).toBe(said);
});
