// Accusations about windows: ends that contradict each other, and limits that change within a window.
import type { Span } from "./clock.ts";
import type { Mark } from "./mark.ts";
import type { QuotaSetting } from "./quota-setting.ts";
import { endSuspects, fallsByMs, type Length, movingEndSuspects } from "./suspects.ts";
import type { Window } from "./window.ts";

/** Returns a window's span on the clients' clock, in whole ms; its end is the middle of the known span. */
export function windowOf(lengthMs: number, { from, to }: Span): { opensAt: number; endsAt: number } {
  const endsAt = Math.round((from + to) / 2);
  return { opensAt: endsAt - lengthMs, endsAt };
}

/** Accuses two neighbouring windows of one quota that contradict each other (SPEC.md §3) as `reset-agrees`. */
export function accuseConflict(
  { name, docket, terms }: QuotaSetting,
  earlier: Window,
  later: Window,
  length: Length,
  problem: (a: Span, b: Span) => string | null,
): void {
  const [a, b] = [earlier.toMark, later.fromMark];
  const two = problem(a.end, b.end);
  const marks = two === null ? [a, b, earlier.fromMark, later.toMark] : [a, b];
  if (!length.known && fallsByMs(a, b)) docket.clues.ruledIn.add("reset-in-ms");
  if (terms.anchor === "epoch" && isOneCounter(countsIn(earlier), countsIn(later)))
    docket.clues.ruledIn.add("skewed-nodes");
  // A wait that differs from a wrong end may be right.
  docket.clues.ruledOut.add("retry-too-soon");
  const apart = (later.end.from - earlier.end.to) / 1000;
  docket.accuse({
    law: "reset-agrees",
    breach: "ends",
    suspects: endSuspects(a, b, length, isRefusedOnly(earlier) || isRefusedOnly(later), "quota" in name.told),
    ...name.told,
    window: null,
    lines: [...new Set(marks.map(({ line }) => line))].sort((x, y) => x - y),
    explanation:
      `line ${a.line} was told reset ${a.reset} and line ${b.line} reset ${b.reset}: they show windows that end at ` +
      `least ${apart.toFixed(1)} s apart, which is ${two ?? problem(earlier.end, later.end)} of ${length.ms / 1000} s${length.known ? "" : " or more"}`,
  });
}

const isRefusedOnly = ({ views }: Window): boolean => views.every(({ role }) => role === "refused");

/** Returns the counts that a window's charges show. */
const countsIn = ({ views }: Window): ReadonlySet<number> =>
  new Set(views.flatMap(({ role, clamped, count }) => (role === "admitted" && !clamped ? [count] : [])));

/** Tells whether charges of two windows are surely counted together, as by nodes whose clocks differ: none show one count. */
const isOneCounter = (a: ReadonlySet<number>, b: ReadonlySet<number>): boolean =>
  Math.min(a.size, b.size) > 3 && [...a].every((count) => !b.has(count));

/** Accuses answers of one window that show different limits (SPEC.md §7, `limit-agrees`). */
export function accuseMixedLimits(setting: QuotaSetting, window: Window, mark: Mark): void {
  const { name, docket } = setting;
  const [first] = window.views;
  if (first === undefined) return;
  docket.clues.ruledOut.add("remaining-of-laxer-window");
  docket.accuse({
    law: "limit-agrees",
    breach: "within a window",
    suspects: ["limit-changes-mid-window"],
    ...name.told,
    window: null,
    lines: [first.line, mark.line].sort((a, b) => a - b),
    explanation: `lines ${first.line} and ${mark.line} show the same window with limits ${first.limit} and ${mark.limit}`,
  });
}

/** Accuses two status bodies that show one window with different `reset_at` (SPEC.md §7, `reset-agrees`). */
export function accuseMovingEnd({ name, docket }: QuotaSetting, a: Mark, b: Mark, length: Length): void {
  const iso = ({ resetAt }: Mark): string => new Date(resetAt as number).toISOString();
  docket.accuse({
    law: "reset-agrees",
    breach: "reset_at within a window",
    suspects: movingEndSuspects(a, b, length),
    ...name.told,
    window: null,
    lines: [a.line, b.line].sort((x, y) => x - y),
    explanation: `lines ${a.line} and ${b.line} show the same window with reset_at ${iso(a)} and ${iso(b)}`,
  });
}
