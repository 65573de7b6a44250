// The use of a log's windows by quota, as if nothing had been refused.
import { type CompiledQuota, profileOf } from "../../src/engine/compiled-policy.ts";
import { limitOf } from "../../src/policy/effective.ts";
import type { QuotaHeadroom, QuotaSmallest } from "../../src/summary/quota-replay-result.ts";
import { replayOrganizationsMost, type WindowUse } from "../../src/summary/replay-result.ts";
import type { ReplayCallers } from "./callers.ts";
import { type Demand, DemandWindows, type OnWindow } from "./demand.ts";
import { DemandBuckets } from "./demand-buckets.ts";

/** Window that needs the most, among those with one limit. */
interface Neediest {
  readonly row: number;
  readonly endsAtMs: number;
  readonly needed: number;
}

interface Kind {
  readonly name: string;
  readonly place: number;
  readonly demand: Demand;
  /** True if callers may share its counts, so that each count is described by itself. */
  readonly isShared: boolean;
  /** Uses by row if counts are shared; else all of them in the first place. */
  readonly uses: (Uses | undefined)[];
  /** By limit: owners may have one of their own. */
  readonly neediest: Map<number, Neediest>;
}

/** Quota of an operation, and a call's cost in it; below 0 if the call declares it. */
interface Used {
  readonly quota: number;
  readonly demand: Demand;
  readonly cost: number;
  readonly isFixed: boolean;
}

/** Every window of a log, in a world that refuses nobody. */
export class ReplayHeadroom {
  readonly #callers: ReplayCallers;
  readonly #kinds: readonly Kind[];
  /** Quotas of each operation, in order. */
  readonly #used: readonly (readonly Used[])[];

  constructor(callers: ReplayCallers) {
    this.#callers = callers;
    this.#kinds = callers.core.quotas.map((quota) => this.#kind(quota));
    this.#used = callers.core.operations.map(({ quotas, costs, isFixed }) =>
      quotas.map((quota, index) => ({
        quota,
        demand: (this.#kinds[quota] as Kind).demand,
        cost: costs[index] as number,
        isFixed: isFixed[index] as boolean,
      })),
    );
  }

  #kind(quota: CompiledQuota): Kind {
    const { name, place, grid, isOwn } = quota;
    const callers = this.#callers;
    const onWindow: OnWindow = (row, endsAtMs, peak, needed, limit) => {
      const at = isOwn ? 0 : row;
      kind.uses[at] ??= new Uses();
      kind.uses[at].add(peak, needed, limit);
      if (needed > (kind.neediest.get(limit)?.needed ?? 0))
        kind.neediest.set(limit, { row, endsAtMs, needed });
    };
    const profile = (row: number) =>
      profileOf({ ...quota.quota, algorithm: callers.count(place, row).algorithm });
    const shapeOf = (row: number) => {
      const { limit, first } = profile(row);
      return { limit, lengthMs: first };
    };
    const demand =
      grid === null
        ? new DemandBuckets(quota, profile, onWindow)
        : new DemandWindows(quota, grid, shapeOf, onWindow);
    const kind: Kind = { name, place, demand, isShared: !isOwn, uses: [], neediest: new Map() };
    return kind;
  }

  decide(handle: number, operation: number, cost: number, nowMs: number): void {
    const callers = this.#callers;
    const used = this.#used[operation] as readonly Used[];
    for (let index = 0; index < used.length; index++) {
      const { quota, demand, cost: known } = used[index] as Used;
      demand.decide(callers.rowOf(handle, quota), known < 0 ? cost : known, nowMs);
    }
  }

  /** Notes the windows that a call decided just now belongs to, in the order of its operation's quotas. */
  noteWindows(handle: number, operation: number, out: Float64Array, at: number): void {
    const callers = this.#callers;
    const used = this.#used[operation] as readonly Used[];
    for (let index = 0; index < used.length; index++) {
      const { quota, demand } = used[index] as Used;
      out[at + index] = demand.windowOf(callers.rowOf(handle, quota));
    }
  }

  /** Completes a call. `windows` holds those of its decision, from `at` on. */
  settle(
    handle: number,
    operation: number,
    cost: number,
    actual: number,
    windows: Float64Array,
    at: number,
    nowMs: number,
  ): void {
    const callers = this.#callers;
    const used = this.#used[operation] as readonly Used[];
    for (let index = 0; index < used.length; index++) {
      const { quota, demand, cost: known, isFixed } = used[index] as Used;
      const asked = known < 0 ? cost : known;
      const row = callers.rowOf(handle, quota);
      demand.settle(row, asked, isFixed ? asked : actual, windows[at + index] as number, nowMs);
    }
  }

  /** Returns the use of the fullest window of a quota that these callers' calls were charged to; `null` if none was. */
  useMax(handles: readonly number[], quota: number): number | null {
    let most: number | null = null;
    for (const handle of handles) {
      const row = this.#callers.rowOf(handle, quota);
      const use = row < 0 ? null : (this.#kinds[quota] as Kind).demand.useMax(row);
      if (use !== null && (most === null || use > most)) most = use;
    }
    return most;
  }

  /** Closes every window, which completes the results below. */
  finish(): void {
    for (const { demand } of this.#kinds) demand.finish();
  }

  /** Tells whether the windows of a quota pile up at its limit. */
  get isCutOff(): boolean {
    return this.#kinds.some((kind) => usesOf(kind).isCutOff);
  }

  headroom(): QuotaHeadroom[] {
    return this.#kinds.flatMap((kind) => {
      const all = usesOf(kind);
      return all.windows === 0 ? [] : [{ quota: kind.name, key: null, ...all.describe() }];
    });
  }

  counts(): QuotaHeadroom[] {
    return this.#kinds
      .filter(({ isShared }) => isShared)
      .flatMap(({ name, place, uses }) =>
        [...uses.entries()].flatMap(([row, some]) =>
          some === undefined
            ? []
            : [{ quota: name, key: this.#callers.count(place, row).key, ...some.describe() }],
        ),
      )
      .sort((a, b) => b.useMax - a.useMax)
      .slice(0, replayOrganizationsMost);
  }

  /** Returns the quotas' own limits before those of overrides, the lowest first. */
  smallestLimits(): QuotaSmallest[] {
    return this.#kinds.flatMap(({ name, place, neediest }) => {
      const own = limitOf((this.#callers.core.quotas[place] as CompiledQuota).quota.algorithm);
      return [...neediest]
        .sort(([a], [b]) => Number(b === own) - Number(a === own) || a - b)
        .map(([limit, { needed: smallest, endsAtMs: windowEndsAt, row }]) => {
          const { key } = this.#callers.count(place, row);
          return { quota: name, key, limit, smallest, windowEndsAt };
        });
    });
  }
}

function usesOf({ uses }: Kind): Uses {
  const all = new Uses();
  for (const some of uses) if (some !== undefined) all.merge(some);
  return all;
}

/** Number of steps of a share: thousandths. */
const STEPS = 1000;

/** Least limit that tells something: lower ones are often met by chance. */
const limitLeast = 10;
/** Share by which a full window may differ: calls near a window's ends may be counted in its neighbour. */
const slack = 1 / 50;
const fullLeast = 5;

/** Windows of one quota, or of one of its counts. */
export class Uses {
  /** Number of windows by use, in thousandths of the limit, rounded up. */
  readonly #steps = new Map<number, number>();
  windows = 0;
  over = 0;
  full = 0;
  /** Number of windows with a little less than full ones, and with more. */
  #below = 0;
  #above = 0;
  useMax = 0;
  needed = 0;

  add(peak: number, needed: number, limit: number): void {
    const use = peak / limit;
    this.#count(Math.ceil((peak * STEPS) / limit), 1);
    this.windows += 1;
    if (needed > limit) this.over += 1;
    if (use > this.useMax) this.useMax = use;
    if (needed > this.needed) this.needed = needed;
    if (limit < limitLeast || use < 1 - 3 * slack) return;
    if (use > 1 + slack) this.#above += 1;
    else if (use >= 1 - slack) this.full += 1;
    else this.#below += 1;
  }

  /** Tells whether windows pile up at the limit, as if something had cut off the calls beyond it. */
  get isCutOff(): boolean {
    return this.full >= fullLeast && this.full > 2 * this.#below && this.full > 2 * this.#above;
  }

  #count(step: number, windows: number): void {
    this.#steps.set(step, (this.#steps.get(step) ?? 0) + windows);
  }

  merge(other: Uses): void {
    for (const [step, windows] of other.#steps) this.#count(step, windows);
    this.windows += other.windows;
    this.over += other.over;
    this.full += other.full;
    this.#below += other.#below;
    this.#above += other.#above;
    this.useMax = Math.max(this.useMax, other.useMax);
    this.needed = Math.max(this.needed, other.needed);
  }

  describe(): WindowUse {
    const sorted = [...this.#steps].sort(([a], [b]) => a - b);
    const at = (share: number): number => {
      let left = Math.max(1, Math.ceil(share * this.windows - 1e-9));
      const found = sorted.find(([, windows]) => {
        left -= windows;
        return left <= 0;
      });
      // A step is rounded up, but no use is above the highest.
      return Math.min((found?.[0] ?? 0) / STEPS, this.useMax);
    };
    return {
      windows: this.windows,
      windowsOver: this.over,
      windowsFull: this.full,
      useMax: this.useMax,
      useP99: at(0.99),
      useP50: at(0.5),
      smallestLimit: Math.max(1, this.needed),
    };
  }
}
