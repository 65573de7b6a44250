// Limiters as most modules have them: one count for each key, a limit and a length, and a function that takes a call.
// A few lines make one checkable; what it does not show is not judged.
import type {
  LimiterAdapter,
  LimiterFactory,
  PartialDecision,
  Seam,
  WindowReading,
} from "../engine/adapter.ts";
import { type Algorithm, algorithmHint, lawsOf, promiseProblems } from "../rules/algorithms.ts";
import { quote, SpillwayError } from "../rules/errors.ts";
import type { LimiterLawName } from "../rules/laws.ts";
import type { Rules, Scope } from "../rules/rules.ts";
import type { SwitchValue } from "../rules/switches.ts";
import { stillSeam } from "./seam.ts";

/** An answer at once, or a promise of it. */
export type Awaitable<T> = T | PromiseLike<T>;

/** A date. */
export interface Instant {
  getTime(): number;
}

/** Settings of a limiter by key; the laws draw them. */
export interface KeyedSettings {
  /** The most that one key may use up in a window, a bucket's capacity, or calls under way; an integer >= 1. */
  readonly limit: number;
  /** Length of the window, whole seconds in ms. A bucket that is empty is full again after it. */
  readonly windowMs: number;
  /** The same in seconds. */
  readonly windowSeconds: number;
}

/** Reading of one key's window. A member that the limiter does not show is left out, and not judged. */
export interface KeyedReading {
  readonly limit?: number | undefined;
  /** Used up so far. */
  readonly current?: number | undefined;
  readonly remaining?: number | undefined;
  /** Whole seconds until the window ends, as a header gives them; their rounding is `KeyedKind.reset`. */
  readonly reset?: number | undefined;
  /** Whole ms until the window ends. */
  readonly resetMs?: number | undefined;
  /** When the window ends; a number is ms since the epoch. */
  readonly resetAt?: Instant | number | undefined;
}

/** Answer to one call, and a reading of its key's window just after. */
export interface KeyedAnswer extends KeyedReading {
  readonly allowed: boolean;
  /** Wait that a refused caller is told, seconds from now. */
  readonly retryAfter?: number | undefined;
  /** The same in ms. */
  readonly retryAfterMs?: number | undefined;
  /** Value that `release` needs to end this call. */
  readonly lease?: unknown;
}

/** One limiter; every key starts unused. */
export interface KeyedLimiter {
  /**
   * Takes one call. A refusal is an answer, not an error: catch what your limiter throws to refuse.
   * @param cost 1, unless the limiter is `weighted`
   * @param nowMs ms since the epoch; a limiter that reads a clock is told by `KeyedKind.setNow`
   */
  consume(key: string, cost: number, nowMs: number): Awaitable<boolean | KeyedAnswer>;
  /** Shows a key's window without using it; `null` where the key is not known. */
  peek?(key: string, nowMs: number): Awaitable<KeyedReading | null | undefined>;
  /** Ends a call that was let through: by this a limiter of `concurrency` has a place free again. */
  release?(key: string, cost: number, nowMs: number, lease: unknown): Awaitable<unknown>;
  /** Lets go of what it holds. */
  close?(): Awaitable<unknown>;
}

/** Kind of a limiter. Each default is what most packages do; anything else must be said. */
export interface KeyedKind {
  readonly name: string;
  /**
   * Algorithm that counts: `fixed-window`, `token-bucket` (leaky buckets and GCRA, too), `sliding-log`, `sliding-counter`,
   * `concurrency` or `unknown`. Only laws that the algorithm promises are claimed.
   */
  readonly algorithm: Algorithm;
  /**
   * The laws that it promises. Unless told, those of its algorithm (`keyedLaws`), as far as it shows what they judge.
   * The others are reported as not claimed.
   */
  readonly claims?: readonly LimiterLawName[];
  /**
   * A window opens with its first call, or at whole multiples of its length since the epoch. Unless told, the laws ask:
   * one that is full, and lets a call through at the grid's next edge, lies on the grid.
   */
  readonly anchor?: "first-request" | "epoch";
  /** Unit that a first-request window's opening is rounded down to: the ms (the default), or the second. */
  readonly opensTo?: "millisecond" | "second";
  /** `exclusive` (the default): the instant of a window's end is the next window's. `inclusive`: it is still this one's. */
  readonly end?: "exclusive" | "inclusive";
  /** `counted`: refused calls use up the window, too. Default: `uncounted`. */
  readonly refused?: "uncounted" | "counted";
  /** Rounding of `reset` to whole seconds. Default: up. */
  readonly reset?: "ceil" | "floor" | "round";
  /** `clamped` (the default): `remaining` stops at 0. `signed`: it goes below. */
  readonly remaining?: "clamped" | "signed";
  /** Calls may cost more than 1. */
  readonly weighted?: boolean;
  /**
   * Sets the clock that it reads, where it reads one: `(ms) => vi.setSystemTime(ms)`. Not needed under `check`, which sets
   * `Date.now` and timers; without it, one that reads the real clock is accused elsewhere. It may return a promise. One in
   * another process reads the time from a file, `(ms) => writeFile("now.txt", String(ms))`, or is told by a command.
   */
  setNow?(nowMs: number): unknown;
}

/** Laws that no limiter by key is held to unless it says so: organizations, clocks that step back, eight headers. */
const neverByDefault: readonly LimiterLawName[] = [
  "unenforced-never-refuses",
  "never-rolls-back",
  "snapshot-equals",
  "headers-present",
  "refusal-agrees",
];
/** Laws that say nothing where refused calls are counted, too. */
const ofFreeRefusals: readonly LimiterLawName[] = ["bounded", "all-or-nothing", "give-back"];

/**
 * Returns the laws that a limiter by key is held to unless it names others (SPEC.md §7). An `unknown` limiter may count
 * refused calls, unless it says that it does not.
 */
export function keyedLaws({
  algorithm,
  refused = algorithm === "unknown" ? "counted" : "uncounted",
}: Pick<KeyedKind, "algorithm" | "refused">): readonly LimiterLawName[] {
  const without = refused === "counted" ? [...neverByDefault, ...ofFreeRefusals] : neverByDefault;
  return lawsOf(algorithm).filter((law) => !without.includes(law));
}

export interface KeyedOptions extends KeyedKind {
  /** Makes a fresh limiter. `seam`: its way to a store, by which overlapping calls are interleaved. */
  create(settings: KeyedSettings, seam: Seam): Awaitable<KeyedLimiter>;
}

/**
 * Makes a factory of a limiter with one count for each key, for `checkLaws` and `describeLimiter`.
 *
 * @throws SpillwayError `ADAPTER_INVALID` where it does not say its algorithm, or claims what that does not promise
 *
 * @example
 * const fixedWindow = keyedLimiter({
 *   name: "fixed window",
 *   algorithm: "fixed-window",
 *   anchor: "epoch",
 *   create({ limit, windowMs }) {
 *     const counts = new Map<string, number>();
 *     return {
 *       consume(key, cost, nowMs) {
 *         const window = `${key} ${Math.floor(nowMs / windowMs)}`;
 *         const count = counts.get(window) ?? 0;
 *         if (count + cost > limit) return { allowed: false, remaining: limit - count };
 *         counts.set(window, count + cost);
 *         return { allowed: true, remaining: limit - count - cost };
 *       },
 *     };
 *   },
 * });
 * const report = await checkLaws(fixedWindow, { runs: 20 });
 */
export function keyedLimiter(options: KeyedOptions): LimiterFactory {
  const scope = options.weighted === true ? "graphql" : "rest";
  return {
    ...kindOf(options),
    scopes: [scope],
    create: async (rules, seam = stillSeam) =>
      keyedAdapter(await options.create(settingsOf(rules, scope), seam), scope, options.algorithm),
  };
}

/** Anchors that windows may have of a limiter that says none. Those that a counter weighs mostly lie on the epoch's grid. */
const anchorsOf = (algorithm: Algorithm): readonly SwitchValue<"anchor">[] =>
  algorithm === "sliding-counter" ? ["epoch", "first-request"] : ["first-request"];

/** All of a factory but what it makes. */
function kindOf(kind: KeyedKind): Omit<LimiterFactory, "create"> {
  const { name, algorithm, claims } = kind;
  const problems = promiseProblems({ algorithm, claims: claims ?? [] });
  if (problems.length > 0)
    throw new SpillwayError("ADAPTER_INVALID", `the limiter ${quote(name)} does not say what it is`, {
      problems,
      hint: algorithmHint,
    });
  return {
    name,
    algorithm,
    claims: claims ?? keyedLaws(kind),
    claimsAsShown: claims === undefined,
    anchorUnsaid: algorithm === "fixed-window" && kind.anchor === undefined,
    keyed: true,
    scopes: ["rest"],
    opensToMs: kind.opensTo === "second" ? 1000 : 1,
    endsLate: kind.end === "inclusive",
    semantics: {
      anchor: kind.anchor === undefined ? anchorsOf(algorithm) : [kind.anchor],
      refused: [kind.refused ?? "uncounted"],
      refusedByUser: ["charges-nothing"],
      graphqlCharge: ["prepaid"],
      remaining: [kind.remaining ?? "clamped"],
      reset: [kind.reset ?? "ceil"],
    },
    ...(kind.setNow && { setNow: (nowMs: number) => kind.setNow?.(nowMs) }),
  };
}

function settingsOf(rules: Rules, scope: Scope = "rest"): KeyedSettings {
  const { limit, windowSeconds } = rules.user[scope];
  return { limit, windowSeconds, windowMs: windowSeconds * 1000 };
}

function keyedAdapter(limiter: KeyedLimiter, scope: Scope, algorithm: Algorithm): LimiterAdapter {
  if (typeof limiter?.consume !== "function") throw new TypeError("a limiter with `consume` was expected");
  const { peek, release, close } = limiter;
  const shown = algorithm === "fixed-window" ? windowReading : wholeReading;
  const leases: unknown[] = [];
  return {
    async decide({ organization, user, cost }, nowMs) {
      const key = `${organization}/${user}`;
      const answer = await limiter.consume(key, cost, nowMs);
      const decision = decisionOf(answer, nowMs, shown);
      if (release === undefined || !decision.admitted) return decision;
      // A lease may be no JSON: it stays here, and its number stands for it.
      const lease = leases.push(typeof answer === "object" ? answer.lease : undefined) - 1;
      return { ...decision, reservation: { key, cost, lease } };
    },
    ...(peek && {
      async status(organization: string, nowMs: number, user: string) {
        const reading = await peek.call(limiter, `${organization}/${user}`, nowMs);
        return { [scope]: reading === null || reading === undefined ? {} : shown(reading, nowMs) };
      },
    }),
    ...(release && {
      async settle(reservation: unknown, _actual: number, nowMs: number) {
        const { key, cost, lease } = reservation as { key: string; cost: number; lease: number };
        await release.call(limiter, key, cost, nowMs, leases[lease]);
        return {};
      },
    }),
    ...(close && { close: () => close.call(limiter) }),
  };
}

type ReadingForm = (reading: KeyedReading, nowMs: number) => Partial<WindowReading>;

/** A keyed answer as the laws read it; what is of the wrong form is left for them to name. */
function decisionOf(answer: boolean | KeyedAnswer, nowMs: number, shown: ReadingForm): PartialDecision {
  if (typeof answer === "boolean") return { admitted: answer, refusedBy: answer ? null : "user" };
  if (typeof answer !== "object" || answer === null)
    throw new TypeError(`true, false or an object with \`allowed\` was expected, got ${String(answer)}`);
  const { allowed, retryAfter } = answer;
  const waitMs = answer.retryAfterMs ?? (isTold(retryAfter) ? retryAfter * 1000 : undefined);
  if (typeof allowed !== "boolean")
    throw new TypeError(`allowed: true or false was expected, got ${String(allowed)}`);
  if (allowed) return { admitted: true, refusedBy: null, user: shown(answer, nowMs) };
  // Without end waits a call that can never fit: that is no time to come back.
  const retryAfterMs = waitMs === Number.POSITIVE_INFINITY ? undefined : waitMs;
  return { admitted: false, refusedBy: "user", retryAfterMs, user: shown(answer, nowMs) };
}

function windowReading(reading: KeyedReading, nowMs: number): Partial<WindowReading> {
  return readingOf(reading, nowMs, asShown, asShown);
}

/** A reading in whole numbers: a bucket may have 3.7 units, which let three calls through, and be full in 0.3 ms. */
function wholeReading(reading: KeyedReading, nowMs: number): Partial<WindowReading> {
  return readingOf(reading, nowMs, Math.ceil, wholeLeft);
}

/** Less than nothing by so little is nothing: fractions were added up. */
const nothing = 1e-6;
const wholeLeft = (left: number): number => (left < 0 && left > -nothing ? 0 : Math.floor(left));

/** Callers without types may say `null` of what they do not show. */
const isTold = (value: number | null | undefined): value is number => value !== undefined && value !== null;

const asShown = (value: number): number => value;

/** @param down what becomes of what is left; all else becomes `up` */
function readingOf(
  { limit, current, remaining, reset, resetMs, resetAt }: KeyedReading,
  nowMs: number,
  up: (value: number) => number,
  down: (value: number) => number,
): Partial<WindowReading> {
  const until = isTold(resetMs) ? nowMs + resetMs : undefined;
  const resetAtMs = typeof resetAt === "object" ? resetAt?.getTime() : (resetAt ?? until);
  const shown: { -readonly [Field in keyof WindowReading]?: WindowReading[Field] } = {};
  if (isTold(limit)) shown.limit = limit;
  if (isTold(current)) shown.current = up(current);
  if (isTold(remaining)) shown.remaining = down(remaining);
  if (isTold(reset)) shown.reset = up(reset);
  if (isTold(resetAtMs)) shown.resetAtMs = up(resetAtMs);
  return shown;
}
