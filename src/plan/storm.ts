// Retry storms: is the load back to normal after the end of their trigger? The same seeds run with and without the
// trigger, and are compared window by window.

import { usedQuotas, windowMsOf } from "../policy/effective.ts";
import type { Quota } from "../policy/policy.ts";
import { type Problem, quote, SpillwayError } from "../rules/errors.ts";
import { mostOf } from "../rules/extremes.ts";
import { parseRules } from "../rules/parse.ts";
import { organizationLimit } from "../rules/rules.ts";
import { rateMost } from "../scenario/arrival-input.ts";
import { policyCall } from "../scenario/policy-calls.ts";
import type { Scenario } from "../scenario/scenario.ts";
import { defaultOrganization } from "../scenario/seats.ts";
import type { PlanAnswer, PlanStorm, PlanStormSeries, PlanTrigger } from "../summary/plan-result.ts";
import { answerAlong } from "./edge-answer.ts";
import type { CountsByWindow, JobOutcome, Variant } from "./job.ts";
import type { Workshop } from "./points.ts";
import {
  decide,
  type Outcomes,
  type PlanSteps,
  type RunTrial,
  type Sampling,
  type Tried,
} from "./sampling.ts";
import { findEdge } from "./search.ts";
import { clopperPearson } from "./statistics.ts";
import { overAtMs, type Trigger } from "./trigger.ts";
import { parseRange } from "./vary.ts";

/** A search for a storm: its trigger's kind, time and sizes. */
export interface StormQuestion {
  readonly kind: Trigger["kind"];
  readonly atMs: number;
  readonly windowMs: number;
  /** Sizes of the trigger, rising: ms of an outage, calls of a burst. */
  readonly sizes: readonly number[];
  /** Number of windows after the trigger within which the load must be back; `null` for until the end of the run. */
  readonly withinWindows: number | null;
}

/** Least number of windows: one before the trigger, one with it, two in which to recover. */
const windowsLeast = 4;
/** Greatest number of windows, which are counted one by one in each run. */
const windowsMost = 100_000;
const burstMostDefault = 2_000;

/**
 * Reads `outage`, `burst`, `outage=1s..60s` or `burst=10..500`. The trigger comes after the first window, which is as
 * long as the shortest one. Default sizes: an outage of up to half of the time that is left, a burst of up to 2,000
 * calls.
 * @throws SpillwayError `USAGE`
 */
export function parseStorm(
  text: string,
  scenario: Scenario,
  withinWindows: number | null = null,
): StormQuestion {
  const [kind = "", ...ranges] = text.split("=");
  const refuse = (problem: Problem, hint?: string): SpillwayError =>
    new SpillwayError("USAGE", "this storm cannot be looked for", { problem, hint });
  if (kind !== "outage" && kind !== "burst")
    throw refuse({
      path: "--storm",
      got: quote(text),
      allowed: "outage, burst, outage=1s..60s or burst=10..500",
    });
  const windowMs = shortestWindowMs(scenario);
  const { durationMs } = scenario;
  const leastMs = windowsLeast * windowMs;
  if (durationMs < leastMs)
    throw refuse(
      {
        path: "duration",
        got: `${durationMs} ms`,
        allowed: `${leastMs} ms or more: ${windowsLeast} windows`,
      },
      `--duration ${Math.ceil((2 * leastMs) / 60_000)}m shows whether the load recovers`,
    );
  const mostMs = windowsMost * windowMs;
  if (durationMs > mostMs)
    throw refuse(
      {
        path: "duration",
        got: `${durationMs} ms`,
        allowed: `${mostMs} ms or less: ${windowsMost} windows of ${windowMs} ms`,
      },
      `--duration ${Math.floor(mostMs / 1000)}s is short enough`,
    );
  const unit = kind === "outage" ? "ms" : "count";
  const asked = ranges.length === 0 ? defaultRange(kind, durationMs - windowMs) : ranges.join("=");
  const sizes = parseRange("--storm", unit, asked).filter((size) => size > 0);
  const over = overAtMs({ kind, atMs: windowMs, size: sizes.at(-1) ?? 0 });
  if (sizes.length === 0)
    throw refuse({
      path: "--storm",
      got: quote(text),
      allowed: `${kind}=FROM..TO, such as ${kind}=${kind === "outage" ? "1s..60s" : "10..500"}`,
    });
  if (over > durationMs - windowMs)
    throw refuse({
      path: "--storm",
      got: quote(text),
      allowed: `a trigger that is over a window before the end, at ${durationMs - windowMs} ms`,
    });
  if (kind === "burst" && (sizes.at(-1) as number) > rateMost)
    throw refuse({ path: "--storm", got: quote(text), allowed: `bursts of at most ${rateMost} calls` });
  return { kind, atMs: windowMs, windowMs, sizes, withinWindows };
}

/** @param leftMs time from the trigger to the run's end */
function defaultRange(kind: Trigger["kind"], leftMs: number): string {
  if (kind === "burst") return `1..${burstMostDefault}`;
  const longestMs = Math.floor(leftMs / 2);
  return longestMs < 2_000 ? `1ms..${longestMs}ms` : `1s..${Math.floor(longestMs / 1000)}s`;
}

/** Returns the shortest window of the limits that the scenario's calls touch, ms: of rules, the organization's. */
function shortestWindowMs({ rules, policy, populations }: Scenario): number {
  const known = rules ?? parseRules({});
  const lengths = populations.flatMap(({ organization: named, name, behaviour }) => {
    const organization = named ?? defaultOrganization;
    return behaviour.calls
      .filter(({ kind }) => kind === "call")
      .flatMap((call) => {
        if (policy === undefined)
          return organizationLimit(known, organization, call.scope).windowSeconds * 1000;
        const { operation, caller } = policyCall(policy, call, { organization, user: name });
        return usedQuotas(policy, operation, caller).map((quota) =>
          windowMsOf(policy.quotas[quota] as Quota),
        );
      });
  });
  const timed = lengths.filter((ms) => ms > 0);
  return timed.length === 0 ? 60_000 : Math.min(...timed);
}

/**
 * Returns the number of windows after the trigger by which the load was back; `null` if it was not by the run's end.
 *
 * A window's bad share is that of its calls that were refused or not answered. Normal is the highest bad share from the
 * trigger on in the same seed's run without it. No later window of a load that is *back* exceeds normal by more than
 * one percentage point; it is back from the first such window after the trigger's end. A window without a call counts
 * only if the run without the trigger has none there, too: clients that fell silent have not recovered.
 */
export function recoveredAfter(
  normal: CountsByWindow,
  seen: CountsByWindow,
  { atMs, windowMs }: Pick<StormQuestion, "atMs" | "windowMs">,
  overMs: number,
): number | null {
  const begins = Math.floor(atMs / windowMs);
  const over = Math.ceil(overMs / windowMs);
  const highest = mostOf(
    normal.slice(begins).map(([calls, bad]) => (calls === 0 ? 0 : bad / calls)),
    0,
  );
  const isBack = (place: number): boolean => {
    const [calls, bad] = seen[place] as CountsByWindow[number];
    if (calls === 0) return normal[place]?.[0] === 0;
    return bad / calls <= highest + 0.01;
  };
  let back: number | null = null;
  for (let place = seen.length - 1; place >= over && isBack(place); place--) back = place;
  return back === null ? null : back - over;
}

/** Returns the counts of a job by windows, as all jobs of a storm are. */
const windowsOf = ({ windows }: JobOutcome): CountsByWindow => windows as CountsByWindow;

/**
 * Searches for the smallest trigger that the load does not recover from.
 * @param sampling rules by which the load recovers from a size or not
 */
export function* searchStorm(
  { outcomes }: Pick<Workshop, "outcomes">,
  question: StormQuestion,
  sampling: Sampling,
): PlanSteps<PlanStorm> {
  const { kind, atMs, windowMs, sizes, withinWindows } = question;
  const calm: Variant = { changes: [], trigger: null, windowMs };
  const hit = (size: number): Variant => ({ changes: [], trigger: { kind, atMs, size }, windowMs });
  const after = (size: number, replication: number): number | null =>
    recoveredAfter(
      windowsOf(outcomes.of(calm, replication)),
      windowsOf(outcomes.of(hit(size), replication)),
      question,
      overAtMs({ kind, atMs, size }),
    );
  const trial = (size: number): RunTrial => ({
    variants: [calm, hit(size)],
    holds: (replication) => (after(size, replication) ?? Infinity) <= (withinWindows ?? Number.MAX_VALUE),
  });
  const tried = new Map<number, Tried>();
  const edge = yield* findEdge(sizes.length, function* (places, later) {
    const those = places.map((place) => sizes[place] as number);
    const results = yield* decide(those.map(trial), outcomes, sampling, later);
    for (const [index, size] of those.entries()) {
      const result = results[index];
      if (result !== undefined) tried.set(size, result);
    }
    return results;
  });
  const answer = answerAlong(edge, sampling, sizes, (size) => tried.get(Number(size)) ?? null);
  const triggers = [...tried]
    .sort(([a], [b]) => a - b)
    .map(([size, one]): PlanTrigger => {
      const waits = Array.from({ length: one.replications }, (_, replication) => after(size, replication));
      const known = waits.filter((wait) => wait !== null);
      return {
        size,
        replications: one.replications,
        recovered: one.held,
        recoveredShare: clopperPearson(one.held, one.replications, sampling.confidence),
        state: one.state,
        windowsToRecover:
          known.length === 0 ? null : known.reduce((sum, wait) => sum + wait, 0) / known.length,
      };
    });
  const drawn = sizesWorthDrawing(answer, triggers);
  const seriesOf = (variant: Variant, size: number): PlanStormSeries => ({
    size,
    shares: sharesOf(outcomes, variant, sampling.looks[0] as number),
  });
  const series = [seriesOf(calm, 0), ...drawn.map((size) => seriesOf(hit(size), size))];
  return {
    trigger: kind,
    unit: kind === "outage" ? "ms" : "count",
    atMs,
    windowMs,
    withinWindows,
    share: sampling.share,
    answer,
    from: sizes[0] as number,
    to: sizes.at(-1) as number,
    triggers,
    series,
  };
}

/** Returns both sides of the edge, or the largest trigger if there is no edge. */
function sizesWorthDrawing(answer: PlanAnswer, triggers: readonly PlanTrigger[]): number[] {
  const sides = "holds" in answer ? [answer.holds, answer.fails].filter((size) => size !== null) : [];
  const largest = triggers.at(-1)?.size;
  return sides.length > 0 ? sides : largest === undefined ? [] : [largest];
}

/** Returns the bad share of each window, on average over the first runs. @param times runs that every variant has */
function sharesOf(outcomes: Outcomes, variant: Variant, times: number): PlanStormSeries["shares"] {
  const runs = Array.from({ length: times }, (_, replication) =>
    windowsOf(outcomes.of(variant, replication)),
  );
  return (runs[0] as CountsByWindow).map((_, place) => {
    const values = runs.flatMap((run) => {
      const [calls, bad] = run[place] as CountsByWindow[number];
      return calls === 0 ? [] : [bad / calls];
    });
    return values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length;
  });
}
