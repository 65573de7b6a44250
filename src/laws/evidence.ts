// Counts the evidence that a law was tested on, as the verdict on a trace counts it.
import { looksByRules } from "./by-rules.ts";
import type { History } from "./history.ts";
import type { Script } from "./script.ts";

export interface RunEvidence {
  /** Number of readings: one owner's window in one answer, or one scope of a status. */
  readonly readings: number;
  /** Number of refusals among the answers. */
  readonly refusals: number;
  /** Number of windows that were shown. */
  readonly windows: number;
  /** Number of these windows that followed another window of the same count. */
  readonly resets: number;
}

export const noEvidence: RunEvidence = { readings: 0, refusals: 0, windows: 0, resets: 0 };

/** Counts the evidence of one run. */
export function evidenceOf(script: Script, history: History): RunEvidence {
  let readings = 0;
  const windows = new Set<string>();
  const quotas = new Set<string>();
  for (const sight of looksByRules(script, history).flatMap(({ sights }) => sights)) {
    if (sight.shown.length === 0) continue;
    readings += 1;
    if (sight.window === null) continue;
    quotas.add(sight.name);
    windows.add(`${sight.name} ${sight.window}`);
  }
  const refusals = history.filter((event) => "decision" in event && !event.decision.admitted).length;
  return { readings, refusals, windows: windows.size, resets: windows.size - quotas.size };
}

/** Returns the sum of two runs' evidence. */
export const joined = (one: RunEvidence, other: RunEvidence): RunEvidence => ({
  readings: one.readings + other.readings,
  refusals: one.refusals + other.refusals,
  windows: one.windows + other.windows,
  resets: one.resets + other.resets,
});
