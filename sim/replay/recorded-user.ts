// A user's calls in a replay as `fit` reads a caller's, to ask what follows its refusals and which calls keep to a clock.
import { ABSENT } from "../../src/scenario/client.ts";
import { REFUSED } from "../../src/wire/outcome.ts";
import { CallKinds, RecordedCall } from "../fit/recorded-call.ts";
import type { RecordedCaller } from "../fit/recording.ts";
import type { ReplayCaller, ReplayCallers } from "./callers.ts";
import type { ReplayCalls } from "./calls.ts";

export interface RecordedUser {
  readonly caller: RecordedCaller;
  /** Resolution of the user's times, ms: 1000 if all are whole seconds. */
  readonly resolutionMs: number;
}

/** @param own the user's calls, in order; at least one */
export function recordedUser(own: Int32Array, rows: ReplayCalls, callers: ReplayCallers): RecordedUser {
  const { operations } = callers.core;
  const kinds = new CallKinds();
  let resolutionMs = 1000;
  const calls = Array.from(own, (row) => {
    const atMs = rows.atMs[row] as number;
    const cost = rows.cost[row] as number;
    if (atMs % 1000 !== 0) resolutionMs = 1;
    const operation = operations[rows.operation[row] as number]?.name ?? "";
    return new RecordedCall({
      atMs,
      endMs: rows.endMs(row),
      wantedMs: atMs,
      attempt: ABSENT,
      status: rows.refused[row] === 1 ? REFUSED : 200,
      said: null,
      kind: kinds.of(operation, undefined, false, cost, cost),
    });
  });
  const { org, user } = callers.users[rows.user[own[0] as number] as number] as ReplayCaller;
  return { caller: { organization: org, user, group: null, calls }, resolutionMs };
}
