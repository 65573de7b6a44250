// Readings that a client is told of an answer under a policy: the two that leave it least room, in whole seconds.
import { costAsked, limitOf, quotaFor } from "../policy/effective.ts";
import type { Policy } from "../policy/policy.ts";
import type { AnswerReading } from "../wire/read-answer.ts";
import type { ReadTime } from "../wire/times.ts";
import { ABSENT, type ClientEvent } from "./client.ts";

/** A quota as an answer shows it; `null` for what it does not tell. */
interface Shown extends Pick<AnswerReading, "limit" | "remaining" | "used"> {
  readonly quota: string;
  readonly reset: Pick<ReadTime, "afterMs" | "atMs"> | null;
}

/** An answer as it was read, and the call that it is to. */
export interface ShownAnswer {
  readonly operation: string;
  readonly caller: Readonly<Record<string, string>>;
  /** Cost that the call declares; `null` if no quota counts it. */
  readonly cost: number | null;
  readonly readings: readonly Shown[];
  /** Quota that refused, if the answer tells it. */
  readonly by?: string | undefined;
  readonly retryAfterMs?: number | undefined;
  /** Instant after which to retry, ms since the epoch. */
  readonly retryAt?: number | undefined;
}

export type ToldReading = Pick<
  ClientEvent,
  | "cost"
  | "limit"
  | "remaining"
  | "reset"
  | "userCost"
  | "userLimit"
  | "userRemaining"
  | "userReset"
  | "retryAfter"
>;

/**
 * Returns what a client is told: the quota that refused first, then those with the least share left.
 * @param atMs time of the answer, ms since the epoch
 */
export function toldOf(policy: Policy, call: ShownAnswer, atMs: number): ToldReading {
  const { caller, readings, by, retryAfterMs, retryAt } = call;
  const share = ({ quota, limit, ...reading }: Shown): number => {
    if (quota === by) return -1;
    const most = limit ?? limitOf(quotaFor(policy, quota, caller).algorithm);
    const left = leftOf({ ...reading, quota, limit: most });
    return left === null ? Number.POSITIVE_INFINITY : left > 0 ? left / most : 0;
  };
  const sorted = readings.toSorted((one, other) => share(one) - share(other));
  const [first, second = first] = sorted;
  const adviceMs = retryAfterMs ?? (retryAt === undefined ? undefined : retryAt - atMs);
  return {
    cost: costIn(policy, call, first?.quota),
    limit: first?.limit ?? ABSENT,
    remaining: leftOf(first) ?? ABSENT,
    reset: secondsOf(policy, first, atMs),
    userCost: costIn(policy, call, second?.quota),
    userLimit: second?.limit ?? ABSENT,
    userRemaining: leftOf(second) ?? ABSENT,
    userReset: secondsOf(policy, second, atMs),
    retryAfter: adviceMs === undefined ? ABSENT : Math.max(0, Math.ceil(adviceMs / 1000)),
  };
}

/** Returns what a call asks of a quota; its own cost if none is told, or if its operation does not use that one. */
export const costIn = (
  { operations }: Policy,
  { operation, cost }: Pick<ShownAnswer, "operation" | "cost">,
  quota = "",
): number => costAsked(operations[operation]?.uses[quota] ?? "declared", cost ?? 0);

function leftOf(reading: Shown | undefined): number | null {
  if (reading === undefined) return null;
  const { limit, remaining, used } = reading;
  return remaining ?? (limit === null || used === null ? null : limit - used);
}

/** Returns a reset in whole seconds, whatever form the API has. The quota says how to round. */
function secondsOf({ quotas }: Policy, reading: Shown | undefined, atMs: number): number {
  if (reading?.reset == null) return ABSENT;
  const { afterMs, atMs: instantMs } = reading.reset;
  const ms = afterMs ?? (instantMs === null ? null : instantMs - atMs);
  if (ms === null) return ABSENT;
  return Math.max(0, Math[quotas[reading.quota]?.shown.reset ?? "ceil"](ms / 1000));
}
