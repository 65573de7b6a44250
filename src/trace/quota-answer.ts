// The members of a call's line, version 2, that come from its answer.
import type { AnswerReading, ReadAnswer } from "../wire/read-answer.ts";
import type { QuotaCall, QuotaReading } from "./quota-record.ts";

type AnswerMembers = Pick<
  QuotaCall,
  "outcome" | "readings" | "by" | "retryAfterMs" | "retryAt" | "via" | "unread"
>;

/** Members for an answer that did not come, or that something before the target gave. */
export const noAnswer: AnswerMembers = { outcome: "unknown", readings: [] };

/** Returns what a trace keeps of an answer; readings of unknown quotas are left out. */
export function answerMembers(
  { outcome, by, readings, retryAfter, isCached, unread }: ReadAnswer,
  quotas: ReadonlySet<string>,
): AnswerMembers {
  return {
    outcome,
    readings: readings.flatMap((reading) => readingOf(reading, quotas)),
    by: by ?? undefined,
    retryAfterMs: retryAfter?.afterMs ?? undefined,
    retryAt: retryAfter?.atMs ?? undefined,
    via: isCached ? "cache" : undefined,
    unread: unread.length === 0 ? undefined : [...new Set(unread.map(({ at }) => at))],
  };
}

function readingOf(
  { quota, limit, remaining, used, reset }: AnswerReading,
  quotas: ReadonlySet<string>,
): QuotaReading[] {
  if (quota === null || !quotas.has(quota)) return [];
  return [
    {
      quota,
      limit: whole(limit),
      remaining: whole(remaining),
      used: whole(used),
      reset: reset === null ? null : { afterMs: reset.afterMs, atMs: reset.atMs, gridMs: reset.gridMs },
    },
  ];
}

/** Returns a count, or `null` if it is no whole number and so does not add up. */
const whole = (value: number | null): number | null => (Number.isSafeInteger(value) ? value : null);
