// Callers' work in sessions: the pauses between calls, and the end of a session.
import type { AdaptFit } from "./adapting.ts";
import type { FittedLoop } from "./model.ts";
import { atOnceOf, pacesOf, withOnes, withoutEnds } from "./paces.ts";
import type { Sessions } from "./sessions.ts";
import { type FittedSpread, spreadOf } from "./spread.ts";

/**
 * Fits the work of sessions: either paces, which also decide the end, or plain pauses and a number of calls.
 * @param adapting the pace, if refusals slow it down
 * @param end what ends the sessions: the work itself, something else, or a time that ends visits of several kinds of pauses
 */
export function workOf(
  all: Sessions,
  slackMs: number,
  end: "work" | "else" | "time" = "work",
  adapting: AdaptFit | null = null,
): { readonly of: FittedLoop & { readonly kind: "worker" }; readonly calls: FittedSpread | null } {
  const found = adapting === null ? pacesOf(all, slackMs, end === "time") : null;
  const paces = found === null || end === "work" ? found : withoutEnds(found);
  const calls = all.sessions.map(({ jobs }) => jobs);
  const atOnce = adapting === null ? atOnceOf(paces === null ? all.sizes : firstSizes(all)) : null;
  const think =
    adapting?.think ??
    (paces === null ? spreadOf(all.pausesMs, 0, slackMs) : atOnce === null ? paces : withOnes(paces));
  return {
    of: {
      kind: "worker",
      think,
      atOnce,
      jobs: null,
      adapt: adapting?.adapt,
    },
    calls: paces === null && end === "work" ? spreadOf(calls, 1, 0) : null,
  };
}

function firstSizes({ sessions, sizes }: Sessions): number[] {
  let place = 0;
  return sessions.map(({ spells }) => {
    place += spells;
    return sizes[place - spells] as number;
  });
}
