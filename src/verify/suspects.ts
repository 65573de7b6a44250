// Suspects: known faults of rate limiters that fit the findings, the likeliest first. Unlike the accusation they are
// guesses from patterns; each function says what its pattern is.
import type { Owner } from "../rules/rules.ts";
import type { Span, TraceTime } from "./clock.ts";
import type { CountsInput } from "./counts-input.ts";
import type { LawFinding } from "./finding.ts";
import type { Mark } from "./mark.ts";
import type { QuotaName } from "./quota-name.ts";

/**
 * Faults that a trace can show, by their names in the fault catalogue; and, beyond it, a step of the target's clock, and a
 * window that slides where the policy's are fixed.
 */
export const suspectNames = [
  "race-read-then-write",
  "per-instance-counters",
  "stale-replica-read",
  "new-reset-old-count",
  "two-interleaved-windows",
  "lost-expiry",
  "immortal-by-polling",
  "rearmed-per-hit",
  "status-opens-window",
  "windows-back-to-back",
  "organization-off-grid",
  "reset-all-sweep",
  "double-roll",
  "boundary-inclusive",
  "one-short",
  "one-extra",
  "cost-ignored",
  "cost-over-limit-admitted",
  "double-count",
  "refused-counted",
  "narrow-drains-broad",
  "status-charged",
  "status-pristine",
  "status-shares-user",
  "wrong-user-key",
  "scopes-mixed",
  "headers-missing-on-429",
  "headers-missing-on-status",
  "headers-doubled",
  "reset-in-ms",
  "reset-epoch",
  "reset-zero",
  "reset-negative",
  "reset-truncated",
  "reset-at-drifts",
  "reset-disagrees",
  "stale-cached-reset",
  "retry-too-soon",
  "skewed-nodes",
  "remaining-of-laxer-window",
  "wrong-scope-header",
  "limit-changes-mid-window",
  "unenforced-refuses",
  "refusal-names-user",
  "clock-step",
  "window-slides",
] as const;
export type Suspect = (typeof suspectNames)[number];

/** Fit of each fault; faults of 0 or less are left out. */
type Scores = Partial<Record<Suspect, number>>;

function ranked(scores: Scores): readonly Suspect[] {
  return (Object.entries(scores) as [Suspect, number][])
    .filter(([, score]) => score > 0)
    .sort((a, b) => b[1] - a[1])
    .map(([name]) => name);
}

const share = <T>(all: readonly T[], holds: (each: T) => boolean): number =>
  all.length === 0 ? 0 : all.filter(holds).length / all.length;

/** Returns the faults that fit one kind of finding in a window. */
export function suspectsOf(input: CountsInput, findings: readonly LawFinding[]): readonly Suspect[] {
  const [first] = findings;
  if (first === undefined) return [];
  switch (first.kind) {
    case "overlap":
      return overlapSuspects(input, findings as readonly Overlap[]);
    case "gap":
      return gapSuspects(input, findings as readonly Gap[]);
    case "fall":
      return first.least === null
        ? fallSuspects(input, findings as readonly Fall[])
        : shortSuspects(input, first.later, first.least);
    case "beyond":
      return beyondSuspects(findings as readonly Beyond[]);
    case "short":
      return shortSuspects(input, first.mark, first.least);
    case "overrun":
      return overrunSuspects(input, first);
    case "excess":
      return excessSuspects(input, first);
    case "needless":
      return ["one-short", "double-count", "lost-expiry"];
  }
}

type Overlap = Extract<LawFinding, { kind: "overlap" }>;
type Gap = Extract<LawFinding, { kind: "gap" }>;
type Excess = Extract<LawFinding, { kind: "excess" }>;
type Overrun = Extract<LawFinding, { kind: "overrun" }>;
type Beyond = Extract<LawFinding, { kind: "beyond" }>;
type Fall = Extract<LawFinding, { kind: "fall" }>;

/**
 * Names faults that lose charges. A race loses those of calls that overlap in time. Counters of several processes lose
 * charges all the time and make the count hop. A swept or doubly rolled window starts again from 0.
 */
function overlapSuspects(input: CountsInput, overlaps: readonly Overlap[]): readonly Suspect[] {
  const { time } = input.setting;
  const concurrent = share(overlaps, ({ mark, over }) => {
    if (over === null) return false;
    return !time.before(mark.received, over.sent) && !time.before(over.received, mark.sent);
  });
  const single = share(overlaps, ({ mark, lost }) => mark.least > 1 && lost === mark.least - 1);
  const atEnd = share(overlaps, ({ mark }) => mark.count === mark.limit && mark.clamped);
  const reads = overlaps.flatMap(({ over }) => (over !== null && over.least === 0 ? [over] : []));
  if (reads.length === overlaps.length)
    return ranked({
      "status-shares-user": share(reads, ({ echoesUser }) => echoesUser) * 1.5,
      "stale-replica-read": 1,
      "race-read-then-write": 0.3,
    });
  const drops = dropsOf(input);
  return ranked({
    "cost-ignored": single === 1 ? 3 : 0,
    "one-extra": atEnd === 1 ? 2 / overlaps.length : 0,
    "race-read-then-write": concurrent === 1 ? 1.5 : concurrent * 0.8,
    "per-instance-counters": 0.3 + drops.hops,
    "reset-all-sweep": drops.restarts * 1.2,
    "double-roll": drops.restarts * 1.2 + 0.05,
  });
}

/** Drops of a count, in the order of its charges' answers, and those of them that start again from almost 0. */
interface Drops {
  readonly count: number;
  /** Number of times at which it rose by more than a call's own charge. */
  readonly jumps: number;
  readonly restarts: readonly Span[];
}

function dropsIn(marks: readonly Mark[], time: TraceTime): Drops {
  const restarts: Span[] = [];
  let count = 0;
  let jumps = 0;
  let last: Mark | null = null;
  let highest: Mark | null = null;
  const charges = marks.filter(({ least }) => least > 0).sort((a, b) => a.received - b.received);
  for (const mark of charges) {
    if (last !== null && mark.count > last.count + mark.least + 1 && time.before(last.received, mark.sent))
      jumps += 1;
    last = mark;
    if (highest !== null && mark.count < highest.count && time.before(highest.received, mark.sent)) {
      count += 1;
      if (mark.count - mark.least <= 0.15 * highest.count)
        restarts.push({ from: highest.sent, to: mark.received });
      highest = mark;
    } else if (highest === null || mark.count > highest.count) highest = mark;
  }
  return { count, jumps, restarts };
}

/** Returns when counts began again from almost 0 in the course of a window, by charges. */
export const restartsOf = (marks: readonly Mark[], time: TraceTime): readonly Span[] =>
  dropsIn(marks, time).restarts;

/** Returns the share of drops that start again from almost 0, and of those that hop to another count. */
function dropsOf({ marks, setting }: CountsInput): { jumps: number; restarts: number; hops: number } {
  const { count, jumps, restarts } = dropsIn(marks, setting.time);
  const share = count === 0 ? 0 : restarts.length / count;
  return { jumps, restarts: share, hops: count === 0 ? 0 : 1 - share };
}

/** Names faults that charge without a call: the mark on the gap, or next to it, shows the cause. */
function gapSuspects(input: CountsInput, gaps: readonly Gap[]): readonly Suspect[] {
  const { name } = input.setting;
  const charges = input.marks.filter(({ least }) => least > 0);
  // Each counted refusal stands on a gap of its own. Refusals that are not counted show each other's counts.
  const refusals = (owner: string): number => {
    const by = ({ role, refusedBy }: Mark): boolean => role === "refused" && refusedBy === owner;
    const counts = new Set(input.marks.filter(by).map(({ count }) => count));
    const apart = counts.size / Math.max(1, input.marks.filter(by).length);
    return share(gaps, ({ above }) => by(above)) * apart;
  };
  const doubled = gaps.filter(({ from, to, above }) => above.least > 0 && to - from === above.least);
  // Nearly every charge stands on a gap of its own size.
  if (charges.length >= 5 && doubled.length >= 0.8 * charges.length)
    input.setting.docket.clues.ruledIn.add("double-count");
  const before = input.previous?.count ?? 0;
  const carried = before > 0 && gaps[0]?.from === 0 && gaps[0].to >= 0.9 * before;
  const again = carried && input.previous?.carried === true;
  return ranked({
    "status-charged":
      name.scope === "rest"
        ? share(gaps, ({ above }) => above.role === "status" && !above.echoesUser) * 2
        : 0,
    "status-shares-user": share(gaps, ({ above }) => above.echoesUser) * 2,
    "refused-counted": input.terms.refused === "counted" ? 0 : refusals(name.owner) * 2,
    "narrow-drains-broad": name.owner === "organization" ? refusals("user") * 2.1 : 0,
    "one-extra": gaps.every(({ from, to, above: { limit } }) => from === limit && to === limit + 1) ? 1.5 : 0,
    "new-reset-old-count": again ? 1 : carried ? 2.5 / gaps.length : 0,
    "lost-expiry": again ? 2.6 : carried ? 0.5 : 0,
    "immortal-by-polling": carried ? 0.7 : 0,
    "boundary-inclusive": carried && gaps[0]?.to === 1 ? 0.3 : 0,
    "double-count":
      charges.length === 0
        ? 0
        : (doubled.length / charges.length) * share(gaps, (gap) => doubled.includes(gap)) * 1.5 +
          share(gaps, isAsMuchAgain),
    "wrong-user-key": 0.7 * strangersIn(name),
    "scopes-mixed": name.isMixable ? 0.6 : 0,
    "two-interleaved-windows": 0.05,
  });
}

/** Returns how likely other callers' calls come to a quota. Where others' operations may, too, a broader quota has to tell. */
const strangersIn = ({ isNarrowest, isMixable, owner }: QuotaName): number =>
  !isNarrowest ? 0 : isMixable && owner === "organization" ? 0.6 : 1;

/** Tells whether a gap is about as large as the points below it that calls explain. */
function isAsMuchAgain({ from, to, below }: Gap): boolean {
  const explained = below === null ? 0 : from - below.count;
  return explained >= 5 && to - from >= 0.8 * explained && to - from <= 1.2 * explained;
}

/** Names faults that make a count fall: a reading lags or shows another count, or there are several counters. */
function fallSuspects(input: CountsInput, falls: readonly Fall[]): readonly Suspect[] {
  const charging = share(falls, ({ later }) => later.role === "admitted");
  const pristine = share(falls, ({ later }) => later.role === "status" && later.count === 0);
  const drops = dropsOf(input);
  return ranked({
    "status-pristine": pristine === 1 ? 2 : 0,
    "status-shares-user": share(falls, ({ later }) => later.echoesUser) * 1.5,
    "stale-replica-read": 1 - charging,
    "per-instance-counters": charging === 0 ? 0.2 : drops.hops + 0.2,
    "reset-all-sweep": charging * drops.restarts + 0.1,
    "double-roll": charging * drops.restarts,
    "race-read-then-write": 0.1,
  });
}

/** Names faults with counts above the limit: by one if the limit is another one, by ever more if refusals count. */
function beyondSuspects(beyond: readonly Beyond[]): readonly Suspect[] {
  const byOne = beyond.every(({ mark }) => mark.count === mark.limit + 1);
  return ranked({
    "cost-over-limit-admitted": beyond.some(({ mark: { cost, limit } }) => cost !== null && cost > limit)
      ? 3
      : 0,
    "one-extra": byOne && beyond.length > 1 ? 2.5 : byOne ? 1.5 : 0.3,
    "refused-counted": share(beyond, ({ mark }) => mark.role === "refused") * 2 + 0.2,
    "scopes-mixed": 0.1,
    "race-read-then-write": 0.6,
  });
}

/** Names faults that admit more than fits while no count shows it: another limit, or no check at all. */
function overrunSuspects({ limit }: CountsInput, { sum }: Overrun): readonly Suspect[] {
  return ranked({
    "one-extra": sum === limit + 1 ? 2 : 0.5,
    "race-read-then-write": 1,
    "per-instance-counters": 0.8,
    "cost-over-limit-admitted": 0.3,
  });
}

/** @param mark an answer whose count is below `least`, which calls surely left charged before */
function shortSuspects(input: CountsInput, mark: Mark, least: number): readonly Suspect[] {
  const reads = mark.role !== "admitted";
  const drops = dropsOf(input);
  const charges = input.marks.filter(({ role, count }) => role === "admitted" && count > 0);
  const singles = share(charges, ({ count, least }) => least > 1 && count < least);
  return ranked({
    "cost-ignored": singles > 0 ? 2 : 0.2,
    // A remaining of 0 hides the one call above the limit.
    "one-extra": mark.clamped && mark.count === mark.limit && least === mark.limit + 1 ? 2 : 0,
    "status-pristine": mark.role === "status" && mark.count === 0 ? 2 : 0,
    "stale-replica-read": reads ? 1 : 0,
    "status-shares-user": mark.echoesUser ? 1.5 : 0,
    "race-read-then-write": reads ? 0.3 : 1,
    // Where a count falls, it is another process's, or it began again; a race only keeps it from rising.
    "per-instance-counters": reads ? 0.2 : 0.8 + drops.hops,
    "double-roll": 0.3 + (reads ? 0 : drops.restarts * 1.2),
    "reset-all-sweep": 0.3 + (reads ? 0 : drops.restarts * 1.2),
  });
}

function excessSuspects(input: CountsInput, { mark, most }: Excess): readonly Suspect[] {
  const {
    terms,
    setting: { name },
  } = input;
  const { owner, isMixable } = name;
  const surplus = mark.count - most;
  const isCounted = terms.refused === "counted";
  const has = (role: Mark["role"]): boolean => input.marks.some((each) => each.role === role);
  /** Tells whether charges of so many refusals could explain the surplus. */
  const explains = (by: Owner): boolean =>
    surplus <=
    input.marks.reduce(
      (sum, { refusedBy, sent, cost }) =>
        refusedBy === by && sent < mark.received ? sum + (cost ?? surplus) : sum,
      0,
    );
  const previous = input.previous?.count ?? 0;
  const carried = previous > 0 && mark.count >= previous;
  const again = carried && input.previous?.carried === true;
  // Nodes whose clocks are a window apart answer from two counts, one of which the other node has charged before.
  // A window that slides begins with the last one's calls, and loses them one by one.
  const { jumps, hops, restarts } = dropsOf(input);
  const isByPolicy = "quota" in name.told;
  const isApart = isByPolicy && hops + restarts > 0 && jumps > 0;
  const slides = isByPolicy && hops > 0 && jumps === 0 && previous > 0;
  if (isApart || slides) input.setting.docket.clues.ruledIn.add(slides ? "window-slides" : "skewed-nodes");
  return ranked({
    "skewed-nodes": isApart ? 1.6 : 0,
    "window-slides": slides ? 1.6 : 0,
    // A call that is charged twice makes a count no more than twice as high, unless the second charge is one that is held.
    "double-count": surplus > most && terms.charging !== "reserved" ? 0.1 : surplus > 0.6 * most ? 1 : 0.4,
    "new-reset-old-count": again ? 0.9 : carried ? 1.5 : 0,
    "lost-expiry": again ? 1.6 : 0,
    "immortal-by-polling": carried ? 0.7 : 0,
    "refused-counted": !isCounted && has("refused") ? (explains(owner) ? 0.8 : 0.1) : 0,
    "narrow-drains-broad": owner === "organization" && has("refused") ? (explains("user") ? 0.9 : 0.1) : 0,
    "scopes-mixed": isMixable ? 0.6 : 0,
    "wrong-user-key": 0.9 * strangersIn(name),
    "status-charged": has("status") ? 0.4 : 0,
  });
}

/** Length of a window. Without rules it is the longest `reset` that was shown; the true length may be greater. */
export interface Length {
  readonly ms: number;
  readonly known: boolean;
}

/** Names faults of two window ends that contradict each other, from the answers that show them. */
export function endSuspects(
  earlier: Mark,
  later: Mark,
  length: Length,
  isRefusedOnly: boolean,
  isByPolicy: boolean,
): readonly Suspect[] {
  // By quotas a reading has one end, which cannot drift from another one of its own.
  const moving = isByPolicy ? "window-slides" : "reset-at-drifts";
  const apartMs = later.end.from - earlier.end.to;
  // A window that shows 0 in its last second seems to end there: less than a second before it does.
  const showsZero = earlier.reset === 0 || later.reset === 0;
  const isLastSecond = Math.min(apartMs, length.ms - apartMs) < 1000;
  return ranked({
    "reset-zero": length.known && showsZero && isLastSecond ? 2.8 : 0,
    "reset-negative": length.known && showsZero ? 2.8 : 0,
    "reset-in-ms": !length.known && length.ms >= 1_000_000 ? (fallsByMs(earlier, later) ? 4 : 1.5) : 0,
    "rearmed-per-hit": isNew(earlier, length) && isNew(later, length) ? 2 : 0.1,
    // A cached reset of a whole window has to be cached in its first second.
    "stale-cached-reset": isRefusedOnly ? (isNew(earlier, length) && isNew(later, length) ? 1.5 : 2.3) : 0,
    "two-interleaved-windows": apartMs > 2_000 ? 1 : 0.2,
    "skewed-nodes": 0.9,
    "clock-step": 0.5,
    "per-instance-counters": 0.6,
    [moving]: apartMs < 2_000 ? 1 : 0.3,
    "reset-disagrees": 0.4,
  });
}

/** Tells whether a reset fell by as many units as ms passed, as a reset in ms does. */
export function fallsByMs(earlier: Mark, later: Mark): boolean {
  const [first, second] = earlier.sent <= later.sent ? [earlier, later] : [later, earlier];
  const passed = second.sent - first.sent;
  const widest = second.received - second.sent + first.received - first.sent + 2;
  return passed > 10 && Math.abs(first.reset - second.reset - passed) <= widest;
}

/** Tells whether an answer shows a window that has only just opened. */
const isNew = ({ reset }: Mark, { ms }: Length): boolean => reset * 1000 >= ms - 1000;

/** Names faults of two status bodies that show one window with different `reset_at`. */
export function movingEndSuspects(a: Mark, b: Mark, length: Length): readonly Suspect[] {
  const apartMs = Math.abs((a.resetAt as number) - (b.resetAt as number));
  return ranked({
    "rearmed-per-hit": isNew(a, length) && isNew(b, length) ? 2 : 0,
    "reset-at-drifts": apartMs > 2_000 ? 0.3 : 1,
    "two-interleaved-windows": apartMs > 2_000 ? 0.9 : 0.1,
    "skewed-nodes": apartMs > 2_000 ? 1 : 0.2,
    "reset-disagrees": 0.4,
  });
}
