// Readings → quotas: limits that were shown, and the lengths of windows that they allow.
import type { PolicyInput } from "../policy/schema.ts";
import { counted } from "../rules/words.ts";
import { anchorOf, likelySeconds, type ShownEnd, settledSeconds, shownEnd, windowEnds } from "./ends.ts";
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

const validName = /^[A-Za-z_][\w.-]*$/;

/** Collects the readings of each quota. A quota without a name is `requests`. */
export function quotasSeen({ readings }: BuiltWire, seen: readonly SeenAnswers[]): Map<string, QuotaSeen> {
  const quotas = new Map<string, QuotaSeen>();
  const all = readings.flatMap((of, answer) => of.map((reading) => ({ ...reading, answer: seen[answer] })));
  for (const { quota, limit, remaining, used, windowSeconds, reset, answer } of all) {
    const name = quota !== null && validName.test(quota) ? quota : "requests";
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

/** Makes quotas of a policy. @param resets forms of resets that were settled */
export function quotasOf(
  seen: ReadonlyMap<string, QuotaSeen>,
  resets: ReadonlyMap<string, FoundForm>,
  questions: MapQuestion[],
): Quotas {
  const named = seen.size > 0 ? seen : new Map([["requests", nothing()]]);
  return Object.fromEntries(
    [...named].map(([name, shown]) => {
      const reset = resets.get(name) ?? resets.get("") ?? null;
      const limit = limitOf(name, shown, questions);
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

function limitOf(name: string, { limits, mostLeft, mostWhole }: QuotaSeen, questions: MapQuestion[]): number {
  const path = `quotas.${name}.algorithm.limit`;
  const limit = limits.size > 0 ? Math.max(...limits) : mostWhole > 0 ? mostWhole : mostLeft + 1;
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
          : `No limit was shown; ${limit} is one more than the most that was left.`,
      settle: "Take it from the API's documentation.",
    });
  return limit;
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
  const likely = likelySeconds(shown.ends);
  const windowSeconds =
    told ??
    likely ??
    (longest === 0 ? 60 : (usual.find((seconds) => seconds * 1000 + slackMs >= longest) ?? 2_592_000));
  const ends = reset?.means === "window-end" ? windowEnds(shown.ends) : [];
  const found = anchorOf(ends, windowSeconds);
  const anchor = found ?? "first-request";
  if (told === null)
    questions.push({
      path: `${path}.windowSeconds`,
      seen:
        likely !== null
          ? `Resets and ends of windows fit ${windowSeconds} s, a usual length, and a second less or more.`
          : longest > 0
            ? `The longest wait for a reset was ${Math.ceil(longest / 1000)} s; ${windowSeconds} s is the usual length that holds it.`
            : `Nothing tells the window's length and beginning; ${windowSeconds} s from the first request on is a guess.`,
      settle: "Take it from the documentation, or call right after a reset and give that answer to map.",
    });
  if (told !== null || longest > 0)
    questions.push({
      path: `${path}.anchor`,
      seen:
        ends.length === 0
          ? `No end of a window is known; "${anchor}" is a guess.`
          : found === null
            ? `${counted(ends.length, "reset")} lay on a grid of ${windowSeconds} s that is not Unix time's; "${anchor}" is a guess.`
            : `${counted(ends.length, "reset")} ${anchor === "epoch" ? "lay" : ends.length === 1 ? "did not lie" : "did not all lie"} on the grid of ${windowSeconds} s.`,
      settle:
        reset === null
          ? "Call every few seconds for two windows: remaining is full again on the grid, or a window after a first call."
          : "Pause for more than one window, call once, and see whether the reset is a whole window away.",
    });
  return { windowSeconds, anchor };
}
