// Classes of pauses, told apart by the class before them, from orders that are set.
import { describe, expect, test } from "vitest";
import { classesIn, classOf, toldByBefore } from "../../sim/fit/pace-classes.ts";
import { chanceOf } from "../worlds/chance.ts";

const many = (count: number, order: readonly number[]): number[][] =>
  Array.from({ length: count }, () => [...order]);
const told = (...orders: readonly (readonly number[])[]) =>
  toldByBefore(orders, Math.max(...orders.flat()) + 1);

test("a class of pauses spans half an octave", () => {
  for (let octave = 0; octave < 31; octave++) {
    const [at, half] = [2 ** octave, 2 ** (octave + 0.5)];
    const ends = [at, Math.max(at, Math.floor(half)), Math.ceil(half), 2 * at - 1].filter(
      (ms) => ms < 2 * at,
    );
    expect(ends.map(classOf)).toEqual(ends.map((ms) => 2 * octave + Number(ms > half)));
  }
  expect([0, 2 ** 31, 2 ** 40].map(classOf)).toEqual([0, 62, 62]);
});

test("neighbours are one class if what comes before and after them is alike, and two if it is not", () => {
  expect(classesIn([...many(20, [1, 5]), ...many(20, [1, 6])])).toEqual([1, 6]);
  expect(classesIn([...many(20, [1, 9]), ...many(20, [2, 9])])).toEqual([2, 9]);
  expect(classesIn([...many(20, [1, 5]), ...many(20, [6, 1])])).toEqual([1, 5, 6]);
  expect(classesIn(many(20, [3]))).toEqual([3]);
});

describe("a class that goes on otherwise at a session's start than after another class", () => {
  // The row of a class at the start and its row after the other differ by 2 k ln 2 nats, over k sessions of each kind.
  test("is two paces where that is worth a row of parameters: ln(6 k) nats for two classes", () => {
    // 1.39 nats of one session each, and ln 6 is 1.79.
    expect(told([0, 1], [1, 0])).toEqual({
      paced: [
        [0, 1],
        [1, 0],
      ],
      count: 2,
    });
    // 2.77 nats of two sessions each, and ln 12 is 2.48.
    expect(told(...many(2, [0, 1]), ...many(2, [1, 0]))).toEqual({
      paced: [...many(2, [0, 2]), ...many(2, [3, 1])],
      count: 4,
    });
  });

  test("is two paces by the class before a whole run of it", () => {
    const { paced, count } = told(...many(9, [0, 0, 1, 0, 0, 0]));
    expect(count).toBe(3);
    expect(paced).toEqual(many(9, [0, 0, 2, 1, 1, 1]));
  });

  test("is one pace with what goes on alike: of three rows, two are joined", () => {
    // After 1 and after 2 it ends; at the start it goes on.
    const { paced, count } = told(...many(20, [0, 1, 0]), ...many(20, [0, 2, 0]));
    expect(count).toBe(4);
    expect(paced).toEqual([...many(20, [0, 2, 1]), ...many(20, [0, 3, 1])]);
  });

  test("is one pace where that tells less than a hundredth of a nat a pause", () => {
    // 18 nats, more than the parameters' 8, but of some 3,000 pauses and ends.
    const orders = [...many(999, [0, 1]), [0], ...many(3, [1, 0])];
    expect(told(...orders).count).toBe(2);
  });
});

test("classes have at most as many paces as a worker may have", () => {
  const chance = chanceOf(5);
  const orders = Array.from({ length: 400 }, () => {
    const order = [Math.floor(chance.between(0, 8)), Math.floor(chance.between(0, 8))];
    for (
      let [before, last] = order as [number, number];
      order.length < 40;
      [before, last] = [last, order.at(-1) as number]
    )
      order.push((last + 1 + ((3 * before + last) % 7)) % 8);
    return order;
  });
  const { count, paced } = told(...orders);
  expect(count).toBeGreaterThan(8);
  expect(count).toBeLessThanOrEqual(20);
  expect(Math.max(...paced.flat())).toBe(count - 1);
});
