// The demand of a log that refused: put back to when it was first wanted. If nobody had been refused, callers would have
// gone on sooner, some of them at once; so what follows stays where the log has it, or moves up, and the truth is
// somewhere in between.
import { GRAPHQL, REST } from "../../src/engine/core.ts";
import { type Rules, semanticsOf } from "../../src/rules/rules.ts";
import type { ReplayDemand } from "../../src/summary/replay-result.ts";
import type { ReplayCallers } from "./callers.ts";
import { chained, NONE, type ReplayCalls } from "./calls.ts";
import { DueHeap } from "./due.ts";
import { ReplayHeadroom } from "./headroom.ts";
import { wishesOf } from "./wishes.ts";

/** Works out the limits that would have refused none of the demand of a log. */
export function putBack(rows: ReplayCalls, callers: ReplayCallers, rules: Rules): ReplayDemand {
  const told = wishesOf(rows, callers, rules, false);
  const readings = [told.calls, ...(told.untold === 0 ? [] : [wishesOf(rows, callers, rules, true).calls])];
  const needed = readings.flatMap((calls) =>
    [calls.atMs.subarray(0, calls.count), movedUp(calls)].map((times) =>
      neededBy(calls, times, callers, rules),
    ),
  );
  const limits = (needed[0] ?? []).map(({ owner, scope, limit }) => {
    const all = needed.flatMap((one) =>
      one.flatMap((each) => (each.owner === owner && each.scope === scope ? [each.smallest] : [])),
    );
    return { owner, scope, limit, low: Math.min(...all), high: Math.max(...all) };
  });
  const { retries, untold, untoldUsers } = told;
  return { wishes: told.calls.count, retries, untold, untoldUsers, limits };
}

/** When each call would have been sent if none had been refused: as long after the one before as in the log. */
function movedUp(calls: ReplayCalls): Float64Array {
  const times = calls.atMs.slice(0, calls.count);
  const { firstReleased, next } = chained(calls);
  // A call is released by one before it.
  for (let call = 0; call < calls.count; call++) {
    const overMs = (times[call] as number) + (calls.durationMs[call] as number);
    for (let one = firstReleased[call] ?? NONE; one !== NONE; one = next[one] ?? NONE)
      times[one] = overMs + (calls.atMs[one] as number) - calls.endMs(call);
  }
  return times;
}

function neededBy(calls: ReplayCalls, times: Float64Array, callers: ReplayCallers, rules: Rules) {
  const headroom = new ReplayHeadroom(rules, callers);
  const isPrepaid = semanticsOf(rules, "graphql").graphqlCharge === "prepaid";
  const due = new DueHeap();
  const windows = new Float64Array(2 * calls.count);
  const settleUntil = (nowMs: number): void => {
    while (due.firstMs <= nowMs) {
      const atMs = due.firstMs;
      const call = due.pop();
      const [user, cost, actual] = [calls.user, calls.cost, calls.actual].map(
        (column) => column[call] as number,
      );
      headroom.settle(
        user as number,
        cost as number,
        actual as number,
        windows[2 * call] as number,
        windows[2 * call + 1] as number,
        atMs,
      );
    }
  };
  const order = Int32Array.from(times.keys()).sort(
    (a, b) => (times[a] as number) - (times[b] as number) || a - b,
  );
  for (const call of order) {
    const nowMs = Math.round(times[call] as number);
    settleUntil(nowMs);
    const user = calls.user[call] as number;
    const organization = callers.organizationOf(user);
    const scope = calls.scope[call] === REST ? REST : GRAPHQL;
    headroom.decide(user, organization, scope, calls.cost[call] as number, nowMs);
    if (scope === REST || isPrepaid) continue;
    windows[2 * call] = headroom.windowOf("organization", organization);
    windows[2 * call + 1] = headroom.windowOf("user", user);
    due.push(nowMs + (calls.durationMs[call] as number), call);
  }
  settleUntil(Number.MAX_SAFE_INTEGER);
  headroom.finish();
  return headroom.smallestLimits();
}
