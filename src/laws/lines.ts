// Writes the lines of a timeline: one line for each operation with its answer, or for a burst of equal calls, and the
// ends of windows between them.
import { breachLines, time } from "./drawing.ts";
import type { Breach } from "./law.ts";
import { isKnown, looksOf } from "./looks.ts";
import type { QuotaHistory, QuotaScript } from "./quotas/script.ts";
import { isWindow, type Look, type Sight } from "./sight.ts";

/** Words of a timeline, by rules or by a policy. */
export interface LineTexts {
  /** Returns an operation with its number of `times`, and its answer. */
  call(look: Look, times: number): readonly [string, string];
  /** Returns words such as `the window of acme/ann`. */
  windowOf(sight: Sight): string;
  /** True to put equal calls on one line. */
  readonly isTaken: boolean;
  /**
   * Returns lines below a breach.
   * @param end the ms of the latest call so far at which a window ends, in words; `null` if there is none
   * @param isHeld true if a caller is refused, and was refused before in a window that has ended
   */
  note?(end: string | null, isHeld: boolean): readonly string[];
}

/** End of a window, ms, with a sight of it. */
type Edge = { readonly untilMs: number; readonly sight: Sight };

/** A breach, with the owner of the count at fault, in words. */
type Drawn = Breach & { readonly at: number; readonly whose: string | null };

export function linesOf(
  script: QuotaScript,
  history: QuotaHistory,
  startMs: number,
  breach: Drawn | null,
  texts: LineTexts,
): string[] {
  const lines: string[] = [];
  const edges = new Map<string, Edge>();
  const ends = new Set<number>();
  const looks = looksOf(script, history);
  let nowMs = history[0]?.op.atMs ?? startMs;
  let burst = 0;
  let endMs: number | null = null;
  /** Ends of the windows in which counts first refused, ms, by the count's name. */
  const refusals = new Map<string, number>();
  for (const [at, look] of looks.entries()) {
    const { atMs } = look.event.op;
    lines.push(...passed(edges, nowMs, atMs, startMs, texts));
    nowMs = atMs;
    if ("admitted" in look.event && ends.has(nowMs)) endMs = nowMs;
    const isRefused = "admitted" in look.event && !look.event.admitted;
    const isHeld = isRefused && look.sights.some(({ name }) => (refusals.get(name) ?? nowMs + 1) <= nowMs);
    for (const sight of look.sights) {
      const { untilMs, name, rule } = sight;
      if (untilMs === null || !isWindow(rule)) continue;
      ends.add(untilMs);
      if (isRefused && !refusals.has(name)) refusals.set(name, untilMs);
      // Buckets, logs and sliding counters have no windows that end.
      if (isKnown(script)) edges.set(`${name} ${untilMs}`, { untilMs, sight });
    }
    const isAlone = breach?.at === at || breach?.at === at + 1 || !texts.isTaken;
    if (!isAlone && isSame(look, looks[at + 1])) {
      burst += 1;
      continue;
    }
    const [asked, answered] = texts.call(look, burst + 1);
    lines.push(`${time(nowMs, startMs)}  ${asked.padEnd(28)}  ${answered}`.trimEnd());
    burst = 0;
    if (breach?.at === at)
      lines.push(
        ...breachLines(breach, breach.whose),
        ...(texts.note?.(endMs === null ? null : endText(endMs, nowMs, startMs), isHeld) ?? []),
      );
  }
  return lines;
}

const endText = (endMs: number, nowMs: number, startMs: number): string =>
  endMs === nowMs ? "this very ms" : `the very ms of the call at ${time(endMs, startMs).trim()}`;

/** Returns lines for the ends of windows between two operations, or for a clock that stepped back. */
function passed(
  edges: Map<string, Edge>,
  fromMs: number,
  toMs: number,
  startMs: number,
  { windowOf }: LineTexts,
): string[] {
  if (toMs < fromMs) return [`${time(toMs, startMs)}  <<<< the clock steps back by ${fromMs - toMs} ms`];
  const over = [...edges].filter(([, { untilMs }]) => untilMs <= toMs);
  for (const [name] of over) edges.delete(name);
  return over
    .toSorted(([, one], [, other]) => one.untilMs - other.untilMs)
    .map(([, { untilMs, sight }]) => `${time(untilMs, startMs)}  ---- ${windowOf(sight)} ends`);
}

/** Tells whether the next operation is an equal call with the same answer, apart from the counts. */
function isSame({ event }: Look, next: Look | undefined): boolean {
  if (next === undefined || !("admitted" in event) || !("admitted" in next.event)) return false;
  const key = ({ op: { id: _, ...op }, admitted, refusedBy }: typeof event): string =>
    JSON.stringify([op, admitted, refusedBy]);
  return key(event) === key(next.event);
}
