// The limiter by any policy over integer handles, the fast twin of `reference.ts`: one table a quota, one row of rows a
// caller, no object and no string made per decision. Nothing here knows a clock: every time is an argument in whole
// milliseconds since the Unix epoch.
import type { Policy } from "../policy/policy.ts";
import { advanceWindow, chargeWindow, readWindow, windowRoom } from "./algorithms/fixed-window.ts";
import {
  advanceBucket,
  bucketRoom,
  bucketRoomAt,
  chargeBucket,
  giveBackBucket,
  readBucket,
} from "./algorithms/token-bucket.ts";
import {
  type CompiledOperation,
  type CompiledQuota,
  compiledOperations,
  compiledQuotas,
  OWN,
  requireEnforceable,
} from "./compiled-policy.ts";
import {
  COUNT,
  type CountState,
  CountTable,
  DOUBLES,
  ENDS_AT,
  NOT_OPEN,
  type Profile,
  SEEN,
} from "./count-table.ts";

/** Outcome of `decide` where no quota refuses; otherwise it is the place of the one that does. */
export const NONE_REFUSED = -1;
/** A caller's row in a quota whose key it does not fill. */
export const NO_ROW = -1;
/** A caller's row in a quota whose whole key it fills: itself. */
export const OWN_ROW = -2;

/** A reading to fill; who reads often keeps one. */
export interface CountReading {
  limit: number;
  remaining: number;
  used: number;
  resetAtMs: number;
}

export const emptyCountReading = (): CountReading => ({ limit: 0, remaining: 0, used: 0, resetAtMs: 0 });

function requireCount(value: number, field: string): void {
  if (!Number.isSafeInteger(value) || value < 0)
    throw new RangeError(`${field} must be a safe integer >= 0, got ${value}`);
}

/** A quota, and its counts. */
interface Kept extends CompiledQuota {
  readonly table: CountTable;
}

/** An operation, and its quotas. */
interface Operation extends CompiledOperation {
  readonly kept: readonly Kept[];
}

function advance({ table, grid }: Kept, row: number, nowMs: number): void {
  if (grid === null) advanceBucket(table, row, nowMs);
  else advanceWindow(table, row, grid, nowMs);
}

function lacksRoom({ table, grid, isWhole }: Kept, row: number, asked: number): boolean {
  return (isWhole ? asked : 1) > (grid === null ? bucketRoom(table, row) : windowRoom(table, row));
}

function charge({ table, grid }: Kept, row: number, cost: number): void {
  if (grid === null) chargeBucket(table, row, cost);
  else chargeWindow(table, row, grid, cost);
}

/**
 * The pure limiter (POLICY.md §2-§5) over rows from `addCount` and callers from `addCaller`.
 * Times are safe integers >= 0 in milliseconds; anything else is a RangeError that names the field.
 */
export class PolicyCore {
  readonly operations: readonly Operation[];
  readonly quotas: readonly CompiledQuota[];
  readonly #kept: readonly Kept[];
  /** The rows of each caller, one for each quota. */
  #rows = new Int32Array(0);
  #callers = 0;
  readonly #free: number[] = [];
  #floorMs = 0;

  /** @throws SpillwayError `POLICY_UNSUPPORTED` where a quota has an algorithm that is described alone */
  constructor(policy: Policy) {
    requireEnforceable(policy);
    this.quotas = compiledQuotas(policy);
    this.#kept = this.quotas.map((quota) => ({ ...quota, table: new CountTable() }));
    this.operations = compiledOperations(policy).map((operation) => ({
      ...operation,
      kept: operation.quotas.map((place) => this.#of(place)),
    }));
  }

  /** Earlier times than this count as this (POLICY.md §2.1). */
  get floorMs(): number {
    return this.#floorMs;
  }

  raiseFloor(nowMs: number): void {
    requireCount(nowMs, "nowMs");
    this.#floorMs = Math.max(this.#floorMs, nowMs);
  }

  #of(quota: number): Kept {
    return this.#kept[quota] as Kept;
  }

  /** Returns the row of a fresh count that callers share, valid until it is dropped. */
  addCount(quota: number, profile: Profile, enforced: boolean): number {
    return this.#of(quota).table.take(profile, enforced);
  }

  dropCount(quota: number, row: number): void {
    this.#of(quota).table.give(row);
  }

  /**
   * Returns a caller's handle, valid until it is dropped. It is the row of the counts of its own, which `addOwn` begins.
   * @param rows its row in each quota, `OWN_ROW` or `NO_ROW`
   */
  addCaller(rows: readonly number[]): number {
    const caller = this.#free.pop() ?? this.#callers++;
    const at = caller * this.#kept.length;
    if (at >= this.#rows.length) {
      const larger = new Int32Array(Math.max(64 * this.#kept.length, this.#rows.length * 2));
      larger.set(this.#rows);
      this.#rows = larger;
    }
    for (const [place, row] of rows.entries()) this.#rows[at + place] = row === OWN_ROW ? caller : row;
    return caller;
  }

  /** Begins a count of a caller's own. */
  addOwn(caller: number, quota: number, profile: Profile, enforced: boolean): void {
    const { table, linked } = this.#of(quota);
    table.begin(caller, profile, enforced);
    if (linked >= 0) table.setLink(caller, this.rowOf(caller, linked));
  }

  dropCaller(caller: number): void {
    this.#free.push(caller);
  }

  rowOf(caller: number, quota: number): number {
    return this.#rows[caller * this.#kept.length + quota] as number;
  }

  setEnforced(quota: number, row: number, enforced: boolean): void {
    this.#of(quota).table.setEnforced(row, enforced);
  }

  /**
   * Decides one call and charges it (POLICY.md §2). The caller has a row in each quota of the operation.
   * @param operation its place in `operations`
   * @param cost what the call declares, a safe integer >= 0
   * @returns the place of the quota that refused, or `NONE_REFUSED`
   */
  decide(caller: number, operation: number, cost: number, nowMs: number): number {
    requireCount(cost, "cost");
    requireCount(nowMs, "nowMs");
    const { kept, sources, costs, isTogether, isFree } = this.operations[operation] as Operation;
    const now = nowMs > this.#floorMs ? nowMs : this.#floorMs;
    let refusing = NONE_REFUSED;
    for (let index = 0; index < kept.length; index++) {
      const one = kept[index] as Kept;
      const row = this.#row(caller, one, sources[index] as number);
      const known = costs[index] as number;
      advance(one, row, now);
      if (
        refusing === NONE_REFUSED &&
        lacksRoom(one, row, known < 0 ? cost : known) &&
        this.#isEnforced(caller, one, row)
      )
        refusing = index;
    }
    if (refusing !== NONE_REFUSED && isFree) return (kept[refusing] as Kept).place;
    if (refusing !== NONE_REFUSED || !isTogether) return this.#chargeEach(caller, operation, cost, refusing);
    for (let index = 0; index < kept.length; index++) {
      const one = kept[index] as Kept;
      if (one.isLate) continue;
      const known = costs[index] as number;
      charge(one, this.#row(caller, one, sources[index] as number), known < 0 ? cost : known);
    }
    return NONE_REFUSED;
  }

  #row(caller: number, { place }: Kept, source: number): number {
    if (source === OWN) return caller;
    if (source >= 0) return (this.#kept[source] as Kept).table.link(caller);
    return this.#rows[caller * this.#kept.length + place] as number;
  }

  /** Charges the quotas of a call that was refused, or whose quotas decide each by itself. */
  #chargeEach(caller: number, operation: number, cost: number, refusing: number): number {
    const { kept, costs, relation } = this.operations[operation] as Operation;
    const last = relation === "first-refusal-stops" && refusing >= 0 ? refusing : kept.length - 1;
    for (const [index, one] of kept.slice(0, last + 1).entries()) {
      const row = this.rowOf(caller, one.place);
      const known = costs[index] as number;
      const asked = known < 0 ? cost : known;
      const isAlone = relation === "each-alone" && lacksRoom(one, row, asked);
      const isRefusing = index === refusing || (isAlone && this.#isEnforced(caller, one, row));
      const isCharged = isRefusing
        ? one.countsRefused
        : relation === "all-or-nothing"
          ? one.chargedWithOthers
          : !one.isLate;
      if (isCharged) charge(one, row, asked);
    }
    return refusing < 0 ? NONE_REFUSED : (kept[refusing] as Kept).place;
  }

  #isEnforced(caller: number, { table, place, enforcedBy }: Kept, row: number): boolean {
    if (enforcedBy === place) return table.isEnforced(row);
    return this.#of(enforcedBy).table.isEnforced(this.rowOf(caller, enforcedBy));
  }

  /**
   * Completes an admitted call (POLICY.md §4). @param cost what it declared, @param actual what it used, at most as much
   * @param windows `windowOf` each quota of the operation just after the decision
   */
  settle(
    caller: number,
    operation: number,
    cost: number,
    actual: number,
    windows: ArrayLike<number>,
    nowMs: number,
  ): void {
    requireCount(actual, "actual");
    requireCount(nowMs, "nowMs");
    const { kept, costs, isFixed } = this.operations[operation] as Operation;
    const now = Math.max(nowMs, this.#floorMs);
    const asked = costs.map((known) => (known < 0 ? cost : known));
    for (const [index, most] of asked.entries())
      if (isFixed[index] === false && actual > most)
        throw new RangeError(`actual must be at most the ${most} that were asked for, got ${actual}`);
    for (const [index, one] of kept.entries()) {
      const row = this.rowOf(caller, one.place);
      const most = asked[index] as number;
      advance(one, row, now);
      this.#complete(one, row, most, isFixed[index] === true ? most : actual, windows[index] as number);
    }
  }

  #complete(kept: Kept, row: number, asked: number, used: number, window: number): void {
    const { table, grid, isHeld, isLate } = kept;
    if (grid === null) {
      if (isHeld) giveBackBucket(table, row, asked - used);
      if (isLate) chargeBucket(table, row, used);
      return;
    }
    const at = row * DOUBLES;
    const isSame = window !== NOT_OPEN && table.doubles[at + ENDS_AT] === window;
    if (isHeld && isSame) table.doubles[at + COUNT] = (table.doubles[at + COUNT] as number) - (asked - used);
    if (isLate && (isSame || window === NOT_OPEN)) chargeWindow(table, row, grid, used);
  }

  /** End of a caller's window as a call of its left it, or `NOT_OPEN`; to be asked just after the call. */
  windowOf(caller: number, quota: number): number {
    return this.#of(quota).table.doubles[this.rowOf(caller, quota) * DOUBLES + ENDS_AT] as number;
  }

  /** The instant at which a quota has room for a cost, seen from its last call; `null` where it never has. */
  roomAt(quota: number, row: number, cost: number): number | null {
    const kept = this.#of(quota);
    const { table, grid, isWhole } = kept;
    const needed = isWhole ? cost : 1;
    if (needed > table.profile(row).limit) return null;
    if (grid === null) return bucketRoomAt(table, row, needed);
    const out = { used: 0, resetAtMs: 0 };
    readWindow(table, row, grid, table.doubles[row * DOUBLES + SEEN] as number, out);
    return out.resetAtMs;
  }

  /** Reads a count at `nowMs` without moving its clock (POLICY.md §5). */
  read(quota: number, row: number, nowMs: number, out: CountReading): void {
    const { table, grid, isSigned } = this.#of(quota);
    const now = Math.max(nowMs, this.#floorMs, table.doubles[row * DOUBLES + SEEN] as number);
    if (grid === null) readBucket(table, row, now, out);
    else readWindow(table, row, grid, now, out);
    out.limit = table.profile(row).limit;
    const left = out.limit - out.used;
    out.remaining = isSigned ? left : Math.max(0, left);
  }

  /** Tells whether a caller's quota may refuse now. */
  isEnforced(caller: number, quota: number): boolean {
    return this.#isEnforced(caller, this.#of(quota), this.rowOf(caller, quota));
  }

  /** Tells whether a fresh count would answer alike from the floor on. */
  isIdle(quota: number, row: number): boolean {
    const { endsAt, seenMs } = this.exportCount(quota, row);
    if (seenMs > this.#floorMs || endsAt > this.#floorMs) return false;
    const reading = emptyCountReading();
    this.read(quota, row, this.#floorMs, reading);
    return reading.used === 0;
  }

  exportCount(quota: number, row: number): CountState {
    return this.#of(quota).table.read(row);
  }

  importCount(quota: number, row: number, state: CountState): void {
    this.#of(quota).table.write(row, state);
  }
}
