// The law honest-wait. A refusal tells a caller how long to wait; the law waits exactly so long, on a fresh limiter
// that saw the same calls, and lets nobody else call meanwhile.
import { triedAgain } from "./again.ts";
import { isKnown, looksOf, OpinionTally, type QuotaJudge, statedOf, withoutOps } from "./looks.ts";
import type { QuotaCallEvent, QuotaScript } from "./quotas/script.ts";
import { isWindow, type Look, type Sight } from "./sight.ts";

/** Promise of a refusal, by one count. */
interface Promised {
  readonly sight: Sight;
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
function longestMs(script: QuotaScript, { lengthMs, rule }: Sight): number {
  const algorithm = statedOf(script);
  const isTimed = algorithm !== null && algorithm !== "concurrency" && algorithm !== "unknown";
  if (!isTimed || (!isKnown(script) && rule.charge.refused === "counted")) return Number.POSITIVE_INFINITY;
  return (algorithm === "sliding-counter" ? 2 : 1) * lengthMs + 1000;
}

/** Wait, ms, the words that said so, and the longest that can be needed, ms. */
type Wait = readonly [waitMs: number, words: string, longestMs?: number];

/** So many refusals of a script are put to the test: each takes another run. */
const testedMost = 3;

/** A caller who waits alone as long as the refusal said is admitted, or refused by another quota. */
export const honestWait: QuotaJudge = async ({ script, play }) => {
  const history = await play(withoutOps(script.ops, "snapshot"));
  const tally = new OpinionTally();
  const promises = looksOf(script, history).flatMap((look) => promisesOf(script, look));
  const tooLong = promises.find(({ waitMs, longestMs: longest }) => waitMs > longest);
  if (tooLong !== undefined) {
    const { sight, longestMs: longest, words } = tooLong;
    const expected = `a wait of at most ${longest / 1000} s`;
    tally.add({ expected, got: words, arithmetic: "until then every call is forgotten" }, sight.at, sight);
    return { history, judged: tally.judged, violation: tally.violation };
  }
  for (const { sight, waitMs, words } of chosen(promises, script.pick)) {
    const again = await triedAgain(play, history, sight.at, waitMs);
    if (again === null) continue;
    const { tried, last } = again;
    // Another quota than the one that promised may lack room.
    if (!last.admitted && last.refusedBy && last.refusedBy !== sight.quota) continue;
    const arithmetic = `the refusal before said ${words}, the caller waited so long, and nobody else called`;
    const breach = { expected: "admitted", got: "refused again", arithmetic };
    tally.add(last.admitted ? "kept" : breach, tried.length - 1, sight);
    if (!last.admitted) return { history: tried, judged: tally.judged, violation: tally.violation };
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

function promisesOf(script: QuotaScript, look: Look): Promised[] {
  const { event, sights } = look;
  if (!("admitted" in event) || event.admitted) return [];
  const { op, refusedBy } = event;
  // Where nobody is named, any of several may have refused.
  const named = sights.find(({ quota }) => quota === refusedBy);
  const sight = refusedBy ? named : sights.length === 1 ? sights[0] : undefined;
  // No waiting makes room for a call that costs more than the limit, and a clock that stepped back waits for nothing.
  if (sight === undefined || (sight.found?.needed ?? 0) > sight.limit) return [];
  if (script.terms === undefined && sight.clockMs !== op.atMs) return [];
  const waits =
    script.terms === undefined
      ? advisedWaits(event, sight, look, script.isExact)
      : statedWaits(script, event, sight);
  return waits.flatMap(([waitMs, words, longest = Number.POSITIVE_INFINITY]) =>
    Number.isSafeInteger(waitMs) && waitMs >= 0 && op.atMs + waitMs <= 8e15
      ? [{ sight, waitMs, words, longestMs: longest }]
      : [],
  );
}

const retryText = (ms: number): string => `retry after ${ms / 1000} s`;

/**
 * The wait that a refusal by a policy told. What the policy itself rounds down is added: the shortfall of the right
 * advice.
 */
function advisedWaits(
  { op, read, retryAtMs }: QuotaCallEvent,
  sight: Sight,
  { answer }: Look,
  isExact: boolean,
): readonly Wait[] {
  const roomAtMs = sight.found?.roomAtMs ?? null;
  if (roomAtMs === null) return [];
  const told = (advice: typeof read): number | null =>
    advice?.retryAfter == null
      ? null
      : (advice.retryAfter.afterMs ?? (advice.retryAfter.atMs as number) - op.atMs);
  const right = told(answer);
  const short = right === null ? 0 : Math.max(0, roomAtMs - op.atMs - right);
  const waitMs = Math.ceil(retryAtMs === null ? (told(read) ?? Number.NaN) + short : retryAtMs - op.atMs);
  const moment = isExact || isWindow(sight.rule) ? 0 : 1;
  return [[waitMs + moment, retryText(waitMs)]];
}

/** A moment more than was said: for what adds up fractions of a unit, and for windows that end late. */
const momentMs = (script: QuotaScript): number =>
  script.terms?.endsLate === true ||
  ["token-bucket", "sliding-counter", "unknown"].includes(statedOf(script) ?? "")
    ? 1
    : 0;

/**
 * Returns the waits that a refusal told, ms, by each of the fields that say so. The end of a fixed window is a promise;
 * a bucket's or a log's reset is one to calls that cost 1, whether it says when some room is back or all of it. The
 * reset of a counter says when its window ends, and that the window's count still weighs then is no fault.
 */
function statedWaits(script: QuotaScript, { op, retryAtMs }: QuotaCallEvent, sight: Sight): readonly Wait[] {
  const algorithm = statedOf(script);
  const moment = momentMs(script);
  const waits: Wait[] = [];
  if (retryAtMs !== null) {
    const afterMs = retryAtMs - op.atMs;
    waits.push([Math.ceil(afterMs) + moment, retryText(afterMs), longestMs(script, sight) + moment]);
  }
  const isOther = algorithm === "token-bucket" || algorithm === "sliding-log";
  const [shown] = sight.shown;
  if (shown === undefined || (!isKnown(script) && !(isOther && op.cost === 1))) return waits;
  const { reset, seconds } = shown;
  if (reset !== null) waits.push([reset - op.atMs + moment, `reset ${(reset - op.atMs) / 1000} s later`]);
  const short = { ceil: 0, floor: 1000, round: 500 }[sight.rule.shown.reset];
  if (seconds !== null) waits.push([seconds * 1000 + short + moment, `reset ${seconds} s`]);
  return waits;
}
