// Places: if a window's count only grows, every answer reveals its own place. With limit L, `remaining` r and cost c,
// an admitted call took (L - r - c, L - r] of the count. A mark that adds nothing stands at a point. So no search is
// needed. Sorted by place, charges must not overlap, and gaps are points that no call explains. A call that was
// answered before another was sent must stand before it.
import type { TraceTime } from "./clock.ts";
import type { LawFinding } from "./finding.ts";
import type { Mark } from "./mark.ts";

export interface PlacesInput {
  readonly marks: readonly Mark[];
  readonly limit: number;
  readonly time: TraceTime;
  /** True if this window surely began at 0. */
  readonly fromZero: boolean;
  /** True if every call that may have been charged is known, so that a gap is a contradiction. */
  readonly complete: boolean;
  /** Sending from which on a call was surely decided after the trace began. */
  readonly startedBy: number;
  /** Sending from which on a call was surely charged to the window that it shows. */
  readonly certainFrom: number;
  /** True if no count passes the limit. A `remaining` of 0 is then a count of exactly the limit. */
  readonly binding: boolean;
}

export interface PlacesResult {
  readonly findings: readonly LawFinding[];
  /** Points, and number of their calls, that may lie in this window at places that were not shown. */
  readonly loose: { readonly points: number; readonly calls: number };
}

/** Place `(from, to]` of a mark. `from === to` if the mark adds nothing, or not surely. */
interface Place {
  readonly from: number;
  readonly to: number;
  readonly mark: Mark;
  /** True if the count was `to` or any higher value. */
  readonly open: boolean;
}

/** Judges one window by places. O(n log n). */
export function judgePlaces(input: PlacesInput): PlacesResult {
  const loose = { points: 0, calls: 0 };
  const places = input.marks.map((mark) => {
    const open = mark.clamped && !input.binding;
    const certain = mark.least === mark.most && mark.sent >= input.certainFrom;
    if (mark.held > 0 && (open || !certain)) {
      loose.points += mark.held;
      loose.calls += 1;
    }
    const from = open || !certain ? mark.count : mark.count - mark.least;
    return { from, to: mark.count, mark, open };
  });
  // The charge comes first among equal ends: a mark that shows the count without adding to it stands behind the charge.
  places.sort((a, b) => a.to - b.to || b.to - b.from - (a.to - a.from) || a.mark.line - b.mark.line);
  return { findings: new PlaceScan(input).run(places), loose };
}

/** Scans the places in order, once. */
class PlaceScan {
  readonly #input: PlacesInput;
  readonly #findings: LawFinding[] = [];
  /** End of the charges and exact counts so far; `null` while the window's start is unknown. */
  #top: number | null;
  #topMark: Mark | null = null;
  /** Mark that shows the count to have come to `to` or higher. */
  #openMark: Mark | null = null;
  /** True if a gap above here lies within the trace. */
  #accountable: boolean;
  /** Mark sent last, of all marks at lower places. */
  #latest: Mark | null = null;
  /** Mark sent last among those that add nothing and show the current count. They have no order among themselves. */
  #latestHere: Mark | null = null;

  constructor(input: PlacesInput) {
    this.#input = input;
    this.#top = input.fromZero ? 0 : null;
    this.#accountable = input.fromZero;
  }

  run(places: readonly Place[]): readonly LawFinding[] {
    let last = Number.NaN;
    for (const place of places) {
      if (place.to !== last || place.from < place.to) this.#flush();
      last = place.to;
      this.#compareTimes(place);
      if (place.open) this.#openMark = place.mark;
      else {
        this.#compareCounts(place);
        this.#advance(place);
      }
    }
    if (this.#openMark !== null) this.#gap(this.#input.limit, this.#openMark);
    return this.#findings;
  }

  #compareCounts({ from, to, mark }: Place): void {
    const top = this.#top ?? (from < 0 ? 0 : null);
    if (top !== null && from < top && from < to) {
      const lost = Math.min(top - from, to - from);
      this.#findings.push({ kind: "overlap", mark, over: this.#topMark, lost });
    } else this.#gap(from, mark);
    if (this.#input.binding && to > this.#input.limit && this.#input.fromZero)
      this.#findings.push({ kind: "beyond", mark });
  }

  #gap(to: number, above: Mark): void {
    if (this.#top === null || to <= this.#top || !this.#accountable || !this.#input.complete) return;
    this.#findings.push({ kind: "gap", from: this.#top, to, above, below: this.#topMark });
  }

  /** Checks the time of a mark against those at lower places. An open mark stands after them, but before no mark. */
  #compareTimes({ mark }: Place): void {
    const latest = this.#latest;
    if (latest !== null && this.#input.time.before(mark.received, latest.sent))
      this.#findings.push({ kind: "fall", earlier: mark, later: latest, least: null });
  }

  #advance({ from, to, mark }: Place): void {
    if (this.#top === null || to >= this.#top) {
      this.#top = to;
      this.#topMark = mark;
    }
    if (mark.sent >= this.#input.startedBy) this.#accountable = true;
    if (from < to) this.#latest = laterSent(this.#latest, mark);
    else this.#latestHere = laterSent(this.#latestHere, mark);
  }

  #flush(): void {
    if (this.#latestHere !== null) this.#latest = laterSent(this.#latest, this.#latestHere);
    this.#latestHere = null;
  }
}

function laterSent(a: Mark | null, b: Mark): Mark {
  return a === null || b.sent > a.sent ? b : a;
}
