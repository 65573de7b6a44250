// The points of pictures: counts over time, thinned while the trace is read, so that a million calls leave a few
// hundred points.
import { scopes } from "../rules/rules.ts";
import { type Whose, whoseOf } from "../trace/whose.ts";
import type { Summary, WindowSummary } from "./summary.ts";
import { type CallOutcome, noOutcomes, outcomeOf, type Timeline, TimelineCollector } from "./timeline.ts";
import { type AnyCall, isNarrow, type Teller, type ToldCall, type ToldWindow, whoseName } from "./told.ts";
import { describeWindow, hasEnd, type WindowEntry, WindowTracker } from "./windows.ts";

/** Time, ms since the run's start, and a value. */
export type Point = readonly [atMs: number, value: number];

/** One owner's windows, one after the other, or the level of a quota without windows. */
export type WindowSeries = Whose & SeriesFacts;

interface SeriesFacts {
  /** Step line: a value holds until the next point, and falls to 0 at a window's end. */
  readonly counts: readonly Point[];
  readonly limits: readonly Point[];
  /** Number of refusals by these windows, at the middle of each of `refusalSlots` spans of time. */
  readonly refusals: readonly Point[];
  readonly windows: readonly WindowSummary[];
  /** True if there are too many windows to draw each; a point of `counts` is the highest count of one or more. */
  readonly perWindow: boolean;
}

/** Number of calls of one span of time, by outcome. */
export interface TrafficSlot extends Record<CallOutcome, number> {
  readonly atMs: number;
}

export interface Series {
  /** Length of the run, ms, at least 1. */
  readonly lengthMs: number;
  readonly slotMs: number;
  readonly traffic: readonly TrafficSlot[];
  readonly windows: readonly WindowSeries[];
  readonly timeline: Timeline;
}

const slotsMost = 60;
const fineSlots = 400;
/** Number of spans into which a run's refusals are gathered. */
export const refusalSlots = 100;
const windowsDrawnMost = 100;

/** Widths that people read easily, ms. */
const slotWidths = [
  100, 200, 500, 1000, 2000, 5000, 10_000, 15_000, 30_000, 60_000, 120_000, 300_000, 600_000,
];

function slotWidth(lengthMs: number): number {
  const fits = slotWidths.find((width) => lengthMs / width <= slotsMost);
  return fits ?? Math.ceil(lengthMs / slotsMost / 3_600_000) * 3_600_000;
}

interface DrawnWindow {
  readonly entry: WindowEntry;
  /** Highest count by fine slot. */
  readonly counts: Map<number, number>;
}

interface Drawn {
  readonly whose: Whose;
  readonly windows: Map<WindowEntry, DrawnWindow>;
  readonly refusals: Map<number, number>;
  /** For a quota without windows: highest count by fine slot, and the limits that answers showed. */
  readonly levels: Map<number, number>;
  readonly limits: [slot: number, limit: number][];
}

/** Gathers the series of chosen windows in a second pass; the first pass finds the windows worth drawing. */
export class SeriesCollector {
  readonly #startedAt: number;
  readonly #lengthMs: number;
  readonly #teller: Teller;
  readonly #drawn: Map<string, Drawn>;
  /** Series by owner; `null` if the owner is not drawn. */
  readonly #known = new Map<Whose, Drawn | null>();
  readonly #tracker: WindowTracker;
  readonly #traffic: TrafficSlot[];
  readonly #slotMs: number;
  readonly #timeline: TimelineCollector;

  constructor(summary: Summary, teller: Teller, drawn: readonly Whose[]) {
    this.#startedAt = summary.startedAt;
    this.#lengthMs = Math.max(1, summary.endedAt - summary.startedAt);
    this.#teller = teller;
    this.#tracker = new WindowTracker(teller.lengths);
    this.#drawn = new Map(drawn.map((whose) => [whoseName(whose), newlyDrawn(whose)]));
    this.#slotMs = slotWidth(this.#lengthMs);
    this.#timeline = new TimelineCollector(summary.populations);
    const slots = Math.ceil(this.#lengthMs / this.#slotMs);
    this.#traffic = Array.from({ length: slots }, (_, index) => ({
      atMs: index * this.#slotMs,
      ...noOutcomes(),
    }));
  }

  add(call: AnyCall): void {
    const told = this.#teller.told(call);
    const { kind, end, shown, used, refusing } = told;
    const admitted = kind === "call" && end === "admitted";
    if (kind === "call") this.#count(told);
    for (const window of shown) this.#place(window, false, false);
    for (const window of used) this.#place(window, admitted, window === refusing);
  }

  #count(call: ToldCall): void {
    const outcome = outcomeOf(call);
    const atMs = Math.min(Math.max(0, call.received - this.#startedAt), this.#lengthMs);
    this.#timeline.add(call.client, outcome, atMs);
    const slot = Math.min(Math.floor(atMs / this.#slotMs), this.#traffic.length - 1);
    (this.#traffic[slot] as TrafficSlot)[outcome] += 1;
  }

  #drawnOf(whose: Whose): Drawn | null {
    let drawn = this.#known.get(whose);
    if (drawn === undefined) {
      drawn = this.#drawn.get(whoseName(whose)) ?? null;
      this.#known.set(whose, drawn);
    }
    return drawn;
  }

  #place(shown: ToldWindow, admitted: boolean, refused: boolean): void {
    const drawn = this.#drawnOf(shown.whose);
    if (drawn === null) return;
    const slot = Math.floor(((shown.received - this.#startedAt) / this.#lengthMs) * fineSlots);
    if (hasEnd(shown)) {
      const entry = this.#tracker.place(shown);
      let window = drawn.windows.get(entry);
      if (window === undefined) {
        window = { entry, counts: new Map() };
        drawn.windows.set(entry, window);
      }
      if (shown.count !== null) highest(window.counts, slot, shown.count);
      if (admitted) entry.admitted += 1;
      if (refused) entry.refused += 1;
    } else {
      if (shown.count !== null) highest(drawn.levels, slot, shown.count);
      if (shown.limit !== null && drawn.limits.at(-1)?.[1] !== shown.limit)
        drawn.limits.push([slot, shown.limit]);
    }
    if (!refused) return;
    const span = Math.min(Math.floor((slot * refusalSlots) / fineSlots), refusalSlots - 1);
    drawn.refusals.set(span, (drawn.refusals.get(span) ?? 0) + 1);
  }

  finish(): Series {
    const windows = [...this.#drawn.values()].map((drawn) => this.#describe(drawn));
    const timeline = this.#timeline.finish();
    return { lengthMs: this.#lengthMs, slotMs: this.#slotMs, traffic: this.#traffic, windows, timeline };
  }

  #describe({ whose, windows, refusals, levels, limits }: Drawn): WindowSeries {
    const described = [...windows.values()]
      .map(({ entry, counts }) => ({ window: describeWindow(entry), counts }))
      .sort((a, b) => a.window.endsAt - b.window.endsAt);
    const perWindow = described.length > windowsDrawnMost;
    const counts = perWindow
      ? thin(described.map(({ window }) => [this.#clip(window.opensAt), window.highest ?? 0]))
      : described.flatMap(({ window, counts }) => this.#steps(window, counts));
    const hasLevels = levels.size > 0;
    return {
      ...whoseOf(whose),
      counts: hasLevels ? this.#levels(levels) : counts,
      limits: hasLevels ? this.#levelLimits(limits) : this.#limits(described.map(({ window }) => window)),
      refusals: [...refusals]
        .sort(([a], [b]) => a - b)
        .map(([span, count]) => [Math.round(((span + 0.5) / refusalSlots) * this.#lengthMs), count]),
      windows: described.map(({ window }) => window),
      perWindow,
    };
  }

  #levels(levels: ReadonlyMap<number, number>): Point[] {
    return [...levels].sort(([a], [b]) => a - b).map(([slot, level]) => [this.#slotAt(slot), level]);
  }

  #levelLimits(limits: Drawn["limits"]): Point[] {
    const [first] = limits;
    if (first === undefined) return [];
    const changes = limits.slice(1).map(([slot, limit]): Point => [this.#slotAt(slot), limit]);
    return [[0, first[1]], ...changes, [this.#lengthMs, (changes.at(-1) ?? first)[1]]];
  }

  #steps(window: WindowSummary, counts: ReadonlyMap<number, number>): Point[] {
    const opensAt = this.#clip(window.opensAt);
    const endsAt = this.#clip(window.endsAt);
    const steps: Point[] = [[opensAt, 0]];
    for (const [slot, count] of [...counts].sort(([a], [b]) => a - b))
      steps.push([Math.min(Math.max(opensAt, this.#slotAt(slot)), endsAt), count]);
    steps.push([endsAt, (steps.at(-1) as Point)[1]]);
    if (window.endsAt - this.#startedAt <= this.#lengthMs) steps.push([endsAt, 0]);
    return steps;
  }

  /** Returns the limit at each change, and at both ends of the run. */
  #limits(windows: readonly WindowSummary[]): Point[] {
    const points: Point[] = [];
    for (const { limit, opensAt } of windows)
      if (limit !== null && points.at(-1)?.[1] !== limit) points.push([this.#clip(opensAt), limit]);
    const first = points[0];
    const last = points.at(-1);
    if (first === undefined || last === undefined) return [];
    return [[0, first[1]], ...points.slice(1), [this.#lengthMs, last[1]]];
  }

  #slotAt(slot: number): number {
    return Math.round((slot / fineSlots) * this.#lengthMs);
  }

  #clip(atMs: number): number {
    return Math.min(Math.max(0, atMs - this.#startedAt), this.#lengthMs);
  }
}

const newlyDrawn = (whose: Whose): Drawn => ({
  whose,
  windows: new Map(),
  refusals: new Map(),
  levels: new Map(),
  limits: [],
});

function highest(counts: Map<number, number>, slot: number, count: number): void {
  counts.set(slot, Math.max(counts.get(slot) ?? 0, count));
}

/** Returns at most `fineSlots` points: the highest of each group of neighbours. */
function thin(points: readonly Point[]): Point[] {
  const stride = Math.ceil(points.length / fineSlots);
  const kept: Point[] = [];
  for (let index = 0; index < points.length; index += stride) {
    const group = points.slice(index, index + stride);
    kept.push([(group[0] as Point)[0], Math.max(...group.map(([, value]) => value))]);
  }
  return kept;
}

const organizationsDrawn = 3;
const usersDrawn = 2;
const quotasDrawn = 6;

interface Weighed {
  readonly whose: Whose;
  admitted: number;
  refused: number;
}

/**
 * Returns the windows worth a picture: both scopes of the most refused organizations, and the users' windows that
 * refused most. Under a policy these are the most refused windows, and at least one of each quota.
 */
export function windowsWorthDrawing(summary: Summary): Whose[] {
  const owners = new Map<string, Weighed>();
  for (const { admitted, refused, ...window } of summary.windows) {
    const whose = whoseOf(window);
    const owner = owners.get(whoseName(whose)) ?? { whose, admitted: 0, refused: 0 };
    owner.admitted += admitted;
    owner.refused += refused;
    owners.set(whoseName(whose), owner);
  }
  for (const { admitted, refused, ...level } of summary.levels ?? []) {
    const whose = whoseOf(level);
    owners.set(whoseName(whose), { whose, admitted, refused });
  }
  const ranked = [...owners.values()]
    .filter(({ admitted, refused }) => admitted + refused > 0)
    .sort((a, b) => b.refused - a.refused || b.admitted - a.admitted);
  const quotas = ranked.filter(({ whose }) => "quota" in whose);
  return quotas.length > 0 ? quotasWorthDrawing(quotas) : ownersWorthDrawing(ranked);
}

function quotasWorthDrawing(ranked: readonly Weighed[]): Whose[] {
  const nameOf = ({ whose }: Weighed): string => ("quota" in whose ? whose.quota : "");
  const firsts = new Set(
    ranked.filter((each, at) => ranked.findIndex((other) => nameOf(other) === nameOf(each)) === at),
  );
  const others = ranked.filter((each) => !firsts.has(each) && each.refused > 0);
  return [...firsts, ...others].slice(0, Math.max(quotasDrawn, firsts.size)).map(({ whose }) => whose);
}

function ownersWorthDrawing(ranked: readonly Weighed[]): Whose[] {
  const rules = ranked.flatMap(({ whose, refused }) => ("quota" in whose ? [] : [{ ...whose, refused }]));
  const organizations = rules.filter(({ user }) => user === null);
  const drawn = [...new Set(organizations.map(({ org }) => org))].slice(0, organizationsDrawn);
  const users = rules.filter((each) => isNarrow(each) && each.refused > 0).slice(0, usersDrawn);
  return [
    ...drawn.flatMap((org) =>
      scopes.flatMap((scope) => organizations.filter((each) => each.org === org && each.scope === scope)),
    ),
    ...users,
  ].map(whoseOf);
}
