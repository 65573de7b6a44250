// The laws that one answer of a trace of version 2 shows by itself, by its readings (POLICY.md §2).
import { nounOf } from "../rules/words.ts";
import type { QuotaCall, QuotaReading } from "../trace/quota-record.ts";
import { checkAnswer, checkNumbers, checkRefusal, neededRoom, type ShownNumbers } from "./answer-laws.ts";
import type { Span, TraceTime } from "./clock.ts";
import type { Count } from "./count.ts";
import type { Docket } from "./docket.ts";
import type { PolicyQuotaJudge } from "./policy-quotas.ts";

/** A quota that a call uses. */
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

/** Finds the end of the window that a reading shows, on the clients' clock; `null` if the reading does not tell it. */
type EndOf = (
  call: QuotaCall,
  judge: PolicyQuotaJudge,
  reading: QuotaReading,
) => { readonly span: Span } | null;

export class PolicyAnswers {
  readonly #docket: Docket;
  readonly #time: TraceTime;
  readonly #endOf: EndOf;

  constructor(docket: Docket, time: TraceTime, endOf: EndOf) {
    this.#docket = docket;
    this.#time = time;
    this.#endOf = endOf;
  }

  /** @param shown readings with their counts, as far as those are known */
  check(line: number, call: QuotaCall, used: readonly Used[], shown: readonly JudgedReading[]): void {
    const { cost, outcome } = call;
    const asked = { cost, isRefused: outcome === "refused" };
    checkAnswer(asked.isRefused, this.#docket, () => {
      for (const { judge, count, reading } of shown)
        if (count !== null) checkNumbers(line, numbersOf(reading, judge), count, asked, this.#docket);
    });
    if (outcome === "admitted") for (const each of used) noteOversize(line, call, each);
    if (asked.isRefused && used.length > 0) this.#checkRefusal(line, call, used);
  }

  /** Tells whether a refusal's reading leaves room for the call; `null` if it does not tell. */
  #hasRoom(call: QuotaCall, { judge, count, cost }: Used): boolean | null {
    const reading = call.readings.find(({ quota }) => quota === judge.name);
    if (reading === undefined || count === null || judge.notJudged !== null || cost === null) return null;
    const { limit, remaining, used } = reading;
    const most = limit ?? count.limit;
    const left = remaining ?? (used === null || most === null ? null : most - used);
    if (left === null) return null;
    const { charge } = judge.quota;
    if (left < neededRoom(cost, charge.fits === "any-left")) return false;
    // Returned points, or a window that opened since the decision, can make room that was not there before.
    const end = charge.when === "reserve-settle" ? null : (this.#endOf(call, judge, reading)?.span ?? null);
    if (end === null || judge.length === null) return null;
    // The window may be over: some limiters show a window that was not opened again as ending now.
    if (end.from <= call.received + this.#time.slackMs) return null;
    return end.to - judge.length.least < call.sent - this.#time.slackMs ? true : null;
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
  }
}

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

/** Notes an admitted cost above its limit, for which no window ever has room (SPEC.md §2.7). */
function noteOversize(line: number, { sent, received, via }: QuotaCall, { judge, count, cost }: Used): void {
  if (count === null || cost === null || cost <= (count.limit ?? cost) || via !== undefined) return;
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
    first.judge.quota.enforced !== true ||
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
    .map(({ quota, limit, remaining, used }) =>
      remaining === null ? `${quota} ${used} used of ${limit}` : `${quota} ${remaining} left of ${limit}`,
    )
    .join(", ");
