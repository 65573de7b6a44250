// The numbers that faults are drawn by: the same for a seed on every machine.
import { expect, test } from "vitest";
import { seededRandom } from "../../src/faults/random.ts";

test.each([
  [0, [0.26642920868471265, 0.0003297457005828619, 0.2232720274478197]],
  [1, [0.6270739405881613, 0.002735721180215478, 0.5274470399599522]],
  [-1, [0.8964226141106337, 0.189478256739676, 0.7156526781618595]],
  [2026, [0.45540769933722913, 0.30849614599719644, 0.6611574492417276]],
  [4_294_967_295, [0.8964226141106337, 0.189478256739676, 0.7156526781618595]],
])("mulberry32 of %d", (seed, numbers) => {
  const random = seededRandom(seed);
  expect(numbers.map(() => random())).toEqual(numbers);
});
