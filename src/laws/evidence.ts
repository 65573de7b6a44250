// On how much a law rests: what its runs were tested by, counted as in the verdict on a trace.
import { looksByRules } from "./by-rules.ts";
import type { History } from "./history.ts";
import type { Script } from "./script.ts";

export interface RunEvidence {
  /** Readings of a window: one owner's in one answer, or one scope of a status. */
  readonly readings: number;
  /** Refusals among the answers. */
  readonly refusals: number;
  /** Windows that were shown. */
  readonly windows: number;
  /** Those of the windows that followed another of the same quota. */
  readonly resets: number;
}

export const noEvidence: RunEvidence = { readings: 0, refusals: 0, windows: 0, resets: 0 };

/** Returns what one run shows. */
export function evidenceOf(script: Script, history: History): RunEvidence {
  let readings = 0;
  const windows = new Set<string>();
  const quotas = new Set<string>();
  for (const sight of looksByRules(script, history).flatMap(({ sights }) => sights)) {
    if (sight.shown.length === 0) continue;
    readings += 1;
    if (sight.window === null) continue;
    const quota = sight.name;
    quotas.add(quota);
    windows.add(`${quota} ${sight.window}`);
  }
  const refusals = history.filter((event) => "decision" in event && !event.decision.admitted).length;
  return { readings, refusals, windows: windows.size, resets: windows.size - quotas.size };
}

/** Returns both together. */
export const joined = (one: RunEvidence, other: RunEvidence): RunEvidence => ({
  readings: one.readings + other.readings,
  refusals: one.refusals + other.refusals,
  windows: one.windows + other.windows,
  resets: one.resets + other.resets,
});
