// Bounds: where points are given back (`reserved`) or places are hidden, a count is judged by what must have
// been charged by then and what may have been. Jepsen's `checker/counter` is the known form of this.
//
// With "before" as the trace allows it, a reading r of count v satisfies
//   sum of least(j) over calls j before r  <=  v  <=  sum over calls j that r is not before, of
//                                                      most(j) where j was before r, else held(j)
// since a call before r has completed (it holds its final points), one that r is before has not begun, and any
// other may hold from nothing up to all that it asked for. r's own call is complete in its own answer.
import type { TraceTime } from "./clock.ts";
import type { LawFinding } from "./finding.ts";
import type { Mark } from "./mark.ts";

export interface BoundsTask {
  /** Marks that show this window. */
  readonly marks: readonly Mark[];
  /** Calls that show a later window, and may have been charged to this one. */
  readonly others: readonly Mark[];
  readonly limit: number;
  readonly time: TraceTime;
  readonly fromZero: boolean;
  /** When the trace had surely begun: an answer to a call sent since then shows all that was charged before it. */
  readonly startedBy: number;
  readonly complete: boolean;
  readonly certainFrom: number;
  readonly binding: boolean;
}

export interface BoundsResult {
  readonly findings: readonly LawFinding[];
  /** Readings that could have had one value alone. */
  readonly pinned: number;
}

/** Judges one window by bounds. O(n log n). */
export function judgeBounds(input: BoundsTask): BoundsResult {
  const findings: LawFinding[] = [];
  let pinned = 0;
  const sums = new Sums(input);
  for (const mark of input.marks) {
    const exact = !mark.clamped || input.binding;
    const least = sums.leastBefore(mark);
    if (exact && mark.count < least) findings.push({ kind: "short", mark, least, by: fewest(input, mark) });
    const most = sums.mostBy(mark);
    const accountable = input.fromZero && input.complete;
    if (accountable && mark.count > most) findings.push({ kind: "excess", mark, most });
    if (accountable && exact && least === most) pinned += 1;
    if (input.binding && input.fromZero && exact && mark.count > input.limit)
      findings.push({ kind: "beyond", mark });
  }
  const grown = input.fromZero || !input.complete ? null : growth(input, sums);
  return { findings: grown === null ? findings : [...findings, grown], pinned };
}

/**
 * The most by which a count grew that no call explains, in a window that was open when the trace began. What it held by
 * then is unknown, and can only become less: a reading bounds it from above, and every later one from below.
 */
function growth({ marks, time, startedBy, binding }: BoundsTask, sums: Sums): LawFinding | null {
  const exact = marks.filter(({ clamped, sent }) => (!clamped || binding) && sent >= startedBy);
  const earlier = exact.toSorted((a, b) => a.received - b.received);
  const heldMost: { readonly points: number; readonly mark: Mark }[] = [];
  for (const mark of earlier) {
    const points = mark.count - sums.leastBefore(mark);
    const least = heldMost.at(-1);
    heldMost.push(least === undefined || points < least.points ? { points, mark } : least);
  }
  let worst: Extract<LawFinding, { kind: "gap" }> | null = null;
  for (const above of marks) {
    const known = heldMost[firstWhere(earlier, ({ received }) => !time.before(received, above.sent)) - 1];
    if (known === undefined) continue;
    const by = above.count - sums.mostBy(above) - known.points;
    if (by > (worst === null ? 0 : worst.to - worst.from))
      worst = { kind: "gap", from: above.count - by, to: above.count, above, below: known.mark };
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
    this.#givenBack = running(this.#byReceived, (mark) => mark.held - mark.most);
    this.#helds = running(this.#bySent, (mark) => mark.held);
  }

  /** Charge that this call surely left here: nothing, where it may belong to another window. */
  #least(mark: Mark): number {
    return this.#others.has(mark) ? 0 : surely(this.#input, mark);
  }

  leastBefore(mark: Mark): number {
    return this.#sumBefore(this.#leasts, mark) + this.#least(mark);
  }

  mostBy(mark: Mark): number {
    const { time } = this.#input;
    const begun = firstWhere(this.#bySent, (other) => time.before(mark.received, other.sent));
    return (this.#helds[begun] ?? 0) - this.#sumBefore(this.#givenBack, mark) - (mark.held - mark.most);
  }

  #sumBefore(sums: Float64Array, mark: Mark): number {
    const { time } = this.#input;
    return sums[firstWhere(this.#byReceived, (other) => !time.before(other.received, mark.sent))] ?? 0;
  }
}

/** Returns the charge that a call which shows this window surely left: nothing, if it was sent before it opened. */
function surely({ certainFrom }: SumsTask, mark: Mark): number {
  return mark.sent >= certainFrom ? mark.least : 0;
}

function running(marks: readonly Mark[], value: (mark: Mark) => number): Float64Array {
  const sums = new Float64Array(marks.length + 1);
  for (const [index, mark] of marks.entries()) sums[index + 1] = (sums[index] ?? 0) + value(mark);
  return sums;
}

/** The first index from which on `holds` is true. */
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

/** The fewest calls before a mark whose points alone pass its count. */
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
