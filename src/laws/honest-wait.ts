// The law honest-wait. A refusal tells a caller how long to wait. The law waits exactly that long, on a fresh limiter
// that saw the same calls, and nobody else calls meanwhile.
import { triedAgain } from "./again.ts";
import { isKnown, OpinionTally, played, type QuotaJudge, statedOf } from "./looks.ts";
import type { QuotaCallEvent, QuotaScript } from "./quotas/script.ts";
import { isWindow, type Look, type Sight } from "./sight.ts";

/** Promise of a refusal: one count has room after a wait. */
interface Promised {
  readonly sight: Sight;
  /** Promised wait, ms, below 0 if the answer says so; `words` are its form in the answer. */
  readonly waitMs: number;
  readonly words: string;
  /** Longest wait that the algorithm can need, ms; infinite for a reset, which may say more than when to come back. */
  readonly longestMs: number;
}

/**
 * Returns the longest wait that an algorithm can need, ms, with a second for rounding: by then every call is forgotten.
 * Infinite if time alone makes no room, or if counted refusals may be put off (in a bucket or a log).
 */
function longestMs(script: QuotaScript, { lengthMs, rule }: Sight): number {
  const algorithm = statedOf(script);
  const isTimed = algorithm !== null && algorithm !== "concurrency" && algorithm !== "unknown";
  if (!isTimed || (!isKnown(script) && rule.charge.refused === "counted")) return Number.POSITIVE_INFINITY;
  return (algorithm === "sliding-counter" ? 2 : 1) * lengthMs + 1000;
}

/** Told wait, ms; its words; the longest wait that can be needed, ms. */
type Wait = readonly [waitMs: number, words: string, longestMs?: number];

/** Greatest number of refusals that are tested in a script; each test takes a run. */
const testedMost = 3;

/** Judges that a caller who waits alone as long as told is admitted, or refused by another quota. */
export const honestWait: QuotaJudge = async (trial) => {
  const { script, play } = trial;
  const { history, looks } = await played(trial);
  const tally = new OpinionTally();
  const promises = looks.flatMap((look) => promisesOf(script, look));
  const negative = promises.find(({ waitMs }) => waitMs < 0);
  if (negative !== undefined) {
    const { sight, words } = negative;
    const arithmetic = "a refused caller has to wait, and no wait is shorter than nothing";
    tally.add({ expected: "a wait of 0 s or more", got: words, arithmetic }, sight.at, sight);
    return tally.of(history);
  }
  const tooLong = promises.find(({ waitMs, longestMs: longest }) => waitMs > longest);
  if (tooLong !== undefined) {
    const { sight, longestMs: longest, words } = tooLong;
    const expected = `a wait of at most ${longest / 1000} s`;
    tally.add({ expected, got: words, arithmetic: "until then every call is forgotten" }, sight.at, sight);
    return tally.of(history);
  }
  for (const { sight, waitMs, words } of chosen(promises, script.pick)) {
    const again = await triedAgain(play, history, sight.at, waitMs);
    if (again === null) continue;
    const { tried, last } = again;
    // Another quota may lack room; the refusal promised nothing for it.
    if (!last.admitted && last.refusedBy && last.refusedBy !== sight.quota) continue;
    const arithmetic = `the refusal before said ${words}, the caller waited so long, and nobody else called`;
    const breach = { expected: "admitted", got: "refused again", arithmetic };
    tally.add(last.admitted ? "kept" : breach, tried.length - 1, sight);
    if (!last.admitted) return tally.of(tried);
  }
  return tally.of(history);
};

/** Returns some of the promises, with the last one among them. */
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
  // Without a name, any of several quotas may have refused.
  const named = sights.find(({ quota }) => quota === refusedBy);
  const sight = refusedBy ? named : sights.length === 1 ? sights[0] : undefined;
  // A call that costs more than the limit never fits. A count whose clock is ahead does not wait as its caller does.
  if (sight === undefined || (sight.found?.needed ?? 0) > sight.limit) return [];
  if (script.terms === undefined && sight.clockMs !== op.atMs) return [];
  const waits =
    script.terms === undefined
      ? advisedWaits(event, sight, look, script.isExact)
      : statedWaits(script, event, sight);
  return waits.flatMap(([waitMs, words, longest = Number.POSITIVE_INFINITY]) =>
    Number.isSafeInteger(waitMs) && op.atMs + waitMs <= 8e15
      ? [{ sight, waitMs, words, longestMs: longest }]
      : [],
  );
}

const retryText = (ms: number): string => `retry after ${ms / 1000} s`;

/**
 * Returns the wait that a refusal told, under a policy. The policy's format may round down, so the shortfall of the
 * right advice is added.
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

/** Returns the ms added to a told wait: 1 for limiters that add up fractions, or whose windows include their end. */
const momentMs = (script: QuotaScript): number =>
  script.terms?.endsLate === true ||
  ["token-bucket", "sliding-counter", "unknown"].includes(statedOf(script) ?? "")
    ? 1
    : 0;

/**
 * Returns the waits that a refusal told, one for each field that tells one. The end of a fixed window is a promise.
 * The reset of a bucket or a log, of some room or of all, promises room for a call that costs 1. The reset of a sliding
 * counter promises nothing: it is the window's end, after which that window's count still weighs.
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
  // The law reset-agrees judges a reset that is over.
  if (reset !== null && reset >= op.atMs)
    waits.push([reset - op.atMs + moment, `reset ${(reset - op.atMs) / 1000} s later`]);
  const short = { ceil: 0, floor: 1000, round: 500 }[sight.rule.shown.reset];
  if (seconds !== null && seconds >= 0) waits.push([seconds * 1000 + short + moment, `reset ${seconds} s`]);
  return waits;
}
