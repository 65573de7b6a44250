// The points that pictures are drawn from: counts over time, thinned while the trace is read, so that a million calls
// leave a few hundred.
import { type Rules, type Scope, scopes } from "../rules/rules.ts";
import type { TraceCall } from "../trace/record.ts";
import { isAnswered, isRefusal, refusedBy } from "../wire/outcome.ts";
import type { Summary, WindowSummary } from "./summary.ts";
import { type CallOutcome, outcomeOf, type Timeline, TimelineCollector } from "./timeline.ts";
import {
  describeWindow,
  headerReading,
  type Reading,
  statusReadings,
  type WindowEntry,
  WindowTracker,
} from "./windows.ts";

/** Whose windows, and which: an organization's or a user's, of one scope. */
export interface WindowKey {
  readonly org: string;
  /** `null` for the organization's windows. */
  readonly user: string | null;
  readonly scope: Scope;
}

/** Ms since the run's start, and a value. */
export type Point = readonly [atMs: number, value: number];

/** One owner's windows, one after the other. */
export interface WindowSeries extends WindowKey {
  /** A step line: each value holds until the next point; it falls to 0 where a window ends. */
  readonly counts: readonly Point[];
  readonly limits: readonly Point[];
  /** Number of calls that these windows refused, at the middle of each of `refusalSlots` spans of time. */
  readonly refusals: readonly Point[];
  readonly windows: readonly WindowSummary[];
  /** There are too many windows to draw each: a point of `counts` is the highest count of one or several. */
  readonly perWindow: boolean;
}

/** Counts of the answers of one span of time. */
export interface TrafficSlot extends Record<CallOutcome, number> {
  readonly atMs: number;
}

export interface Series {
  /** Ms; no less than 1. */
  readonly lengthMs: number;
  readonly slotMs: number;
  readonly traffic: readonly TrafficSlot[];
  readonly windows: readonly WindowSeries[];
  readonly timeline: Timeline;
}

const slotsMost = 60;
const fineSlots = 400;
/** Into how many spans a run's refusals are gathered. */
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
  /** The highest count of each fine slot. */
  readonly counts: Map<number, number>;
}

interface Drawn {
  readonly key: WindowKey;
  readonly windows: Map<WindowEntry, DrawnWindow>;
  readonly refusals: Map<number, number>;
}

const nameOf = ({ org, user, scope }: WindowKey): string =>
  user === null ? `${scope}\n${org}` : `${scope}\n${org}\n${user}`;

/** Gathers the series of chosen windows; a second pass, since which are worth drawing is known after the first. */
export class SeriesCollector {
  readonly #startedAt: number;
  readonly #lengthMs: number;
  readonly #drawn: Map<string, Drawn>;
  readonly #tracker: WindowTracker;
  readonly #traffic: TrafficSlot[];
  readonly #slotMs: number;
  readonly #timeline: TimelineCollector;

  constructor(summary: Summary, rules: Rules | null, keys: readonly WindowKey[]) {
    this.#startedAt = summary.startedAt;
    this.#lengthMs = Math.max(1, summary.endedAt - summary.startedAt);
    this.#tracker = new WindowTracker(rules);
    this.#drawn = new Map(keys.map((key) => [nameOf(key), { key, windows: new Map(), refusals: new Map() }]));
    this.#slotMs = slotWidth(this.#lengthMs);
    this.#timeline = new TimelineCollector(summary.populations);
    const slots = Math.ceil(this.#lengthMs / this.#slotMs);
    this.#traffic = Array.from({ length: slots }, (_, index) => ({
      atMs: index * this.#slotMs,
      admitted: 0,
      refusedByOrganization: 0,
      refusedByUser: 0,
      refusedByUnknown: 0,
      unanswered: 0,
    }));
  }

  add(call: TraceCall): void {
    const owner = isRefusal(call.status) ? refusedBy(call) : null;
    const admitted = call.kind === "call" && !isRefusal(call.status) && isAnswered(call);
    if (call.kind === "call") this.#count(call, owner);
    if (call.kind === "status")
      for (const reading of statusReadings(call)) this.#place(reading, false, false);
    const organization = headerReading(call, "organization");
    if (organization !== null) this.#place(organization, admitted, owner === "organization");
    const user = headerReading(call, "user");
    if (user !== null) this.#place(user, admitted, owner === "user");
  }

  #count(call: TraceCall, owner: ReturnType<typeof refusedBy>): void {
    const outcome = outcomeOf(call, owner);
    const atMs = Math.min(Math.max(0, call.received - this.#startedAt), this.#lengthMs);
    this.#timeline.add(call.client, outcome, atMs);
    const slot = this.#traffic[Math.min(Math.floor(atMs / this.#slotMs), this.#traffic.length - 1)];
    if (slot !== undefined) slot[outcome] += 1;
  }

  #place(reading: Reading, admitted: boolean, refused: boolean): void {
    const drawn = this.#drawn.get(nameOf(reading));
    if (drawn === undefined) return;
    const entry = this.#tracker.place(reading);
    const slot = Math.floor(((reading.received - this.#startedAt) / this.#lengthMs) * fineSlots);
    let window = drawn.windows.get(entry);
    if (window === undefined) {
      window = { entry, counts: new Map() };
      drawn.windows.set(entry, window);
    }
    if (reading.count !== null)
      window.counts.set(slot, Math.max(window.counts.get(slot) ?? 0, reading.count));
    if (admitted) entry.admitted += 1;
    if (!refused) return;
    entry.refused += 1;
    const span = Math.min(Math.floor((slot * refusalSlots) / fineSlots), refusalSlots - 1);
    drawn.refusals.set(span, (drawn.refusals.get(span) ?? 0) + 1);
  }

  finish(): Series {
    const windows = [...this.#drawn.values()].map((drawn) => this.#describe(drawn));
    const timeline = this.#timeline.finish();
    return { lengthMs: this.#lengthMs, slotMs: this.#slotMs, traffic: this.#traffic, windows, timeline };
  }

  #describe({ key, windows, refusals }: Drawn): WindowSeries {
    const described = [...windows.values()]
      .map(({ entry, counts }) => ({ window: describeWindow(entry), counts }))
      .sort((a, b) => a.window.endsAt - b.window.endsAt);
    const perWindow = described.length > windowsDrawnMost;
    const counts = perWindow
      ? thin(described.map(({ window }) => [this.#clip(window.opensAt), window.highest ?? 0]))
      : described.flatMap(({ window, counts }) => this.#steps(window, counts));
    return {
      ...key,
      counts,
      limits: this.#limits(described.map(({ window }) => window)),
      refusals: [...refusals]
        .sort(([a], [b]) => a - b)
        .map(([span, count]) => [Math.round(((span + 0.5) / refusalSlots) * this.#lengthMs), count]),
      windows: described.map(({ window }) => window),
      perWindow,
    };
  }

  #steps(window: WindowSummary, counts: ReadonlyMap<number, number>): Point[] {
    const opensAt = this.#clip(window.opensAt);
    const endsAt = this.#clip(window.endsAt);
    const steps: Point[] = [[opensAt, 0]];
    for (const [slot, count] of [...counts].sort(([a], [b]) => a - b))
      steps.push([Math.min(Math.max(opensAt, this.#slotAt(slot)), endsAt), count]);
    steps.push([endsAt, steps.at(-1)?.[1] ?? 0]);
    if (window.endsAt - this.#startedAt <= this.#lengthMs) steps.push([endsAt, 0]);
    return steps;
  }

  /** Only where it changes, and at the ends. */
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

/** At most `fineSlots` points: the highest of each run of neighbours. */
function thin(points: readonly Point[]): Point[] {
  const stride = Math.ceil(points.length / fineSlots);
  const kept: Point[] = [];
  for (let index = 0; index < points.length; index += stride) {
    const group = points.slice(index, index + stride);
    const first = group[0];
    if (first !== undefined) kept.push([first[0], Math.max(...group.map(([, value]) => value))]);
  }
  return kept;
}

const organizationsDrawn = 3;
const usersDrawn = 2;

/**
 * The windows worth a picture: both scopes of the organizations that were refused most, and the users' windows
 * that refused most.
 */
export function windowsWorthDrawing(summary: Summary): WindowKey[] {
  const owners = new Map<string, { key: WindowKey; admitted: number; refused: number }>();
  for (const { org, user, scope, admitted, refused } of summary.windows) {
    const key = { org, user, scope };
    const owner = owners.get(nameOf(key)) ?? { key, admitted: 0, refused: 0 };
    owner.admitted += admitted;
    owner.refused += refused;
    owners.set(nameOf(key), owner);
  }
  const ranked = [...owners.values()]
    .filter(({ admitted, refused }) => admitted + refused > 0)
    .sort((a, b) => b.refused - a.refused || b.admitted - a.admitted);
  const organizations = ranked.filter(({ key }) => key.user === null);
  const drawnOrganizations = [...new Set(organizations.map(({ key }) => key.org))].slice(
    0,
    organizationsDrawn,
  );
  const users = ranked.filter(({ key, refused }) => key.user !== null && refused > 0).slice(0, usersDrawn);
  return [
    ...drawnOrganizations.flatMap((org) =>
      scopes.flatMap((scope) => organizations.filter(({ key }) => key.org === org && key.scope === scope)),
    ),
    ...users,
  ].map(({ key }) => key);
}
