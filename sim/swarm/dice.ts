// Draws by name: all decisions of the swarm on a world, from one seed.
import { between, type Draws, drawsOf, next32 } from "../../src/scenario/random.ts";

/** Stream of the worlds' draws, apart from those of clients and faults: no scenario has so many populations. */
const stream = 2_000_003;

export class Dice {
  readonly #state: Draws;

  constructor(seed: number, index: number) {
    this.#state = drawsOf(seed, stream, index);
  }

  /** Draws a whole number in `[least, most]`. */
  between(least: number, most: number): number {
    return between(this.#state, least, most);
  }

  /** Tells whether something happens that has a chance of one in `times`. */
  oneIn(times: number): boolean {
    return this.between(1, times) === 1;
  }

  /** Draws one of these values. @throws RangeError if there is none */
  of<const T>(values: readonly T[]): T {
    if (values.length === 0) throw new RangeError("there is nothing to draw from");
    return values[this.between(0, values.length - 1)] as T;
  }

  /** Draws a seed for something else. */
  seed(): number {
    return next32(this.#state);
  }
}
