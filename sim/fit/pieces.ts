// The pieces of a fitted scenario's source: a call, a spread, a policy, arrivals.
import type { Policy } from "../../src/policy/policy.ts";
import { standInOf } from "./asked.ts";
import { hourMs } from "./days.ts";
import { type Expression, list, literal, make, object } from "./expression.ts";
import type { FittedAdapt, FittedArrivals, FittedCall } from "./model.ts";
import type { FittedPaces } from "./paces.ts";
import type { FittedRetry } from "./policies.ts";
import type { FittedRhythm } from "./rhythm.ts";
import type { FittedSpan, FittedSpread } from "./spread.ts";
import { timeText } from "./words.ts";

/** Most pipelines that one query asks for; `frame`: points that the query costs beside them (SPEC.md §1). */
const pipelinesMost = 500;
const frame = 3;
const samplePipelines = 10;

/** Writes a call of the default API, or of `policy`, that costs the same. */
export function callExpression(call: FittedCall, policy?: Policy): Expression {
  const { operation, free, cost, actual } = call;
  if (free) return make("status");
  if (policy !== undefined) return standInExpression(call, policy);
  if (operation === "rest") return make("rest", literal("/v2/organizations/:org/pipelines"));
  const first = cost - frame;
  if (first < 1 || first > pipelinesMost || actual < frame)
    return make(
      "graphql",
      literal('{ organization(slug: ":org") { slug } }'),
      object({ cost, actual: actual === cost ? null : actual, name: `points-${cost}` }),
    );
  const existing = actual - frame;
  return existing === Math.min(first, samplePipelines)
    ? make("pipelinesQuery", literal(first))
    : make("pipelinesQuery", literal(first), literal(existing));
}

/** Writes a request of the same operation and cost. */
function standInExpression({ operation, asked = {}, cost, actual }: FittedCall, policy: Policy): Expression {
  const { method, path, query } = standInOf(policy, operation, asked);
  const name = operation.replace(/[^A-Za-z0-9_-]+/g, "-").replace(/^[^A-Za-z0-9]+/, "") || "call";
  const spent = actual === cost ? null : actual;
  if (query !== null) return make("graphql", literal(query), object({ cost, actual: spent, name }));
  return make(
    "rest",
    literal(path),
    object({ method: method === "GET" ? null : method, cost: cost === 1 ? null : cost, actual: spent, name }),
  );
}

export function spreadExpression(spread: FittedSpread): Expression {
  switch (spread.kind) {
    case "constant":
      return literal(timeText(spread.ms));
    case "uniform":
      return spanExpression(spread);
    case "lognormal":
      return object({ median: timeText(spread.median), p95: timeText(spread.p95) });
    case "quantiles":
      return object({
        quantiles: list(spread.quantiles.map(literal)),
        shares: list(spread.shares.map(literal)),
      });
  }
}

/** Writes a spread; `null` if it is always 0. A uniform spread from 0 is written as its upper end. */
export function withinExpression(spread: FittedSpread): Expression | null {
  if (spread.kind === "constant" && spread.ms === 0) return null;
  return spread.kind === "uniform" && spread.least === 0
    ? literal(timeText(spread.most))
    : spreadExpression(spread);
}

/** Writes the pauses of a loop; `null` if there are none. */
export function thinkExpression(think: FittedSpread | FittedPaces): Expression | null {
  if (think.kind === "constant" && think.ms === 0) return null;
  if (think.kind !== "paces") return spreadExpression(think);
  return object({
    paces: list(
      think.paces.map(({ think, times, atOnce, next }) =>
        object({
          think: spreadExpression(think),
          times: times === null ? null : countExpression(times),
          atOnce: atOnce === null ? null : countExpression(atOnce),
          next: list(next.map(literal)),
        }),
      ),
    ),
    first: list(think.first.map(literal)),
  });
}

export const adaptExpression = ({ decrease, increase, least }: FittedAdapt): Expression =>
  object({ decrease, increase, least });

/** Writes a spread whose values are numbers of calls, not ms. */
export function countExpression(spread: FittedSpread): Expression {
  switch (spread.kind) {
    case "constant":
      return literal(spread.ms);
    case "uniform":
      return object({ least: spread.least, most: spread.most });
    case "lognormal":
      return object({ median: spread.median, p95: spread.p95 });
    case "quantiles":
      return spreadExpression(spread);
  }
}

export const rhythmExpression = ({ hours, weekend, weekdays, days }: FittedRhythm): Expression =>
  object({
    hours: list(hours.map(literal)),
    weekend: weekend === null ? null : list(weekend.map(literal)),
    weekdays: weekdays === null ? null : list(weekdays.map(literal)),
    days: days.length === 0 ? null : list(days.map(literal)),
  });

const spanExpression = ({ least, most }: FittedSpan): Expression =>
  least === most
    ? literal(timeText(least))
    : object({ least: least === 0 ? 0 : timeText(least), most: timeText(most) });

const jitterExpression = (jitter: FittedSpan): Expression | null =>
  jitter.most === 0 ? null : spanExpression(jitter);

/** @param failedWaitMs wait after a failed call, ms; `null`: failed calls are not tried again */
export function retryExpression(
  retry: FittedRetry,
  attempts: number | null,
  failedWaitMs: number | null = null,
): Expression {
  const bounds = { attempts, unanswered: retriesFailures(retry, failedWaitMs) ? true : null };
  const fallback = failedWaitMs === null ? null : timeText(failedWaitMs);
  switch (retry.kind) {
    case "unknown":
    case "none":
      return make("none");
    case "waitReset": {
      const from = retry.from === "answer" ? null : retry.from;
      const jitter = jitterExpression(retry.jitter);
      return make("waitReset", object({ of: retry.of, from, jitter, fallback, ...bounds }));
    }
    case "retryAfter": {
      const jitter = jitterExpression(retry.jitter);
      return jitter === null && attempts === null && fallback === null
        ? make("retryAfter")
        : make("retryAfter", object({ jitter, fallback, ...bounds }));
    }
    case "fixed":
      return make("fixed", object({ wait: spanExpression(retry.wait), ...bounds }));
    case "exponential": {
      const { first, factor, most, jitter } = retry;
      return make(
        "exponential",
        object({
          first: timeText(first),
          factor: factor === 2 ? null : factor,
          most: timeText(most),
          jitter: jitter === "none" ? null : jitter,
          ...bounds,
        }),
      );
    }
  }
}

/** Tells whether a policy can retry failed calls after this wait. Policies that wait by a header take it as `fallback`. */
function retriesFailures(retry: FittedRetry, failedWaitMs: number | null): boolean {
  if (failedWaitMs === null) return false;
  if (retry.kind === "fixed")
    return failedWaitMs <= 2 * retry.wait.most && 2 * failedWaitMs >= retry.wait.least;
  return retry.kind === "exponential" ? 4 * failedWaitMs >= retry.first : true;
}

/** Units of time for rates, ms. A rate uses the smallest unit in which it is at least 30, or else a day. */
const units = [1_000, 60_000, hourMs];

const rateMost = 1_000_000;

function rateOf(perHour: number): { readonly rate: number; readonly unitMs: number } {
  const unitMs = units.find((ms) => (perHour * ms) / hourMs >= 30) ?? 24 * hourMs;
  return { rate: Math.min(rateMost, Math.max(1, Math.round((perHour * unitMs) / hourMs))), unitMs };
}

/** Returns the number of clients that k6 keeps ready: a minute's arrivals, within bounds. */
const readied = (perHour: number): number => Math.min(1000, Math.max(10, Math.ceil(perHour / 60)));

export function arrivalsExpression(arrivals: Exclude<FittedArrivals, { kind: "closed" }>): Expression {
  if (arrivals.kind === "hours") {
    const most = Math.max(...arrivals.perHour);
    // Rates are whole numbers, so few arrivals are given per day.
    const hours = most < 30 ? 24 : 1;
    return object({
      executor: "business-day",
      rates: list(arrivals.perHour.map((perHour) => literal(Math.round(perHour * hours)))),
      timeUnit: hours === 1 ? null : timeText(hours * hourMs),
      preAllocatedVUs: readied(most),
    });
  }
  const { rate, unitMs } = rateOf(arrivals.perHour);
  return object({
    executor: arrivals.even ? "constant-arrival-rate" : "poisson-arrival-rate",
    rate,
    timeUnit: unitMs === 1000 ? null : timeText(unitMs),
    preAllocatedVUs: readied(arrivals.perHour),
  });
}
