import { expect, test } from "vitest";
import { sparkline } from "../../src/report/sparkline.ts";

test.each([
  ["nothing", [], "    "],
  [
    "a step holds until the next",
    [
      [0, 8],
      [500, 4],
    ],
    "██▄▄",
  ],
  [
    "the highest of a span is what it shows",
    [
      [0, 1],
      [100, 8],
      [200, 0],
    ],
    "█   ",
  ],
  ["a count above the most is full", [[0, 99]], "████"],
  [
    "the least there is, is seen",
    [
      [250, 0.01],
      [500, 0],
    ],
    " ▁  ",
  ],
  ["the last instant belongs to the last span", [[1_000, 8]], "   █"],
] as const)("%s", (_, counts, expected) => {
  expect(sparkline(counts, 1_000, 8, 4)).toBe(expected);
});
