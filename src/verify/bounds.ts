// Bounds: where points are given back (`reserved`) or places are hidden, a count is judged by what must have
// been charged by then and what may have been. Jepsen's `checker/counter` is the known form of this.
//
// With "before" as the trace allows it, a reading r of count v satisfies
//   sum of least(j) over calls j before r  <=  v  <=  sum over calls j that r is not before, of
//                                                      most(j) where j was before r, else held(j)
// A call before r has completed and holds its final points. A call that r is before has not begun. Any other call
// may hold from nothing up to its cost. The call of r itself is complete in its own answer.
import type { Owner } from "../rules/rules.ts";
import type { TraceTime } from "./clock.ts";
import type { LawFinding } from "./finding.ts";
import { type Mark, returnedOf } from "./mark.ts";
import type { PlacesInput } from "./places.ts";

export interface BoundsTask extends PlacesInput {
  /** Marks of calls that show a later window, and may have been charged to this one. */
  readonly others: readonly Mark[];
  /** Sending from which on the answer to a call shows a state after which unknown calls give nothing back. */
  readonly keptFrom: number;
  /** Owner of the window, if it counts its own refusals: one passes the limit by its own charge. Otherwise `null`. */
  readonly countsOwn: Owner | null;
}

export interface BoundsResult {
  readonly findings: readonly LawFinding[];
  /** Number of readings that could have had one value alone. */
  readonly pinned: number;
}

/** Judges one window by bounds. O(n log n). */
export function judgeBounds(input: BoundsTask): BoundsResult {
  const findings: LawFinding[] = [];
  let pinned = 0;
  const sums = new Sums(input);
  const accountable = input.fromZero && input.complete;
  for (const mark of input.marks) {
    const exact = !mark.clamped || input.binding;
    const least = sums.leastBefore(mark);
    if (exact && mark.count < least) findings.push({ kind: "short", mark, least, by: fewest(input, mark) });
    const most = sums.mostBy(mark);
    if (accountable && mark.count > most) findings.push({ kind: "excess", mark, most });
    else if (accountable && most <= input.limit && isPast(mark, input))
      findings.push({ kind: "needless", mark, most });
    if (accountable && exact && least === most) pinned += 1;
    if (input.binding && input.fromZero && exact && mark.count > input.limit)
      findings.push({ kind: "beyond", mark });
  }
  return {
    findings: accountable ? explained(findings) : [...findings, ...apart(input, sums)],
    pinned,
  };
}

/** Leaves out needless refusals where counts are in excess: the calls that explain those may explain the refusals, too. */
const explained = (findings: readonly LawFinding[]): readonly LawFinding[] =>
  findings.some(({ kind }) => kind === "excess")
    ? findings.filter(({ kind }) => kind !== "needless")
    : findings;

/**
 * Tells whether the points by an answer have passed the limit, its own among them. A refusal that shows a later window
 * was charged to an earlier one: then a count of the limit has all its points from other calls.
 */
const isPast = ({ refusedBy, count, held }: Mark, { limit, countsOwn }: BoundsTask): boolean =>
  refusedBy !== null && refusedBy === countsOwn && count >= limit && held > 0;

/**
 * Compares readings with each other, in a window that may hold more than its marks explain: it was open when the trace
 * began, or others call, too. The rest beside its marks is at most a count minus the points that must have been charged
 * by then. It is at least a count minus all points that may have been. If all calls since the start are known, the rest
 * can only fall, as points are given back. From `keptFrom` on it can only grow. Returns the greatest contradictions.
 */
function apart(task: BoundsTask, sums: Sums): LawFinding[] {
  const { marks, startedBy, keptFrom, fromZero, complete, binding, time } = task;
  const exact = marks.filter(({ clamped }) => !clamped || binding);
  const most = (mark: Mark): number => mark.count - sums.leastBefore(mark);
  const least = (mark: Mark): number => mark.count - sums.mostBy(mark);
  const found: LawFinding[] = [];
  if (complete && !fromZero) {
    const since = exact.filter(({ sent }) => sent >= startedBy);
    const rise = greatestFall(
      time,
      since,
      (mark) => -most(mark),
      marks,
      (mark) => -least(mark),
    );
    if (rise !== null) {
      const { earlier: below, later: above, by } = rise;
      found.push({ kind: "gap", from: above.count - by, to: above.count, above, below });
    }
  }
  const kept = marks.filter(({ sent }) => sent >= keptFrom);
  const fall = greatestFall(time, kept, least, exact, most);
  if (fall === null) return found;
  const { earlier, later, by } = fall;
  const isFall = keptFrom === Number.NEGATIVE_INFINITY && later.count < earlier.count;
  return [...found, { kind: "fall", earlier, later, least: isFall ? null : later.count + by }];
}

/** Returns the pair of marks, one answered before the other was sent, whose values fall most; `null` if none fall. */
function greatestFall(
  time: TraceTime,
  earlier: readonly Mark[],
  before: (mark: Mark) => number,
  later: readonly Mark[],
  after: (mark: Mark) => number,
): { readonly earlier: Mark; readonly later: Mark; readonly by: number } | null {
  const answered = earlier.toSorted((a, b) => a.received - b.received);
  const highest: { readonly value: number; readonly mark: Mark }[] = [];
  for (const mark of answered) {
    const value = before(mark);
    const known = highest.at(-1);
    highest.push(known === undefined || value >= known.value ? { value, mark } : known);
  }
  let worst: ReturnType<typeof greatestFall> = null;
  for (const mark of later) {
    const known = highest[firstWhere(answered, ({ received }) => !time.before(received, mark.sent)) - 1];
    if (known === undefined) continue;
    const by = known.value - after(mark);
    if (by > (worst?.by ?? 0)) worst = { earlier: known.mark, later: mark, by };
  }
  return worst;
}

type SumsTask = Pick<BoundsTask, "marks" | "others" | "time" | "certainFrom">;

/** Prefix sums over the marks by `received` and by `sent`: "before" is monotone in both. */
export class Sums {
  readonly #input: SumsTask;
  readonly #others: ReadonlySet<Mark>;
  readonly #byReceived: readonly Mark[];
  /** Running sums of `least`, and of `held - most`, in the order of `received`. */
  readonly #leasts: Float64Array;
  readonly #givenBack: Float64Array;
  readonly #bySent: readonly Mark[];
  readonly #helds: Float64Array;

  constructor(input: SumsTask) {
    this.#input = input;
    this.#others = new Set(input.others);
    const all = [...input.marks, ...input.others];
    this.#byReceived = all.toSorted((a, b) => a.received - b.received);
    this.#bySent = all.toSorted((a, b) => a.sent - b.sent);
    this.#leasts = running(this.#byReceived, (mark) => this.#least(mark));
    this.#givenBack = running(this.#byReceived, ({ held, most }) => returnedOf(held, most));
    this.#helds = running(this.#bySent, (mark) => mark.held);
  }

  /** Returns the charge that a call surely left here: 0 if it may belong to another window. */
  #least(mark: Mark): number {
    return this.#others.has(mark) ? 0 : surely(this.#input, mark);
  }

  leastBefore(mark: Mark): number {
    return this.#sumBefore(this.#leasts, mark) + this.#least(mark);
  }

  mostBy(mark: Mark): number {
    const { time } = this.#input;
    const begun = firstWhere(this.#bySent, (other) => time.before(mark.received, other.sent));
    return (
      (this.#helds[begun] as number) -
      this.#sumBefore(this.#givenBack, mark) -
      returnedOf(mark.held, mark.most)
    );
  }

  #sumBefore(sums: Float64Array, mark: Mark): number {
    const { time } = this.#input;
    return sums[firstWhere(this.#byReceived, (other) => !time.before(other.received, mark.sent))] as number;
  }
}

/** Returns the charge that a call which shows this window surely left: 0 if it was sent before the window had opened. */
function surely({ certainFrom }: SumsTask, mark: Mark): number {
  return mark.sent >= certainFrom ? mark.least : 0;
}

function running(marks: readonly Mark[], value: (mark: Mark) => number): Float64Array {
  const sums = new Float64Array(marks.length + 1);
  for (const [index, mark] of marks.entries()) sums[index + 1] = (sums[index] as number) + value(mark);
  return sums;
}

/** Returns the first index from which on `holds` is true. */
function firstWhere(marks: readonly Mark[], holds: (mark: Mark) => boolean): number {
  let low = 0;
  let high = marks.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const mark = marks[middle];
    if (mark !== undefined && holds(mark)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Returns the fewest calls before a mark whose points alone pass its count. */
function fewest(input: BoundsTask, mark: Mark): readonly Mark[] {
  const before = input.marks
    .filter((other) => surely(input, other) > 0 && input.time.before(other.received, mark.sent))
    .sort((a, b) => b.least - a.least);
  let sum = surely(input, mark);
  const by: Mark[] = [];
  for (const other of before) {
    if (sum > mark.count) break;
    sum += other.least;
    by.push(other);
  }
  return by;
}
