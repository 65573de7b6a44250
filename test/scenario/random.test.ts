import fc from "fast-check";
import { expect, test } from "vitest";
import { between, next32, next32At, seedRandom } from "../../src/scenario/random.ts";
import { property } from "../support/property.ts";

const fresh = () => ({ random0: 0, random1: 0, random2: 0, random3: 0 });

/** sfc32 as its author writes it, in 32-bit words that cannot overflow. */
function slowSfc32(words: bigint[]): number {
  const [a = 0n, b = 0n, c = 0n, counter = 0n] = words;
  const word = (value: bigint): bigint => BigInt.asUintN(32, value);
  const sum = word(a + b + counter);
  words[0] = word(b ^ (b >> 9n));
  words[1] = word(c + (c << 3n));
  words[2] = word(((c << 21n) | (c >> 11n)) + sum);
  words[3] = word(counter + 1n);
  return Number(sum);
}

const word = fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 });
property([fc.tuple(word, word, word, word)])(
  "both draws are sfc32",
  ([random0, random1, random2, random3]) => {
    const state = { random0, random1, random2, random3 };
    const ints = Int32Array.of(7, random0, random1, random2, random3);
    const words = [random0, random1, random2, random3].map((value) => BigInt.asUintN(32, BigInt(value)));
    for (let draw = 0; draw < 20; draw++) {
      const drawn = slowSfc32(words);
      expect(next32(state)).toBe(drawn);
      expect(next32At(ints, 1)).toBe(drawn);
    }
    expect(ints[0]).toBe(7);
  },
);

property([fc.maxSafeNat(), fc.nat(0x7fff_ffff), fc.nat(1_000_000)])(
  "a seed is sfc32's, of which twelve draws are discarded",
  (seed, stream, index) => {
    const high = Math.floor(seed / 2 ** 32) ^ Math.imul(stream + 1, 0x9e37_79b1);
    const words = [seed, high, index, 1].map((value) => BigInt.asUintN(32, BigInt(value)));
    for (let draw = 0; draw < 12; draw++) slowSfc32(words);
    const state = fresh();
    seedRandom(state, seed, stream, index);
    const { random0, random1, random2, random3 } = state;
    const seeded = [random0, random1, random2, random3].map((value) => BigInt.asUintN(32, BigInt(value)));
    expect(seeded).toEqual(words);
  },
);

property([fc.maxSafeNat(), fc.nat(1_000), fc.nat(1_000_000)])(
  "seeds, streams and indexes each give draws of their own",
  (seed, stream, index) => {
    const first = (s: number, t: number, i: number): number[] => {
      const state = fresh();
      seedRandom(state, s, t, i);
      return [next32(state), next32(state), next32(state), next32(state)];
    };
    const here = first(seed, stream, index);
    expect(here).toEqual(first(seed, stream, index));
    const beside = [
      first(seed === 0 ? 1 : seed - 1, stream, index),
      first(seed, stream + 1, index),
      first(seed, stream, index + 1),
    ];
    for (const other of beside) expect(other).not.toEqual(here);
  },
);

test("between takes both ends, and every value about equally often", () => {
  const state = fresh();
  seedRandom(state, 1, 0, 0);
  const counts = [0, 0, 0, 0];
  for (let draw = 0; draw < 40_000; draw++) {
    const value = between(state, 5, 8);
    counts[value - 5] = (counts[value - 5] ?? 0) + 1;
  }
  // Five standard deviations of 40,000 draws at 1/4 are 433; the seed is fixed.
  for (const count of counts) expect(Math.abs(count - 10_000)).toBeLessThan(433);
  expect(counts.reduce((sum, count) => sum + count, 0)).toBe(40_000);
});
