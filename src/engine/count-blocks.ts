// The layout of callers' counts. A caller's handle is the number of its block of records. A block has the counts of the
// caller alone, and links to those that it shares with others. Quotas that no operation uses together lie in blocks of
// different tables. So a call touches few lines of the processor's cache.
import type { CompiledOperation, CompiledQuota } from "./compiled-policy.ts";
import { blockSize, CountTable, linkAt } from "./count-table.ts";

/** Blocks of one kind. */
export interface Blocks {
  readonly table: CountTable;
  /** Number of records of a block. */
  readonly size: number;
  /** Place of each quota's own record in a block, or of its link among the integers, by place of the quota. */
  readonly offsets: ReadonlyMap<number, number>;
}

export interface CountLayout {
  readonly all: readonly Blocks[];
  /** Blocks with each quota's counts or links, by place of the quota. */
  readonly ofQuota: readonly Blocks[];
  /** Blocks with the counts or links of all quotas of an operation, by place of the operation. */
  readonly ofOperation: readonly Blocks[];
}

export function layoutOf(
  quotas: readonly CompiledQuota[],
  operations: readonly CompiledOperation[],
): CountLayout {
  const group = groupsOf(quotas, operations);
  const isOwn = (place: number): boolean => quotas[place]?.isOwn === true;
  const first = group[quotas.findIndex((quota) => quota.isOwn)] ?? 0;
  const groups = operations.map(({ quotas: used }) => group[used.find(isOwn) ?? -1] ?? first);
  const used = new Set(operations.flatMap((operation) => operation.quotas));
  const blocksOf = (one: number): Blocks => {
    const linked = operations.flatMap((operation, place) => (groups[place] === one ? operation.quotas : []));
    const spare = quotas.flatMap(({ place }) => (one === first && !used.has(place) ? [place] : []));
    const own = quotas.flatMap(({ place }) => (isOwn(place) && group[place] === one ? [place] : []));
    const links = [...new Set([...linked, ...spare])].filter((place) => !isOwn(place));
    return {
      table: new CountTable(),
      size: blockSize(own.length, links.length),
      offsets: new Map([
        ...own.map((place, index) => [place, index] as const),
        ...links.map((place, index) => [place, linkAt(own.length, index)] as const),
      ]),
    };
  };
  const blocks = new Map(
    [...new Set([first, ...group.filter((_, place) => isOwn(place))])].map((one) => [one, blocksOf(one)]),
  );
  const all = [...blocks.values()];
  return {
    all,
    ofQuota: quotas.map(({ place }) => all.find(({ offsets }) => offsets.has(place)) as Blocks),
    ofOperation: groups.map((one) => blocks.get(one) as Blocks),
  };
}

/** Returns a number for each quota: equal for callers' own quotas that an operation uses together. */
function groupsOf(quotas: readonly CompiledQuota[], operations: readonly CompiledOperation[]): number[] {
  return operations.reduce(
    (groups, { quotas: used }) => {
      const joined = used.flatMap((place) => (quotas[place]?.isOwn ? [groups[place] as number] : []));
      return groups.map((group) => (joined.includes(group) ? Math.min(...joined) : group));
    },
    quotas.map(({ place }) => place),
  );
}
