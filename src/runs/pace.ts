// The speed of some work, and its remaining time. Both come from the last seconds, since the beginning of a run
// (clients that start, a compiler that warms up) says little about its end.
import { duration } from "../rules/duration.ts";
import { count, nounOf } from "../rules/words.ts";

/** Time over which a pace is measured, ms. */
const lookBackMs = 3_000;
/** Least time over which a pace is measured, ms: a first call tells nothing of the next. */
const measuredMs = 500;

export interface Speed {
  /** Number that was done each second. */
  readonly perSecond: number;
  /** Time that is left, ms; `null` if unknown. */
  readonly leftMs: number | null;
}

interface Sample {
  readonly atMs: number;
  readonly done: number;
  readonly count: number;
}

export class Pace {
  readonly #nowMs: () => number;
  /** Samples, of which the oldest is the last one that is at least `lookBackMs` old. */
  readonly #samples: Sample[];

  /** @param nowMs a clock */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
    this.#samples = [{ atMs: nowMs(), done: 0, count: 0 }];
  }

  /**
   * @param done the share that is done, from 0 to 1; `null` if unknown
   * @param count the number that is done
   * @returns `null` if nothing moves, or too little time has passed
   */
  at(done: number, count: number): (Speed & { readonly leftMs: number }) | null;
  at(done: number | null, count: number): Speed | null;
  at(done: number | null, count: number): Speed | null {
    const atMs = this.#nowMs();
    const samples = this.#samples;
    samples.push({ atMs, done: done ?? 0, count });
    while (samples.length > 2 && (samples[1] as Sample).atMs <= atMs - lookBackMs) samples.shift();
    const first = samples[0] as Sample;
    const passedMs = atMs - first.atMs;
    if (passedMs < measuredMs || (done === null ? count <= first.count : done <= first.done)) return null;
    return {
      perSecond: ((count - first.count) / passedMs) * 1000,
      leftMs: done === null ? null : ((1 - done) / (done - first.done)) * passedMs,
    };
  }
}

/** Least remaining time that is told, ms. */
const endingMs = 500;

/** Returns `, 1,204 calls/s, about 12 s left`, to follow the number that is done; nothing if nothing moves. */
export function paceText(speed: Speed | null, noun: string): string {
  if (speed === null) return "";
  const { perSecond, leftMs } = speed;
  const rate = perSecond < 10 ? perSecond.toFixed(1) : count(Math.round(perSecond));
  const left = leftMs === null || leftMs < endingMs ? "" : `, about ${duration(leftMs)} left`;
  return `, ${rate} ${nounOf(0, noun)}/s${left}`;
}
