// Most that a quota lets through in any span of time, whenever the span begins.
import type { Quota } from "./policy.ts";

/** Most that a quota lets through in a span: `room`, and `perMs` for each millisecond. */
export interface Envelope {
  readonly room: number;
  readonly perMs: number;
  /** Longest step, ms, in which room comes back where a limiter does so in steps. */
  readonly stepMs: number;
}

/** Unit of clocks that many limiters read, ms. */
const secondMs = 1000;

/**
 * Returns the envelope of a quota; `null` if it has none. What is charged later, or fits into any room left, passes a
 * limit rightly; so does what is given back after the room came back by itself. A span begins within a window, and a
 * counter forgets a window bit by bit: either holds a limit more.
 * @param lengthMs least length of a fixed window
 */
export function envelopeOf({ algorithm, charge }: Quota, lengthMs: number | null): Envelope | null {
  if (charge.when !== "admission" || charge.fits !== "whole") return null;
  if (algorithm.kind === "token-bucket") {
    const { amount, everyMs } = algorithm.refill;
    return { room: algorithm.capacity, perMs: amount / everyMs, stepMs: Math.max(everyMs, secondMs) };
  }
  if (algorithm.kind === "concurrency") return null;
  const { kind, limit, windowSeconds } = algorithm;
  const spanMs = kind === "fixed-window" ? lengthMs : windowSeconds * 1000;
  const room = kind === "sliding-log" ? limit : 2 * limit;
  return spanMs === null ? null : { room, perMs: limit / spanMs, stepMs: secondMs };
}
