// The limiter by any policy, by names: callers are their attributes; quotas and operations are their names.
import { quotaFor } from "../policy/effective.ts";
import type { Policy } from "../policy/policy.ts";
import { attributesOf, type CompiledOperation, profileOf, requireOwnEnforced } from "./compiled-policy.ts";
import {
  type CountReading,
  ENFORCED,
  emptyCountReading,
  LIMIT,
  READING,
  REMAINING,
  RESET_AT,
  USED,
  whole,
} from "./count-reading.ts";
import { type CountProfile, NOT_OPEN } from "./count-table.ts";
import type { PolicyCall, PolicyDecision, PolicyReservation, Reading } from "./decision.ts";
import { NO_ROW, NONE_REFUSED, OWN_ROW, PolicyCore } from "./policy-core.ts";
import { type PolicySnapshot, parsePolicySnapshot } from "./policy-snapshot.ts";
import { ValueTree } from "./value-tree.ts";

type Caller = PolicyCall["caller"];

interface Counts {
  readonly key: readonly string[];
  /** Rows by the values of the key; `null` if each caller has a count of its own. */
  readonly rows: ValueTree | null;
  /** `enforced` as it was last set, 1 or 0. It outlives idle counts. */
  readonly enforced: ValueTree;
}

/**
 * A pure limiter by a policy (POLICY.md). No clock, no I/O: every time is an argument, whole ms since the Unix epoch.
 *
 * @example
 * const limiter = new PolicyLimiter(parsePolicy(JSON.parse(text)));
 * limiter.decide({ caller: { account: "acme" }, operation: "call", cost: 1 }, 0).refusedBy; // null
 */
export class PolicyLimiter {
  readonly policy: Policy;
  readonly #core: PolicyCore;
  readonly #names: readonly string[];
  readonly #operations: ReadonlyMap<string, number>;
  readonly #callers: ValueTree;
  readonly #counts: readonly Counts[];
  readonly #reading: CountReading = emptyCountReading();
  /** Readings of an operation's quotas, six numbers each. */
  readonly #readings: Float64Array;

  /** @throws SpillwayError `POLICY_UNSUPPORTED` if a quota has an algorithm that the engine does not enforce */
  constructor(policy: Policy) {
    this.policy = policy;
    this.#core = new PolicyCore(policy);
    this.#names = Object.keys(policy.quotas);
    this.#readings = new Float64Array(READING * this.#names.length);
    this.#operations = new Map(this.#core.operations.map(({ name }, place) => [name, place]));
    this.#callers = new ValueTree(attributesOf(policy));
    this.#counts = this.#core.quotas.map(({ quota: { key }, isOwn }) => ({
      key,
      rows: isOwn ? null : new ValueTree(key),
      enforced: new ValueTree(key),
    }));
  }

  /**
   * Decides one call and charges it, in one step.
   * @throws RangeError if `cost` or `nowMs` is no safe integer >= 0, or if the caller lacks an attribute
   */
  decide(call: PolicyCall, nowMs: number): PolicyDecision {
    const core = this.#core;
    const place = this.#place(call.operation);
    const operation = core.operations[place] as CompiledOperation;
    const caller = this.#caller(call.caller, operation);
    const refused = core.decide(caller, place, call.cost, nowMs);
    const isAdmitted = refused === NONE_REFUSED;
    return {
      refusedBy: isAdmitted ? null : (this.#names[refused] as string),
      retryAtMs: isAdmitted ? null : core.retryAt(caller, place, refused, call.cost),
      readings: this.#readEach(caller, place, nowMs),
      reservation:
        isAdmitted && operation.isSettled
          ? { ...call, windows: operation.quotas.map((quota) => windowOf(core, caller, quota)) }
          : null,
    };
  }

  /**
   * Completes an admitted call, once, and reads its quotas (POLICY.md §4).
   * @param actual units used, a safe integer from 0 to what the call asked for
   * @throws RangeError if `actual` or `nowMs` is out of range
   */
  settle(reservation: PolicyReservation, actual: number, nowMs: number): readonly Reading[] {
    const place = this.#place(reservation.operation);
    const caller = this.#caller(reservation.caller, this.#core.operations[place] as CompiledOperation);
    const windows = reservation.windows.map((window) => window ?? NOT_OPEN);
    this.#core.settle(caller, place, reservation.cost, actual, windows, nowMs);
    return this.#readEach(caller, place, nowMs);
  }

  /** Reads quotas of a caller, free of charge. Opens no window and moves no clock (POLICY.md §5). */
  read(caller: Caller, quotas: readonly string[], nowMs: number): readonly Reading[] {
    const places = quotas.map((name) => this.#quota(name));
    const handle = this.#callerOf(caller, places);
    return places.map((place) => this.#read(handle, place, nowMs));
  }

  /**
   * Switches a quota's refusing on or off, now, for all that share its count with a caller. Counting goes on.
   * @throws RangeError if the quota follows another quota's `enforced`
   */
  setEnforced(quota: string, caller: Caller, enforced: boolean): void {
    const place = this.#quota(quota);
    requireOwnEnforced(this.policy, quota);
    const { key, rows, enforced: set } = this.#counts[place] as Counts;
    requireAttributes(quota, key, caller);
    set.set(caller, Number(enforced));
    const row = (rows ?? this.#callers).find(caller);
    if (row !== undefined) this.#core.setEnforced(place, row, enforced);
  }

  /**
   * Forgets counts that no longer change an answer. Earlier times count as `nowMs` from then on (POLICY.md §2.1), so
   * that no answer differs from one without the sweep at that time.
   * @returns the number of counts that were dropped
   */
  sweep(nowMs: number): number {
    const core = this.#core;
    core.raiseFloor(nowMs);
    let dropped = 0;
    const kept = this.#counts.map(() => new Set<number>());
    for (const [values, caller] of [...this.#callers]) {
      const own = this.#ownOf(caller);
      if (own.some((place) => !core.isIdle(place, caller))) {
        for (const [place, rows] of kept.entries()) rows.add(core.rowOf(caller, place));
        continue;
      }
      core.dropCaller(caller);
      this.#callers.delete(values);
      dropped += own.length;
    }
    for (const [place, { rows }] of this.#counts.entries())
      for (const [values, row] of [...(rows ?? [])]) {
        if (kept[place]?.has(row) === true || !core.isIdle(place, row)) continue;
        core.dropCount(place, row);
        rows?.delete(values);
        dropped += 1;
      }
    return dropped;
  }

  /** Returns the places of the quotas in which a caller has a count of its own. */
  #ownOf(caller: number): number[] {
    const core = this.#core;
    return core.quotas
      .filter(({ isOwn, place }) => isOwn && core.rowOf(caller, place) !== NO_ROW)
      .map(({ place }) => place);
  }

  /** Returns everything that this limiter remembers, as plain JSON; `restore` goes on from it. */
  snapshot(): PolicySnapshot {
    return {
      format: "spillway-policy-limiter",
      version: 1,
      floorMs: this.#core.floorMs,
      enforced: this.#counts.flatMap(({ enforced }, quota) =>
        [...enforced].map(([key, value]) => ({
          quota: this.#names[quota] as string,
          key,
          enforced: value === 1,
        })),
      ),
      counts: [...this.#allCounts()].map(([place, key, row]) => ({
        quota: this.#names[place] as string,
        key,
        state: this.#core.exportCount(place, row),
      })),
    };
  }

  *#allCounts(): Generator<readonly [place: number, key: Record<string, string>, row: number]> {
    for (const [place, { rows }] of this.#counts.entries())
      for (const [key, row] of rows ?? []) yield [place, key, row];
    for (const [key, caller] of this.#callers)
      for (const place of this.#ownOf(caller)) yield [place, key, caller];
  }

  /**
   * Returns a limiter that goes on where `snapshot` was taken.
   * @param snapshot untrusted JSON
   * @throws SpillwayError `SNAPSHOT_INVALID`, naming every field that is wrong
   */
  static restore(policy: Policy, snapshot: unknown): PolicyLimiter {
    const { floorMs, enforced, counts } = parsePolicySnapshot(policy, snapshot);
    const limiter = new PolicyLimiter(policy);
    limiter.#core.raiseFloor(floorMs);
    for (const { quota, key, enforced: value } of enforced) limiter.setEnforced(quota, key, value);
    for (const { quota, key, state } of counts) {
      const place = limiter.#quota(quota);
      const isOwn = limiter.#counts[place]?.rows === null;
      const row = isOwn ? limiter.#callerOf(key, [place]) : limiter.#row(place, key);
      limiter.#core.importCount(place, row, state);
    }
    return limiter;
  }

  /** The engine over handles, for users of handles. A handle from `handleOf` is valid until the next sweep. */
  get core(): PolicyCore {
    return this.#core;
  }

  /** Returns the handle of a caller, whose attributes an operation needs. */
  handleOf(caller: Caller, operation: string): number {
    return this.#caller(caller, this.#core.operations[this.#place(operation)] as CompiledOperation);
  }

  /** Returns the handle of a known caller, by the two attributes of a policy that has two. */
  knownPair(first: string, second: string): number | undefined {
    return this.#callers.findPair(first, second);
  }

  /** Returns the handle of a reader of quotas, who has only the attributes of their keys. */
  readerOf(caller: Caller, quotas: readonly string[]): number {
    return this.#callerOf(
      caller,
      quotas.map((name) => this.#quota(name)),
    );
  }

  #place(operation: string): number {
    const place = this.#operations.get(operation);
    if (place === undefined)
      throw new RangeError(
        `operation must be one of ${[...this.#operations.keys()].join(", ")}, got ${operation}`,
      );
    return place;
  }

  #quota(name: string): number {
    const place = this.#names.indexOf(name);
    if (place < 0) throw new RangeError(`quota must be one of ${this.#names.join(", ")}, got ${name}`);
    return place;
  }

  #caller(caller: Caller, { quotas }: CompiledOperation): number {
    const known = this.#callers.find(caller);
    if (known === undefined) return this.#callerOf(caller, quotas);
    // A caller that is known by other operations may lack an attribute of this one's.
    for (const quota of quotas)
      if (this.#core.rowOf(known, quota) === NO_ROW) return this.#callerOf(caller, quotas);
    return known;
  }

  /** Returns the caller's handle. Its rows are those of all quotas whose keys it fills, which include these. */
  #callerOf(caller: Caller, quotas: Iterable<number>): number {
    for (const quota of quotas)
      requireAttributes(this.#names[quota] as string, (this.#counts[quota] as Counts).key, caller);
    const known = this.#callers.find(caller);
    if (known !== undefined) return known;
    const handle = this.newCaller(caller);
    this.#callers.set(caller, handle);
    return handle;
  }

  /** Returns a new handle of a caller that is never looked up by name. */
  newCaller(caller: Caller): number {
    const fills = this.#counts.map(({ key }) => key.every((attribute) => caller[attribute] !== undefined));
    const rows = this.#counts.map(({ rows: shared }, place) => {
      if (fills[place] !== true) return NO_ROW;
      return shared === null ? OWN_ROW : this.#row(place, caller);
    });
    const handle = this.#core.addCaller(rows);
    for (const [place, row] of rows.entries())
      if (row === OWN_ROW) this.#core.addOwn(handle, place, ...this.#terms(place, caller));
    return handle;
  }

  #row(place: number, caller: Caller): number {
    const { rows } = this.#counts[place] as Counts;
    const known = rows?.find(caller);
    if (known !== undefined) return known;
    const row = this.#core.addCount(place, ...this.#terms(place, caller));
    rows?.set(caller, row);
    return row;
  }

  /** Returns the limits of a fresh count, and whether it is enforced. */
  #terms(place: number, caller: Caller): [profile: CountProfile, enforced: boolean] {
    const effective = quotaFor(this.policy, this.#names[place] as string, caller);
    const set = this.#counts[place]?.enforced.find(caller);
    return [profileOf(effective), set === undefined ? effective.enforced !== false : set === 1];
  }

  #readEach(caller: number, operation: number, nowMs: number): Reading[] {
    const { quotas } = this.#core.operations[operation] as CompiledOperation;
    const read = this.#readings;
    this.#core.readEach(caller, operation, nowMs, read);
    const readings: Reading[] = [];
    for (let index = 0; index < quotas.length; index++) {
      const from = index * READING;
      readings.push({
        quota: this.#names[quotas[index] as number] as string,
        limit: whole(read[from + LIMIT] as number),
        remaining: whole(read[from + REMAINING] as number),
        used: whole(read[from + USED] as number),
        resetAtMs: read[from + RESET_AT] as number,
        enforced: read[from + ENFORCED] === 1,
      });
    }
    return readings;
  }

  #read(caller: number, quota: number, nowMs: number): Reading {
    const reading = this.#reading;
    this.#core.read(quota, this.#core.rowOf(caller, quota), nowMs, reading);
    const { limit, remaining, used, resetAtMs } = reading;
    const enforced = this.#core.isEnforced(caller, quota);
    return { quota: this.#names[quota] as string, limit, remaining, used, resetAtMs, enforced };
  }
}

function windowOf(core: PolicyCore, caller: number, quota: number): number | null {
  const window = core.windowOf(caller, quota);
  return window === NOT_OPEN ? null : window;
}

function requireAttributes(quota: string, attributes: readonly string[], caller: Caller): void {
  for (const attribute of attributes)
    if (typeof caller[attribute] !== "string")
      throw new RangeError(`caller.${attribute} must be text: ${quota} is kept by it`);
}
