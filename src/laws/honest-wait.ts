// The law honest-wait. A refusal tells a caller how long to wait; the law waits exactly so long, on a fresh limiter
// that saw the same calls, and lets nobody else call meanwhile.
import type { Algorithm } from "../rules/algorithms.ts";
import type { Owner } from "../rules/rules.ts";
import { type CallEvent, type History, triedAgain } from "./history.ts";
import { type Judge, OpinionTally } from "./law.ts";
import { HistoryLedger, type Sight, type WindowKey } from "./ledger.ts";
import { algorithmOf, type Script, without } from "./script.ts";

/** Promise of a refusal to one window's owner. */
interface Promised {
  /** Index in the history of the refusal. */
  readonly at: number;
  readonly key: WindowKey & { readonly owner: Owner };
  /** Wait, ms, and the words that said so. */
  readonly waitMs: number;
  readonly words: string;
  /** Longest wait that can be needed, ms, of one that says nothing but when to come back. */
  readonly longestMs: number;
}

/**
 * Returns the longest wait that an algorithm can need, ms, where a second is for rounding: after it every call is
 * forgotten. Refused calls that count may be put off, and hold a bucket or a log for longer.
 */
function longestMs(script: Script, { lengthMs, semantics }: Sight): number {
  const algorithm = algorithmOf(script);
  const isTimed = algorithm !== "concurrency" && algorithm !== "unknown";
  if (!isTimed || (algorithm !== "fixed-window" && semantics.refused === "counted"))
    return Number.POSITIVE_INFINITY;
  return (algorithm === "sliding-counter" ? 2 : 1) * lengthMs + 1000;
}

/** Wait, ms, the words that said so, and the longest that can be needed, ms. */
type Wait = readonly [waitMs: number, words: string, longestMs?: number];

/** So many refusals of a script are put to the test: each takes another run. */
const testedMost = 3;

/** A caller who waits alone as long as the refusal said is admitted. */
export const honestWait: Judge = async ({ script, play }) => {
  const history = await play(without(script.ops, "snapshot"));
  const tally = new OpinionTally();
  const promises = promisesOf(script, history);
  const tooLong = promises.find(({ waitMs, longestMs: longest }) => waitMs > longest);
  if (tooLong !== undefined) {
    const { at, key, longestMs: longest, words } = tooLong;
    const expected = `a wait of at most ${longest / 1000} s`;
    tally.add({ expected, got: words, arithmetic: "until then every call is forgotten" }, at, key);
    return { history, judged: tally.judged, violation: tally.violation };
  }
  for (const promised of chosen(promises, script.pick)) {
    const { at, key, waitMs, words } = promised;
    const again = await triedAgain(play, history, at, waitMs);
    if (again === null) continue;
    const { tried, last } = again;
    const { admitted, refusedBy } = last.decision;
    // Another window than the one that promised may lack room.
    if (!admitted && refusedBy && refusedBy !== key.owner) continue;
    const arithmetic = `the refusal before said ${words}, the caller waited so long, and nobody else called`;
    const breach = { expected: "admitted", got: "refused again", arithmetic };
    tally.add(admitted ? "kept" : breach, tried.length - 1, key);
    if (!admitted) return { history: tried, judged: tally.judged, violation: tally.violation };
  }
  return { history, judged: tally.judged, violation: null };
};

/** Some of them, the last one among them. */
function chosen(promises: readonly Promised[], pick: number): readonly Promised[] {
  if (promises.length <= testedMost) return promises;
  const step = Math.ceil(promises.length / testedMost);
  const picked = promises.filter((_, index) => index % step === pick % step).slice(0, testedMost - 1);
  const last = promises.at(-1);
  return last === undefined || picked.includes(last) ? picked : [...picked, last];
}

/** The window, where there is but one: of several any may have refused. */
const lone = (sights: readonly Sight[]): Sight | undefined => (sights.length === 1 ? sights[0] : undefined);

function promisesOf(script: Script, history: History): Promised[] {
  const ledger = new HistoryLedger(script);
  return history.flatMap((event, at) => {
    const sights = ledger.look(event);
    if (!("decision" in event) || event.decision.admitted) return [];
    const { refusedBy } = event.decision;
    const sight = refusedBy ? sights.find(({ owner }) => owner === refusedBy) : lone(sights);
    // No waiting makes room for a call that costs more than the limit.
    if (sight === undefined || event.op.cost > sight.limit) return [];
    return waitsOf(script, event, sight).flatMap(([waitMs, words, longest = Number.POSITIVE_INFINITY]) =>
      Number.isSafeInteger(waitMs) && waitMs >= 0 && event.op.atMs + waitMs <= 8e15
        ? [{ at, key: sight, waitMs, words, longestMs: longest }]
        : [],
    );
  });
}

/** A moment more than was said: for what adds up fractions of a unit, and for windows that end late. */
const momentMs = (algorithm: Algorithm, endsLate: boolean): number =>
  endsLate || algorithm === "token-bucket" || algorithm === "sliding-counter" || algorithm === "unknown"
    ? 1
    : 0;

/**
 * Returns the waits that a refusal told, ms, by each of the fields that say so. The end of a fixed window is a promise;
 * a bucket's or a log's reset is one to calls that cost 1, whether it says when some room is back or all of it. The
 * reset of a counter says when its window ends, and that the window's count still weighs then is no fault.
 */
function waitsOf(script: Script, { op, decision }: CallEvent, sight: Sight): readonly Wait[] {
  const algorithm = algorithmOf(script);
  const moment = momentMs(algorithm, script.endsLate === true);
  const waits: Wait[] = [];
  const { retryAfterMs } = decision;
  if (typeof retryAfterMs === "number")
    waits.push([
      Math.ceil(retryAfterMs) + moment,
      `retry after ${retryAfterMs / 1000} s`,
      longestMs(script, sight) + moment,
    ]);
  const isWindow = algorithm === "fixed-window";
  const isOther = algorithm === "token-bucket" || algorithm === "sliding-log";
  if (!isWindow && !(isOther && op.cost === 1)) return waits;
  const { resetAtMs, reset } = sight.reading;
  if (typeof resetAtMs === "number")
    waits.push([resetAtMs - op.atMs + moment, `reset ${(resetAtMs - op.atMs) / 1000} s later`]);
  const short = { ceil: 0, floor: 1000, round: 500 }[sight.semantics.reset];
  if (typeof reset === "number") waits.push([reset * 1000 + short + moment, `reset ${reset} s`]);
  return waits;
}
