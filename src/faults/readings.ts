// Faults in what answers tell of a count: counting and decisions are correct.
import { resetSeconds } from "../engine/limiter.ts";
import { quotaNames } from "../policy/names.ts";
import type { FaultEntry } from "./fault.ts";
import { ofDefault } from "./fits.ts";
import {
  readingsTold,
  resetsAs,
  resetsDown,
  resetsKept,
  resetsPast,
  resetsZero,
  retriesSoon,
} from "./told.ts";

const ofGraphql: readonly string[] = Object.values(quotaNames.graphql);

export const readingFaults: readonly FaultEntry[] = [
  {
    name: "reset-in-ms",
    wrong: "reset is in milliseconds",
    shows: "reset > W",
    seenIn: ["docs-old PR#1358"],
    nets: ["P", "V", "L"],
    ...resetsAs("delta-ms"),
  },
  {
    name: "reset-epoch",
    wrong: "reset is the Unix time of the reset",
    shows: "reset > W",
    seenIn: ["go-limiter#22"],
    nets: ["P", "V", "L"],
    ...resetsAs("epoch-s"),
  },
  {
    name: "reset-zero",
    wrong: "in a window's last second reset is rounded to 0",
    shows: "reset < 1",
    seenIn: ["envoyproxy/ratelimit#165"],
    nets: ["P", "V", "L"],
    // 0 is correct if resets are rounded down or to the nearest second.
    semantics: { reset: ["ceil"] },
    ...resetsZero,
  },
  {
    name: "reset-negative",
    wrong: "reset counts to where the window began, which is past",
    shows: "reset < 1",
    seenIn: ["flask-limiter PR#56"],
    nets: ["P", "V", "L"],
    ...resetsPast,
  },
  {
    name: "reset-truncated",
    wrong: "reset is rounded down",
    shows: "a client that waits exactly reset is refused",
    seenIn: ["boundary PR#4094"],
    nets: ["P", "V"],
    semantics: { reset: ["ceil"] },
    ...resetsDown,
  },
  {
    name: "reset-at-drifts",
    wrong: "reset_at is made anew from each answer's reset, and rounded",
    shows: "reset_at changes within a window",
    nets: ["P", "V"],
    // Rounding to the nearest second twice hides the fault.
    semantics: { reset: ["ceil", "floor"] },
    ...readingsTold((reading, { nowMs, policy: { quotas } }) => {
      const { quota, resetAtMs, clockMs = nowMs } = reading;
      const reset = resetSeconds(resetAtMs, clockMs, quotas[quota]?.shown.reset ?? "ceil");
      return { ...reading, endsAtMs: Math.round(nowMs / 1000 + reset) * 1000 };
    }, ofDefault),
  },
  {
    name: "reset-disagrees",
    wrong: "GraphQL's reset_at is of another clock than its reset",
    shows: "they differ by more than 1 s",
    nets: ["P", "V", "L"],
    rate: { default: 64, least: 2, most: 86_400, whole: true, meaning: "seconds between the two clocks" },
    // Only one scope is affected: nobody outside can tell that a deployment's whole clock is off, so that is no fault.
    ...readingsTold(
      (reading, { rate }) =>
        ofGraphql.includes(reading.quota)
          ? { ...reading, endsAtMs: reading.resetAtMs + rate * 1000 }
          : reading,
      ofDefault,
    ),
  },
  {
    name: "stale-cached-reset",
    wrong: "a cached 429 keeps its reset",
    shows: "reset does not fall",
    seenIn: ["capgo PR#2865"],
    nets: ["V"],
    ...resetsKept,
  },
  {
    name: "retry-too-soon",
    wrong: "a refusal tells to retry after one second, whatever its reset says",
    shows: "Retry-After 1 beside a reset of many seconds, and clients that are refused again and again",
    seenIn: ["flask-limiter#62"],
    nets: ["P", "V", "L"],
    ...retriesSoon,
  },
];
