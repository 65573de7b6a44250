// Judges stores that count, such as express-rate-limit's, as limiters.
import type { Awaitable, LimiterFactory, Seam } from "../engine/adapter.ts";
import type { Algorithm } from "../rules/algorithms.ts";
import {
  type Instant,
  type KeyedKind,
  type KeyedReading,
  type KeyedSettings,
  keyedLimiter,
} from "./keyed.ts";

/** Count of a key, or an object that has it. */
export type StoreCount =
  | number
  | {
      /** The count, in one of these three members. */
      readonly totalHits?: number | undefined;
      readonly current?: number | undefined;
      readonly count?: number | undefined;
      /** Instant at which the window ends; a number is ms since the epoch. */
      readonly resetTime?: Instant | number | undefined;
    };

/** Counters by key, such as express-rate-limit's stores. */
export interface CountingStore {
  /** Adds a call to a key's window. Returns the count with this call. */
  increment(key: string, nowMs: number): Awaitable<StoreCount>;
  /** Returns the count without a change. */
  get?(key: string, nowMs: number): Awaitable<StoreCount | null | undefined>;
  /** Forgets a key. Called before a limiter first uses a key, so that a store that outlives limiters starts afresh. */
  reset?(key: string): Awaitable<unknown>;
  close?(): Awaitable<unknown>;
}

export interface StoreOptions extends Omit<KeyedKind, "algorithm" | "refused" | "weighted"> {
  /** Algorithm of the store. Default: `fixed-window`, as most stores count hits in windows. */
  readonly algorithm?: Algorithm;
  create(settings: KeyedSettings, seam: Seam): Awaitable<CountingStore>;
}

/**
 * Makes a factory of a store that counts, judged as a limiter: a call is refused if the count with it is above the
 * limit, so refused calls are counted, too.
 *
 * @example
 * const hits = storeLimiter({
 *   name: "hits in a map",
 *   create({ windowMs }) {
 *     const hits = new Map<string, { totalHits: number; resetTime: number }>();
 *     return {
 *       increment(key, nowMs) {
 *         const hit = hits.get(key);
 *         if (hit === undefined || hit.resetTime <= nowMs) {
 *           hits.set(key, { totalHits: 1, resetTime: nowMs + windowMs });
 *         } else hit.totalHits += 1;
 *         return { ...hits.get(key) };
 *       },
 *     };
 *   },
 * });
 * const report = await checkLaws(hits, { runs: 20 });
 */
export function storeLimiter(options: StoreOptions): LimiterFactory {
  return keyedLimiter({
    algorithm: "fixed-window",
    ...options,
    refused: "counted",
    async create(settings, seam) {
      const store = await options.create(settings, seam);
      const started = new Set<string>();
      const start = async (key: string): Promise<void> => {
        if (started.has(key)) return;
        started.add(key);
        await store.reset?.(key);
      };
      return {
        async consume(key, _cost, nowMs) {
          await start(key);
          const reading = countedBy(await store.increment(key, nowMs));
          return { allowed: reading.current <= settings.limit, ...reading };
        },
        ...(store.get && {
          async peek(key: string, nowMs: number) {
            await start(key);
            const count = await store.get?.(key, nowMs);
            return count === null || count === undefined ? null : countedBy(count);
          },
        }),
        ...(store.close && { close: () => store.close?.() }),
      };
    },
  });
}

function countedBy(count: StoreCount): KeyedReading & { readonly current: number } {
  if (typeof count === "number") return { current: count };
  const current = count?.totalHits ?? count?.current ?? count?.count;
  if (typeof current !== "number") throw new TypeError(`a count was expected, got ${JSON.stringify(count)}`);
  return { current, resetAt: count.resetTime };
}
