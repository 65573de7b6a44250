// Places: where a window's count only grows, every answer reveals its own. With limit L, `remaining` r and cost
// c, an admitted call took (L - r - c, L - r] of its window's count, and what shows a count without adding to it
// stands at a point. So no search is needed: sorted by place, charges must not overlap, gaps are points that no
// call explains, and whatever was answered before something else was sent must stand before it.
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
  /** Marks sent at or after this were surely decided after the trace began. */
  readonly startedBy: number;
  /** Calls sent at or after this were surely charged to the window they show. */
  readonly certainFrom: number;
  /** True if no count passes the limit: a `remaining` of 0 is a count of exactly the limit then. */
  readonly binding: boolean;
}

export interface PlacesResult {
  readonly findings: readonly LawFinding[];
  /** Points, and the calls they belong to, that may lie in this window at places that were not shown. */
  readonly loose: { readonly points: number; readonly calls: number };
}

/** A mark's place `(from, to]`; `from === to` where it adds nothing, or not surely. */
interface Place {
  readonly from: number;
  readonly to: number;
  readonly mark: Mark;
  /** The count was at least `to`, nobody knows how much more. */
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
  // Of equal ends the charge comes first: what shows a count without adding to it stands behind it.
  places.sort((a, b) => a.to - b.to || b.to - b.from - (a.to - a.from) || a.mark.line - b.mark.line);
  return { findings: new PlaceScan(input).run(places), loose };
}

/** One pass over the places in order. */
class PlaceScan {
  readonly #input: PlacesInput;
  readonly #findings: LawFinding[] = [];
  /** Up to where charges lie, or counts that were seen exactly; `null` while the window's start is unknown. */
  #top: number | null;
  #topMark: Mark | null = null;
  /** A mark that shows the count to have come at least so far. */
  #openMark: Mark | null = null;
  /** True if a gap above here lies within the trace. */
  #accountable: boolean;
  /** Of the marks that stand before, the one sent last. */
  #latest: Mark | null = null;
  /** The same among marks that add nothing and show the same count: they are in no order among themselves. */
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

  /** Orders a mark that shows only that the count had come so far: after all that stands lower, before nothing. */
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
