// The laws that one answer shows by itself, by the quotas of a policy: limits as the policy says, numbers within their
// range, a refusal by a quota that lacks room (SPEC.md §7; POLICY.md §2).
import { nounOf } from "../rules/words.ts";
import type { QuotaCall, QuotaReading } from "../trace/quota-record.ts";
import type { Span, TraceTime } from "./clock.ts";
import type { Docket } from "./docket.ts";
import type { Count, PolicyQuotaJudge, PolicyQuotas } from "./policy-quotas.ts";
import type { Suspect } from "./suspects.ts";

/** A quota that a call uses. */
export interface Used {
  readonly judge: PolicyQuotaJudge;
  /** `null` where the caller's attributes do not say whose. */
  readonly count: Count | null;
  /** The most that it asks for; `Infinity` where that is unknown. */
  readonly asked: number;
  /** Units asked for; `null` where unknown. */
  readonly cost: number | null;
  /** Units charged in the end, where that is known. */
  readonly actual: number | null;
}

export interface AnswerSetting {
  readonly docket: Docket;
  readonly quotas: PolicyQuotas;
  readonly time: TraceTime;
  readonly tellEnds: ReadonlySet<string>;
  /** The end of the window that a reading shows, on the clients' clock; `null` where it does not tell. */
  endOf(judge: PolicyQuotaJudge, reading: QuotaReading): Span | null;
}

const numberLaws = ["limit-agrees", "remaining-agrees", "reset-agrees"] as const;

/** Judges one answer. */
export function answerLaws(
  line: number,
  call: QuotaCall,
  used: readonly Used[],
  setting: AnswerSetting,
): void {
  const { docket, quotas } = setting;
  const before = numberLaws.map((law) => docket.evidence[law].readings);
  for (const reading of call.readings) {
    const judge = quotas.all.get(reading.quota) as PolicyQuotaJudge;
    const count = quotas.count(judge, call.caller);
    if (count !== null) checkNumbers(line, judge, count, reading, setting);
  }
  if (call.outcome === "admitted") checkOversize(line, call, used, setting);
  if (call.outcome !== "refused") return;
  for (const [index, law] of numberLaws.entries())
    if (docket.evidence[law].readings !== before[index]) docket.evidence[law].refusals += 1;
  if (used.length > 0) checkRefusal(line, call, used, setting);
}

interface Breach {
  readonly law: (typeof numberLaws)[number];
  readonly breach: string;
  readonly suspects: readonly Suspect[];
  readonly explanation: string;
}

function checkNumbers(
  line: number,
  judge: PolicyQuotaJudge,
  { name, limit }: Count,
  { limit: shown, remaining, used, reset }: QuotaReading,
  { docket, tellEnds }: AnswerSetting,
): void {
  const { evidence } = docket;
  const accuse = ({ explanation, ...breach }: Breach): void => {
    const sentence = `line ${line} ${explanation}`;
    docket.accuse({ ...breach, ...name.told, window: null, lines: [line], explanation: sentence });
  };
  if (shown !== null) {
    evidence["limit-agrees"].readings += 1;
    if (shown !== limit)
      accuse({
        law: "limit-agrees",
        breach: "against the policy",
        suspects: ["remaining-of-laxer-window", "limit-changes-mid-window"],
        explanation: `shows a limit of ${shown}, the policy says ${limit}`,
      });
  }
  const most = shown ?? limit;
  if (remaining !== null) {
    evidence["remaining-agrees"].readings += 1;
    const isBelow = remaining < 0 && judge.quota.shown.remaining === "clamped";
    if (remaining > most || isBelow)
      accuse({
        law: "remaining-agrees",
        breach: isBelow ? "below 0" : "above the limit",
        suspects: isBelow
          ? ["one-extra", "refused-counted", "race-read-then-write"]
          : ["remaining-of-laxer-window"],
        explanation: `shows remaining ${remaining} of ${most}, which is ${isBelow ? "below 0" : "above the limit"}`,
      });
    else if (
      used !== null &&
      judge.notJudged === null &&
      used <= most &&
      used + Math.max(0, remaining) !== most
    )
      accuse({
        law: "remaining-agrees",
        breach: "against used",
        suspects: ["stale-replica-read", "remaining-of-laxer-window"],
        explanation: `shows ${used} used and ${remaining} remaining of ${most}`,
      });
  }
  const { length } = judge;
  if (reset === null || reset.afterMs === null || length === null || !tellEnds.has(judge.name)) return;
  evidence["reset-agrees"].readings += 1;
  const { afterMs, gridMs } = reset;
  docket.clues.reset(afterMs >= length.most);
  // However it is rounded.
  if (afterMs >= 0 && afterMs <= length.most + gridMs) return;
  accuse({
    law: "reset-agrees",
    breach: afterMs < 0 ? "negative" : "too large",
    suspects: afterMs < 0 ? ["reset-negative"] : ["reset-in-ms", "reset-epoch", "reset-disagrees"],
    explanation: `shows a reset in ${afterMs / 1000} s, which is ${afterMs < 0 ? "over" : `more than a window of ${length.most / 1000} s lasts`}`,
  });
}

/** No window has ever room for a cost above its limit (SPEC.md §2.7). */
function checkOversize(
  line: number,
  call: QuotaCall,
  used: readonly Used[],
  { docket, time }: AnswerSetting,
): void {
  const { from, to } = time.within(call.sent, call.received);
  for (const { judge, count, cost } of used) {
    if (count === null || cost === null || cost <= count.limit) continue;
    const { charge, algorithm } = judge.quota;
    if (charge.fits !== "whole" || call.via !== undefined || algorithm.kind === "concurrency") continue;
    if (count.enforcement.throughout(from, to) !== true) continue;
    docket.clues.rulesIn("cost-over-limit-admitted");
    docket.accuse({
      law: "refusal-justified",
      breach: "above a limit",
      suspects: ["cost-over-limit-admitted"],
      ...count.name.told,
      window: null,
      lines: [line],
      explanation: `line ${line} asked for ${cost} ${nounOf(cost, count.name.unit)}, more than its limit of ${count.limit} can ever hold, and was let through while limits were enforced`,
    });
  }
}

/** Tells if its readings leave a refusal's quotas room; `null` where they do not tell. */
function hasRoom(
  call: QuotaCall,
  { judge, count, cost }: Used,
  { time, endOf }: AnswerSetting,
): boolean | null {
  const reading = call.readings.find(({ quota }) => quota === judge.name);
  if (reading === undefined || count === null || judge.notJudged !== null || cost === null) return null;
  const { limit, remaining, used } = reading;
  const left = remaining ?? (used === null ? null : (limit ?? count.limit) - used);
  if (left === null) return null;
  const { charge } = judge.quota;
  if (left < (charge.fits === "any-left" ? 1 : Math.max(1, cost))) return false;
  // Points that were given back, or a window that opened since, make room that was not there at the decision.
  const end = charge.when === "reserve-settle" ? null : endOf(judge, reading);
  if (end === null || judge.length === null) return null;
  // A window that is over when the answer is there: some show one that nobody has opened again as ending now.
  if (end.from <= call.received + time.slackMs) return null;
  return end.to - judge.length.least < call.sent - time.slackMs ? true : null;
}

function checkRefusal(line: number, call: QuotaCall, used: readonly Used[], setting: AnswerSetting): void {
  const { docket } = setting;
  const room = used.map((each) => hasRoom(call, each, setting));
  const told = room.filter((each) => each !== null).length;
  if (told > 0) {
    docket.evidence["refusal-justified"].readings += told;
    docket.evidence["refusal-justified"].refusals += 1;
  }
  const [first] = used;
  const named = used.findIndex(({ judge }) => judge.name === call.by);
  const each = used[Math.max(0, named)] ?? first;
  if (each?.count == null) return;
  const isByQuota = call.by === undefined || named >= 0;
  const words = `asked for ${each.cost} ${nounOf(each.cost ?? 0, each.count.name.unit)} and was refused`;
  if (isByQuota && room.every((has) => has === true)) {
    docket.accuse({
      law: "refusal-justified",
      breach: "needless",
      suspects: ["one-short", "remaining-of-laxer-window", "limit-changes-mid-window", "lost-expiry"],
      ...each.count.name.told,
      window: null,
      lines: [line],
      explanation: `line ${line} ${words}, although every quota that it uses shows room: ${shownWords(call)}`,
    });
    return;
  }
  askOrder(line, call, used, room.slice(0, Math.max(0, named)), docket);
  if (named < 0 || room[named] === null) return;
  docket.evidence["refusal-agrees"].readings += 1;
  docket.evidence["refusal-agrees"].refusals += 1;
  if (room[named] !== true) return;
  docket.accuse({
    law: "refusal-agrees",
    breach: "has room",
    suspects: ["remaining-of-laxer-window", "limit-changes-mid-window"],
    ...each.count.name.told,
    window: null,
    lines: [line],
    explanation: `line ${line} ${words} by ${call.by}, which shows room: ${shownWords(call)}`,
  });
}

/** A refusal names the first quota that lacks room (POLICY.md §2.3), but not everybody's does. */
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
