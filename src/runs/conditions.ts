// The conditions under which a scenario is simulated: its own, changes by the command line, or those of an earlier run.
// With the latter, simulator and measurement differ only in what they model.
import type { Likeness } from "../../sim/likeness.ts";
import type { SimulateOptions } from "../../sim/simulate.ts";
import type { Policy } from "../policy/policy.ts";
import type { RunRecord } from "../report/run.ts";
import { parseRules } from "../rules/parse.ts";
import type { Rules } from "../rules/rules.ts";
import type { Token } from "../rules/tokens.ts";
import { adjustScenario } from "../scenario/adjust.ts";
import { adviseScenario } from "../scenario/advice.ts";
import type { Scenario } from "../scenario/scenario.ts";
import { seatingLike } from "../scenario/seats.ts";
import { describeSpread } from "../scenario/spread.ts";

export interface Changes {
  readonly seed?: number | undefined;
  readonly durationMs?: number | undefined;
  readonly rules?: Rules | undefined;
  /** Limits of any API, in place of rules. */
  readonly policy?: Policy | undefined;
  /** Tokens whose names the trace has. */
  readonly tokens?: readonly Token[] | null | undefined;
  /** Folder of a run whose start, duration, seed, rules, users and network are taken. */
  readonly like?: string | undefined;
}

/** The scenario as it is to be run, and what the reader must know of that. */
export interface Conditions {
  readonly scenario: Scenario;
  readonly options: Pick<SimulateOptions, "seating" | "tokens">;
  readonly notes: readonly string[];
}

/** @throws SpillwayError as `readRun` and `openTrace` do */
export async function conditionsOf(written: Scenario, changes: Changes): Promise<Conditions> {
  const like = changes.like === undefined ? null : await readLikeness(changes.like);
  const policy = changes.policy ?? (changes.rules === undefined ? like?.record.policy : undefined);
  const rules = changes.rules ?? like?.record.rules ?? written.rules ?? parseRules({});
  const scenario = adjustScenario(written, {
    seed: changes.seed ?? like?.record.seed,
    durationMs: changes.durationMs ?? like?.record.durationMs,
    startAtMs: like?.record.startedAt,
    ...(policy === undefined ? { rules } : { policy }),
    network: like?.likeness.network(written.network),
  });
  const by = policy === undefined ? [] : [`the limits are those of the policy ${policy.name}`];
  const notes = [...by, ...adviseScenario(scenario, rules)];
  if (like === null)
    return { scenario, options: policy === undefined ? { tokens: changes.tokens } : {}, notes };
  const { latencyMs, roundTripMs, executionMs, latenessMs } = scenario.network;
  const trip = `${describeSpread(roundTripMs ?? latencyMs)}${roundTripMs === null ? " one way" : ""}`;
  const trips = `trips of ${trip}, queries of ${describeSpread(executionMs)}, clients late by ${describeSpread(latenessMs)}`;
  return {
    scenario,
    options: policy === undefined ? { seating: seatingLike(scenario, like.likeness.users) } : {},
    notes: [...notes, `start, users and network are those of ${changes.like}: ${trips}`],
  };
}

/** Reads an earlier run. The code that reads runs is loaded only here. */
async function readLikeness(folder: string): Promise<{ record: RunRecord; likeness: Likeness }> {
  const { readRun, traceOf } = await import("../report/run-folder.ts");
  const { Likeness } = await import("../../sim/likeness.ts");
  const { openTrace } = await import("../trace/read.ts");
  const { record } = await readRun(folder);
  const likeness = new Likeness();
  const trace = await openTrace(traceOf(folder));
  if (trace.version === 1) for await (const { call } of trace.calls) likeness.add(call);
  else for await (const { call } of trace.calls) likeness.addByQuotas(call);
  return { record, likeness };
}
