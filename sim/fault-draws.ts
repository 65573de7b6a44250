// The draws of a fault, apart from those of every client.
import { next32, seedRandom } from "../src/scenario/random.ts";

/** No scenario has so many populations. */
const stream = 1_000_003;

/** Returns numbers in [0, 1); the same ones for the same seed. */
export function faultDraws(seed: number): () => number {
  const state = { random0: 0, random1: 0, random2: 0, random3: 0 };
  seedRandom(state, seed, stream, 0);
  return () => next32(state) / 4_294_967_296;
}
