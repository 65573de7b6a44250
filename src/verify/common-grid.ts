// The common grid: on the epoch's grid windows of one length end together, whichever quota they are of (SPEC.md §3).
// The target's clock may be off by any constant, so that headers do not show where the grid lies. But they show a quota
// whose windows end off the others' grid.
import { driftShare, type Span } from "./clock.ts";
import type { Docket } from "./docket.ts";
import type { QuotaName } from "./quota-name.ts";

export interface LastWindow {
  readonly name: QuotaName;
  readonly lengthMs: number;
  readonly end: Span;
  /** Lines of the answers that tell its end. */
  readonly lines: readonly number[];
}

/** Quotas whose windows may all end on one grid. */
interface Group {
  /** End of one window of the grid, as narrow as all members tell it. */
  end: Span;
  readonly members: LastWindow[];
}

/** Number of quotas that must agree before another one is accused. */
const agreeingLeast = 2;

/** Accuses quotas whose windows end off the grid that at least two others keep. */
export function judgeCommonGrid(windows: readonly LastWindow[], docket: Docket): void {
  const lengths = new Set(windows.map(({ lengthMs }) => lengthMs));
  for (const length of lengths)
    judgeLength(
      windows.filter(({ lengthMs }) => lengthMs === length),
      length,
      docket,
    );
}

function judgeLength(windows: readonly LastWindow[], lengthMs: number, docket: Docket): void {
  const groups: Group[] = [];
  for (const window of windows.toSorted((a, b) => a.end.from - b.end.from)) {
    const group = groups.find((each) => join(each, window, lengthMs));
    if (group === undefined) groups.push({ end: window.end, members: [window] });
  }
  const [most, second] = groups.toSorted((a, b) => b.members.length - a.members.length);
  if (most === undefined || second === undefined) return;
  if (most.members.length < agreeingLeast || most.members.length === second.members.length) return;
  for (const group of groups)
    if (group !== most) for (const window of group.members) accuse(window, most, docket);
}

/** Adds a window to a group if it may end on the group's grid. Drift adds up from one window to the next. */
function join(group: Group, window: LastWindow, lengthMs: number): boolean {
  const { end } = window;
  const apart = Math.max(0, end.from - group.end.from);
  const drift = (apart + 2 * lengthMs) * driftShare;
  // The turn that brings the two middles nearest is the first at which the spans can meet.
  const turn = Math.round(((end.from + end.to) / 2 - (group.end.from + group.end.to) / 2) / lengthMs);
  const from = Math.max(end.from, group.end.from + turn * lengthMs - drift);
  const to = Math.min(end.to, group.end.to + turn * lengthMs + drift);
  if (from > to) return false;
  group.end = { from, to };
  group.members.push(window);
  return true;
}

function accuse({ name, lengthMs, lines }: LastWindow, grid: Group, docket: Docket): void {
  const others = grid.members.slice(0, agreeingLeast).flatMap((each) => each.lines.slice(0, 1));
  docket.accuse({
    law: "reset-agrees",
    breach: "off the others' grid",
    suspects: ["organization-off-grid", "skewed-nodes", "clock-step"],
    ...name.told,
    window: null,
    lines: [...new Set([...lines, ...others])].sort((a, b) => a - b),
    explanation:
      `by line ${lines[0]} a window of ${lengthMs / 1000} s ends beside the grid that ${grid.members.length} other quotas ` +
      `keep, by lines ${others.join(" and ")} among others: all of them lie on the grid of Unix time by one clock`,
  });
}
