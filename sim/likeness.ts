// The facts that a simulation takes from an earlier run's trace to be like it: who sat where, how long trips took, how late
// clients were.
import type { Network } from "../src/scenario/network.ts";
import type { Spread } from "../src/scenario/spread.ts";
import type { QuotaCall } from "../src/trace/quota-record.ts";
import type { TraceCall } from "../src/trace/record.ts";
import { isFailure, isRefusal } from "../src/wire/outcome.ts";

/** In so many equal parts times are told apart. */
const parts = 200;

/** Counts of the whole numbers that were seen. */
class Histogram {
  readonly #counts = new Map<number, number>();
  #size = 0;

  add(value: number): void {
    this.#counts.set(value, (this.#counts.get(value) ?? 0) + 1);
    this.#size += 1;
  }

  /** The values at equal shares of all, nearest rank, from the least to the greatest; `null` where nothing was seen. */
  quantiles(): readonly number[] | null {
    const values = [...this.#counts].sort(([a], [b]) => a - b);
    if (values.length === 0) return null;
    let index = 0;
    let below = 0;
    return Array.from({ length: parts + 1 }, (_, part) => {
      const rank = Math.max(1, Math.ceil((part * this.#size) / parts));
      while (below + (values[index]?.[1] ?? 0) < rank) {
        below += values[index]?.[1] ?? 0;
        index += 1;
      }
      return values[index]?.[0] ?? 0;
    });
  }
}

/** Durations of answered calls. */
class Times {
  readonly restMs = new Histogram();
  readonly graphqlMs = new Histogram();
}

/**
 * In its first second a real run warms up, generator and deployment alike: calls took 7.4 ms there and 1.8 ms later, in a
 * run of a minute. Spread over the whole run that would make every twentieth call of it slow.
 */
const warmUpMs = 1_000;

/** Reads a trace, call by call, for what `simulate` can be told of it. */
export class Likeness {
  readonly #users = new Map<string, { organization: string; user: string }>();
  readonly #warmingUp = new Times();
  readonly #later = new Times();
  #warmAt: number | null = null;
  readonly #latenessMs = new Histogram();
  /** When each client received the answer that came last. */
  readonly #received = new Map<string, number>();

  add(call: TraceCall): void {
    if (call.user !== null) this.#users.set(call.client, { organization: call.org, user: call.user });
    this.#addLateness(call);
    if (isFailure(call.status) || isRefusal(call.status)) return;
    const times = this.#timesAt(call.sent);
    const tookMs = call.received - call.sent;
    if (call.scope === "rest") times.restMs.add(tookMs);
    else if (call.kind === "call" && call.status === 200) times.graphqlMs.add(tookMs);
  }

  /** A call of a trace by quotas: it does not tell which calls are queries, so all that were let through count as REST. */
  addByQuotas(call: QuotaCall): void {
    this.#addLateness(call);
    if (call.outcome !== "admitted" || isFailure(call.status)) return;
    this.#timesAt(call.sent).restMs.add(call.received - call.sent);
  }

  #timesAt(sent: number): Times {
    this.#warmAt ??= sent + warmUpMs;
    return sent < this.#warmAt ? this.#warmingUp : this.#later;
  }

  /**
   * A first attempt that was wanted after the client's last answer was slept for: how much too long? (When a retry was
   * due is not in the trace, nor is what else a client did meanwhile that has several calls on the way.)
   */
  #addLateness({ client, sent, received, wanted, attempt }: TraceCall | QuotaCall): void {
    const before = this.#received.get(client);
    this.#received.set(client, Math.max(received, before ?? received));
    if (attempt !== 0 || wanted === undefined || before === undefined) return;
    if (wanted > before && sent >= wanted) this.#latenessMs.add(sent - wanted);
  }

  /** The users of the run's clients, by `population/index`; for `seatingLike`. */
  get users(): ReadonlyMap<string, { readonly organization: string; readonly user: string }> {
    return this.#users;
  }

  /**
   * The network as it was seen. Round trip: what the answered REST and status calls took, refusals aside, each at
   * least 1 ms. Execution: what the executed queries took, less what half of those calls took. Lateness: that of first
   * attempts that clients slept for. Each as 200 equal parts of all calls, so that simulated ones take what measured
   * ones took, the first second aside where more than that was seen; what the trace has no calls for stays as in
   * `fallback`.
   */
  network(fallback: Network): Network {
    const trips = this.#quantiles("restMs");
    const late = this.#latenessMs.quantiles();
    const known = late === null ? fallback : { ...fallback, latenessMs: empirical(late) };
    if (trips === null) return known;
    const roundTripMs = empirical(trips.map((ms) => Math.max(1, ms)));
    const middle = trips[parts / 2] ?? 0;
    const queries = this.#quantiles("graphqlMs");
    if (queries === null) return { ...known, roundTripMs };
    return {
      ...known,
      roundTripMs,
      executionMs: empirical(queries.map((ms) => Math.max(0, ms - middle))),
    };
  }

  #quantiles(kind: keyof Times): readonly number[] | null {
    return this.#later[kind].quantiles() ?? this.#warmingUp[kind].quantiles();
  }
}

const empirical = (quantilesMs: readonly number[]): Spread => ({
  shape: "quantiles",
  shares: null,
  quantilesMs,
});
