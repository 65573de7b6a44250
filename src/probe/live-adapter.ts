// A live deployment as a limiter for the laws, if it takes its time from a request header: the laws need this control
// of time. Each run plays far later than all runs before it, so that each of its windows is unused.
import { organizationLimit, type Rules, userLimit } from "../rules/rules.ts";
import type { Token } from "../rules/tokens.ts";
import { headerNames, headersOf, shownFields, type WindowHeaders } from "../wire/fields.ts";
import { isRefusal } from "../wire/outcome.ts";
import type { LiveCaller } from "./live.ts";
import { refuser, type SeenCall } from "./seen.ts";

/** Headers as the laws read them. */
type Sent = Record<string, string | number | undefined>;

export interface ClockedOptions {
  readonly name: string;
  readonly rules: Rules;
  /** Name of the header, in lower case, and form of its time. */
  readonly clockHeader: string;
  /** Real time, ms since the epoch: no run plays before it. */
  readonly nowMs: number;
}

/**
 * Laws (SPEC.md §7) that no run can check from outside. Nothing there stores and restores; and runs in a row already
 * rely on translation in time.
 */
export const notSeenFromOutside = ["snapshot-equals", "time-translates"] as const;

/** Returns a limiter as `LimiterFactory` of the laws requires it, for REST alone. */
export function clockedLimiter(live: LiveCaller, { name, rules, clockHeader, nowMs }: ClockedOptions) {
  const tokens = new Map(live.callers.map((token) => [`${token.organization}/${token.user}`, token]));
  const callers: Record<string, string[]> = {};
  for (const { organization, user } of tokens.values())
    callers[organization] = [...(callers[organization] ?? []), user];
  const shifts = new Shifts(rules, live.callers, nowMs);
  return {
    name,
    algorithm: "fixed-window" as const,
    callers,
    scopes: ["rest"] as const,
    create: () => new ClockedLimiter(live, tokens, clockHeader, shifts),
  };
}

/** Delays by which the runs of scripts are shifted. */
class Shifts {
  readonly #periodMs: number;
  readonly #longestMs: number;
  #latestMs: number;

  constructor(rules: Rules, callers: readonly Token[], nowMs: number) {
    const lengths = callers.flatMap(({ organization, user }) => [
      organizationLimit(rules, organization, "rest").windowSeconds,
      userLimit(rules, organization, user, "rest").windowSeconds,
    ]);
    this.#periodMs =
      lengths.reduce((multiple, length) => (multiple * length) / divisor(multiple, length), 1) * 1000;
    this.#longestMs = Math.max(...lengths) * 1000;
    this.#latestMs = nowMs;
  }

  /** Returns a multiple of all window lengths that moves a time over a window beyond any seen. */
  from(atMs: number): number {
    const late = this.#latestMs + 2 * this.#longestMs - atMs;
    return Math.max(0, Math.ceil(late / this.#periodMs)) * this.#periodMs;
  }

  saw(atMs: number): void {
    this.#latestMs = Math.max(this.#latestMs, atMs);
  }
}

const divisor = (a: number, b: number): number => (b === 0 ? a : divisor(b, a % b));

/** One run: the deployment from a shifted time on. */
class ClockedLimiter {
  readonly #live: LiveCaller;
  readonly #tokens: ReadonlyMap<string, Token>;
  readonly #header: string;
  readonly #shifts: Shifts;
  #shiftMs: number | null = null;
  #last: SeenCall | null = null;

  constructor(live: LiveCaller, tokens: ReadonlyMap<string, Token>, header: string, shifts: Shifts) {
    this.#live = live;
    this.#tokens = tokens;
    this.#header = header;
    this.#shifts = shifts;
  }

  async decide(call: { organization: string; user: string }, nowMs: number) {
    const seen = await this.#ask("read", call.organization, call.user, nowMs);
    return { admitted: !isRefusal(seen.status), refusedBy: refuser(seen), ...readingsOf(seen) };
  }

  async status(organization: string, nowMs: number, user: string) {
    const seen = await this.#ask("status", organization, user, nowMs);
    const shown = seen.statusScopes?.rest;
    if (!shown) return {};
    return { rest: { ...shown, resetAtMs: shown.resetAtMs - (this.#shiftMs as number) } };
  }

  /** Returns the headers of the last answer. */
  answer() {
    const seen = this.#last;
    if (seen === null) return null;
    const headers: Sent = {};
    for (const field of shownFields) headers[headerNames[field]] = seen.headers[field] ?? undefined;
    if (seen.retryAfter !== null) headers[headerNames.retryAfter] = seen.retryAfter;
    return { status: seen.status, headers, ...(isRefusal(seen.status) && { body: seen.body }) };
  }

  async #ask(kind: "read" | "status", organization: string, user: string, nowMs: number): Promise<SeenCall> {
    const token = this.#tokens.get(`${organization}/${user}`);
    if (token === undefined) throw new RangeError(`no token for ${organization}/${user}`);
    this.#shiftMs ??= this.#shifts.from(nowMs);
    const atMs = nowMs + this.#shiftMs;
    this.#shifts.saw(atMs);
    this.#last = requireAnswer(await this.#live[kind](token, { [this.#header]: String(atMs) }));
    return this.#last;
  }
}

function requireAnswer(seen: SeenCall): SeenCall {
  const { status, what, error } = seen;
  if (status === 0) throw new Error(`${what} had no answer (${error})`);
  if (status === 200 || isRefusal(status)) return seen;
  throw new Error(`${what} was answered ${status}`);
}

const readingsOf = ({ headers }: SeenCall) => ({
  organization: shownBy(headers),
  user: shownBy(headersOf(headers, "user")),
});

/** Returns the readings of one window's headers that are integers. */
const shownBy = ({ limit, remaining, reset }: WindowHeaders) => ({
  ...(typeof limit === "number" && { limit }),
  ...(typeof remaining === "number" && { remaining }),
  ...(typeof reset === "number" && { reset }),
});
