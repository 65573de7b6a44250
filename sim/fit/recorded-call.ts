// One call of a recording, the traits that it shares with other calls, and the headers of a refusal.
import type { Policy } from "../../src/policy/policy.ts";
import { ABSENT, type ClientEvent } from "../../src/scenario/client.ts";
import { costIn } from "../../src/scenario/policy-told.ts";
import type { QuotaCall } from "../../src/trace/quota-record.ts";
import type { TraceCall } from "../../src/trace/record.ts";
import type { HeaderValue } from "../../src/wire/fields.ts";

/** Data that many calls share. */
export interface CallTraits {
  /** Name of an operation of the policy; `rest` or `graphql` under rules. */
  readonly operation: string;
  /** Attributes that the call's path names, under a policy. */
  readonly asked?: Readonly<Record<string, string>> | undefined;
  /** True if this is the free status call (SPEC.md §4). */
  readonly free: boolean;
  /** 1 for REST, requested points for GraphQL, 0 for status. */
  readonly cost: number;
  /** Points charged in the end; `cost` if not known. */
  readonly actual: number;
  /** Key that calls share if a quota counts them alike. */
  readonly key: string;
}

/** One call of one caller. There are millions of calls, so shared data is in `kind`. */
export class RecordedCall {
  /** Instant of sending, ms since the epoch. */
  readonly atMs: number;
  /** Instant of the answer, ms since the epoch; `atMs` if the duration was not recorded. */
  readonly endMs: number;
  /** Number of the attempt, from 0; `ABSENT` if not known. */
  readonly attempt: number;
  /** HTTP status; 0 if no answer came. */
  readonly status: number;
  /** Headers of a refusal. `null` for any other call, and for a refusal without headers. */
  readonly said: RefusalSaid | null;
  readonly kind: CallTraits;
  readonly #wantedMs: number | null;

  constructor({ atMs, endMs, wantedMs, attempt, status, said, kind }: RecordedInput) {
    this.atMs = atMs;
    this.endMs = endMs;
    this.attempt = attempt;
    this.status = status;
    this.said = said;
    this.kind = kind;
    this.#wantedMs = wantedMs === atMs ? null : wantedMs;
  }

  /** Instant at which the call was wanted: a poll's tick, a retry's first attempt; `atMs` if not known. */
  get wantedMs(): number {
    return this.#wantedMs ?? this.atMs;
  }
}

export interface RecordedInput
  extends Pick<RecordedCall, "atMs" | "endMs" | "wantedMs" | "attempt" | "status"> {
  readonly said: RefusalSaid | null;
  readonly kind: CallTraits;
}

/** Holds each kind of a recording's calls once. */
export class CallKinds {
  readonly #kinds = new Map<string, CallTraits>();

  of(operation: string, asked: CallTraits["asked"], free: boolean, cost: number, actual: number): CallTraits {
    const key = `${free ? "status" : operation} ${cost}${asked === undefined ? "" : ` ${JSON.stringify(asked)}`}`;
    const name = `${operation} ${actual} ${key}`;
    const known = this.#kinds.get(name);
    if (known !== undefined) return known;
    const kind = { operation, asked, free, cost, actual, key };
    this.#kinds.set(name, kind);
    return kind;
  }
}

/** Headers of a refusal, in seconds, points or requests; `ABSENT` for a missing header. */
export interface RefusalSaid
  extends Readonly<Pick<ClientEvent, "remaining" | "reset" | "userRemaining" | "userReset" | "retryAfter">> {
  /** Units that the call asks of each of the two windows. Default: the call's cost. */
  readonly cost?: number;
  readonly userCost?: number;
}

const shownNumber = (value: HeaderValue | undefined): number => (typeof value === "number" ? value : ABSENT);

/** Returns what a refusal's headers say, under rules. */
export function saidBy(call: TraceCall): RefusalSaid {
  return {
    remaining: shownNumber(call.remaining),
    reset: shownNumber(call.reset),
    userRemaining: shownNumber(call.userRemaining),
    userReset: shownNumber(call.userReset),
    retryAfter: shownNumber(call.retryAfter),
  };
}

/** Returns what a refusal's headers say, under a policy: first the refusing quota, then another (`user…`). */
export function saidByQuotas(call: QuotaCall, policy: Policy): RefusalSaid {
  const { readings, by, retryAfterMs, retryAt, received } = call;
  const [first, next] = readings.toSorted((a, b) => Number(b.quota === by) - Number(a.quota === by));
  const secondsTo = (reset: { afterMs: number | null; atMs: number | null } | null | undefined): number => {
    const afterMs = reset?.afterMs ?? (reset?.atMs == null ? null : reset.atMs - received);
    return afterMs === null ? ABSENT : Math.max(0, Math.ceil(afterMs / 1000));
  };
  return {
    cost: costIn(policy, call, first?.quota),
    userCost: costIn(policy, call, next?.quota),
    remaining: first?.remaining ?? ABSENT,
    reset: secondsTo(first?.reset),
    userRemaining: next?.remaining ?? ABSENT,
    userReset: secondsTo(next?.reset),
    retryAfter: secondsTo({ afterMs: retryAfterMs ?? null, atMs: retryAt ?? null }),
  };
}
