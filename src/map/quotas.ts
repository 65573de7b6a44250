// Readings → quotas: limits that were shown, and lengths of windows that they allow.
import type { PolicyInput } from "../policy/schema.ts";
import { counted } from "../rules/words.ts";
import type { MapQuestion } from "./question.ts";
import type { FoundForm } from "./reset-form.ts";
import type { BuiltWire } from "./wire-of.ts";

/** All numbers that answers show of a quota. */
export interface QuotaSeen {
  readonly limits: Set<number>;
  readonly windows: Set<number>;
  mostLeft: number;
  /** The longest span to a reset, ms; 0 where none was read. */
  longestMs: number;
}

type Quotas = PolicyInput["quotas"];

const validName = /^[A-Za-z_][\w.-]*$/;

/** Collects what is shown of each quota; one without a name is `requests`. */
export function quotasSeen({ readings }: BuiltWire): Map<string, QuotaSeen> {
  const quotas = new Map<string, QuotaSeen>();
  for (const { quota, limit, remaining, windowSeconds, reset } of readings.flat()) {
    const name = quota !== null && validName.test(quota) ? quota : "requests";
    const known = quotas.get(name) ?? { limits: new Set(), windows: new Set(), mostLeft: 0, longestMs: 0 };
    if (limit !== null && limit >= 1) known.limits.add(limit);
    if (windowSeconds !== null && windowSeconds >= 1) known.windows.add(windowSeconds);
    known.mostLeft = Math.max(known.mostLeft, remaining ?? 0);
    known.longestMs = Math.max(known.longestMs, reset?.afterMs ?? 0);
    quotas.set(name, known);
  }
  return quotas;
}

/** Lengths of windows that APIs mostly have, in seconds. */
const usual = [1, 10, 60, 300, 900, 3_600, 21_600, 86_400, 604_800, 2_592_000];
/** A reset that is rounded up, or jitters, may lie a little beyond the window's length. */
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
      const algorithm =
        reset?.everyMs === undefined || reset.everyMs === null
          ? { kind: "fixed-window" as const, limit, ...windowOf(name, shown, reset, questions) }
          : { kind: "token-bucket" as const, capacity: limit, refill: { amount: 1, everyMs: reset.everyMs } };
      return [name, { algorithm, key: ["user"] }];
    }),
  );
}

const nothing = (): QuotaSeen => ({ limits: new Set(), windows: new Set(), mostLeft: 0, longestMs: 0 });

function limitOf(name: string, { limits, mostLeft }: QuotaSeen, questions: MapQuestion[]): number {
  const path = `quotas.${name}.algorithm.limit`;
  const limit = limits.size > 0 ? Math.max(...limits) : mostLeft + 1;
  if (limits.size > 1)
    questions.push({
      path,
      seen: `Answers showed ${counted(limits.size, "limit")}: ${[...limits].join(", ")}; the greatest is taken.`,
      settle: "Do callers differ, or paths? Overrides say the limits of single callers.",
    });
  if (limits.size === 0)
    questions.push({
      path,
      seen: `No limit was shown; ${limit} is one more than the most that was left.`,
      settle: "Take it from the API's documentation.",
    });
  return limit;
}

function windowOf(
  name: string,
  { windows, longestMs }: QuotaSeen,
  reset: FoundForm | null,
  questions: MapQuestion[],
): { windowSeconds: number; anchor: "epoch" | "first-request" } {
  const path = `quotas.${name}.algorithm`;
  const longest = Math.max(longestMs, reset?.longestMs ?? 0);
  const told = windows.size === 1 ? [...windows][0] : undefined;
  const windowSeconds =
    told ??
    (longest === 0 ? 60 : (usual.find((seconds) => seconds * 1000 + slackMs >= longest) ?? 2_592_000));
  const ends = reset?.means === "window-end" ? reset.endsMs : [];
  const onGrid = ends.map((ms) => {
    const beyond = ms % (windowSeconds * 1000);
    return Math.min(beyond, windowSeconds * 1000 - beyond) <= 1_000;
  });
  const anchor = onGrid.length > 0 && onGrid.every(Boolean) ? "epoch" : "first-request";
  if (told === undefined)
    questions.push({
      path: `${path}.windowSeconds`,
      seen:
        longest > 0
          ? `The longest wait for a reset was ${Math.ceil(longest / 1000)} s; ${windowSeconds} s is the usual length that holds it.`
          : `Nothing tells the window's length and beginning; ${windowSeconds} s from the first request on is a guess.`,
      settle: "Take it from the documentation, or call right after a reset and give that answer to map.",
    });
  if (told !== undefined || longest > 0)
    questions.push({
      path: `${path}.anchor`,
      seen:
        onGrid.length === 0
          ? `No end of a window is known; "${anchor}" is a guess.`
          : `${counted(onGrid.length, "reset")} ${anchor === "epoch" ? "lay" : "did not all lie"} on the grid of ${windowSeconds} s.`,
      settle: "Pause for more than one window, call once, and see whether the reset is a whole window away.",
    });
  return { windowSeconds, anchor };
}
