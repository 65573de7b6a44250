// A caller who asks again and again, for ten windows. A rate that is a little off shows only after many units, which no
// drawn script comes to: a bucket that refills a tenth too fast, a counter that forgets its oldest part.

import { userLimit } from "../rules/rules.ts";
import type { History } from "./history.ts";
import type { Judge } from "./law.ts";
import { algorithmOf, type CallOp, type Script } from "./script.ts";

/** Of the runs, one in so many has such a caller, too. */
const oneIn = 10;
const windows = 10;
/** So many calls within a window. No simple part of it lies between two of them. */
const callsPerWindow = 23;

/** Judges a script, and where nothing is broken, now and then a caller who asks all the time. */
export const alsoGreedy =
  (judge: Judge): Judge =>
  async (trial) => {
    const own = await judge(trial);
    const { script } = trial;
    const ops = own.violation === null && trial.isRecorded !== true ? greedyOps(script) : [];
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
function greedyOps(script: Script): readonly CallOp[] {
  const call = script.ops.find((op): op is CallOp => op.do === "call");
  const algorithm = algorithmOf(script);
  const isRate = algorithm !== "fixed-window" && algorithm !== "concurrency" && algorithm !== "unknown";
  if (call === undefined || !isRate || script.keyed !== true || script.pick % oneIn !== oneIn - 1) return [];
  const { organization, user, scope } = call;
  const lengthMs = userLimit(script.rules, organization, user, scope).windowSeconds * 1000;
  const startMs = Math.ceil(script.startMs / lengthMs) * lengthMs;
  return Array.from({ length: windows * callsPerWindow }, (_, id) => ({
    ...call,
    ...{ id, cost: 1, atMs: startMs + Math.floor((id * lengthMs) / callsPerWindow) },
  }));
}

/** The calls that were let through before the one that breaks the law, and that one. */
const needed = (history: History, at: number): readonly CallOp[] =>
  history.flatMap((event, index) =>
    "decision" in event && index <= at && (event.decision.admitted || index === at) ? [event.op] : [],
  );
