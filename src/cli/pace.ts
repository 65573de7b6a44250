// How fast something goes, and how long it will go on: by what the last seconds were like, since the beginning of a
// run (clients that start, a compiler that warms up) says little about its end.

/** So far back a pace is measured, ms. */
const lookBackMs = 3_000;

interface Sample {
  readonly atMs: number;
  readonly done: number;
  readonly count: number;
}

export class Pace {
  readonly #nowMs: () => number;
  /** The oldest is the last one that is `lookBackMs` old, or older. */
  readonly #samples: Sample[];

  /** @param nowMs a clock */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
    this.#samples = [{ atMs: nowMs(), done: 0, count: 0 }];
  }

  /**
   * @param done the share that is done, from 0 to 1
   * @param count how many have been counted
   * @returns how many a second, and the time that is left, ms; `null` where nothing moves
   */
  at(done: number, count: number): { readonly perSecond: number; readonly leftMs: number } | null {
    const atMs = this.#nowMs();
    const samples = this.#samples;
    samples.push({ atMs, done, count });
    while (samples.length > 2 && (samples[1] as Sample).atMs <= atMs - lookBackMs) samples.shift();
    const first = samples[0] as Sample;
    const passedMs = atMs - first.atMs;
    if (passedMs <= 0 || done <= first.done) return null;
    return {
      perSecond: ((count - first.count) / passedMs) * 1000,
      leftMs: ((1 - done) / (done - first.done)) * passedMs,
    };
  }
}
