// The outcome of each call of a few clients over time: this picture shows whether clients act as a herd.
// The number of marks is bounded: marks too close to tell apart become one. If too many remain, the rest of the run
// is left out: a mark for many calls over hours would not show which call waits for which.
import type { PopulationSummary } from "./summary.ts";
import type { ToldCall } from "./told.ts";

/** Ends of a call. `refusedByQuota`: under a policy. `refusedByUnknown`: neither body nor headers name the window. */
export const callOutcomes = [
  "admitted",
  "refusedByUser",
  "refusedByOrganization",
  "refusedByQuota",
  "refusedByUnknown",
  "unanswered",
] as const;
export type CallOutcome = (typeof callOutcomes)[number];

/** Returns numbers of calls by outcome, before the first call. */
export const noOutcomes = (): Record<CallOutcome, number> => ({
  admitted: 0,
  refusedByUser: 0,
  refusedByOrganization: 0,
  refusedByQuota: 0,
  refusedByUnknown: 0,
  unanswered: 0,
});

export function outcomeOf({ end, owner, refusedBy }: ToldCall): CallOutcome {
  if (end !== "refused") return end;
  if (refusedBy !== null) return "refusedByQuota";
  if (owner === null) return "refusedByUnknown";
  return owner === "user" ? "refusedByUser" : "refusedByOrganization";
}

/** Calls of one client that ended alike within one slot. */
export interface TimelineMark {
  /** Time of the first answer, ms since the run's start. */
  readonly atMs: number;
  readonly outcome: CallOutcome;
  readonly count: number;
}

export interface TimelineRow {
  /** `population/index`. */
  readonly client: string;
  /** Number of the client's calls in the whole run, by outcome. */
  readonly counts: Readonly<Record<CallOutcome, number>>;
  /** Marks in the order of time. */
  readonly marks: readonly TimelineMark[];
}

export interface Timeline {
  /** Rows of the first clients of each population, in the order of populations. */
  readonly rows: readonly TimelineRow[];
  /** Length of a slot, ms; a client's calls that ended alike in one slot share a mark. */
  readonly slotMs: number;
  /** Time from which marks are left out, ms since the run's start; `null` if none are. */
  readonly untilMs: number | null;
}

/** Most rows of a timeline; a reader could not tell more apart. */
export const timelineRowsMost = 12;
/** Most marks of a whole timeline. */
export const timelineMarksMost = 2_400;
/** Number of slots in a row that widening must leave; each is then half a pixel wide. */
const apart = 1_500;

interface Row {
  readonly client: string;
  readonly counts: Record<CallOutcome, number>;
  /** Time of the first answer, ms, and number of calls, by outcome and slot. */
  marks: Map<number, { atMs: number; count: number }>;
}

/** Returns each population's number of rows. Populations take one row in turn, until rows or clients run out. */
export function rowsOf(populations: readonly PopulationSummary[]): Map<string, number> {
  const calling = populations.filter(({ figures }) => figures.calls > 0);
  const rows = new Map(calling.map(({ name }) => [name, 0]));
  let left = timelineRowsMost;
  for (let given = true; given && left > 0; ) {
    given = false;
    for (const { name, clients } of calling) {
      const has = rows.get(name) as number;
      if (left === 0 || has >= clients) continue;
      rows.set(name, has + 1);
      left -= 1;
      given = true;
    }
  }
  return rows;
}

export class TimelineCollector {
  readonly #populations: readonly string[];
  readonly #left: Map<string, number>;
  readonly #rows = new Map<string, Row>();
  #slotMs = 1;
  #untilMs = Infinity;
  #marks = 0;

  /** @param populations of the whole run, as the summary has them */
  constructor(populations: readonly PopulationSummary[]) {
    this.#populations = populations.map(({ name }) => name);
    this.#left = rowsOf(populations);
  }

  /** @param atMs of the answer, since the run's start */
  add(client: string, outcome: CallOutcome, atMs: number): void {
    const row = this.#row(client);
    if (row === null) return;
    row.counts[outcome] += 1;
    if (atMs >= this.#untilMs) return;
    const key = this.#key(callOutcomes.indexOf(outcome), atMs);
    const mark = row.marks.get(key);
    if (mark !== undefined) {
      mark.count += 1;
      mark.atMs = Math.min(mark.atMs, atMs);
      return;
    }
    row.marks.set(key, { atMs, count: 1 });
    this.#marks += 1;
    if (this.#marks > timelineMarksMost) this.#makeRoom(atMs);
  }

  /** Widens the slots, then cuts off the run's end if needed. Answers must come nearly in the order of time. */
  #makeRoom(nowMs: number): void {
    while (this.#marks > 0.75 * timelineMarksMost && 2 * this.#slotMs * apart <= nowMs) this.#coarsen();
    if (this.#marks <= timelineMarksMost) return;
    this.#untilMs = Math.min(nowMs, 0.95 * this.#untilMs);
    this.#marks = 0;
    for (const { marks } of this.#rows.values()) {
      for (const [key, { atMs }] of marks) if (atMs >= this.#untilMs) marks.delete(key);
      this.#marks += marks.size;
    }
  }

  #row(client: string): Row | null {
    const known = this.#rows.get(client);
    if (known !== undefined) return known;
    const population = populationOf(client);
    const left = this.#left.get(population) ?? 0;
    if (left === 0) return null;
    this.#left.set(population, left - 1);
    const row: Row = { client, counts: noOutcomes(), marks: new Map() };
    this.#rows.set(client, row);
    return row;
  }

  #key(outcome: number, atMs: number): number {
    return Math.floor(atMs / this.#slotMs) * callOutcomes.length + outcome;
  }

  #coarsen(): void {
    this.#slotMs *= 2;
    this.#marks = 0;
    for (const row of this.#rows.values()) {
      row.marks = this.#merged(row.marks);
      this.#marks += row.marks.size;
    }
  }

  #merged(marks: Row["marks"]): Row["marks"] {
    const merged: Row["marks"] = new Map();
    for (const [old, { atMs, count }] of marks) {
      const key = this.#key(old % callOutcomes.length, atMs);
      const mark = merged.get(key);
      if (mark === undefined) merged.set(key, { atMs, count });
      else merged.set(key, { atMs: Math.min(mark.atMs, atMs), count: mark.count + count });
    }
    return merged;
  }

  finish(): Timeline {
    const order = (client: string): number => this.#populations.indexOf(populationOf(client));
    const rows = [...this.#rows.values()].sort(
      (a, b) => order(a.client) - order(b.client) || indexOf(a.client) - indexOf(b.client),
    );
    return {
      slotMs: this.#slotMs,
      untilMs: this.#untilMs === Infinity ? null : this.#untilMs,
      rows: rows.map(({ client, counts, marks }) => ({
        client,
        counts,
        marks: [...marks]
          .map(([key, { atMs, count }]) => ({
            atMs,
            outcome: callOutcomes[key % callOutcomes.length] as CallOutcome,
            count,
          }))
          .sort((a, b) => a.atMs - b.atMs),
      })),
    };
  }
}

/** Returns the name of a client's population. */
export function populationOf(client: string): string {
  const slash = client.lastIndexOf("/");
  return slash < 0 ? client : client.slice(0, slash);
}

/** Returns a client's number in its population; 0 if its name has none. */
function indexOf(client: string): number {
  const index = Number(client.slice(client.lastIndexOf("/") + 1));
  return Number.isFinite(index) ? index : 0;
}
