// Readings → quotas: limits that were shown, and the lengths of windows that they allow.
import { namePattern } from "../policy/forms.ts";
import type { Quota } from "../policy/policy.ts";
import type { PolicyInput } from "../policy/schema.ts";
import { mostOf } from "../rules/extremes.ts";
import { counted } from "../rules/words.ts";
import {
  anchorOf,
  areOnGrid,
  likelySeconds,
  longestWaitMs,
  mostSeconds,
  type ShownEnd,
  settledSeconds,
  shownEnd,
  windowEnds,
} from "./ends.ts";
import type { MapQuestion } from "./question.ts";
import type { FoundForm } from "./reset-form.ts";
import type { SeenAnswers } from "./seen.ts";
import type { BuiltWire } from "./wire-of.ts";

/** All numbers that answers show of a quota. */
export interface QuotaSeen {
  readonly limits: Set<number>;
  readonly windows: Set<number>;
  mostLeft: number;
  leastLeft: number;
  /** Greatest sum of used and left, if answers show both; 0 if none does. */
  mostWhole: number;
  /** Longest span to a reset, ms; 0 if none was read. */
  longestMs: number;
  readonly ends: ShownEnd[];
}

type Quotas = PolicyInput["quotas"];

/** Collects the readings of each quota. A quota without a name is `requests`. */
export function quotasSeen({ readings }: BuiltWire, seen: readonly SeenAnswers[]): Map<string, QuotaSeen> {
  const quotas = new Map<string, QuotaSeen>();
  const all = readings.flatMap((of, answer) => of.map((reading) => ({ ...reading, answer: seen[answer] })));
  for (const { quota, limit, remaining, used, windowSeconds, reset, answer } of all) {
    const name = quota !== null && namePattern.test(quota) ? quota : "requests";
    const known = quotas.get(name) ?? nothing();
    if (limit !== null && limit >= 1) known.limits.add(limit);
    if (windowSeconds !== null && windowSeconds >= 1) known.windows.add(windowSeconds);
    known.mostLeft = Math.max(known.mostLeft, remaining ?? 0);
    known.leastLeft = Math.min(known.leastLeft, remaining ?? 0);
    if (used !== null && remaining !== null) known.mostWhole = Math.max(known.mostWhole, used + remaining);
    known.longestMs = Math.max(known.longestMs, reset?.afterMs ?? 0);
    known.ends.push(...shownEnd(answer, reset));
    quotas.set(name, known);
  }
  return quotas;
}

/** Usual lengths of APIs' windows, seconds. */
const usual = [1, 10, 60, 300, 600, 900, 3_600, 21_600, 86_400, 604_800, 2_592_000];
/** Time by which a reset may exceed the window's length, ms: some are rounded up, some jitter. */
const slackMs = 1_500;

/**
 * Makes quotas of a policy.
 * @param resets forms of resets that were settled
 * @param letThrough most calls of one caller before its first refusal
 */
export function quotasOf(
  seen: ReadonlyMap<string, QuotaSeen>,
  resets: ReadonlyMap<string, FoundForm>,
  questions: MapQuestion[],
  letThrough = 0,
): Quotas {
  const named = seen.size > 0 ? seen : new Map([["requests", nothing()]]);
  return Object.fromEntries(
    [...named].map(([name, shown]) => {
      const reset = resets.get(name) ?? resets.get("") ?? null;
      const limit = limitOf(name, shown, questions, letThrough);
      if (typeof reset?.everyMs === "number")
        questions.push({
          path: `quotas.${name}.algorithm`,
          seen: `Each reset lies about ${reset.everyMs} ms away for each unit that is taken: a bucket that fills at that rate.`,
          settle: "Take its rate from the documentation: resets that are rounded tell it roughly.",
        });
      const algorithm =
        reset?.everyMs === undefined || reset.everyMs === null
          ? { kind: "fixed-window" as const, limit, ...windowOf(name, shown, reset, questions) }
          : { kind: "token-bucket" as const, capacity: limit, refill: { amount: 1, everyMs: reset.everyMs } };
      if (shown.leastLeft >= 0) return [name, { algorithm, key: ["user"] }];
      questions.push({
        path: `quotas.${name}.shown.remaining`,
        seen: `Remaining was ${shown.leastLeft}: it is taken to fall below 0 once all is spent.`,
        settle: "Does it mean that nothing is limited? Then take the quota out.",
      });
      return [name, { algorithm, key: ["user"], shown: { remaining: "signed" as const } }];
    }),
  );
}

const nothing = (): QuotaSeen => ({
  limits: new Set(),
  windows: new Set(),
  mostLeft: 0,
  leastLeft: 0,
  mostWhole: 0,
  longestMs: 0,
  ends: [],
});

/** Returns the window length that answers tell, or settle by their ends, seconds; `null` if they leave it open. */
export const secondsSeen = ({ windows, ends }: QuotaSeen): number | null =>
  windows.size === 1 ? ([...windows][0] ?? null) : settledSeconds(ends);

function limitOf(
  name: string,
  { limits, mostLeft, mostWhole }: QuotaSeen,
  questions: MapQuestion[],
  letThrough: number,
): number {
  const path = `quotas.${name}.algorithm.limit`;
  const guess = mostLeft > 0 ? mostLeft + 1 : Math.max(1, letThrough);
  const limit = limits.size > 0 ? mostOf([...limits]) : mostWhole > 0 ? mostWhole : guess;
  if (limits.size > 1)
    questions.push({
      path,
      seen: `Answers showed ${counted(limits.size, "limit")}: ${[...limits].join(", ")}; the greatest is taken.`,
      settle: "Do callers differ, or paths? Overrides say the limits of single callers.",
    });
  if (limits.size === 0)
    questions.push({
      path,
      seen:
        mostWhole > 0
          ? `No limit was shown; ${limit} is what was used and what was left together.`
          : mostLeft > 0
            ? `No limit was shown; ${limit} is one more than the most that was left.`
            : letThrough > 0
              ? `No limit was shown, and nothing left. One caller was let through ${letThrough} times before a refusal: ${limit} is a guess.`
              : `No limit was shown, and nothing left: ${limit} holds the place of the limit.`,
      settle: "Take it from the API's documentation.",
    });
  return limit;
}

const usualSeconds = (longestMs: number): number =>
  longestMs === 0 ? 60 : (usual.find((seconds) => seconds * 1000 + slackMs >= longestMs) ?? 2_592_000);

const settleLength =
  "Take it from the documentation, or call right after a reset and give that answer to map.";

/** Returns what tells a window's length that answers leave open, in words. */
function lengthText({ ends }: QuotaSeen, longestMs: number): string {
  const likely = likelySeconds(ends);
  const seconds = usualSeconds(longestMs);
  if (likely !== null)
    return `Resets and ends of windows fit ${likely} s, a usual length, and a second less or more.`;
  return longestMs > 0
    ? `The longest wait for a reset was ${Math.ceil(longestMs / 1000)} s; ${seconds} s is the usual length that holds it.`
    : `Nothing tells the window's length and beginning; ${seconds} s from the first request on is a guess.`;
}

/**
 * Returns a preset's algorithm with the window that answers settle. A length of the preset's that ends of windows contradict
 * is replaced by the likeliest; one that is far longer than any wait is asked about.
 */
export function presetWindow(
  name: string,
  algorithm: Quota["algorithm"],
  shown: QuotaSeen,
  questions: MapQuestion[],
): Quota["algorithm"] {
  if (algorithm.kind !== "fixed-window" || algorithm.windowSeconds === undefined) return algorithm;
  const own = algorithm.windowSeconds;
  const longestMs = Math.max(shown.longestMs, longestWaitMs(shown.ends));
  const told = secondsSeen(shown);
  const likely = told ?? likelySeconds(shown.ends) ?? (longestMs === 0 ? own : usualSeconds(longestMs));
  const isWrong = told !== null || mostSeconds(shown.ends) < own || longestMs > own * 1000 + slackMs;
  const windowSeconds = isWrong ? likely : own;
  if (told === null && likely !== own)
    questions.push({
      path: `quotas.${name}.algorithm.windowSeconds`,
      seen: isWrong
        ? `${lengthText(shown, longestMs)} It is not the preset's ${own} s.`
        : `The longest wait for a reset was ${Math.ceil(longestMs / 1000)} s; that the window lasts ${own} s is the preset's word alone.`,
      settle: settleLength,
    });
  const anchor = isWrong ? anchorOf(windowEnds(shown.ends), windowSeconds) : null;
  return { ...algorithm, windowSeconds, anchor: anchor ?? algorithm.anchor };
}

/** Returns where ends of windows lay, ms since the epoch, and what was made of it, in words. */
function endsText(ends: readonly number[], windowSeconds: number, anchor: "epoch" | "first-request"): string {
  const guess = `"${anchor}" is a guess.`;
  if (ends.length === 0) return `No end of a window is known; ${guess}`;
  const resets = counted(ends.length, "reset");
  const grid = `the grid of ${windowSeconds} s`;
  if (anchorOf(ends, windowSeconds) === null)
    return ends.length === 1
      ? `${resets} lay within 1 s of ${grid}, which may be chance; ${guess}`
      : `${resets} lay on a grid of ${windowSeconds} s that is not Unix time's; ${guess}`;
  if (anchor === "epoch")
    return `${resets} lay ${areOnGrid(ends, windowSeconds) ? "on" : "within 1 s of"} ${grid}.`;
  return `${resets} ${ends.length === 1 ? "did not lie" : "did not all lie"} on ${grid}.`;
}

function windowOf(
  name: string,
  shown: QuotaSeen,
  reset: FoundForm | null,
  questions: MapQuestion[],
): { windowSeconds: number; anchor: "epoch" | "first-request" } {
  const path = `quotas.${name}.algorithm`;
  const longest = Math.max(shown.longestMs, reset?.longestMs ?? 0);
  const told = secondsSeen(shown);
  const windowSeconds = told ?? likelySeconds(shown.ends) ?? usualSeconds(longest);
  const ends = reset?.means === "window-end" ? windowEnds(shown.ends) : [];
  const anchor = anchorOf(ends, windowSeconds) ?? "first-request";
  if (told === null)
    questions.push({ path: `${path}.windowSeconds`, seen: lengthText(shown, longest), settle: settleLength });
  if (told !== null || longest > 0)
    questions.push({
      path: `${path}.anchor`,
      seen: endsText(ends, windowSeconds, anchor),
      settle:
        reset === null
          ? "Call every few seconds for two windows: remaining is full again on the grid, or a window after a first call."
          : "Pause for more than one window, call once, and see whether the reset is a whole window away.",
    });
  return { windowSeconds, anchor };
}
