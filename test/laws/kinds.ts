// Limiters of every algorithm as people write them: right ones, that no law may accuse, each in the ways in which
// right ones differ; and the same with one bug each, that the laws must find.
import type { Algorithm, KeyedKind, KeyedLimiter, KeyedSettings } from "../../src/laws/index.ts";

/** A limiter as an adapter says it; what is left out is for the kit to know. */
export interface KindOfLimiter extends Omit<KeyedKind, "name"> {
  readonly algorithm: Algorithm;
  create(settings: KeyedSettings): KeyedLimiter;
}

/** A state for each key, made when the key is first used. */
export function perKey<T>(make: () => T): (key: string) => T {
  const states = new Map<string, T>();
  return (key) => {
    const known = states.get(key);
    if (known !== undefined) return known;
    const made = make();
    states.set(key, made);
    return made;
  };
}

interface WindowOptions {
  readonly anchor?: "epoch" | "first-request";
  readonly weighted?: boolean;
  readonly counted?: boolean;
  /** Its end, `now <= resetAt`, is still of the window. */
  readonly inclusive?: boolean;
  readonly extra?: number;
  readonly never?: boolean;
  readonly short?: boolean;
  /** Wait of every refusal, in windows, in place of the one that is needed. */
  readonly waitWindows?: number;
}

export const fixedWindow = (options: WindowOptions = {}): KindOfLimiter => {
  const { anchor = "first-request", weighted = false, counted = false, inclusive = false } = options;
  return {
    algorithm: "fixed-window",
    anchor,
    weighted,
    refused: counted ? "counted" : "uncounted",
    ...(inclusive && { end: "inclusive" as const }),
    create({ limit, windowMs }) {
      const windowOf = perKey(() => ({ count: 0, resetAt: 0 }));
      const roll = (key: string, nowMs: number) => {
        const window = windowOf(key);
        const over = inclusive ? nowMs > window.resetAt : nowMs >= window.resetAt;
        if (over && !(options.never === true && window.count >= limit)) {
          window.count = 0;
          const opened = anchor === "epoch" ? nowMs - (nowMs % windowMs) : nowMs;
          window.resetAt = opened + windowMs;
        }
        return window;
      };
      const shown = ({ count, resetAt }: { count: number; resetAt: number }, nowMs: number) => ({
        limit,
        current: count,
        remaining: Math.max(0, limit - count),
        resetAt,
        reset: Math.ceil((resetAt - nowMs) / 1000),
      });
      return {
        consume(key, cost, nowMs) {
          const window = roll(key, nowMs);
          const allowed = window.count + cost <= limit + (options.extra ?? 0);
          if (allowed || counted) window.count += cost;
          const told = shown(window, nowMs);
          const late = options.short === true ? 1000 : 0;
          const { waitWindows } = options;
          const needed = Math.max(0, window.resetAt - nowMs - late);
          return {
            allowed,
            ...told,
            retryAfterMs: waitWindows === undefined ? needed : waitWindows * windowMs,
          };
        },
      };
    },
  };
};

interface BucketOptions {
  readonly weighted?: boolean;
  /** It refills in steps of so many parts of the window, from its first call or on the grid of the epoch. */
  readonly parts?: number;
  readonly grid?: boolean;
  /** It refills by whole seconds. */
  readonly seconds?: boolean;
  readonly extra?: number;
  readonly faster?: number;
  readonly chargesRefused?: boolean;
  readonly peekCharges?: boolean;
  readonly shared?: boolean;
  /** Units that a refusal forgets to wait for. */
  readonly hasty?: number;
  readonly floors?: boolean;
}

/** Tokens that are added up as fractions, lazily, as most are written. */
export const tokenBucket = (options: BucketOptions = {}): KindOfLimiter => ({
  algorithm: "token-bucket",
  weighted: options.weighted === true,
  create({ limit, windowMs }) {
    const { extra = 0, faster = 1, hasty = 0, grid = false, parts } = options;
    const capacity = limit + extra;
    const rate = (limit / windowMs) * faster;
    const bucketOf = perKey(() => ({ tokens: capacity, atMs: Number.NaN, firstMs: Number.NaN }));
    const at = (nowMs: number): number =>
      options.seconds === true ? Math.floor(nowMs / 1000) * 1000 : nowMs;
    const refilled = (key: string, nowMs: number) => {
      const bucket = bucketOf(options.shared === true ? "all" : key);
      if (Number.isNaN(bucket.atMs)) {
        bucket.atMs = at(nowMs);
        bucket.firstMs = grid ? 0 : nowMs;
      }
      if (parts !== undefined) {
        const step = windowMs / parts;
        const steps =
          Math.floor((nowMs - bucket.firstMs) / step) - Math.floor((bucket.atMs - bucket.firstMs) / step);
        bucket.tokens = Math.min(capacity, bucket.tokens + (steps * limit) / parts);
      } else bucket.tokens = Math.min(capacity, bucket.tokens + (at(nowMs) - bucket.atMs) * rate);
      bucket.atMs = at(nowMs);
      return bucket;
    };
    const waitOf = (missing: number): number => Math.ceil(missing / rate);
    return {
      consume(key, cost, nowMs) {
        const bucket = refilled(key, nowMs);
        const allowed = bucket.tokens >= cost;
        if (allowed) bucket.tokens -= cost;
        else if (options.chargesRefused === true) bucket.tokens = Math.max(0, bucket.tokens - cost);
        const shown = { allowed, limit, remaining: bucket.tokens };
        // One that refills in steps does not say how long to wait.
        if (parts !== undefined || options.seconds === true) return shown;
        const resetMs = (capacity - bucket.tokens) / rate;
        if (allowed) return { ...shown, resetMs };
        const wait = waitOf(cost - bucket.tokens - hasty);
        const retryAfter = options.floors === true ? Math.floor(wait / 1000) : Math.ceil(wait / 1000);
        return hasty > 0
          ? { ...shown, retryAfterMs: Math.max(0, wait) }
          : {
              ...shown,
              resetMs,
              retryAfter,
              retryAfterMs: options.floors === true ? retryAfter * 1000 : wait,
            };
      },
      peek(key, nowMs) {
        if (Number.isNaN(bucketOf(key).atMs)) return { remaining: capacity };
        const bucket = refilled(key, nowMs);
        if (options.peekCharges === true) bucket.tokens = Math.max(0, bucket.tokens - 1);
        return { remaining: Math.floor(bucket.tokens) };
      },
    };
  },
});

/** The generic cell rate algorithm, by fractions of a ms: the time at which the bucket would be empty of debts. */
export const gcra = ({ bursts = 0, refusedMoves = false } = {}): KindOfLimiter => ({
  algorithm: "token-bucket",
  create({ limit, windowMs }) {
    const each = windowMs / limit;
    const tats = new Map<string, number>();
    return {
      consume(key, cost, nowMs) {
        const tat = Math.max(tats.get(key) ?? nowMs, nowMs);
        const next = tat + cost * each;
        const allowAt = next - windowMs - bursts * each;
        if (nowMs < allowAt) {
          if (refusedMoves) tats.set(key, next);
          return { allowed: false, remaining: 0, retryAfterMs: allowAt - nowMs, resetMs: tat - nowMs };
        }
        tats.set(key, next);
        return {
          allowed: true,
          limit,
          remaining: Math.floor((windowMs - (next - nowMs)) / each),
          resetMs: next - nowMs,
        };
      },
    };
  },
});

interface LogOptions {
  readonly weighted?: boolean;
  readonly inclusive?: boolean;
  readonly extra?: number;
  readonly shorter?: number;
  readonly logsRefused?: boolean;
  readonly never?: boolean;
  readonly floors?: boolean;
}

export const slidingLog = (options: LogOptions = {}): KindOfLimiter => ({
  algorithm: "sliding-log",
  weighted: options.weighted === true,
  ...(options.inclusive === true && { end: "inclusive" as const }),
  create({ limit, windowMs }) {
    const lengthMs = windowMs * (options.shorter ?? 1);
    const logOf = perKey(() => ({ calls: [] as { atMs: number; cost: number }[] }));
    const live = (key: string, nowMs: number) => {
      const log = logOf(key);
      const from = nowMs - lengthMs;
      if (options.never !== true)
        log.calls = log.calls.filter(({ atMs }) => (options.inclusive === true ? atMs >= from : atMs > from));
      return log;
    };
    const sum = (calls: readonly { cost: number }[]): number =>
      calls.reduce((total, { cost }) => total + cost, 0);
    /** When so much room is back. */
    const roomAt = (calls: readonly { atMs: number; cost: number }[], cost: number): number => {
      let used = sum(calls);
      for (const call of calls) {
        used -= call.cost;
        if (used + cost <= limit) return call.atMs + lengthMs;
      }
      return Number.NaN;
    };
    return {
      consume(key, cost, nowMs) {
        const log = live(key, nowMs);
        const allowed = sum(log.calls) + cost <= limit + (options.extra ?? 0);
        if (allowed || options.logsRefused === true) log.calls.push({ atMs: nowMs, cost });
        const remaining = Math.max(0, limit - sum(log.calls));
        if (allowed) return { allowed, limit, remaining };
        const resetAt = roomAt(log.calls, cost);
        if (Number.isNaN(resetAt)) return { allowed, remaining };
        const told = options.floors === true ? Math.floor(resetAt / 1000) * 1000 : resetAt;
        return { allowed, remaining, resetAt: told, retryAfterMs: Math.max(0, told - nowMs) };
      },
      peek: (key, nowMs) => ({ remaining: Math.max(0, limit - sum(live(key, nowMs).calls)) }),
    };
  },
});

interface CounterOptions {
  /** Windows lie on the grid of the epoch, or follow the first call. */
  readonly phase?: "epoch" | "first";
  /** Compares before the call is added, with the exact weight. */
  readonly before?: boolean;
  readonly extra?: number;
  readonly forgets?: boolean;
  /** Number of times that it counts the window before. */
  readonly times?: number;
}

/** Weighs the count of the window before, as Cloudflare's and Upstash's do. Its reset is the window's end. */
export const slidingCounter = (options: CounterOptions = {}): KindOfLimiter => ({
  algorithm: "sliding-counter",
  create({ limit, windowMs }) {
    const { phase = "epoch", before = false, extra = 0 } = options;
    const stateOf = perKey(() => ({ start: Number.NaN, count: 0, previous: 0 }));
    const roll = (key: string, nowMs: number) => {
      const state = stateOf(key);
      if (Number.isNaN(state.start)) state.start = phase === "epoch" ? nowMs - (nowMs % windowMs) : nowMs;
      const passed = Math.floor((nowMs - state.start) / windowMs);
      if (passed > 0) {
        state.previous = passed === 1 && options.forgets !== true ? state.count : 0;
        state.count = 0;
        state.start += passed * windowMs;
      }
      return state;
    };
    return {
      consume(key, cost, nowMs) {
        const state = roll(key, nowMs);
        const weight = state.previous * (options.times ?? 1) * (1 - (nowMs - state.start) / windowMs);
        const allowed = before
          ? weight + state.count < limit + extra
          : Math.floor(weight) + state.count + cost <= limit + extra;
        if (allowed) state.count += cost;
        const remaining = Math.max(0, limit - Math.floor(weight) - state.count);
        return { allowed, limit, remaining, resetAt: state.start + windowMs };
      },
    };
  },
});

/** Counts in parts of the window, and forgets a part at a time. */
export const partedCounter = (parts: number, forgets = 0): KindOfLimiter => ({
  algorithm: "sliding-counter",
  create({ limit, windowMs }) {
    const partMs = windowMs / parts;
    const countsOf = perKey(() => new Map<number, number>());
    return {
      consume(key, cost, nowMs) {
        const counts = countsOf(key);
        const part = Math.floor(nowMs / partMs);
        let total = 0;
        for (const [at, count] of counts) if (at > part - parts + forgets) total += count;
        const allowed = total + cost <= limit;
        if (allowed) counts.set(part, (counts.get(part) ?? 0) + cost);
        return allowed;
      },
    };
  },
});

interface PlaceOptions {
  readonly leased?: boolean;
  readonly extra?: number;
  readonly releasesAll?: boolean;
  readonly releasesNone?: boolean;
  readonly refusedHolds?: boolean;
}

/** Calls that are under way; where `leased`, a place that nobody gives back is free after the window. */
export const concurrency = (options: PlaceOptions = {}): KindOfLimiter => ({
  algorithm: "concurrency",
  create({ limit, windowMs }) {
    const placesOf = perKey(() => ({ held: [] as { atMs: number }[] }));
    return {
      consume(key, _cost, nowMs) {
        const places = placesOf(key);
        if (options.leased === true) places.held = places.held.filter(({ atMs }) => atMs + windowMs > nowMs);
        const allowed = places.held.length < limit + (options.extra ?? 0);
        const lease = { atMs: nowMs };
        if (allowed || options.refusedHolds === true) places.held.push(lease);
        return { allowed, limit, remaining: Math.max(0, limit - places.held.length), lease };
      },
      release(key, _cost, _nowMs, lease) {
        const places = placesOf(key);
        if (options.releasesAll === true) places.held = [];
        else if (options.releasesNone !== true) places.held = places.held.filter((held) => held !== lease);
      },
    };
  },
});

/** Two limiters in a row: a bucket, and a window that both must let a call through. */
export const both: KindOfLimiter = {
  algorithm: "unknown",
  create(settings) {
    const bucket = tokenBucket().create(settings);
    const window = fixedWindow().create(settings);
    const allows = (answer: unknown): boolean => (answer as { allowed: boolean }).allowed;
    return {
      consume: (key, cost, nowMs) =>
        allows(bucket.consume(key, cost, nowMs)) && allows(window.consume(key, cost, nowMs)),
    };
  },
};

/** Windows on a grid that lies apart from the epoch's by what a key says; `extra` calls are let through. */
export const griddedByKey = (extra = 0): KindOfLimiter => ({
  algorithm: "fixed-window",
  create({ limit, windowMs }) {
    const counts = new Map<string, number>();
    return {
      consume(key, _cost, nowMs) {
        const apartMs = (137 * key.length * key.charCodeAt(0)) % windowMs;
        const number = Math.floor((nowMs - apartMs) / windowMs);
        const count = (counts.get(`${key} ${number}`) ?? 0) + 1;
        const allowed = count <= limit + extra;
        if (allowed) counts.set(`${key} ${number}`, count);
        const resetAt = (number + 1) * windowMs + apartMs;
        return { allowed, limit, remaining: Math.max(0, limit - count), resetAt };
      },
    };
  },
});

/** Counts of everybody that are cleared together, each time that a window has passed since the limiter was made. */
export function clearedTogether({
  extra = 0,
  length = 1,
  ...said
}: { extra?: number; length?: number } & Pick<KindOfLimiter, "anchor"> = {}): KindOfLimiter {
  let now = 0;
  return {
    algorithm: "fixed-window",
    refused: "counted",
    ...said,
    setNow: (nowMs) => {
      now = nowMs;
    },
    create({ limit, windowMs }) {
      const madeMs = now;
      const countOf = perKey(() => ({ count: 0, window: 0 }));
      return {
        consume(key) {
          const counted = countOf(key);
          const window = Math.floor((now - madeMs) / (windowMs * length));
          if (window !== counted.window) Object.assign(counted, { count: 0, window });
          counted.count += 1;
          const resetAt = madeMs + (window + 1) * windowMs * length;
          return {
            allowed: counted.count <= limit + extra,
            remaining: Math.max(0, limit - counted.count),
            resetAt,
          };
        },
      };
    },
  };
}
