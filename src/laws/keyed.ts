// Limiters by key, as most modules are: one count for each key, a limit, a length, and a function that takes a call.
// A few lines make such a limiter checkable; the laws do not judge what it does not show.
import {
  type Awaitable,
  type LimiterAdapter,
  type LimiterFactory,
  type PartialDecision,
  type Seam,
  stillSeam,
  type WindowReading,
} from "../engine/adapter.ts";
import { isObject, type Mistake } from "../engine/answer-form.ts";
import { after, guarded } from "../engine/asking.ts";
import { callText, LimiterFailure } from "../engine/limiter-failure.ts";
import {
  type Algorithm,
  choiceProblem,
  lawsOf,
  misspelt,
  promiseProblems,
  requireNoProblems,
} from "../rules/algorithms.ts";
import { quote } from "../rules/errors.ts";
import type { LimiterLawName } from "../rules/laws.ts";
import type { Rules, Scope } from "../rules/rules.ts";
import { type SwitchValue, switchValues } from "../rules/switches.ts";
import { keyOf } from "./script.ts";

/** A `Date`, or anything with its `getTime`. */
export interface Instant {
  getTime(): number;
}

/** Settings of a limiter by key, drawn by the laws. */
export interface KeyedSettings {
  /** Limit of one key: points in a window, capacity of a bucket, or calls under way; an integer >= 1. */
  readonly limit: number;
  /** Length of the window, or time to fill an empty bucket, ms; a multiple of 1000. */
  readonly windowMs: number;
  /** `windowMs` in seconds. */
  readonly windowSeconds: number;
}

/** Reading of one key's window. Leave out members that the limiter does not show: these are not judged. */
export interface KeyedReading {
  readonly limit?: number | undefined;
  /** Points used so far. */
  readonly current?: number | undefined;
  readonly remaining?: number | undefined;
  /** Whole seconds until the window ends, as in a header, rounded by `KeyedKind.reset`. */
  readonly reset?: number | undefined;
  /** Whole ms until the window ends. */
  readonly resetMs?: number | undefined;
  /** Instant at which the window ends; a number is ms since the epoch. */
  readonly resetAt?: Instant | number | undefined;
}

/** Answer to one call, and a reading of its key's window just after. */
export interface KeyedAnswer extends KeyedReading {
  readonly allowed: boolean;
  /** Wait that a refused caller is told, seconds. */
  readonly retryAfter?: number | undefined;
  /** Wait that a refused caller is told, ms. */
  readonly retryAfterMs?: number | undefined;
  /** Value that `release` needs to end this call. */
  readonly lease?: unknown;
}

/** One limiter, in which every key starts unused. */
export interface KeyedLimiter {
  /**
   * Takes one call. A refusal is an answer, not an error: catch what your limiter throws to refuse.
   * @param cost 1, unless the limiter is `weighted`
   * @param nowMs time of the call, ms since the epoch; `KeyedKind.setNow` tells it to a limiter that reads a clock
   */
  consume(key: string, cost: number, nowMs: number): Awaitable<boolean | KeyedAnswer>;
  /** Shows a key's window without using it; `null` if the key is not known. */
  peek?(key: string, nowMs: number): Awaitable<KeyedReading | null | undefined>;
  /** Ends an admitted call, so that a limiter of `concurrency` has a place free again. */
  release?(key: string, cost: number, nowMs: number, lease: unknown): Awaitable<unknown>;
  /** Releases what the limiter holds, such as timers and connections. */
  close?(): Awaitable<unknown>;
}

/** Facts of a limiter. The defaults are what most packages do; anything else must be said. */
export interface KeyedKind {
  readonly name: string;
  /**
   * Algorithm that counts: `fixed-window`, `token-bucket` (also for leaky buckets and GCRA), `sliding-log`,
   * `sliding-counter`, `concurrency` or `unknown`. A limiter can claim only the laws that its algorithm promises.
   */
  readonly algorithm: Algorithm;
  /**
   * Laws that the limiter promises; all others are reported as not claimed. Default: those of its algorithm
   * (`keyedLaws`), as far as it shows the readings that they judge.
   */
  readonly claims?: readonly LimiterLawName[];
  /**
   * Start of a window: its first call (`first-request`), or a whole multiple of its length since the epoch (`epoch`) or
   * since the limiter was made (`start`), as where one timer empties all counts. Default: the check finds out, by
   * whether a full window admits a call at the next edge of such a grid. Windows on any other grid, such as one for each
   * key, are judged as a bucket that is filled once a window.
   */
  readonly anchor?: "first-request" | "epoch" | "start";
  /** Unit that the opening of a first-request window is rounded down to. Default: `millisecond`. */
  readonly opensTo?: "millisecond" | "second";
  /** End of a window: `inclusive` if that instant still belongs to it, else `exclusive`. Default: `exclusive`. */
  readonly end?: "exclusive" | "inclusive";
  /** Treatment of refused calls: `counted` if they take up room, at once or later, as in a queue. Default: `uncounted`. */
  readonly refused?: "uncounted" | "counted";
  /** Rounding of `reset` to whole seconds. Default: up. */
  readonly reset?: "ceil" | "floor" | "round";
  /** Lower end of `remaining`: `clamped` stops at 0, `signed` goes below it. Default: `clamped`. */
  readonly remaining?: "clamped" | "signed";
  /** True if calls may cost more than 1. Default: `false`. */
  readonly weighted?: boolean;
  /**
   * Sets the clock that the limiter reads, if any: `(ms) => vi.setSystemTime(ms)`; may return a promise. The command
   * `check` needs none, since it sets `Date.now` and timers; elsewhere a limiter on the real clock would be accused.
   * Tell a limiter in another process by a file, `(ms) => writeFile("now.txt", String(ms))`, or by a command.
   */
  setNow?(nowMs: number): unknown;
}

/** Laws on organizations, clocks that step back and the eight headers, which a limiter by key must claim by name. */
const neverByDefault: readonly LimiterLawName[] = [
  "unenforced-never-refuses",
  "never-rolls-back",
  "snapshot-equals",
  "headers-present",
  "refusal-agrees",
];
/** Laws that say nothing if refused calls are counted. */
export const ofFreeRefusals: readonly LimiterLawName[] = ["bounded", "all-or-nothing", "give-back"];

/**
 * Returns the laws that a limiter by key claims by default (SPEC.md §7). An `unknown` limiter is taken to count refused
 * calls unless it says `uncounted`.
 */
export function keyedLaws({
  algorithm,
  refused = algorithm === "unknown" ? "counted" : "uncounted",
}: Pick<KeyedKind, "algorithm" | "refused">): readonly LimiterLawName[] {
  const without = refused === "counted" ? [...neverByDefault, ...ofFreeRefusals] : neverByDefault;
  return lawsOf(algorithm).filter((law) => !without.includes(law));
}

export interface KeyedOptions extends KeyedKind {
  /** Makes a fresh limiter. Through `seam` it reaches its store, so that a check can interleave overlapping calls. */
  create(settings: KeyedSettings, seam: Seam): Awaitable<KeyedLimiter>;
}

/**
 * Makes a factory of a limiter with one count for each key, for `checkLaws` and `describeLimiter`.
 *
 * @throws SpillwayError `ADAPTER_INVALID` if the algorithm is missing, or does not promise a claimed law
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

/** Returns the anchors of a limiter that says none. The windows of a sliding counter mostly lie on the epoch's grid. */
const anchorsOf = (algorithm: Algorithm): readonly SwitchValue<"anchor">[] =>
  algorithm === "sliding-counter" ? ["epoch", "first-request"] : ["first-request"];

/** Facts that are one of some words. */
const choices = {
  anchor: ["first-request", "epoch", "start"],
  opensTo: ["millisecond", "second"],
  end: ["exclusive", "inclusive"],
  refused: switchValues.refused,
  reset: switchValues.reset,
  remaining: switchValues.remaining,
} as const satisfies { readonly [Fact in keyof KeyedKind]?: readonly KeyedKind[Fact][] };

/** Names of all facts, and of the further options of limiters by key. */
const facts: readonly string[] = [
  ...["name", "algorithm", "claims", "weighted", "setNow", "create", "read", "refusedStatus", "request"],
  ...Object.keys(choices),
];

/** Returns all members of a factory except `create`. */
function kindOf(kind: KeyedKind): Omit<LimiterFactory, "create"> {
  const { name, algorithm, claims } = kind;
  requireNoProblems(name, [
    ...promiseProblems({ algorithm, claims: claims ?? [] }),
    ...Object.entries(choices).flatMap(([fact, known]) => {
      const value: unknown = kind[fact as keyof typeof choices];
      return value === undefined || known.includes(value as never) ? [] : [choiceProblem(fact, value, known)];
    }),
    ...misspelt(kind, facts),
  ]);
  return {
    name,
    algorithm,
    claims: claims ?? keyedLaws(kind),
    claimsAsShown: claims === undefined,
    anchorUnsaid: algorithm === "fixed-window" && kind.anchor === undefined,
    keyed: true,
    opensToMs: kind.opensTo === "second" ? 1000 : 1,
    endsLate: kind.end === "inclusive",
    fromStart: kind.anchor === "start",
    semantics: {
      anchor: kind.anchor === undefined || kind.anchor === "start" ? anchorsOf(algorithm) : [kind.anchor],
      refused: [kind.refused ?? "uncounted"],
      refusedByUser: ["charges-nothing"],
      graphqlCharge: ["prepaid"],
      remaining: [kind.remaining ?? "clamped"],
      reset: [kind.reset ?? "ceil"],
    },
    ...(kind.setNow && { setNow: (nowMs: number) => kind.setNow?.(nowMs) }),
  };
}

function settingsOf(rules: Rules, scope: Scope): KeyedSettings {
  const { limit, windowSeconds } = rules.user[scope];
  return { limit, windowSeconds, windowMs: windowSeconds * 1000 };
}

function keyedAdapter(limiter: KeyedLimiter, scope: Scope, algorithm: Algorithm): LimiterAdapter {
  if (typeof limiter?.consume !== "function") throw new TypeError("a limiter with `consume` was expected");
  const { peek, release, close } = limiter;
  const shown = algorithm === "fixed-window" ? windowReading : wholeReading;
  const leases: unknown[] = [];
  return {
    decide({ organization, user, cost }, nowMs) {
      const args = [keyOf({ organization, user }), cost, nowMs] as const;
      return guarded("consume", args, () =>
        after(limiter.consume(...args), (answer) => {
          requireForm("consume", args, answerMistake(answer, shown, nowMs));
          const decision = decisionOf(answer, nowMs, shown);
          if (release === undefined || !decision.admitted) return decision;
          // A lease need not be JSON: it stays here, and the reservation is its number.
          const lease = leases.push(typeof answer === "object" ? answer.lease : undefined) - 1;
          return { ...decision, reservation: { key: args[0], cost, lease } };
        }),
      );
    },
    ...(peek && {
      status(organization: string, nowMs: number, user: string) {
        const args = [keyOf({ organization, user }), nowMs] as const;
        return guarded("peek", args, () =>
          after(peek.call(limiter, ...args), (reading) => {
            requireForm("peek", args, peekMistake(reading, shown, nowMs));
            return { [scope]: reading === null || reading === undefined ? {} : shown(reading, nowMs) };
          }),
        );
      },
    }),
    ...(release && {
      settle(reservation: unknown, _actual: number, nowMs: number) {
        const { key, cost, lease } = reservation as { key: string; cost: number; lease: number };
        return guarded("release", [key, cost, nowMs], () =>
          after(release.call(limiter, key, cost, nowMs, leases[lease]), () => ({})),
        );
      },
    }),
    ...(close && { close: () => close.call(limiter) }),
  };
}

type ReadingForm = (reading: KeyedReading, nowMs: number) => Partial<WindowReading>;

/** @throws LimiterFailure that names the call, if its answer has a mistake */
function requireForm(name: string, args: readonly unknown[], mistake: ReturnType<Mistake>): void {
  if (mistake === null) return;
  const [path, got, allowed] = mistake;
  throw new LimiterFailure(callText(name, args), `${path} = ${quote(got)}`, allowed);
}

function answerMistake(answer: unknown, shown: ReadingForm, nowMs: number): ReturnType<Mistake> {
  if (typeof answer === "boolean") return null;
  if (!isObject(answer)) return ["the answer", answer, "true, false or an object with `allowed`"];
  const { allowed } = answer;
  if (typeof allowed !== "boolean") return ["allowed", allowed, "true or false"];
  for (const name of ["retryAfter", "retryAfterMs"] as const) {
    const wait = answer[name] ?? null;
    if (wait !== null && (typeof wait !== "number" || Number.isNaN(wait)))
      return [name, wait, "a number, or nothing"];
  }
  return readingMistake(answer, shown, nowMs);
}

const peekMistake = (reading: unknown, shown: ReadingForm, nowMs: number): ReturnType<Mistake> =>
  isObject(reading) || reading === null || reading === undefined
    ? readingMistake(reading ?? {}, shown, nowMs)
    : ["the reading", reading, "an object, null or nothing"];

/** Returns the first member of a reading that does not become a whole number. */
function readingMistake(reading: KeyedReading, shown: ReadingForm, nowMs: number): ReturnType<Mistake> {
  const allowed = shown === windowReading ? "a safe integer, or nothing" : "a number, or nothing";
  for (const name of ["limit", "current", "remaining", "reset", "resetMs", "resetAt"] as const) {
    const given: unknown = reading[name] ?? null;
    const value = name === "resetAt" && isInstant(given) ? given.getTime() : given;
    const [whole] = typeof value === "number" ? Object.values(shown({ [name]: value }, nowMs)) : [];
    if (value !== null && !Number.isSafeInteger(whole))
      return [name, value, name === "resetAt" ? "a Date, ms since the epoch, or nothing" : allowed];
  }
  return null;
}

const isInstant = (value: unknown): value is Instant =>
  isObject(value) && typeof value["getTime"] === "function";

function decisionOf(answer: boolean | KeyedAnswer, nowMs: number, shown: ReadingForm): PartialDecision {
  if (typeof answer === "boolean") return { admitted: answer, refusedBy: answer ? null : "user" };
  const { allowed, retryAfter } = answer;
  if (allowed) return { admitted: true, refusedBy: null, user: shown(answer, nowMs) };
  const waitMs = answer.retryAfterMs ?? (isTold(retryAfter) ? retryAfter * 1000 : undefined);
  // An infinite wait, for a call that never fits, is no time to come back.
  const retryAfterMs = waitMs === Number.POSITIVE_INFINITY ? undefined : waitMs;
  return { admitted: false, refusedBy: "user", retryAfterMs, user: shown(answer, nowMs) };
}

const windowReading: ReadingForm = (reading, nowMs) => readingOf(reading, nowMs, asShown, asShown);

/** Returns a reading in whole numbers: a bucket may have 3.7 units, which admit three calls, and be full in 0.3 ms. */
const wholeReading: ReadingForm = (reading, nowMs) => readingOf(reading, nowMs, Math.ceil, wholeLeft);

/** Greatest shortfall of `remaining` below 0, units, that counts as 0: an error of added fractions. */
const nothing = 1e-6;
const wholeLeft = (left: number): number => (left < 0 && left > -nothing ? 0 : Math.floor(left));

/** Tells whether a number is shown. Code without types may say `null` for one that is not. */
const isTold = (value: number | null | undefined): value is number => value !== undefined && value !== null;

const asShown = (value: number): number => value;

/** @param down rounding of `remaining`; `up` rounds all other numbers except `limit` */
function readingOf(
  { limit, current, remaining, reset, resetMs, resetAt }: KeyedReading,
  nowMs: number,
  up: (value: number) => number,
  down: (value: number) => number,
): Partial<WindowReading> {
  const until = isTold(resetMs) ? nowMs + resetMs : undefined;
  const resetAtMs = (isInstant(resetAt) ? resetAt.getTime() : resetAt) ?? until;
  const shown: { -readonly [Field in keyof WindowReading]?: WindowReading[Field] } = {};
  if (isTold(limit)) shown.limit = limit;
  if (isTold(current)) shown.current = up(current);
  if (isTold(remaining)) shown.remaining = down(remaining);
  if (isTold(reset)) shown.reset = up(reset);
  if (isTold(resetAtMs)) shown.resetAtMs = up(resetAtMs);
  return shown;
}
