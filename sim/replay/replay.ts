// A log under rules or a policy: who would have been refused, when, how often; and how large limits would have had to be.
// Rows come in columns and callers are handles, so that nothing is allocated per row.
import type { LogRows, RoutedRows } from "../../src/logs/rows.ts";
import type { Policy } from "../../src/policy/policy.ts";
import { policyOf } from "../../src/policy/shorthand.ts";
import type { Rules } from "../../src/rules/rules.ts";
import { pointsMost } from "../../src/scenario/calls.ts";
import type { QuotaReplayResult } from "../../src/summary/quota-replay-result.ts";
import { judgeReplay, requireReplayFigures } from "../../src/summary/replay-figures.ts";
import type { ReplayResult } from "../../src/summary/replay-result.ts";
import { limitsOfPolicy, limitsOfRules } from "../fit/limits.ts";
import { ReplayCallers } from "./callers.ts";
import { reactingCallsMost } from "./calls.ts";
import { putBack } from "./put-back.ts";
import { KeptRows, type Reaction } from "./reaction.ts";
import { ReplayRun } from "./replay-run.ts";
import { demandByRules, plainByRules, reactionByRules } from "./rules-result.ts";
import type { ReplayProgress, ReplayWay } from "./way.ts";

export interface ReplayOptions {
  /** As the log is called, for the result. */
  readonly files?: readonly string[];
  /** Bounds by figure, `{refusedShare: "<1%"}`; of callers that react where there is a reaction. */
  readonly expect?: Readonly<Record<string, string>>;
  /** The reaction of callers that are refused; where it is left out the log is replayed as it is alone. */
  readonly reaction?: Reaction | undefined;
  /** Once it is aborted nothing more is read; what was read is told. */
  readonly signal?: { readonly aborted: boolean } | undefined;
  /** Told after each batch; what it returns is waited for. */
  readonly onProgress?: ((progress: ReplayProgress) => void | Promise<void>) | undefined;
}

/** The demand of a log of more rows is not put back, unless callers are to react. */
export const demandRowsMost = 1_000_000;

/**
 * Replays a log under rules (SPEC.md §2): each call is decided when the log says it began. Status calls are free;
 * what no quota counts, queries above 50,000 points among them, is passed over. A query holds or is charged its
 * requested points, and is settled when the log says that it was over, by the actual points where the log has them.
 *
 * With a `reaction` the same calls are replayed once more by callers that do something about a refusal
 * (`ReplayResult.reaction`); for this all calls are kept in memory.
 *
 * @param log rows in the order of `atMs`
 * @throws SpillwayError `SCENARIO_INVALID` where an expectation cannot be read; `USAGE` where callers are to react and
 *   the log is too long for it; what reading the log throws
 * @throws RangeError where rows go back in time, or a number is none
 *
 * @example
 * const { totals, smallestLimits } = await replay(log, parseRules({}));
 */
export async function replay(log: LogRows, rules: Rules, options: ReplayOptions = {}): Promise<ReplayResult> {
  const { expect = {} } = options;
  requireReplayFigures(expect, "rules");
  const way = { limits: limitsOfRules(rules), isInOrder: true, costMost: pointsMost };
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
 * @throws as `replay` does; SpillwayError `POLICY_UNSUPPORTED` where a quota has an algorithm that is described alone
 */
export async function replayQuotas(
  log: RoutedRows,
  policy: Policy,
  options: ReplayOptions = {},
): Promise<QuotaReplayResult> {
  const { expect = {} } = options;
  requireReplayFigures(expect, "policy");
  const way = { limits: limitsOfPolicy(policy), isInOrder: false, costMost: Number.POSITIVE_INFINITY };
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
  const demand =
    isWhole && (plain.recorded?.refused ?? 0) > 0 ? putBack(kept.calls, kept.callers, way.limits) : null;
  const reacted =
    reaction === undefined || interrupted ? null : await kept.react(reaction, way, onProgress, signal);
  interrupted ||= signal?.aborted === true;
  return { plain, interrupted, demand, reaction: reacted };
}
