// A caller who asks again and again, for ten windows. A rate that is a little off shows only after many units, which no
// drawn script comes to: a bucket that refills a tenth too fast, a counter that forgets its oldest part.
import { isKnown, looksOf, type QuotaJudge, statedOf } from "./looks.ts";
import type { QuotaCallOp, QuotaHistory, QuotaScript } from "./quotas/script.ts";

/** Of the runs, one in so many has such a caller, too. */
const oneIn = 10;
const windows = 10;
/** So many calls within a window. No simple part of it lies between two of them. */
const callsPerWindow = 23;

/** Judges a script, and where nothing is broken, now and then a caller who asks all the time. */
export const alsoGreedy =
  (judge: QuotaJudge): QuotaJudge =>
  async (trial) => {
    const own = await judge(trial);
    const { script } = trial;
    const mayAsk = own.violation === null && trial.isRecorded !== true;
    const ops = mayAsk ? greedyOps(script, own.history) : [];
    if (ops.length === 0) return own;
    const found = await judge({ ...trial, script: { ...script, ops } });
    if (found.violation === null) return { ...own, judged: own.judged + found.judged };
    const lean = await judge({
      ...trial,
      script: { ...script, ops: needed(found.history, found.violation.at) },
    });
    return lean.violation === null ? found : lean;
  };

/** Calls of one key at regular times: at a grid of windows first, then between its lines. */
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

/** The calls that were let through before the one that breaks the law, and that one. */
const needed = (history: QuotaHistory, at: number): readonly QuotaCallOp[] =>
  history.flatMap((event, index) =>
    "admitted" in event && index <= at && (event.admitted || index === at) ? [event.op] : [],
  );
