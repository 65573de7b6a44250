// More right limiters, each as somebody would write it who rounds: to whole tokens, whole ms, whole seconds. No law may
// accuse them.
import type { KindOfLimiter } from "./kinds.ts";
import { perKey } from "./kinds.ts";

/** Wait of a refusal, ms, as a limiter tells it: not at all, in ms, or in whole seconds rounded up. */
type Told = "nothing" | "ms" | "seconds";

const wait = (allowed: boolean, ms: number, told: Told): object =>
  allowed || told === "nothing"
    ? {}
    : told === "ms"
      ? { retryAfterMs: Math.ceil(ms) }
      : { retryAfter: Math.ceil(ms / 1000) };

/** Windows whose reset is in whole seconds, rounded each way, and that may open at whole seconds. */
export const secondWindow = (
  reset: "ceil" | "floor" | "round",
  options: { readonly anchor?: "epoch"; readonly opensTo?: "second" } = {},
): KindOfLimiter => ({
  algorithm: "fixed-window",
  reset,
  ...options,
  create({ limit, windowMs }) {
    const windows = new Map<string, { count: number; endMs: number }>();
    const openedAt = (nowMs: number): number =>
      options.anchor === "epoch"
        ? nowMs - (nowMs % windowMs)
        : options.opensTo === "second"
          ? nowMs - (nowMs % 1000)
          : nowMs;
    return {
      consume(key, cost, nowMs) {
        const known = windows.get(key);
        const window =
          known !== undefined && nowMs < known.endMs
            ? known
            : { count: 0, endMs: openedAt(nowMs) + windowMs };
        windows.set(key, window);
        const allowed = window.count + cost <= limit;
        if (allowed) window.count += cost;
        const ms = window.endMs - nowMs;
        return {
          allowed,
          remaining: limit - window.count,
          reset: Math[reset](ms / 1000),
          ...wait(allowed, ms, "seconds"),
        };
      },
    };
  },
});

/** A bucket that adds whole tokens alone, and keeps the rest of the time for the next one. */
export const wholeTokens = (told: Told, weighted = false): KindOfLimiter => ({
  algorithm: "token-bucket",
  weighted,
  create({ limit, windowMs }) {
    const eachMs = windowMs / limit;
    const bucketOf = perKey(() => ({ tokens: limit, atMs: Number.NaN }));
    return {
      consume(key, cost, nowMs) {
        const bucket = bucketOf(key);
        if (Number.isNaN(bucket.atMs)) bucket.atMs = nowMs;
        const added = Math.floor((nowMs - bucket.atMs) / eachMs);
        bucket.tokens += added;
        bucket.atMs += added * eachMs;
        if (bucket.tokens >= limit) Object.assign(bucket, { tokens: limit, atMs: nowMs });
        const allowed = bucket.tokens >= cost;
        if (allowed) bucket.tokens -= cost;
        const ms = (cost - bucket.tokens) * eachMs - (nowMs - bucket.atMs);
        return { allowed, limit, remaining: bucket.tokens, ...wait(allowed, ms, told) };
      },
    };
  },
});

/** A leaky bucket as a meter. */
export const leakyBucket = (told: Told): KindOfLimiter => ({
  algorithm: "token-bucket",
  create({ limit, windowMs }) {
    const perMs = limit / windowMs;
    const bucketOf = perKey(() => ({ level: 0, atMs: 0 }));
    return {
      consume(key, cost, nowMs) {
        const bucket = bucketOf(key);
        bucket.level = Math.max(0, bucket.level - (nowMs - bucket.atMs) * perMs);
        bucket.atMs = nowMs;
        const allowed = bucket.level + cost <= limit;
        if (allowed) bucket.level += cost;
        const ms = (bucket.level + cost - limit) / perMs;
        return { allowed, remaining: Math.floor(limit - bucket.level), ...wait(allowed, ms, told) };
      },
    };
  },
});

/** GCRA in whole ms: its interval is rounded either way, and so is all that it tells. */
export const wholeGcra = (round: "floor" | "ceil", told: Told, weighted = false): KindOfLimiter => ({
  algorithm: "token-bucket",
  weighted,
  create({ limit, windowMs }) {
    const eachMs = Math[round](windowMs / limit);
    const burstMs = eachMs * limit;
    const tats = new Map<string, number>();
    return {
      consume(key, cost, nowMs) {
        const tat = Math.max(nowMs, tats.get(key) ?? nowMs);
        const next = tat + cost * eachMs;
        const allowed = nowMs >= next - burstMs;
        if (allowed) tats.set(key, next);
        const debtMs = (allowed ? next : tat) - nowMs;
        return {
          allowed,
          limit,
          remaining: Math.floor((burstMs - debtMs) / eachMs),
          reset: Math.ceil(debtMs / 1000),
          ...wait(allowed, next - burstMs - nowMs, told),
        };
      },
    };
  },
});

/** GCRA by fractions of a ms that takes a turn for each refused call, too: it may refuse 1 ms too early. */
export const reserving: KindOfLimiter = {
  algorithm: "token-bucket",
  refused: "counted",
  create({ limit, windowMs }) {
    const tats = new Map<string, number>();
    return {
      consume(key, _cost, nowMs) {
        const next = Math.max(nowMs, tats.get(key) ?? nowMs) + windowMs / limit;
        tats.set(key, next);
        return next - nowMs <= windowMs;
      },
    };
  },
};

/** A log that keeps refused calls, too, as one on a sorted set does: its wait is that of the oldest call that matters. */
export const countedLog = (told: Told, inclusive = false): KindOfLimiter => ({
  algorithm: "sliding-log",
  refused: "counted",
  ...(inclusive && { end: "inclusive" as const }),
  create({ limit, windowMs }) {
    const logOf = perKey(() => ({ times: [] as number[] }));
    return {
      consume(key, _cost, nowMs) {
        const log = logOf(key);
        const from = nowMs - windowMs;
        log.times = log.times.filter((atMs) => (inclusive ? atMs >= from : atMs > from));
        const allowed = log.times.length < limit;
        log.times.push(nowMs);
        const oldest = log.times.at(-limit) ?? nowMs;
        return {
          allowed,
          remaining: Math.max(0, limit - log.times.length),
          ...wait(allowed, oldest + windowMs - nowMs, told),
        };
      },
    };
  },
});

/** A counter that rounds the weight of the window before. */
export const roundedCounter = (
  round: "floor" | "ceil" | "round",
  options: { readonly weighted?: boolean; readonly refused?: "counted" } = {},
): KindOfLimiter => ({
  algorithm: "sliding-counter",
  ...options,
  create({ limit, windowMs }) {
    const stateOf = perKey(() => ({ window: 0, count: 0, before: 0 }));
    return {
      consume(key, cost, nowMs) {
        const state = stateOf(key);
        const window = Math.floor(nowMs / windowMs);
        if (window > state.window)
          Object.assign(state, { before: window === state.window + 1 ? state.count : 0, count: 0, window });
        const weight = Math[round](state.before * (1 - (nowMs % windowMs) / windowMs));
        const allowed = weight + state.count + cost <= limit;
        if (allowed || options.refused === "counted") state.count += cost;
        return {
          allowed,
          limit,
          remaining: Math.max(0, limit - weight - state.count),
          resetAt: (window + 1) * windowMs,
        };
      },
    };
  },
});

/** A log that begins at a later time whatever it cannot begin at once: its calls are refused, and counted then. */
export const queue: KindOfLimiter = {
  algorithm: "sliding-log",
  refused: "counted",
  create({ limit, windowMs }) {
    const queueOf = perKey(() => ({ begun: [] as number[] }));
    return {
      consume(key, _cost, nowMs) {
        const calls = queueOf(key);
        calls.begun = calls.begun.filter((atMs) => atMs > nowMs - windowMs);
        const before = calls.begun.at(-limit);
        const beginMs = before === undefined ? nowMs : Math.max(nowMs, before + windowMs);
        calls.begun.push(beginMs);
        return beginMs === nowMs;
      },
    };
  },
};

/** A bucket that says `null` of what it does not show, and of a call that can never fit that it waits without end. */
export const nothings: KindOfLimiter = {
  algorithm: "token-bucket",
  weighted: true,
  create({ limit, windowMs }) {
    const bucketOf = perKey(() => ({ level: 0, atMs: 0 }));
    const none = { limit: null, current: null, remaining: null, reset: null, resetMs: null, resetAt: null };
    return {
      consume(key, cost, nowMs) {
        const bucket = bucketOf(key);
        bucket.level = Math.max(0, bucket.level - ((nowMs - bucket.atMs) * limit) / windowMs);
        bucket.atMs = nowMs;
        const allowed = bucket.level + cost <= limit;
        if (allowed) bucket.level += cost;
        const retryAfter = cost > limit ? Number.POSITIVE_INFINITY : null;
        return { allowed, ...none, retryAfter } as never;
      },
    };
  },
};

/** Windows that can be looked at: a key without one is told that its window is over now. */
export const idle: KindOfLimiter = {
  algorithm: "fixed-window",
  create({ limit, windowMs }) {
    const windows = new Map<string, { count: number; endMs: number }>();
    const shown = ({ count, endMs }: { count: number; endMs: number }, nowMs: number) => ({
      ...{ limit, current: count, remaining: limit - count, resetMs: endMs - nowMs },
    });
    const liveOf = (key: string, nowMs: number) => {
      const known = windows.get(key);
      return known !== undefined && nowMs < known.endMs ? known : undefined;
    };
    return {
      consume(key, cost, nowMs) {
        const window = liveOf(key, nowMs) ?? { count: 0, endMs: nowMs + windowMs };
        windows.set(key, window);
        const allowed = window.count + cost <= limit;
        if (allowed) window.count += cost;
        return { allowed, ...shown(window, nowMs) };
      },
      peek(key, nowMs) {
        const window = liveOf(key, nowMs);
        return shown(window ?? { count: 0, endMs: nowMs }, nowMs);
      },
    };
  },
};
