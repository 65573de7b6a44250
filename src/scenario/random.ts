// Seeded random numbers whose whole state is four integers in the client's own record. Nothing is allocated or shared
// between clients, and draws are the same in Node and in k6. The generator is Chris Doty-Humphrey's sfc32 (PractRand).
// A library's generators are objects of their own and cannot live in a record.

/** The four words of sfc32, which every client's record has. */
export type RandomState = {
  random0: number;
  random1: number;
  random2: number;
  random3: number;
};

/**
 * A state to seed. It is a class, so that numbers added to its objects lie in them, too. Objects with the same added
 * names then share a hidden class, by which their members are found fast. Spread objects do not.
 */
export class Draws implements RandomState {
  random0 = 0;
  random1 = 0;
  random2 = 0;
  random3 = 0;
}

/** Returns the next 32 bits, as an integer from 0 to 2^32 - 1. */
export function next32(state: RandomState): number {
  const sum = (state.random0 + state.random1 + state.random3) | 0;
  state.random3 = (state.random3 + 1) | 0;
  state.random0 = state.random1 ^ (state.random1 >>> 9);
  state.random1 = (state.random2 + (state.random2 << 3)) | 0;
  state.random2 = (((state.random2 << 21) | (state.random2 >>> 11)) + sum) | 0;
  return sum >>> 0;
}

/** Draws like `next32`, for a state that lies in four integers from a place on. */
export function next32At(ints: Int32Array, at: number): number {
  const second = ints[at + 1] as number;
  const third = ints[at + 2] as number;
  const fourth = ints[at + 3] as number;
  const sum = ((ints[at] as number) + second + fourth) | 0;
  ints[at] = second ^ (second >>> 9);
  ints[at + 1] = third + (third << 3);
  ints[at + 2] = ((third << 21) | (third >>> 11)) + sum;
  ints[at + 3] = fourth + 1;
  return sum >>> 0;
}

/** Draws a whole number in `[0, bound)`. Its bias does not matter, since bound is far below 2^32. */
export function below(state: RandomState, bound: number): number {
  return Math.floor((next32(state) / 4_294_967_296) * bound);
}

/** Draws a whole number in `[least, most]`. */
export function between(state: RandomState, least: number, most: number): number {
  return least + below(state, most - least + 1);
}

/**
 * Seeds a state from a run's seed, a stream (one for each population) and an index (one for each client). Twelve draws
 * are discarded, as sfc32's author advises.
 */
export function seedRandom(state: RandomState, seed: number, stream: number, index: number): void {
  let random0 = seed | 0;
  let random1 = Math.floor(seed / 4_294_967_296) ^ Math.imul(stream + 1, 0x9e3779b1);
  let random2 = index | 0;
  let random3 = 1;
  // `next32` twelve times, on variables: a third of the time.
  for (; random3 <= 12; random3++) {
    const sum = (random0 + random1 + random3) | 0;
    random0 = random1 ^ (random1 >>> 9);
    random1 = (random2 + (random2 << 3)) | 0;
    random2 = (((random2 << 21) | (random2 >>> 11)) + sum) | 0;
  }
  state.random0 = random0;
  state.random1 = random1;
  state.random2 = random2;
  state.random3 = random3;
}

/** Returns a new state, seeded as by `seedRandom`. */
export function drawsOf(seed: number, stream: number, index: number): Draws {
  const draws = new Draws();
  seedRandom(draws, seed, stream, index);
  return draws;
}
