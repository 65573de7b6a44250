// One call of a recording, what it has in common with others, and what a refusal said.
import { ABSENT } from "../../src/scenario/client.ts";
import type { QuotaCall } from "../../src/trace/quota-record.ts";
import type { TraceCall } from "../../src/trace/record.ts";
import type { HeaderValue } from "../../src/wire/fields.ts";

/** Data that many calls have in common. */
export interface CallTraits {
  /** An operation of the policy; `rest` or `graphql` under rules. */
  readonly operation: string;
  /** Attributes that its path names, under a policy. */
  readonly asked?: Readonly<Record<string, string>> | undefined;
  /** The free status call (SPEC.md §4). */
  readonly free: boolean;
  /** 1 for REST, requested points for GraphQL, 0 for status. */
  readonly cost: number;
  /** Points charged in the end; `cost` where that is not known. */
  readonly actual: number;
  /** The same for calls that a quota counts alike. */
  readonly key: string;
}

/** One call of one caller. There are millions, so each holds no more than its own. */
export class RecordedCall {
  /** When it was sent, ms since the epoch. */
  readonly atMs: number;
  /** When its answer was there; `atMs` where nobody wrote down how long it took. */
  readonly endMs: number;
  /** 0 for a first attempt; `ABSENT` where that is not known. */
  readonly attempt: number;
  /** HTTP status; 0 where no answer came. */
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

  /** When it was wanted: a poll's tick, the first attempt of a retry; `atMs` where that is not known. */
  get wantedMs(): number {
    return this.#wantedMs ?? this.atMs;
  }
}

export interface RecordedInput
  extends Pick<RecordedCall, "atMs" | "endMs" | "wantedMs" | "attempt" | "status"> {
  readonly said: RefusalSaid | null;
  readonly kind: CallTraits;
}

/** The kinds of a recording's calls, each once. */
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

/** Headers of a refusal, in seconds, points or requests; `ABSENT` where one did not come. */
export interface RefusalSaid {
  readonly remaining: number;
  readonly reset: number;
  readonly userRemaining: number;
  readonly userReset: number;
  readonly retryAfter: number;
}

const shownNumber = (value: HeaderValue | undefined): number => (typeof value === "number" ? value : ABSENT);

/** Of a refusal under rules. */
export function saidBy(call: TraceCall): RefusalSaid {
  return {
    remaining: shownNumber(call.remaining),
    reset: shownNumber(call.reset),
    userRemaining: shownNumber(call.userRemaining),
    userReset: shownNumber(call.userReset),
    retryAfter: shownNumber(call.retryAfter),
  };
}

/** Of a refusal: the quota that refused first, then another one. */
export function saidByQuotas({ readings, by, retryAfterMs, retryAt, received }: QuotaCall): RefusalSaid {
  const [first, next] = readings.toSorted((a, b) => Number(b.quota === by) - Number(a.quota === by));
  const secondsTo = (reset: { afterMs: number | null; atMs: number | null } | null | undefined): number => {
    const afterMs = reset?.afterMs ?? (reset?.atMs == null ? null : reset.atMs - received);
    return afterMs === null ? ABSENT : Math.max(0, Math.ceil(afterMs / 1000));
  };
  return {
    remaining: first?.remaining ?? ABSENT,
    reset: secondsTo(first?.reset),
    userRemaining: next?.remaining ?? ABSENT,
    userReset: secondsTo(next?.reset),
    retryAfter: secondsTo({ afterMs: retryAfterMs ?? null, atMs: retryAt ?? null }),
  };
}
