// The facts that a simulation takes from an earlier run's trace to resemble it: the clients' seats, the durations of
// trips, and the lateness of clients.
import type { Network } from "../src/scenario/network.ts";
import type { Spread } from "../src/scenario/spread.ts";
import type { QuotaCall } from "../src/trace/quota-record.ts";
import type { TraceCall } from "../src/trace/record.ts";
import { isFailure, isRefusal } from "../src/wire/outcome.ts";

/** Number of equal parts into which quantiles divide times. */
const parts = 200;

/** Counts of the whole numbers that were added. */
class Histogram {
  readonly #counts = new Map<number, number>();
  #size = 0;

  add(value: number): void {
    this.#counts.set(value, (this.#counts.get(value) ?? 0) + 1);
    this.#size += 1;
  }

  /** Returns the values at equal shares, nearest rank, from the least to the greatest; `null` if there are none. */
  quantiles(): readonly number[] | null {
    const values = [...this.#counts.keys()].sort((a, b) => a - b);
    if (values.length === 0) return null;
    let [value, until] = [0, 0];
    return Array.from({ length: parts + 1 }, (_, part) => {
      const rank = Math.max(1, Math.ceil((part * this.#size) / parts));
      while (until < rank) {
        value = values.shift() as number;
        until += this.#counts.get(value) as number;
      }
      return value;
    });
  }
}

/** Durations of answered calls. */
class Times {
  readonly restMs = new Histogram();
  readonly graphqlMs = new Histogram();
}

/**
 * Length of a real run's warm-up, of generator and deployment alike, ms. In a run of a minute, calls took 7.4 ms in the
 * first second and 1.8 ms later. Over the whole run this would make every twentieth call slow.
 */
const warmUpMs = 1_000;

/** Gathers facts for `simulate` from a trace, call by call. */
export class Likeness {
  readonly #users = new Map<string, { organization: string; user: string }>();
  readonly #warmingUp = new Times();
  readonly #later = new Times();
  #warmAt: number | null = null;
  readonly #latenessMs = new Histogram();
  /** Time of the last receipt by client. */
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

  /** Adds a call of a version 2 trace, which does not mark queries: all admitted calls count as REST. */
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
   * Adds a first attempt's lateness if the client slept until it, that is, if it was wanted after the client's last
   * answer. (A trace does not tell when retries were due, nor what a client with several calls did meanwhile.)
   */
  #addLateness({ client, sent, received, wanted, attempt }: TraceCall | QuotaCall): void {
    const before = this.#received.get(client);
    this.#received.set(client, Math.max(received, before ?? received));
    if (attempt !== 0 || wanted === undefined || before === undefined) return;
    if (wanted > before && sent >= wanted) this.#latenessMs.add(sent - wanted);
  }

  /** Users of the run's clients, by `population/index`, for `seatingLike`. */
  get users(): ReadonlyMap<string, { readonly organization: string; readonly user: string }> {
    return this.#users;
  }

  /**
   * Returns the measured network. Round trip: durations of answered REST and status calls without refusals, each at
   * least 1 ms. Execution: durations of executed queries, less the median of those calls. Lateness: that of first
   * attempts that clients slept for. Each is 200 equal parts of the calls, so that simulated calls take as long as
   * measured ones. Round trip and execution leave out the first second if later calls exist; facts without calls come
   * from `fallback`.
   */
  network(fallback: Network): Network {
    const trips = this.#quantiles("restMs");
    const late = this.#latenessMs.quantiles();
    const known = late === null ? fallback : { ...fallback, latenessMs: empirical(late) };
    if (trips === null) return known;
    const roundTripMs = empirical(trips.map((ms) => Math.max(1, ms)));
    const middle = trips[parts / 2] as number;
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
