// Faults in what a window is said to show: it counts and decides rightly.
import type { Decision } from "../engine/adapter.ts";
import { organizationLimit, type Rules, userLimit } from "../rules/rules.ts";
import { around, showing, switched, type WindowOwner } from "./deployed.ts";
import type { FaultEntry, Faulty } from "./fault.ts";
import { resetsAs, resetsKept, resetsPast, resetsRounded, resetsZero } from "./told.ts";

const windowSeconds = (rules: Rules, { organization, user, scope }: WindowOwner): number =>
  (user === null
    ? organizationLimit(rules, organization, scope)
    : userLimit(rules, organization, user, scope)
  ).windowSeconds;

/** The first refusal of a window is kept, and its reset sent with every later one. */
function staleReset(rules: Rules): Faulty {
  const kept = new Map<string, { readonly resetAtMs: number; readonly reset: number }>();
  return around(rules, (limiter) => ({
    decide(call, nowMs): Decision {
      const decision = limiter.decide(call, nowMs);
      const { refusedBy } = decision;
      if (refusedBy === null) return decision;
      const name = JSON.stringify([call.scope, call.organization, call.user, refusedBy]);
      const reading = decision[refusedBy];
      let first = kept.get(name);
      if (first?.resetAtMs !== reading.resetAtMs) {
        first = reading;
        kept.set(name, { resetAtMs: reading.resetAtMs, reset: reading.reset });
      }
      return { ...decision, [refusedBy]: { ...reading, reset: first.reset } };
    },
  }));
}

export const readingFaults: readonly FaultEntry[] = [
  {
    name: "reset-in-ms",
    wrong: "reset is in milliseconds",
    shows: "reset > W",
    seenIn: ["docs-old PR#1358"],
    nets: ["P", "V", "L"],
    quotas: resetsAs("delta-ms"),
    inject: showing((reading, nowMs) => ({ ...reading, reset: reading.resetAtMs - nowMs })),
  },
  {
    name: "reset-epoch",
    wrong: "reset is the Unix time of the reset",
    shows: "reset > W",
    seenIn: ["go-limiter#22"],
    nets: ["P", "V", "L"],
    quotas: resetsAs("epoch-s"),
    inject: showing((reading) => ({ ...reading, reset: reading.resetAtMs / 1000 })),
  },
  {
    name: "reset-zero",
    wrong: "in a window's last second reset is rounded to 0",
    shows: "reset < 1",
    seenIn: ["envoyproxy/ratelimit#165"],
    nets: ["P", "V", "L"],
    quotas: resetsZero,
    // Rounded down or to the nearest, 0 is right.
    semantics: { reset: ["ceil"] },
    inject: showing((reading) => (reading.reset === 1 ? { ...reading, reset: 0 } : reading)),
  },
  {
    name: "reset-negative",
    wrong: "reset counts to where the window began, which is past",
    shows: "reset < 1",
    seenIn: ["flask-limiter PR#56"],
    nets: ["P", "V", "L"],
    quotas: resetsPast,
    inject: (rules) =>
      showing((reading, _nowMs, key) => ({
        ...reading,
        reset: reading.reset - windowSeconds(rules, key),
      }))(rules),
  },
  {
    name: "reset-truncated",
    wrong: "reset is rounded down",
    shows: "a client that waits exactly reset is refused",
    seenIn: ["boundary PR#4094"],
    nets: ["P", "V"],
    quotas: resetsRounded("floor"),
    semantics: { reset: ["ceil"] },
    inject: switched("reset", "floor"),
  },
  {
    name: "reset-at-drifts",
    wrong: "reset_at is made anew from each answer's reset, and rounded",
    shows: "reset_at changes within a window",
    nets: ["P", "V"],
    // Rounded to the nearest second twice, it hides itself.
    semantics: { reset: ["ceil", "floor"] },
    inject: showing((reading, nowMs) => ({
      ...reading,
      resetAtMs: Math.round(nowMs / 1000 + reading.reset) * 1000,
    })),
  },
  {
    name: "reset-disagrees",
    wrong: "GraphQL's reset_at is of another clock than its reset",
    shows: "they differ by more than 1 s",
    nets: ["P", "V", "L"],
    rate: { default: 64, least: 2, most: 86_400, whole: true, meaning: "seconds between the two clocks" },
    inject: (rules, { rate }) =>
      // Of one scope alone: a whole clock that is off is no fault, and nobody outside could tell.
      showing((reading, _nowMs, { scope }) =>
        scope === "graphql" ? { ...reading, resetAtMs: reading.resetAtMs + rate * 1000 } : reading,
      )(rules),
  },
  {
    name: "stale-cached-reset",
    wrong: "a cached 429 keeps its reset",
    shows: "reset does not fall",
    seenIn: ["capgo PR#2865"],
    nets: ["V"],
    quotas: resetsKept,
    inject: staleReset,
  },
];
