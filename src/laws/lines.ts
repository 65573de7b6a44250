// The lines of a timeline: one an operation with its answer, calls that follow each other unchanged taken together, and the
// ends of windows between them.
import { breachLines, time } from "./drawing.ts";
import type { Breach } from "./law.ts";
import { looksOf } from "./looks.ts";
import type { QuotaHistory, QuotaScript } from "./quotas/script.ts";
import { isWindow, type Look, type Sight } from "./sight.ts";

/** The words for one kind of script. */
export interface LineTexts {
  /** An operation, and what was answered to it. */
  call(look: Look, times: number): readonly [string, string];
  /** A window: `the window of acme/ann`. */
  windowOf(sight: Sight): string;
  /** False where each call has a line of its own. */
  readonly isTaken: boolean;
  /** @param isEnd a window ends at this very ms */
  note?(look: Look, isEnd: boolean): readonly string[];
}

/** A breach, and whose count it is about, in words. */
type Drawn = Breach & { readonly at: number; readonly whose: string | null };

export function linesOf(
  script: QuotaScript,
  history: QuotaHistory,
  startMs: number,
  breach: Drawn | null,
  texts: LineTexts,
): string[] {
  const lines: string[] = [];
  const edges = new Map<string, Sight>();
  const ends = new Set<number>();
  const looks = looksOf(script, history);
  let nowMs = history[0]?.op.atMs ?? startMs;
  let burst = 0;
  for (const [at, look] of looks.entries()) {
    const { atMs } = look.event.op;
    lines.push(...passed(edges, nowMs, atMs, startMs, texts));
    nowMs = atMs;
    for (const sight of look.sights) {
      if (sight.untilMs === null || !isWindow(sight.rule) || !texts.isTaken) continue;
      edges.set(`${sight.name} ${sight.untilMs}`, sight);
      ends.add(sight.untilMs);
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
      lines.push(...breachLines(breach, breach.whose), ...(texts.note?.(look, ends.has(nowMs)) ?? []));
  }
  return lines;
}

/** The ends of windows between two operations, or that the clock stepped back. */
function passed(
  edges: Map<string, Sight>,
  fromMs: number,
  toMs: number,
  startMs: number,
  { windowOf }: LineTexts,
): string[] {
  if (toMs < fromMs) return [`${time(toMs, startMs)}  <<<< the clock steps back by ${fromMs - toMs} ms`];
  const over = [...edges].filter(([, { untilMs }]) => (untilMs ?? 0) <= toMs);
  for (const [name] of over) edges.delete(name);
  return over
    .map(([, sight]) => sight)
    .toSorted((one, other) => (one.untilMs ?? 0) - (other.untilMs ?? 0))
    .map((sight) => `${time(sight.untilMs ?? 0, startMs)}  ---- ${windowOf(sight)} ends`);
}

/** Tells whether the next operation is the same call again with the same answer but for the counts. */
function isSame({ event }: Look, next: Look | undefined): boolean {
  if (next === undefined || !("admitted" in event) || !("admitted" in next.event)) return false;
  const key = ({ op: { id: _, ...op }, admitted, refusedBy }: typeof event): string =>
    JSON.stringify([op, admitted, refusedBy]);
  return key(event) === key(next.event);
}
