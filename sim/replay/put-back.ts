// The demand of a log with refusals, put back to when it was first wanted. Without refusals, callers would have gone on
// sooner, some of them at once. Later calls stay at their time in the log, or move up; the truth is somewhere in
// between.
import type { QuotaDemand } from "../../src/summary/quota-replay-result.ts";
import type { Limits } from "../fit/limits.ts";
import type { ReplayCallers } from "./callers.ts";
import { chained, NONE, type ReplayCalls } from "./calls.ts";
import { Completions } from "./completions.ts";
import { DueHeap } from "./due.ts";
import { ReplayHeadroom } from "./headroom.ts";
import { wishesOf } from "./wishes.ts";

/** Returns the limits that would have refused none of the demand of a log. */
export function putBack(rows: ReplayCalls, callers: ReplayCallers, limits: Limits): QuotaDemand {
  const told = wishesOf(rows, callers, limits, false);
  const readings = [told.calls, ...(told.untold === 0 ? [] : [wishesOf(rows, callers, limits, true).calls])];
  const needed = readings.flatMap((calls) =>
    [calls.atMs.subarray(0, calls.count), movedUp(calls)].map((times) => neededBy(calls, times, callers)),
  );
  const wanted = (needed[0] ?? []).map(({ quota, limit }) => {
    const all = needed.flatMap((one) => one.flatMap((each) => (each.quota === quota ? [each.smallest] : [])));
    return { quota, limit, low: Math.min(...all), high: Math.max(...all) };
  });
  const { retries, untold, untoldUsers } = told;
  return { wishes: told.calls.count, retries, untold, untoldUsers, limits: wanted };
}

/** Returns when each call would have been sent without refusals: at its distance in the log from the previous one. */
function movedUp(calls: ReplayCalls): Float64Array {
  const times = calls.atMs.slice(0, calls.count);
  const { firstReleased, next } = chained(calls);
  // A call is released by an earlier one.
  for (let call = 0; call < calls.count; call++) {
    const overMs = (times[call] as number) + (calls.durationMs[call] as number);
    for (let one = firstReleased[call] ?? NONE; one !== NONE; one = next[one] ?? NONE)
      times[one] = overMs + (calls.atMs[one] as number) - calls.endMs(call);
  }
  return times;
}

function neededBy(calls: ReplayCalls, times: Float64Array, callers: ReplayCallers) {
  const headroom = new ReplayHeadroom(callers);
  const completions = new Completions(callers.core);
  const { width } = completions;
  const due = new DueHeap();
  const windows = new Float64Array(completions.any ? width * calls.count : 0);
  const settleUntil = (nowMs: number): void => {
    while (due.firstMs <= nowMs) {
      const atMs = due.firstMs;
      const call = due.pop();
      const columns = [calls.handle, calls.operation, calls.cost, calls.actual];
      const [handle, operation, cost, actual] = columns.map((column) => column[call] as number) as [
        number,
        number,
        number,
        number,
      ];
      headroom.settle(handle, operation, cost, actual, windows, width * call, atMs);
    }
  };
  const order = Int32Array.from(times.keys()).sort(
    (a, b) => (times[a] as number) - (times[b] as number) || a - b,
  );
  for (const call of order) {
    const nowMs = Math.round(times[call] as number);
    settleUntil(nowMs);
    const handle = calls.handle[call] as number;
    const operation = calls.operation[call] as number;
    const cost = calls.cost[call] as number;
    headroom.decide(handle, operation, cost, nowMs);
    if (!completions.matters(operation, cost, calls.actual[call] as number)) continue;
    headroom.noteWindows(handle, operation, windows, width * call);
    due.push(nowMs + (calls.durationMs[call] as number), call);
  }
  settleUntil(Number.MAX_SAFE_INTEGER);
  headroom.finish();
  return headroom.smallestLimits();
}
