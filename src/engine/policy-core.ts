// The limiter by any policy over integer handles, the fast twin of `reference.ts`. Counts are records of two tables; a
// decision makes no object and no string. Nothing here knows a clock: every time is an argument in whole milliseconds
// since the Unix epoch.
//
// Most policies use two windows for a call: one shared by several callers, and one of the caller alone. `decide` has a
// path without a loop for such a pair. The same tests compare it with the reference.
import type { Policy } from "../policy/policy.ts";
import {
  advanceWindow,
  chargeWindow,
  type Grid,
  giveBackWindow,
  openWindow,
  readWindow,
  rollWindow,
} from "./algorithms/fixed-window.ts";
import {
  advanceBucket,
  bucketHasAt,
  bucketUsed,
  chargeBucket,
  giveBackBucket,
  readBucket,
} from "./algorithms/token-bucket.ts";
import {
  type CompiledQuota,
  compiledOperations,
  compiledQuotas,
  requireEnforceable,
} from "./compiled-policy.ts";
import {
  type CoreOperation,
  FIRST,
  IS_BUCKET,
  IS_LATE,
  IS_OWN,
  IS_SIGNED,
  JOINS,
  type Kept,
  keptIn,
  laidOut,
  numberOf,
  OFFSET,
  recordOf,
  SECOND,
  TAKES_ANY,
} from "./core-layout.ts";
import { type Blocks, layoutOf } from "./count-blocks.ts";
import {
  CLOCK,
  type CountReading,
  ENFORCED,
  emptyCountReading,
  LIMIT,
  READING,
  REMAINING,
  RESET_AT,
  USED,
} from "./count-reading.ts";
import {
  COUNT,
  type CountProfile,
  type CountState,
  CountTable,
  DOUBLES,
  ENDS_AT,
  INTS,
  LINK,
  NOT_OPEN,
  PROFILE,
  SEEN,
} from "./count-table.ts";

/** Outcome of `decide` if no quota refuses; otherwise the outcome is the place of the refusing quota. */
export const NONE_REFUSED = -1;
/** Row of a caller that lacks attributes of the quota's key. */
export const NO_ROW = -1;
/** Row of a caller in a quota whose key it fills with all its attributes: the caller itself. */
export const OWN_ROW = -2;

function requireCount(value: number, field: string): void {
  if (!Number.isSafeInteger(value) || value < 0)
    throw new RangeError(`${field} must be a safe integer >= 0, got ${value}`);
}

function lacksRoom({ table, grid, isWhole }: Kept, record: number, asked: number): boolean {
  const at = record * DOUBLES;
  const used =
    grid === null
      ? bucketUsed(table.doubles, at, numberOf(table, record, SECOND))
      : (table.doubles[at + COUNT] as number);
  return (isWhole ? asked : 1) > table.limit(record) - used;
}

/**
 * The pure limiter (POLICY.md §2-§5) over rows from `addCount` and callers from `addCaller`.
 * Times are safe integers >= 0 in milliseconds; anything else is a RangeError that names the field.
 */
export class PolicyCore {
  readonly operations: readonly CoreOperation[];
  readonly quotas: readonly CompiledQuota[];
  readonly #kept: readonly Kept[];
  readonly #shared = new CountTable();
  readonly #blocks: readonly Blocks[];
  /** Number of quotas with shared counts: their records lie in turn. */
  readonly #turns: number;
  #callers = 0;
  readonly #free: number[] = [];
  #floorMs = 0;
  readonly #reading = emptyCountReading();
  /** Time and cost of the call: as arguments both would become objects. */
  readonly #asked = new Float64Array(2);
  /** Records of the call's quotas. */
  readonly #records: Int32Array;

  /** @throws SpillwayError `POLICY_UNSUPPORTED` if a quota has an algorithm that the engine does not enforce */
  constructor(policy: Policy) {
    requireEnforceable(policy);
    this.quotas = compiledQuotas(policy);
    this.#records = new Int32Array(this.quotas.length);
    const operations = compiledOperations(policy);
    const layout = layoutOf(this.quotas, operations);
    this.#blocks = layout.all;
    this.#turns = this.quotas.filter(({ isOwn }) => !isOwn).length;
    this.#kept = keptIn(layout, this.quotas, this.#shared);
    this.operations = laidOut(layout, operations, this.#kept);
  }

  /** Earliest time, ms; earlier ones count as this (POLICY.md §2.1). */
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

  /** Begins a shared count. @returns its row, valid until it is dropped */
  addCount(quota: number, profile: CountProfile, enforced: boolean): number {
    const kept = this.#of(quota);
    const row = kept.free.pop() ?? kept.rows++;
    kept.table.begin(this.#record(kept, row), profile, enforced);
    return row;
  }

  dropCount(quota: number, row: number): void {
    this.#of(quota).free.push(row);
  }

  /**
   * Adds a caller. Its handle, valid until dropped, is also the row of its own counts, which `addOwn` begins.
   * @param rows row of the caller in each quota, `OWN_ROW` or `NO_ROW`
   */
  addCaller(rows: readonly number[]): number {
    const caller = this.#free.pop() ?? this.#callers++;
    for (const { table, size, offsets } of this.#blocks) {
      table.reserve((caller + 1) * size);
      for (const [place, offset] of offsets) {
        const kept = this.#of(place);
        const row = rows[place] as number;
        if (kept.isOwn) table.clear(caller * size + offset);
        else table.ints[caller * size * INTS + offset] = row === NO_ROW ? NO_ROW : this.#record(kept, row);
      }
    }
    return caller;
  }

  /** Begins a count of a caller's own. */
  addOwn(caller: number, quota: number, profile: CountProfile, enforced: boolean): void {
    const kept = this.#of(quota);
    kept.table.begin(this.#record(kept, caller), profile, enforced);
  }

  dropCaller(caller: number): void {
    this.#free.push(caller);
  }

  /** Reads what a call of the first operation needs first, so that it is in the cache. Returns any number. */
  lookAt(caller: number): number {
    const { own, size } = this.operations[0] as CoreOperation;
    return own.ints[caller * size * INTS + LINK] as number;
  }

  rowOf(caller: number, quota: number): number {
    const kept = this.#of(quota);
    const record = recordOf(kept, caller);
    if (kept.isOwn) return kept.table.has(record) ? caller : NO_ROW;
    return record < 0 ? NO_ROW : (record - kept.turn) / this.#turns;
  }

  /** Returns the record of a count, by its row. */
  #record({ isOwn, blocks, offset, turn }: Kept, row: number): number {
    return isOwn ? row * blocks.size + offset : row * this.#turns + turn;
  }

  setEnforced(quota: number, row: number, enforced: boolean): void {
    const kept = this.#of(quota);
    kept.table.setEnforced(this.#record(kept, row), enforced);
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
    const one = this.operations[operation] as CoreOperation;
    this.#asked[0] = Math.max(nowMs, this.#floorMs);
    this.#asked[1] = cost;
    if (one.isPair) return this.#decidePair(one, caller);
    const refusing = this.#refusing(one, caller);
    if (refusing !== NONE_REFUSED && one.isFree) return one.quotas[refusing] as number;
    if (refusing !== NONE_REFUSED || !one.isTogether) return this.#chargeEach(caller, one, cost, refusing);
    this.#admit(one);
    return NONE_REFUSED;
  }

  #decidePair(one: CoreOperation, caller: number): number {
    const now = this.#asked[0] as number;
    const declared = this.#asked[1] as number;
    const { own, size, bits } = one;
    const shared = this.#shared;
    const { doubles, ints, profiles } = own;
    const broad = ints[caller * size * INTS + ((bits[0] as number) >> OFFSET)] as number;
    const narrow = caller * size + ((bits[1] as number) >> OFFSET);
    const at = broad * DOUBLES;
    const ownAt = narrow * DOUBLES;
    if (advanceWindow(shared.doubles, at, now)) this.#roll(one, 0, broad);
    if (advanceWindow(doubles, ownAt, now)) this.#roll(one, 1, narrow);
    const before = one.known[0] as number;
    const asked = before < 0 ? declared : before;
    const profile = shared.ints[broad * INTS + PROFILE] as number;
    const ownProfile = ints[narrow * INTS + PROFILE] as number;
    // Differences are exact here; sums could pass the range in which doubles are.
    const room =
      (shared.profiles[(profile >> 1) * DOUBLES] as number) - (shared.doubles[at + COUNT] as number);
    const ownRoom = (profiles[(ownProfile >> 1) * DOUBLES] as number) - (doubles[ownAt + COUNT] as number);
    if (asked > room && (profile & 1) === 1) return one.quotas[0] as number;
    const enforcing = ((bits[1] as number) & JOINS) === 0 ? ownProfile : profile;
    if (asked > ownRoom && (enforcing & 1) === 1) return one.quotas[1] as number;
    if (shared.doubles[at + ENDS_AT] === NOT_OPEN) this.#open(one, 0, broad);
    chargeWindow(shared.doubles, at, asked);
    if (doubles[ownAt + ENDS_AT] === NOT_OPEN) this.#open(one, 1, narrow);
    chargeWindow(doubles, ownAt, asked);
    return NONE_REFUSED;
  }

  #at({ bits, own, size }: CoreOperation, index: number, caller: number): number {
    const one = bits[index] as number;
    const block = caller * size;
    return (one & IS_OWN) !== 0
      ? block + (one >> OFFSET)
      : (own.ints[block * INTS + (one >> OFFSET)] as number);
  }

  /**
   * Moves the clocks of an operation's quotas, and notes their records.
   * @returns index of the first quota that refuses, or `NONE_REFUSED`
   */
  #refusing(one: CoreOperation, caller: number): number {
    const now = this.#asked[0] as number;
    const declared = this.#asked[1] as number;
    const { bits: all, known, own, size } = one;
    const records = this.#records;
    const block = caller * size;
    let refusing = NONE_REFUSED;
    for (let index = all.length - 1; index >= 0; index--) {
      const bits = all[index] as number;
      const isOwn = (bits & IS_OWN) !== 0;
      const { doubles, ints, profiles } = isOwn ? own : this.#shared;
      const place = bits >> OFFSET;
      const record = isOwn ? block + place : (own.ints[block * INTS + place] as number);
      records[index] = record;
      const before = known[index] as number;
      const asked = (bits & TAKES_ANY) !== 0 ? 1 : before < 0 ? declared : before;
      const at = record * DOUBLES;
      const profile = ints[record * INTS + PROFILE] as number;
      const numbers = (profile >> 1) * DOUBLES;
      let used: number;
      if ((bits & IS_BUCKET) !== 0) {
        advanceBucket(doubles, at, profiles[numbers + FIRST] as number, now);
        used = bucketUsed(doubles, at, profiles[numbers + SECOND] as number);
      } else {
        if (advanceWindow(doubles, at, now)) this.#roll(one, index, record);
        used = doubles[at + COUNT] as number;
      }
      if (asked <= (profiles[numbers] as number) - used) continue;
      if ((bits & JOINS) === 0 ? (profile & 1) === 1 : this.#isEnforced(one.kept[index] as Kept, caller))
        refusing = index;
    }
    return refusing;
  }

  /** Charges the noted records of an operation with an admitted call. */
  #admit({ bits, known, kept }: CoreOperation): void {
    const declared = this.#asked[1] as number;
    for (let index = 0; index < bits.length; index++) {
      if (((bits[index] as number) & IS_LATE) !== 0) continue;
      const before = known[index] as number;
      this.#charge(kept[index] as Kept, this.#records[index] as number, before < 0 ? declared : before);
    }
  }

  #roll({ kept }: CoreOperation, index: number, record: number): void {
    const { table, grid } = kept[index] as Kept;
    rollWindow(table.doubles, record * DOUBLES, grid as Grid, numberOf(table, record, FIRST));
  }

  #open({ kept }: CoreOperation, index: number, record: number): void {
    const { table, grid } = kept[index] as Kept;
    openWindow(table.doubles, record * DOUBLES, grid as Grid, numberOf(table, record, FIRST));
  }

  #charge({ table, grid }: Kept, record: number, cost: number): void {
    const { doubles } = table;
    const at = record * DOUBLES;
    if (grid === null) {
      chargeBucket(doubles, at, cost * numberOf(table, record, SECOND));
      return;
    }
    if (doubles[at + ENDS_AT] === NOT_OPEN) openWindow(doubles, at, grid, numberOf(table, record, FIRST));
    chargeWindow(doubles, at, cost);
  }

  /** Charges the noted records of a call that was refused, or whose quotas decide each by itself. */
  #chargeEach(caller: number, one: CoreOperation, cost: number, refusing: number): number {
    const { kept, known, relation } = one;
    const last = relation === "first-refusal-stops" && refusing >= 0 ? refusing : kept.length - 1;
    for (const [index, quota] of kept.slice(0, last + 1).entries()) {
      const { countsRefused, chargedWithOthers, isLate } = quota;
      const record = this.#records[index] as number;
      const before = known[index] as number;
      const asked = before < 0 ? cost : before;
      const isAlone = relation === "each-alone" && lacksRoom(quota, record, asked);
      const isRefusing = index === refusing || (isAlone && this.#isEnforced(quota, caller));
      const isCharged = isRefusing
        ? countsRefused
        : relation === "all-or-nothing"
          ? chargedWithOthers
          : !isLate;
      if (isCharged) this.#charge(quota, record, asked);
    }
    return refusing < 0 ? NONE_REFUSED : (kept[refusing] as Kept).place;
  }

  #isEnforced({ enforcedBy }: Kept, caller: number): boolean {
    const other = this.#of(enforcedBy);
    return other.table.isEnforced(recordOf(other, caller));
  }

  /**
   * Completes an admitted call (POLICY.md §4). @param cost declared cost @param actual units used, at most that cost
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
    const { kept, costs, isFixed } = this.operations[operation] as CoreOperation;
    const now = Math.max(nowMs, this.#floorMs);
    const asked = costs.map((known) => (known < 0 ? cost : known));
    for (const [index, most] of asked.entries())
      if (isFixed[index] === false && actual > most)
        throw new RangeError(`actual must be at most the ${most} that were asked for, got ${actual}`);
    for (const [index, one] of kept.entries()) {
      const record = recordOf(one, caller);
      const most = asked[index] as number;
      this.#complete(
        one,
        record,
        most,
        isFixed[index] === true ? most : actual,
        windows[index] as number,
        now,
      );
    }
  }

  #complete(kept: Kept, record: number, asked: number, used: number, window: number, now: number): void {
    const { table, grid, isHeld, isLate } = kept;
    const { doubles } = table;
    const at = record * DOUBLES;
    const first = numberOf(table, record, FIRST);
    if (grid === null) advanceBucket(doubles, at, first, now);
    else if (advanceWindow(doubles, at, now)) rollWindow(doubles, at, grid, first);
    if (isHeld && grid === null)
      giveBackBucket(doubles, at, (asked - used) * numberOf(table, record, SECOND));
    else if (isHeld) giveBackWindow(doubles, at, asked - used, window);
    const isSame = grid === null || window === NOT_OPEN || doubles[at + ENDS_AT] === window;
    if (isLate && isSame) this.#charge(kept, record, used);
  }

  /** Returns the end of a caller's window after its call, or `NOT_OPEN`. Ask just after the call. */
  windowOf(caller: number, quota: number): number {
    const kept = this.#of(quota);
    return kept.table.doubles[recordOf(kept, caller) * DOUBLES + ENDS_AT] as number;
  }

  /** Returns the instant at which a quota has room for a cost, from its last call on; `null` if it never has. */
  roomAt(quota: number, row: number, cost: number): number | null {
    const kept = this.#of(quota);
    const { table, grid, isWhole } = kept;
    const record = this.#record(kept, row);
    const needed = isWhole ? cost : 1;
    const [first, second] = [numberOf(table, record, FIRST), numberOf(table, record, SECOND)];
    const spare = table.limit(record) - needed;
    if (spare < 0) return null;
    const { doubles } = table;
    const at = record * DOUBLES;
    if (grid === null) return bucketHasAt(doubles, at, spare * second, first);
    const out = { used: 0, resetAtMs: 0 };
    readWindow(doubles, at, grid, first, doubles[at + SEEN] as number, out);
    return out.resetAtMs;
  }

  /** Returns what a call asks of a quota of its operation. @param declared its own cost, which some quotas charge */
  costOf(operation: number, quota: number, declared: number): number {
    const { quotas, costs } = this.operations[operation] as CoreOperation;
    const cost = costs[quotas.indexOf(quota)] as number;
    return cost < 0 ? declared : cost;
  }

  /** Returns the instant at which a quota has room for a call of the caller, as `roomAt`. */
  retryAt(caller: number, operation: number, quota: number, declared: number): number | null {
    return this.roomAt(quota, this.rowOf(caller, quota), this.costOf(operation, quota, declared));
  }

  /** Reads a count at `nowMs` without moving its clock (POLICY.md §5). */
  read(quota: number, row: number, nowMs: number, out: CountReading): void {
    const kept = this.#of(quota);
    this.#read(kept, this.#record(kept, row), nowMs, out);
  }

  /**
   * Reads a caller's counts of an operation, one after the other, without making or filling an object.
   * @param out receives six numbers a quota: limit, remaining, used, end of the window, time of the reading, and 1 if
   * the quota may refuse
   */
  readEach(caller: number, operation: number, nowMs: number, out: Float64Array): void {
    const one = this.operations[operation] as CoreOperation;
    const least = Math.max(nowMs, this.#floorMs);
    const { length } = one.bits;
    for (let index = 0; index < length; index++) {
      const bits = one.bits[index] as number;
      const { doubles, ints, profiles } = (bits & IS_OWN) !== 0 ? one.own : this.#shared;
      const record = this.#at(one, index, caller);
      const now = Math.max(least, doubles[record * DOUBLES + SEEN] as number);
      const to = index * READING;
      out[to + CLOCK] = now;
      const endsAt = doubles[record * DOUBLES + ENDS_AT] as number;
      if (now < endsAt) {
        out[to + USED] = doubles[record * DOUBLES + COUNT] as number;
        out[to + RESET_AT] = endsAt;
      } else this.#readOver(one.kept[index] as Kept, record, now, out, to);
      const profile = ints[record * INTS + PROFILE] as number;
      const limit = profiles[(profile >> 1) * DOUBLES] as number;
      const left = limit - (out[to + USED] as number);
      out[to + LIMIT] = limit;
      out[to + REMAINING] = (bits & IS_SIGNED) !== 0 ? left : Math.max(0, left);
      const by = one.switches[index] as number;
      if (by === index) out[to + ENFORCED] = profile & 1;
      else
        out[to + ENFORCED] =
          by < 0
            ? Number(this.#isEnforced(one.kept[index] as Kept, caller))
            : (out[by * READING + ENFORCED] as number);
    }
  }

  /** Reads a bucket, or a window that is over. */
  #readOver(kept: Kept, record: number, now: number, out: Float64Array, to: number): void {
    const reading = this.#reading;
    this.#read(kept, record, now, reading);
    out[to + USED] = reading.used;
    out[to + RESET_AT] = reading.resetAtMs;
  }

  #read({ table, grid, isSigned }: Kept, record: number, nowMs: number, out: CountReading): void {
    const { doubles } = table;
    const at = record * DOUBLES;
    const now = Math.max(nowMs, this.#floorMs, doubles[at + SEEN] as number);
    const endsAt = doubles[at + ENDS_AT] as number;
    if (now < endsAt) {
      out.used = doubles[at + COUNT] as number;
      out.resetAtMs = endsAt;
    } else {
      const first = numberOf(table, record, FIRST);
      if (grid === null) readBucket(doubles, at, first, numberOf(table, record, SECOND), now, out);
      else readWindow(doubles, at, grid, first, now, out);
    }
    const limit = table.limit(record);
    const left = limit - out.used;
    out.limit = limit;
    out.remaining = isSigned ? left : Math.max(0, left);
    out.clockMs = now;
  }

  /** Tells whether a caller's quota may refuse now. */
  isEnforced(caller: number, quota: number): boolean {
    return this.#isEnforced(this.#of(quota), caller);
  }

  /** Tells whether a fresh count would give the same answers from the floor on. */
  isIdle(quota: number, row: number): boolean {
    const { endsAt, seenMs } = this.exportCount(quota, row);
    if (seenMs > this.#floorMs || endsAt > this.#floorMs) return false;
    const reading = emptyCountReading();
    this.read(quota, row, this.#floorMs, reading);
    return reading.used === 0;
  }

  exportCount(quota: number, row: number): CountState {
    const kept = this.#of(quota);
    return kept.table.read(this.#record(kept, row));
  }

  importCount(quota: number, row: number, state: CountState): void {
    const kept = this.#of(quota);
    kept.table.write(this.#record(kept, row), state);
  }
}
