// What a simulation takes from an earlier run's trace to be like it: who sat where, and how long trips took.
import type { Network } from "../src/scenario/scenario.ts";
import type { TraceCall } from "../src/trace/record.ts";

/** How often each whole number was seen. */
class Histogram {
  readonly #counts = new Map<number, number>();
  #size = 0;

  add(value: number): void {
    this.#counts.set(value, (this.#counts.get(value) ?? 0) + 1);
    this.#size += 1;
  }

  /** The value at a share of all, nearest rank; `null` where nothing was seen. */
  quantile(share: number): number | null {
    let rank = Math.max(1, Math.ceil(share * this.#size));
    for (const [value, count] of [...this.#counts].sort(([a], [b]) => a - b)) {
      rank -= count;
      if (rank <= 0) return value;
    }
    return null;
  }
}

/** Reads a trace, call by call, for what `simulate` can be told of it. */
export class Likeness {
  readonly #users = new Map<string, { organization: string; user: string }>();
  readonly #restMs = new Histogram();
  readonly #graphqlMs = new Histogram();

  add(call: TraceCall): void {
    if (call.user !== null) this.#users.set(call.client, { organization: call.org, user: call.user });
    if (call.status === 0) return;
    const tookMs = call.received - call.sent;
    if (call.scope === "rest") this.#restMs.add(tookMs);
    else if (call.kind === "call" && call.status === 200) this.#graphqlMs.add(tookMs);
  }

  /** The users of the run's clients, by `population/index`; for `seatingLike`. */
  get users(): ReadonlyMap<string, { readonly organization: string; readonly user: string }> {
    return this.#users;
  }

  /**
   * Latency, one way: from half of what the quickest 5% of the answered REST and status calls took to half of
   * what all but the slowest 5% took, at least 1 ms. Execution: the same two shares of the executed queries,
   * less what half of the REST calls took. What the trace has no calls for stays as in `fallback`.
   */
  network(fallback: Network): Network {
    const [quick, middle, slow] = [0.05, 0.5, 0.95].map((share) => this.#restMs.quantile(share));
    if (quick == null || middle == null || slow == null) return fallback;
    const least = Math.max(1, Math.round(quick / 2));
    const latencyMs = { least, most: Math.max(least, Math.round(slow / 2)) };
    const [quickQuery, slowQuery] = [0.05, 0.95].map((share) => this.#graphqlMs.quantile(share));
    if (quickQuery == null || slowQuery == null) return { ...fallback, latencyMs };
    const shortest = Math.max(0, quickQuery - middle);
    return { latencyMs, executionMs: { least: shortest, most: Math.max(shortest, slowQuery - middle) } };
  }
}
