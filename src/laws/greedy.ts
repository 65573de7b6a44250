// Adds a greedy caller, who calls steadily for ten windows. A rate that is slightly wrong shows only after more calls
// than a drawn script has: a bucket that refills a tenth too fast, a counter that forgets its oldest part.
import { isKnown, looksOf, type QuotaJudge, statedOf } from "./looks.ts";
import type { QuotaCallOp, QuotaHistory, QuotaScript } from "./quotas/script.ts";

/** Number of runs of which one also has a greedy caller. */
const oneIn = 10;
const windows = 10;
/** Number of calls in a window. It is prime, so that no step between calls is a simple part of a window. */
const callsPerWindow = 23;

/** Judges a script and, if that breaks nothing, in some runs a greedy caller too. */
export const alsoGreedy =
  (judge: QuotaJudge): QuotaJudge =>
  async (trial) => {
    const own = await judge(trial);
    const { script } = trial;
    const mayAsk = own.violation === null && trial.isRecorded !== true;
    const ops = mayAsk ? greedyOps(script, own.history) : [];
    if (ops.length === 0) return own;
    const found = await judge({ ...trial, script: { ...script, ops } });
    return found.violation === null ? { ...own, judged: own.judged + found.judged } : found;
  };

/** Returns calls of one key at regular times, the first at an edge of the epoch's grid; none if this run has none. */
function greedyOps(script: QuotaScript, history: QuotaHistory): readonly QuotaCallOp[] {
  const isRate = !isKnown(script) && !["concurrency", "unknown"].includes(statedOf(script) ?? "");
  if (!isRate || script.terms?.keyed !== true || script.pick % oneIn !== oneIn - 1) return [];
  const first = looksOf(script, history).find(({ event }) => "admitted" in event);
  const lengthMs = first?.sights[0]?.lengthMs;
  if (lengthMs === undefined || first?.event.op.do !== "call") return [];
  const call = first.event.op;
  const startMs = Math.ceil(script.startMs / lengthMs) * lengthMs;
  return Array.from({ length: windows * callsPerWindow }, (_, id) => ({
    ...call,
    ...{ id, cost: 1, atMs: startMs + Math.floor((id * lengthMs) / callsPerWindow) },
  }));
}
