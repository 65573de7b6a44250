// A fleet that scales up and down, in k6's words. Each client is there from its addition until its removal. The client
// that was added last is removed first, as k6 does it.
import type { Stage } from "./arrival-rates.ts";

/** Time that a client is there, ms from the run's start. It sends nothing from `endMs` on. */
export interface Stay {
  readonly startMs: number;
  readonly endMs: number;
}

/**
 * Returns the stays of a fleet, by their starts. A stage of D ms may add or remove n clients. The i-th of them, from 1,
 * then comes or goes i D / n ms into the stage, rounded down. After the last stage nobody is there.
 */
export function fleetStays(startVUs: number, stages: readonly Stage[], durationMs: number): Stay[] {
  const stays: { startMs: number; endMs: number }[] = [];
  const there: number[] = [];
  const add = (startMs: number): void => {
    there.push(stays.push({ startMs, endMs: durationMs }) - 1);
  };
  const take = (endMs: number): void => {
    const stay = stays[there.pop() ?? -1];
    if (stay !== undefined) stay.endMs = Math.min(endMs, durationMs);
  };
  for (let n = 0; n < startVUs; n++) add(0);
  let [count, fromMs] = [startVUs, 0];
  for (const { target, durationMs: lengthMs } of stages) {
    const changes = Math.abs(target - count);
    for (let n = 1; n <= changes; n++) {
      const atMs = fromMs + Math.floor((lengthMs * n) / changes);
      if (target > count) add(atMs);
      else take(atMs);
    }
    count = target;
    fromMs += lengthMs;
  }
  while (there.length > 0) take(fromMs);
  return stays.filter(({ startMs, endMs }) => startMs < endMs);
}

/** Returns the greatest number of clients at once, each counted for `graceMs` longer than its stay. */
export function mostAtOnce(stays: readonly Stay[], graceMs: number): number {
  const ends = stays.map(({ endMs }) => endMs + graceMs).sort((a, b) => a - b);
  let most = 0;
  let gone = 0;
  for (const [index, { startMs }] of stays.entries()) {
    while ((ends[gone] as number) <= startMs) gone += 1;
    most = Math.max(most, index + 1 - gone);
  }
  return most;
}
