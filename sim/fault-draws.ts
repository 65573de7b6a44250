// The random draws of a fault, apart from those of every client.
import { drawsOf, next32 } from "../src/scenario/random.ts";

/** Number of the fault's stream, above the number of populations of any scenario. */
const stream = 1_000_003;

/** Returns a source of numbers in [0, 1); the same seed gives the same numbers. */
export function faultDraws(seed: number): () => number {
  const state = drawsOf(seed, stream, 0);
  return () => next32(state) / 4_294_967_296;
}
