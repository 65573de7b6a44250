// A log under rules or a policy: who would have been refused, when and how often, and which limits it would have
// needed. Rows come in columns and callers are handles, so that nothing is allocated for a row.
import type { LogRows, RoutedRows } from "../../src/logs/rows.ts";
import type { Policy } from "../../src/policy/policy.ts";
import { policyOf } from "../../src/policy/shorthand.ts";
import type { Rules } from "../../src/rules/rules.ts";
import { pointsMost } from "../../src/scenario/calls.ts";
import type { QuotaDemand, QuotaReplayResult, QuotaSmallest } from "../../src/summary/quota-replay-result.ts";
import { judgeReplay, requireReplayFigures } from "../../src/summary/replay-figures.ts";
import type { ReplayResult } from "../../src/summary/replay-result.ts";
import { ReplayCallers } from "./callers.ts";
import { type Chains, chained, NONE, type ReplayCalls, reactingCallsMost } from "./calls.ts";
import { Completions } from "./completions.ts";
import { ReplayHeadroom } from "./headroom.ts";
import { KeptRows } from "./kept-rows.ts";
import { type Reaction, react } from "./reaction.ts";
import { ReplayRun } from "./replay-run.ts";
import { demandByRules, plainByRules, reactionByRules } from "./rules-result.ts";
import { RunningCalls } from "./running.ts";
import type { ReplayProgress, ReplayWay } from "./way.ts";

export interface ReplayOptions {
  /** Names of the log's files, for the result. */
  readonly files?: readonly string[];
  /** Bounds by figure, `{refusedShare: "<1%"}`. With a reaction they concern the callers that react. */
  readonly expect?: Readonly<Record<string, string>>;
  /** Reaction of callers that are refused. Default: the log is replayed only as it is. */
  readonly reaction?: Reaction | undefined;
  /** Signal after which nothing more is read. The result is about the rows until then. */
  readonly signal?: { readonly aborted: boolean } | undefined;
  /** Called after each batch; awaited. */
  readonly onProgress?: ((progress: ReplayProgress) => void | Promise<void>) | undefined;
}

/** Greatest number of rows of a log whose demand is put back, unless callers react. */
export const demandRowsMost = 1_000_000;

/**
 * Replays a log under rules (SPEC.md §2). Each call is decided at its start in the log. Status calls are free; calls
 * that no quota counts, such as queries above 50,000 points, are skipped. A query holds or is charged its requested
 * points. It is settled at its end in the log, by the actual points if the log has them.
 *
 * With a `reaction` the same calls are replayed once more by callers that react to refusals (`ReplayResult.reaction`).
 * All calls are then kept in memory.
 *
 * @param log rows in the order of `atMs`
 * @throws SpillwayError `SCENARIO_INVALID` if an expectation cannot be read; `USAGE` if callers react and the log is
 *   too long for it; what reading the log throws
 * @throws RangeError if rows go back in time, or a number is none
 *
 * @example const { totals, smallestLimits } = await replay(log, parseRules({}));
 */
export async function replay(log: LogRows, rules: Rules, options: ReplayOptions = {}): Promise<ReplayResult> {
  const { expect = {} } = options;
  requireReplayFigures(expect, "rules");
  const way = { isInOrder: true, costMost: pointsMost };
  const { plain, interrupted, demand, reaction } = await replayed(log, policyOf(rules), way, options);
  const result = {
    format: "spillway-replay",
    version: 1,
    ...plainByRules(plain),
    interrupted,
    rules,
    demand: demand === null ? null : demandByRules(demand),
    reaction: reaction === null ? null : reactionByRules(reaction),
  } as const;
  return { ...result, expectations: judgeReplay(expect, result) };
}

/**
 * Replays a log under a policy (POLICY.md): as `replay`, by the policy's operations and quotas.
 * @param log rows that were read by this policy
 * @throws as `replay` does; SpillwayError `POLICY_UNSUPPORTED` if a quota's algorithm is only described
 */
export async function replayQuotas(
  log: RoutedRows,
  policy: Policy,
  options: ReplayOptions = {},
): Promise<QuotaReplayResult> {
  const { expect = {} } = options;
  requireReplayFigures(expect, "policy");
  const way = { isInOrder: false, costMost: Number.POSITIVE_INFINITY };
  const { plain, ...rest } = await replayed(log, policy, way, options);
  const result = { format: "spillway-replay", version: 2, ...plain, ...rest, policy } as const;
  return { ...result, expectations: judgeReplay(expect, result) };
}

async function replayed(
  log: LogRows & Partial<RoutedRows>,
  policy: Policy,
  way: ReplayWay,
  { files = [], reaction, signal, onProgress }: ReplayOptions,
) {
  const most = reaction === undefined ? demandRowsMost : reactingCallsMost;
  const kept = new KeptRows(policy, log.callers, most);
  const run = new ReplayRun(
    new ReplayCallers(policy, log.callers),
    kept,
    way.costMost,
    reaction === undefined,
  );
  let interrupted = false;
  for await (const batch of log.batches) {
    run.take(batch);
    await onProgress?.({ rows: run.rows, of: null });
    interrupted = signal?.aborted === true;
    if (interrupted) break;
  }
  const plain = run.finish(files, log);
  const isWhole = !interrupted && run.isKept;
  const demand = isWhole && (plain.recorded?.refused ?? 0) > 0 ? putBack(kept) : null;
  const reacted =
    reaction === undefined || interrupted
      ? null
      : await react(policy, kept, reaction, way, onProgress, signal);
  interrupted ||= signal?.aborted === true;
  return { plain, interrupted, demand, reaction: reacted };
}

// The demand of a log with refusals, put back to when it was first wanted. Without refusals, callers would have gone on
// sooner, some of them at once. Later calls stay at their time in the log, or move up; the truth is somewhere in
// between.

/** Returns the limits that would have refused none of the demand of a log. */
function putBack(kept: KeptRows): QuotaDemand {
  const told = kept.wishes("none");
  const readings = told.untold === 0 ? [told] : [told, kept.wishes("anew"), kept.wishes("again")];
  const needed = readings.flatMap((wishes) => {
    const { calls } = wishes;
    const chains = chained(calls, kept.clockedOf(wishes));
    const times = [calls.atMs.subarray(0, calls.count), movedUp(calls, chains)];
    return times.map((each) => neededBy(calls, each, kept.callers));
  });
  const wanted = (needed[0] ?? []).map(({ quota, limit }) => {
    const isSame = (each: QuotaSmallest) => each.quota === quota && each.limit === limit;
    const all = needed.flatMap((one) => one.filter(isSame).map(({ smallest }) => smallest));
    return { quota, limit, low: Math.min(...all), high: Math.max(...all) };
  });
  const { retries, untold, untoldUsers } = told;
  return { wishes: told.calls.count, retries, untold, untoldUsers: untoldUsers.size, limits: wanted };
}

/** Returns when each call would have been sent without refusals: at its distance in the log from the previous one. */
function movedUp(calls: ReplayCalls, { firstReleased, next }: Chains): Float64Array {
  const times = calls.atMs.slice(0, calls.count);
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
  const running = new RunningCalls(completions.width, headroom.settle.bind(headroom));
  const order = Int32Array.from(times.keys()).sort(
    (a, b) => (times[a] as number) - (times[b] as number) || a - b,
  );
  for (const call of order) {
    const nowMs = Math.round(times[call] as number);
    running.settleUntil(nowMs);
    const handle = calls.handle[call] as number;
    const operation = calls.operation[call] as number;
    const cost = calls.cost[call] as number;
    const actual = calls.actual[call] as number;
    headroom.decide(handle, operation, cost, nowMs);
    if (!completions.matters(operation, cost, actual)) continue;
    const endMs = nowMs + (calls.durationMs[call] as number);
    const at = running.start(handle, operation, cost, actual, endMs);
    headroom.noteWindows(handle, operation, running.windows, at);
  }
  running.settleUntil(Number.MAX_SAFE_INTEGER);
  headroom.finish();
  return headroom.smallestLimits();
}
