// The readings of a policy's quotas that clients are told: the two with the least room among those that answers show. A
// client sees no more than its API would show.
import { emptyCountReading } from "../src/engine/count-reading.ts";
import type { PolicyCore } from "../src/engine/policy-core.ts";
import type { Policy, Shown } from "../src/policy/policy.ts";
import { wireOf } from "../src/policy/presets.ts";
import { type AnswerKind, mayShow, type WireReading } from "../src/policy/wire-data.ts";
import { ABSENT } from "../src/scenario/client.ts";

/** Numbers of a quota that answers show. */
interface Shows {
  readonly limit: boolean;
  readonly remaining: boolean;
  readonly reset: boolean;
}

/** Place that means no quota. */
export const NO_QUOTA = -1;
const nothing: Shows = { limit: false, remaining: false, reset: false };

export class ToldQuotas {
  readonly #core: PolicyCore;
  readonly #shows: Readonly<Record<AnswerKind, readonly Shows[]>>;
  readonly #advises: readonly boolean[];
  readonly #rounds: readonly Shown["reset"][];
  readonly #reading = emptyCountReading();

  constructor(policy: Policy, core: PolicyCore) {
    this.#core = core;
    const { readings, retryAfter } = wireOf(policy);
    const shows = (kind: AnswerKind): Shows[] =>
      Object.keys(policy.quotas).map((name) => showsOf(readings, name, kind));
    this.#shows = { admitted: shows("admitted"), refused: shows("refused"), status: shows("status") };
    this.#rounds = Object.values(policy.quotas).map(({ shown }) => shown.reset);
    this.#advises = Object.values(policy.quotas).map(
      ({ shown }) => retryAfter.length > 0 && shown.retryAfter,
    );
  }

  /** Returns the shown quota that refused, else the shown one with the least share left, without the quota `but`. */
  tightest(
    handle: number,
    quotas: readonly number[],
    refused: number,
    but: number,
    kind: AnswerKind,
    nowMs: number,
  ): number {
    const shows = this.#shows[kind];
    let tightest = NO_QUOTA;
    let least = Number.POSITIVE_INFINITY;
    const reading = this.#reading;
    for (const quota of quotas) {
      const { limit, remaining, reset } = shows[quota] as Shows;
      if (quota === but || (!limit && !remaining && !reset)) continue;
      this.#core.read(quota, this.#core.rowOf(handle, quota), nowMs, reading);
      const share = quota === refused ? -1 : Math.max(0, reading.remaining) / reading.limit;
      if (share >= least) continue;
      least = share;
      tightest = quota;
    }
    return tightest;
  }

  /** Writes a quota's limit, remaining and reset from `at` on; `ABSENT` for those that answers do not show. */
  write(out: Float64Array, at: number, handle: number, quota: number, kind: AnswerKind, nowMs: number): void {
    const { limit, remaining, reset } = this.#shows[kind][quota] ?? nothing;
    const reading = this.#reading;
    if (quota !== NO_QUOTA) this.#core.read(quota, this.#core.rowOf(handle, quota), nowMs, reading);
    out[at] = limit ? reading.limit : ABSENT;
    out[at + 1] = remaining ? reading.remaining : ABSENT;
    out[at + 2] = reset ? this.#seconds(quota, reading.resetAtMs - nowMs) : ABSENT;
  }

  /** Returns what a call asks of a quota; its own cost if it is told no quota. */
  costOf(operation: number, quota: number, cost: number): number {
    return quota === NO_QUOTA ? cost : this.#core.costOf(operation, quota, cost);
  }

  /** Tells whether a refusal by a quota says when to retry. */
  advises(refused: number): boolean {
    return this.#advises[refused] === true;
  }

  /** Returns the seconds that a refusal says to wait; `ABSENT` if it does not say. */
  retryAfter(handle: number, operation: number, refused: number, cost: number, nowMs: number): number {
    if (!this.advises(refused)) return ABSENT;
    const roomAtMs = this.#core.retryAt(handle, operation, refused, cost);
    return roomAtMs === null ? ABSENT : this.#seconds(refused, roomAtMs - nowMs);
  }

  /** Returns whole seconds for clients, rounded as the quota says; the API's own form does not matter. */
  #seconds(quota: number, ms: number): number {
    return Math.max(0, Math[this.#rounds[quota] ?? "ceil"](ms / 1000));
  }
}

/** Returns the numbers of a quota that a wire format's rows show in answers of a kind. */
function showsOf(rows: readonly WireReading[], quota: string, kind: AnswerKind): Shows {
  const texts = rows
    .filter((row) => row.on.includes(kind) && mayShow(row, quota))
    .map(({ headers, body }) => JSON.stringify([headers, body]))
    .join();
  const has = (name: string): boolean => texts.includes(`{${name}}`);
  return {
    limit: has("limit"),
    remaining: has("remaining") || (has("used") && has("limit")),
    reset: has("reset"),
  };
}
