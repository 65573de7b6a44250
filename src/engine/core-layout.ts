// Quotas and operations as the core reads them: places of counts in the tables, and numbers in place of members.
import type { CompiledOperation, CompiledQuota } from "./compiled-policy.ts";
import type { Blocks, CountLayout } from "./count-blocks.ts";
import { type CountTable, INTS } from "./count-table.ts";

/** A quota, and the place of its counts. */
export interface Kept extends CompiledQuota {
  readonly table: CountTable;
  readonly blocks: Blocks;
  readonly offset: number;
  /** Rows that were given back, for a quota with shared counts. */
  readonly free: number[];
  rows: number;
}

// Places in a profile.
export const FIRST = 1;
export const SECOND = 2;

// Bits of an operation's quota: its kind, and above that its offset in a block.
export const IS_OWN = 1;
export const IS_BUCKET = 2;
export const TAKES_ANY = 4;
export const IS_LATE = 8;
export const JOINS = 16;
export const IS_SIGNED = 32;
export const OFFSET = 6;

const bitsOf = (
  { isOwn, grid, isWhole, isLate, isSigned, place, enforcedBy }: CompiledQuota,
  offset: number,
): number =>
  (isOwn ? IS_OWN : 0) |
  (grid === null ? IS_BUCKET : 0) |
  (isWhole ? 0 : TAKES_ANY) |
  (isLate ? IS_LATE : 0) |
  (enforcedBy === place ? 0 : JOINS) |
  (isSigned ? IS_SIGNED : 0) |
  (offset << OFFSET);

/** An operation, as decisions read it. */
export interface CoreOperation extends CompiledOperation {
  readonly kept: readonly Kept[];
  readonly known: Float64Array;
  readonly bits: Int32Array;
  /** Index of the quota, up to this one, whose `enforced` each quota has; -1 if no such quota has it. */
  readonly switches: Int32Array;
  readonly own: CountTable;
  readonly size: number;
  readonly isPair: boolean;
}

/** Tells whether the quotas of an operation are the usual two windows. */
function isPair({ isTogether, isFree, costs }: CompiledOperation, kept: readonly Kept[]): boolean {
  const [first, second] = kept;
  if (first === undefined || second === undefined || kept.length > 2) return false;
  const isPlain = kept.every(({ grid, isWhole, isLate }) => grid !== null && isWhole && !isLate);
  const joins = second.enforcedBy === first.place || second.enforcedBy === second.place;
  const isEnforced = first.enforcedBy === first.place && joins;
  return (
    isPlain && isEnforced && isTogether && isFree && !first.isOwn && second.isOwn && costs[0] === costs[1]
  );
}

// Both add to the compiled objects: copies by spread have a hidden class each, and decisions would be slow to ask many
// cores in turn.

/** Returns the quotas with the places of their counts. @param shared table of the counts that callers share */
export const keptIn = (layout: CountLayout, quotas: readonly CompiledQuota[], shared: CountTable): Kept[] =>
  quotas.map((quota, place) => {
    const blocks = layout.ofQuota[place] as Blocks;
    const table = quota.isOwn ? blocks.table : shared;
    const offset = blocks.offsets.get(place) as number;
    return Object.assign(quota, { table, blocks, offset, free: [], rows: 0 });
  });

/** Returns the operations as decisions read them. */
export const laidOut = (
  layout: CountLayout,
  operations: readonly CompiledOperation[],
  all: readonly Kept[],
): CoreOperation[] =>
  operations.map((operation, index) => {
    const { table, size, offsets } = layout.ofOperation[index] as Blocks;
    const kept = operation.quotas.map((place) => all[place] as Kept);
    return Object.assign(operation, {
      kept,
      known: Float64Array.from(operation.costs),
      bits: Int32Array.from(kept, (quota) => bitsOf(quota, offsets.get(quota.place) as number)),
      switches: Int32Array.from(kept, ({ enforcedBy }, at) =>
        kept.findIndex(({ place }, before) => before <= at && place === enforcedBy),
      ),
      own: table,
      size,
      isPair: isPair(operation, kept),
    });
  });

/** Returns the record of a caller's count; below 0 if it has none. */
export function recordOf({ isOwn, blocks: { table, size }, offset }: Kept, caller: number): number {
  const block = caller * size;
  return isOwn ? block + offset : (table.ints[block * INTS + offset] as number);
}

export const numberOf = (table: CountTable, record: number, place: number): number =>
  table.profiles[table.profileAt(record) + place] as number;
