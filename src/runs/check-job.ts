// Checks the laws against a user's limiter, a limiter with a fault, or our engine.
import type { LimiterFactory } from "../engine/adapter.ts";
import type { QuotaLimiterFactory } from "../engine/quota-limiter.ts";
import { checkLaws } from "../laws/check.ts";
import type { CheckOptions, CheckProgress } from "../laws/check-options.ts";
import { checkInterleavings } from "../laws/interleavings.ts";
import type { KnownCounterexample } from "../laws/known.ts";
import type { InterleavingReport, OverlapProgress } from "../laws/overlaps.ts";
import type { CheckReport, LawReport } from "../laws/report.ts";
import type { QuotasKind } from "../laws/sight.ts";
import type { Policy } from "../policy/policy.ts";
import { parseRules } from "../rules/parse.ts";
import { clockedFactory } from "./clocked-limiter.ts";
import type { JobContext, JobLimiter } from "./job.ts";
import { eventsOf } from "./job-events.ts";
import { ownTimers } from "./promised-timers.ts";
import { inTurns } from "./turns.ts";

export interface CheckTask {
  readonly options: Pick<CheckOptions, "runs" | "seed" | "laws" | "path" | "known" | "rules" | "repeatWith">;
  /** Promises to check, in place of rules. */
  readonly policy?: Policy | undefined;
  /** NAME or NAME=RATE, if the limiter is not the user's. */
  readonly fault?: string | undefined;
  /** True if time passes inside calls that overlap. */
  readonly clockMoves?: boolean | undefined;
}

/** Report under rules, or under a policy. */
export type AnyCheckReport = CheckReport | CheckReport<QuotasKind>;
export type AnyInterleavingReport = InterleavingReport | InterleavingReport<QuotasKind>;
export type AnyLawReport = LawReport | LawReport<QuotasKind>;

/** Progress of a check; or the report of a law that is done. */
export type CheckEvent = CheckProgress | AnyLawReport;

/**
 * Checks the laws one after the other.
 * @throws SpillwayError as `checkLaws` and `checkQuotaLaws` do, `FAULT_INVALID` if the fault does not fit the limits
 */
export function checkJob(
  task: CheckTask,
  { limiter, signal }: JobContext,
): AsyncGenerator<CheckEvent, AnyCheckReport, undefined> {
  return eventsOf(async (tell) => {
    const { policy, options } = task;
    const live = { signal, timers: ownTimers, onProgress: inTurns(tell), onLaw: tell, ...placesOf(limiter) };
    if (policy === undefined) return checkLaws(await factoryOf(limiter, task), { ...options, ...live });
    const { checkQuotaLaws } = await import("../laws/quotas/kit.ts");
    const { rules: _rules, known, ...rest } = options;
    // The laws parse a list of known counterexamples by themselves.
    const listed = known as readonly KnownCounterexample<QuotasKind>[] | undefined;
    return checkQuotaLaws(await quotaFactoryOf(limiter, task, policy), policy, {
      ...{ ...rest, ...live },
      ...(listed && { known: listed }),
    });
  });
}

const placesOf = (limiter: JobContext["limiter"]): Pick<JobLimiter, "placeOf"> =>
  limiter?.placeOf === undefined ? {} : { placeOf: limiter.placeOf };

async function quotaFactoryOf(
  limiter: JobContext["limiter"],
  { fault, options: { seed = 0 } }: CheckTask,
  policy: Policy,
): Promise<QuotaLimiterFactory> {
  // The file was imported as one that takes a policy.
  if (limiter !== null)
    return clockedFactory(limiter as JobLimiter<unknown> as JobLimiter<QuotaLimiterFactory>);
  if (fault === undefined) return (await import("../laws/engine-factory.ts")).quotaEngine;
  const { parseFault, requirePolicy } = await import("../faults/choice.ts");
  const chosen = parseFault(fault);
  requirePolicy(chosen, policy);
  return (await import("../faults/factory.ts")).quotaFaultFactory(chosen, seed);
}

/**
 * Checks calls that overlap.
 * @throws SpillwayError as `checkInterleavings` does, and as `checkJob`
 */
export function interleavingsJob(
  task: CheckTask,
  { limiter, signal }: JobContext,
): AsyncGenerator<OverlapProgress, AnyInterleavingReport, undefined> {
  return eventsOf(async (tell) => {
    const { policy, clockMoves, options } = task;
    const { path, ...rest } = options;
    const moving = clockMoves === true ? { clockMoves: true } : {};
    const live = { ...moving, signal, timers: ownTimers, onProgress: inTurns(tell), ...placesOf(limiter) };
    if (policy === undefined) return checkInterleavings(await factoryOf(limiter, task), { ...rest, ...live });
    const { checkQuotaInterleavings } = await import("../laws/quotas/interleavings.ts");
    return checkQuotaInterleavings(await quotaFactoryOf(limiter, task, policy), policy, { ...rest, ...live });
  });
}

/** Returns the user's limiter under the run's clock; else our engine, or a limiter with a fault. */
async function factoryOf(
  limiter: JobContext["limiter"],
  { options: { rules, seed = 0 }, fault }: CheckTask,
): Promise<LimiterFactory> {
  if (limiter !== null) return clockedFactory(limiter);
  if (fault === undefined) return (await import("../laws/engine-factory.ts")).engineFactory;
  const { parseFault, requireSuitable } = await import("../faults/choice.ts");
  const chosen = parseFault(fault);
  if (rules !== undefined) requireSuitable(chosen, parseRules(rules));
  return (await import("../faults/factory.ts")).faultFactory(chosen, seed);
}
