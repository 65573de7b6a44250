// Arrivals that k6 schedules by executors of its own.
import type { ArrivalSchedule } from "../../scenario/arrivals.ts";

/** Tells whether k6 schedules these arrivals itself. For all others, each iteration sleeps until its client is due. */
export function isKnownToK6(arrivals: ArrivalSchedule): arrivals is KnownArrivals {
  return arrivals.executor === "constant-arrival-rate" || arrivals.executor === "ramping-arrival-rate";
}

export type KnownArrivals = Extract<
  ArrivalSchedule,
  { executor: "constant-arrival-rate" } | { executor: "ramping-arrival-rate" }
>;
