// The features that worlds may have, each left out of about half of them. A bug that needs two features then meets both
// in a quarter of the worlds. One that a third feature hides shows where that feature is absent (Groce, Zhang, Eide,
// Chen and Regehr, "Swarm Testing", ISSTA 2012).
import { type SwitchName, switchNames } from "../../src/rules/switches.ts";
import type { Dice } from "./dice.ts";

/** Features besides the semantics switches, each of which is a feature by its name. */
const ownFeatures = [
  "rest",
  "graphql",
  "status calls",
  "switches by scope",
  "unenforced",
  "overrides",
  "large limits",
  "several organizations",
  "shared users",
  "start off the grid",
  "slow network",
  "skewed times",
  "late timers",
  "slow queries",
  "give-backs",
  "costs above limits",
  "oversized queries",
  "arrivals",
  "loss",
  "short time-outs",
  "outages",
  "servers with a queue",
  "clocks apart",
  "poller",
  "burst",
  "pager",
  "queue",
  "paced",
  "aimd",
  "looker",
  "known clients",
  "retries without an answer",
  "waitReset",
  "retryAfter",
  "fixed",
  "exponential",
] as const;

export type Feature = (typeof ownFeatures)[number] | SwitchName;
export const features: readonly Feature[] = [...ownFeatures, ...switchNames];

/**
 * Draws the features of one world, each by the toss of a coin. It has at least one of REST and GraphQL.
 * @param without features that are left out of every world
 */
export function drawFeatures(dice: Dice, without: ReadonlySet<Feature>): ReadonlySet<Feature> {
  const drawn = new Set(features.filter((feature) => dice.oneIn(2) && !without.has(feature)));
  const scope = dice.of((["rest", "graphql"] as const).filter((each) => !without.has(each)));
  if (!drawn.has("rest") && !drawn.has("graphql")) drawn.add(scope);
  return drawn;
}
