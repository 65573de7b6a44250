// Stores that count, such as express-rate-limit's, judged as limiters.
import type { LimiterFactory, Seam } from "../engine/adapter.ts";
import type { Algorithm } from "../rules/algorithms.ts";
import {
  type Awaitable,
  type Instant,
  type KeyedKind,
  type KeyedReading,
  type KeyedSettings,
  keyedLimiter,
} from "./keyed.ts";

/** Count of a key, or an object that holds it. */
export type StoreCount =
  | number
  | {
      /** One of these three. */
      readonly totalHits?: number | undefined;
      readonly current?: number | undefined;
      readonly count?: number | undefined;
      /** When the window ends; a number is ms since the epoch. */
      readonly resetTime?: Instant | number | undefined;
    };

/** Counters by key, such as express-rate-limit's stores. */
export interface CountingStore {
  /** Adds a call to a key's window, and tells the count with it. */
  increment(key: string, nowMs: number): Awaitable<StoreCount>;
  /** Tells the count without adding. */
  get?(key: string, nowMs: number): Awaitable<StoreCount | null | undefined>;
  /** Forgets a key. Called before a key is first used: a store that outlives one limiter starts afresh by it. */
  reset?(key: string): Awaitable<unknown>;
  close?(): Awaitable<unknown>;
}

export interface StoreOptions extends Omit<KeyedKind, "algorithm" | "refused" | "weighted"> {
  /** `fixed-window` unless told: such a store counts hits in windows. */
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
          if (store.reset !== undefined) await start(key);
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
