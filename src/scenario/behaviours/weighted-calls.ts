// A choice among calls, by weight.
import type { CallTemplate, ClientRecord } from "../client.ts";
import type { Mistakes } from "../mistakes.ts";
import { below } from "../random.ts";

/** A call and its weight, a whole number. The call is chosen in proportion to its share of all weights. */
export interface WeightedCall {
  readonly call: CallTemplate;
  /** Default: 1. */
  readonly weight?: number;
}

/** Calls to choose from. A plain call has weight 1. */
export type Calls = readonly (WeightedCall | CallTemplate)[];

export interface Choice {
  readonly calls: readonly CallTemplate[];
  /** Draws the index of a call. Nothing is drawn if there is only one. */
  choose(record: ClientRecord): number;
}

const weighed = (entry: unknown): unknown =>
  typeof entry !== "object" || entry === null || "kind" in entry ? { call: entry } : entry;

/**
 * Checks the calls of a behaviour.
 * @param path the behaviour's member, for mistakes: `worker.calls`
 */
export function choiceOf(path: string, given: unknown, mistakes: Mistakes): Choice {
  if (!Array.isArray(given) || given.length === 0) {
    mistakes.add(path, given, "a list of calls or of {call, weight}, at least one");
    return { calls: [], choose: () => 0 };
  }
  const entries = given.map(weighed);
  const weights = entries.map((entry: unknown, index) => {
    const at = `${path}.${index}`;
    if (!mistakes.members(at, entry, ["call", "weight"])) return 1;
    mistakes.call(`${at}.call`, entry["call"]);
    return mistakes.whole(`${at}.weight`, entry["weight"] ?? 1, 1, 1_000_000);
  });
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return {
    calls: (entries as readonly WeightedCall[]).map((entry) => entry?.call),
    choose(record) {
      let ticket = weights.length === 1 ? 0 : below(record, total);
      let index = 0;
      for (const weight of weights) {
        if (ticket < weight) break;
        ticket -= weight;
        index += 1;
      }
      return index;
    },
  };
}
