// The dialects in which HTTP tells of a window: the IETF draft's three headers, its combined one, and the older `X-`
// kinds. A number that two dialects would read differently is told apart or left unread.
import type { HttpAnswer } from "./answer.ts";
import { nodeHeaders } from "./fields.ts";

/**
 * The caller's window as an answer shows it; members that it does not show are absent. `reset` is whole seconds from
 * now, `resetAt` ms since the epoch, `retryAfterMs` ms from now.
 */
type CallerWindow = {
  readonly [M in "limit" | "remaining" | "reset" | "resetAt" | "retryAfterMs"]?: number | undefined;
};

/** Least value of a reset that is seconds since the epoch, and least one that is milliseconds since the epoch. */
const epochSecondsFrom = 1_000_000_000;
const epochMsFrom = 1_000_000_000_000;

const prefixes = ["ratelimit-", "x-ratelimit-", "x-rate-limit-"];

/**
 * Reads what an answer shows of the caller's window:
 * - `RateLimit-Limit`, `-Remaining`, `-Reset`, also as `X-RateLimit-` and `X-Rate-Limit-`;
 * - `RateLimit: limit=10, remaining=4, reset=30`, and `RateLimit: "name";r=4;t=30` with its `RateLimit-Policy`;
 * - `Retry-After`, which may ask for more than the window's rest, and tells no reset.
 *
 * A reset may be seconds from now, seconds or milliseconds since the epoch, or a date. A reset in whole seconds of
 * the epoch is read only at whole seconds of `nowMs`: between them its meaning depends on the rounding.
 */
export function readRateLimitHeaders({ headers }: HttpAnswer, nowMs: number): CallerWindow {
  const values = new Map(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name.toLowerCase(), String(value).trim()] as const],
    ),
  );
  const told = combined(values) ?? separate(values) ?? {};
  return {
    limit: integer(told.limit),
    remaining: integer(told.remaining),
    ...resetOf(told.reset, nowMs),
    ...waitOf(values.get(nodeHeaders.retryAfter), nowMs),
  };
}

/** Reads a date; NaN without a time of day: to `Date.parse`, a header that came twice, `5, 5`, is a day in May. */
const dateMs = (text: string): number => (/\d:\d\d/.test(text) ? Date.parse(text) : Number.NaN);

/** Reads `Retry-After`: seconds, or a date. */
export function waitOf(text: string | undefined, nowMs: number): Pick<CallerWindow, "retryAfterMs"> {
  if (text === undefined) return {};
  if (/^\d+(\.\d+)?$/.test(text)) return { retryAfterMs: Number(text) * 1000 };
  const atMs = dateMs(text);
  return Number.isNaN(atMs) ? {} : { retryAfterMs: Math.max(0, atMs - nowMs) };
}

interface Told {
  readonly limit?: string | undefined;
  readonly remaining?: string | undefined;
  readonly reset?: string | undefined;
}

function separate(values: ReadonlyMap<string, string>): Told | null {
  for (const prefix of prefixes) {
    const [limit, remaining, reset] = ["limit", "remaining", "reset"].map((name) =>
      values.get(prefix + name),
    );
    // The draft's limit may be followed by its policies: `10, 10;w=60`.
    if (limit !== undefined || remaining !== undefined)
      return { limit: limit?.split(",")[0], remaining, reset };
  }
  return null;
}

/** Reads the combined header. Several policies in one header tell of several windows, and none of them is read. */
function combined(values: ReadonlyMap<string, string>): Told | null {
  const text = values.get("ratelimit");
  if (text === undefined) return null;
  const of = (name: string, among = text): string | undefined =>
    new RegExp(`(?:^|[;,\\s])${name}\\s*=\\s*(-?\\d+)`).exec(among)?.[1];
  if (of("remaining") !== undefined)
    return { limit: of("limit"), remaining: of("remaining"), reset: of("reset") };
  if ((text.match(/\br\s*=/g) ?? []).length !== 1) return null;
  const policies = values.get("ratelimit-policy")?.split(",") ?? [];
  const own = policies.find((policy) => itemOf(policy) === itemOf(text));
  return { limit: of("q", own ?? ""), remaining: of("r"), reset: of("t") };
}

/** The item of a structured field's member, without its parameters. */
const itemOf = (member: string): string | undefined => member.split(";")[0]?.trim();

const integer = (text: string | undefined): number | undefined =>
  text !== undefined && /^-?\d+$/.test(text.trim()) ? Number(text) : undefined;

function resetOf(text: string | undefined, nowMs: number): CallerWindow {
  if (text === undefined) return {};
  const number = /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : null;
  if (number === null) {
    const atMs = dateMs(text);
    return Number.isNaN(atMs) ? {} : epochSecond(atMs / 1000, nowMs);
  }
  if (number >= epochMsFrom) return Number.isInteger(number) ? { resetAt: number } : {};
  if (number >= epochSecondsFrom) return epochSecond(number, nowMs);
  return Number.isInteger(number) ? { reset: number } : {};
}

function epochSecond(second: number, nowMs: number): CallerWindow {
  if (!Number.isInteger(second)) return { resetAt: Math.round(second * 1000) };
  return nowMs % 1000 === 0 ? { reset: second - nowMs / 1000 } : {};
}
