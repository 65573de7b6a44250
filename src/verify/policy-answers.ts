// The laws that one answer of a trace of version 2 shows by itself, by its readings (POLICY.md §2).
import { nounOf } from "../rules/words.ts";
import type { QuotaCall, QuotaReading } from "../trace/quota-record.ts";
import { checkAnswer, checkNumbers, checkRefusal, neededRoom, type ShownNumbers } from "./answer-laws.ts";
import { accuseAnswer } from "./breach.ts";
import type { Span, TraceTime } from "./clock.ts";
import type { Count } from "./count.ts";
import type { Docket } from "./docket.ts";
import type { PolicyQuotaJudge } from "./policy-quotas.ts";
import { dateMs } from "./target-offset.ts";
import type { Question } from "./verdict.ts";

export interface Used {
  readonly judge: PolicyQuotaJudge;
  /** Count of the call's key; `null` if the caller's attributes do not tell the key. */
  readonly count: Count | null;
  /** Most units that the call asks for; `Infinity` if unknown. */
  readonly asked: number;
  /** Units asked for; `null` if unknown. */
  readonly cost: number | null;
  /** Units charged in the end; `null` if unknown. */
  readonly actual: number | null;
}

export interface JudgedReading {
  readonly judge: PolicyQuotaJudge;
  /** Count of the call's key; `null` if the caller's attributes do not tell the key. */
  readonly count: Count | null;
  readonly reading: QuotaReading;
}

/** Ends of windows and waits, on the clients' clock; `null` for what an answer does not tell. */
interface Times {
  endOf(call: QuotaCall, judge: PolicyQuotaJudge, reading: QuotaReading): { readonly span: Span } | null;
  /** Returns the latest instant at which a refusal may say to come back, ms since the epoch. */
  retryBy(call: QuotaCall): number | null;
}

export class PolicyAnswers {
  readonly #docket: Docket;
  readonly #time: TraceTime;
  readonly #times: Times;

  constructor(docket: Docket, time: TraceTime, times: Times) {
    this.#docket = docket;
    this.#time = time;
    this.#times = times;
  }

  /** @param shown readings with their counts, as far as those are known */
  check(line: number, call: QuotaCall, used: readonly Used[], shown: readonly JudgedReading[]): void {
    const { cost, outcome, via } = call;
    const asked = { cost, isRefused: outcome === "refused" };
    checkAnswer(asked.isRefused, this.#docket, () => {
      for (const { judge, count, reading } of shown)
        if (count !== null) checkNumbers(line, numbersOf(reading, judge), count, asked, this.#docket);
    });
    if (outcome === "admitted") for (const each of used) noteOversize(line, call, each);
    // A cached refusal shows an earlier call's readings.
    if (asked.isRefused && used.length > 0 && via === undefined) this.#checkRefusal(line, call, used);
  }

  /** Tells whether a refusal's reading leaves room for the call; `null` if it does not tell. */
  #hasRoom(call: QuotaCall, { judge, count, cost }: Used): boolean | null {
    const reading = call.readings.find(({ quota }) => quota === judge.name);
    if (reading === undefined || count === null || judge.notJudged !== null || cost === null) return null;
    const { limit, remaining, used } = reading;
    const most = limit ?? count.limit;
    const left = remaining ?? (used === null || most === null ? null : most - used);
    if (left === null) return null;
    if (left < neededRoom(cost, judge.quota.charge.fits === "any-left")) return false;
    return this.#windowOf(call, judge, reading) === null ? null : true;
  }

  /**
   * Returns the end of the window that a refusal shows, if the refusal was surely decided within it. `null` where
   * returned points, or a window that opened since the decision, can make room that was not there before.
   */
  #windowOf(call: QuotaCall, judge: PolicyQuotaJudge, reading: QuotaReading): Span | null {
    if (judge.quota.charge.when === "reserve-settle" || judge.length === null) return null;
    const end = this.#times.endOf(call, judge, reading)?.span ?? null;
    // The window may be over: some limiters show a window that was not opened again as ending now.
    if (end === null || end.from <= call.received + this.#time.slackMs) return null;
    return end.to - judge.length.least < call.sent - this.#time.slackMs ? end : null;
  }

  #checkRefusal(line: number, call: QuotaCall, used: readonly Used[]): void {
    const room = used.map((each) => this.#hasRoom(call, each));
    const named = used.findIndex(({ judge }) => judge.name === call.by);
    const { cost = null, count = null } = used[Math.max(0, named)] ?? {};
    const isNeedless = checkRefusal(
      line,
      {
        whose: count?.name.told ?? null,
        room,
        named,
        isByQuota: call.by === undefined || named >= 0,
        hasNumbers: false,
        suspects: ["one-short", "remaining-of-laxer-window", "limit-changes-mid-window", "lost-expiry"],
        asked: `${cost} ${nounOf(cost ?? 0, count?.name.unit ?? "")}`,
        rooms: () => `every quota that it uses shows room: ${shownWords(call)}`,
        refuser: () => `${call.by}, which shows room: ${shownWords(call)}`,
      },
      this.#docket,
    );
    if (!isNeedless && count !== null)
      askOrder(line, call, used, room.slice(0, Math.max(0, named)), this.#docket);
    // Where another quota may have refused, the wait may be its own.
    const isAlone = used.every(
      ({ count: other }, index) =>
        index === named ||
        room[index] === true ||
        other?.group.enforcement.throughout(call.sent, call.received) === false,
    );
    const refuser = isAlone && room[named] === false ? used[named] : undefined;
    if (refuser !== undefined) this.#checkWait(line, call, refuser);
  }

  /** Accuses a refusal that tells to come back while the window that refused is still open. */
  #checkWait(line: number, call: QuotaCall, { judge, count, cost }: Used): void {
    const { retryAfterMs: waitMs = null, readings } = call;
    const longestMs = judge.length?.most ?? Number.POSITIVE_INFINITY;
    if (waitMs !== null && waitMs > longestMs + 2000)
      this.#docket.ask(longWait(line, judge.name, waitMs, longestMs));
    const reading = readings.find(({ quota }) => quota === judge.name);
    const end = reading && this.#windowOf(call, judge, reading);
    // A call that costs more than the limit never fits, however long it waits.
    if (count === null || end == null || (cost ?? 0) > (count.limit ?? 0)) return;
    const until = this.#times.retryBy(call);
    if (until !== null && until < end.from)
      accuseAnswer(this.#docket, line, count.name.told, {
        law: "refusal-agrees",
        breach: "wait",
        suspects: ["retry-too-soon", "stale-cached-reset"],
        explanation:
          `was refused by ${judge.name} and told to come back at least ${seconds(end.from - until)} s before ` +
          "the shown end of its window, which has no room until then",
      });
  }
}

const seconds = (ms: number): string => String(Math.round(ms / 100) / 10);

/**
 * Returns the question about an end that lies further ahead of the answer's own `Date` than a window lasts; `null` if it
 * does not. Both are of the target's clock. It is no accusation: another server may write the `Date`.
 */
export function lateEnd(
  line: number,
  { sent, received, date, via }: QuotaCall,
  { name, length, tellsEnd }: PolicyQuotaJudge,
  { reset }: QuotaReading,
): Question | null {
  // A cached answer has the date of an earlier one.
  if (date === undefined || via !== undefined || length === null || !tellsEnd) return null;
  const aheadMs = (reset?.atMs ?? date) - date;
  // The `Date` may be from when the call came.
  const slackMs = (reset?.gridMs ?? 0) + dateMs + (received - sent);
  if (aheadMs <= length.most + slackMs) return null;
  return {
    quota: name,
    question:
      `An answer shows a window of ${name} that ends ${seconds(aheadMs)} s after its own Date, and its windows last ` +
      `${seconds(length.most)} s (line ${line}). Is that meant?`,
    suspects: ["stale-cached-reset", "reset-disagrees"],
    lines: [line],
  };
}

/** Returns the question about a wait that no window needs; a server may put callers off for longer. */
const longWait = (line: number, quota: string, waitMs: number, longestMs: number): Question => ({
  quota,
  question:
    `A refusal by ${quota} tells to come back after ${seconds(waitMs)} s, and its windows last ` +
    `${seconds(longestMs)} s (line ${line}). Is that meant?`,
  suspects: ["reset-in-ms"],
  lines: [line],
});

function numbersOf(
  { limit, remaining, used, reset }: QuotaReading,
  { length, tellsEnd, notJudged }: PolicyQuotaJudge,
): ShownNumbers {
  const isTold = reset !== null && reset.afterMs !== null && length !== null && tellsEnd;
  return {
    limit,
    remaining,
    used: notJudged === null ? used : null,
    reset: isTold ? (reset.afterMs ?? 0) / 1000 : null,
    // Rounding up may add one unit of the reset.
    resetSlack: isTold ? reset.gridMs / 1000 : 0,
  };
}

/** Notes an admitted cost that may be above its limit, for which no window ever has room (SPEC.md §2.7). */
function noteOversize(line: number, { sent, received, via }: QuotaCall, { judge, count, cost }: Used): void {
  if (count === null || via !== undefined) return;
  const { charge, algorithm } = judge.quota;
  if (charge.fits === "whole" && algorithm.kind !== "concurrency")
    count.group.oversize.add(line, { cost, sent, received }, [count.limit]);
}

/** Asks about a refusal that passes over an earlier quota without room: POLICY.md §2.3 names the first one. */
function askOrder(
  line: number,
  call: QuotaCall,
  used: readonly Used[],
  before: readonly (boolean | null)[],
  docket: Docket,
): void {
  const first = used[before.indexOf(false)];
  if (
    first === undefined ||
    first.judge.effective(call.caller).enforced !== true ||
    first.judge.relationOf(call.operation) === "each-alone"
  )
    return;
  docket.ask({
    quota: first.judge.name,
    question:
      `Refusals name ${call.by} where ${first.judge.name}, which comes before it in the policy, lacks room, too ` +
      `(line ${line}: ${shownWords(call)}). Is that meant? The order of the policy's quotas settles it.`,
    suspects: ["refusal-names-user"],
    lines: [line],
  });
}

const shownWords = ({ readings }: QuotaCall): string =>
  readings
    .flatMap(({ quota, limit, remaining, used }) => {
      const of = limit === null ? "" : ` of ${limit}`;
      if (remaining !== null) return [`${quota} ${remaining} left${of}`];
      return used === null ? [] : [`${quota} ${used} used${of}`];
    })
    .join(", ");
