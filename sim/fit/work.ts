// The work of callers in sessions: the pauses between their calls, and what ends them.
import type { FittedLoop } from "./model.ts";
import { atOnceOf, pacesOf, withoutEnds } from "./paces.ts";
import type { Sessions } from "./sessions.ts";
import { type FittedSpread, spreadOf } from "./spread.ts";

/**
 * The work of sessions: pauses of several paces, which say when it ends; or pauses, and numbers of calls.
 * @param endless true where something else ends them
 */
export function workOf(
  all: Sessions,
  slackMs: number,
  endless = false,
): { readonly of: FittedLoop & { readonly kind: "worker" }; readonly calls: FittedSpread | null } {
  const found = pacesOf(all, slackMs);
  const paces = found !== null && endless ? withoutEnds(found) : found;
  const think = paces ?? spreadOf(all.pausesMs, 0, slackMs);
  const calls = all.sessions.map(({ jobs }) => jobs);
  return {
    of: { kind: "worker", think, atOnce: atOnceOf(paces === null ? all.sizes : firstSizes(all)), jobs: null },
    calls: paces === null && !endless ? spreadOf(calls, 1, 0) : null,
  };
}

function firstSizes({ sessions, sizes }: Sessions): number[] {
  let place = 0;
  return sessions.map(({ spells }) => {
    place += spells;
    return sizes[place - spells] as number;
  });
}
