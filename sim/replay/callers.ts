// The callers of a log, as handles of a limiter under some policy. They are found by the log's numbers, so that no name
// is looked up for a row.
import type { PolicyCore } from "../../src/engine/policy-core.ts";
import { PolicyLimiter } from "../../src/engine/policy-limiter.ts";
import { attributesOfCaller, type LogCaller } from "../../src/logs/rows.ts";
import { calendarWindow } from "../../src/policy/calendar.ts";
import { limitOf, quotaFor } from "../../src/policy/effective.ts";
import type { Policy, QuotaAlgorithm } from "../../src/policy/policy.ts";

/** A count of a quota: its owner, and how it counts. */
export interface ReplayCount {
  readonly key: Readonly<Record<string, string>>;
  readonly algorithm: QuotaAlgorithm;
  readonly limit: number;
}

/** A user of the log, however many counts its calls are charged to. */
export interface ReplayCaller {
  readonly org: string;
  readonly user: string;
  /** Handles, one for each of the user's sets of attributes. */
  readonly handles: number[];
}

const UNKNOWN = -1;

export class ReplayCallers {
  readonly policy: Policy;
  readonly core: PolicyCore;
  /** Names of the quotas, in their order. */
  readonly names: readonly string[];
  /** Users by their number, from 0. */
  readonly users: ReplayCaller[] = [];
  readonly #limiter: PolicyLimiter;
  readonly #log: readonly LogCaller[];
  // Handles and users by the log's number of a caller.
  #handles = new Int32Array(0);
  #users = new Int32Array(0);
  /** Row of each handle in each quota, or `NO_ROW`. */
  #rows = new Int32Array(0);
  readonly #userByName = new Map<string, number>();
  /** Attributes by handle. */
  readonly #attributes: Readonly<Record<string, string>>[] = [];
  /** One handle of each count, by quota and row. */
  readonly #handleOfRow: number[][];
  /** Smallest limit of the policy. A call that costs at most this is never hopeless. */
  readonly #limitLeast: number;
  /** Highest cost of each operation that is known beforehand. */
  readonly #costMost: readonly number[];

  /** @param log callers by their numbers; the list may grow */
  constructor(policy: Policy, log: readonly LogCaller[]) {
    this.policy = policy;
    this.#limiter = new PolicyLimiter(policy);
    this.core = this.#limiter.core;
    this.names = Object.keys(policy.quotas);
    this.#log = log;
    this.#handleOfRow = this.names.map(() => []);
    this.#limitLeast = leastLimit(policy);
    this.#costMost = this.core.operations.map(({ costs }) => Math.max(...costs));
  }

  /** Returns the handle of a caller that makes a call of an operation. */
  handle(caller: number, operation: number): number {
    const handle = this.#handles[caller] ?? UNKNOWN;
    return handle < 0 ? this.#add(caller, operation) : handle;
  }

  /** Returns the row of a handle's count in a quota, as the core has it; below 0 if it has none. */
  rowOf(handle: number, quota: number): number {
    return this.#rows[handle * this.names.length + quota] as number;
  }

  /** Returns the number of a caller's user. Its `handle` must have been asked for. */
  user(caller: number): number {
    return this.#users[caller] as number;
  }

  /** Returns a count, by its row in a quota that was asked for with a caller. */
  count(quota: number, row: number): ReplayCount {
    const attributes = this.#attributes[this.#handleOfRow[quota]?.[row] ?? UNKNOWN];
    const name = this.names[quota] as string;
    if (attributes === undefined) throw new RangeError(`there is no count ${row} of ${name}`);
    const { key, algorithm } = quotaFor(this.policy, name, attributes);
    const values = key.map((attribute) => [attribute, attributes[attribute] ?? ""]);
    return { key: Object.fromEntries(values), algorithm, limit: limitOf(algorithm) };
  }

  /** Tells whether an enforced quota of a call never has room for it, so that waiting is no use. */
  isHopeless(handle: number, operation: number, cost: number): boolean {
    const { core } = this;
    if (cost <= this.#limitLeast && (this.#costMost[operation] as number) <= this.#limitLeast) return false;
    const { quotas } = core.operations[operation] as PolicyCore["operations"][number];
    return quotas.some(
      (quota) => core.isEnforced(handle, quota) && core.retryAt(handle, operation, quota, cost) === null,
    );
  }

  #add(caller: number, operation: number): number {
    const named = this.#log[caller];
    if (named === undefined) throw new RangeError(`the log has no caller ${caller}`);
    const attributes = attributesOfCaller(named);
    const { core } = this;
    const handle = this.#limiter.handleOf(attributes, core.operations[operation]?.name ?? "");
    this.#attributes[handle] = attributes;
    const from = handle * this.names.length;
    if (from + this.names.length > this.#rows.length) {
      const larger = new Int32Array(2 * (from + this.names.length));
      larger.set(this.#rows);
      this.#rows = larger;
    }
    for (const quota of this.names.keys()) {
      const row = core.rowOf(handle, quota);
      this.#rows[from + quota] = row;
      const rows = this.#handleOfRow[quota] as number[];
      if (row >= 0) rows[row] ??= handle;
    }
    if (caller >= this.#handles.length) this.#grow(caller);
    this.#handles[caller] = handle;
    this.#users[caller] = this.#user(named, handle);
    return handle;
  }

  #user({ organization, user }: LogCaller, handle: number): number {
    const name = JSON.stringify([organization, user]);
    let number = this.#userByName.get(name);
    if (number === undefined) {
      number = this.users.push({ org: organization, user, handles: [] }) - 1;
      this.#userByName.set(name, number);
    }
    this.users[number]?.handles.push(handle);
    return number;
  }

  #grow(caller: number): void {
    const handles = new Int32Array(2 * (caller + 1)).fill(UNKNOWN);
    handles.set(this.#handles);
    this.#handles = handles;
    const users = new Int32Array(handles.length);
    users.set(this.#users);
    this.#users = users;
  }
}

/** Returns the smallest limit of a policy, overrides included. */
function leastLimit({ quotas, overrides }: Policy): number {
  const own = Object.values(quotas).map(({ algorithm }) => limitOf(algorithm));
  const others = overrides.flatMap(({ quotas: changed }) =>
    Object.values(changed).flatMap(({ limit, capacity }) => [
      limit ?? Number.POSITIVE_INFINITY,
      capacity ?? Number.POSITIVE_INFINITY,
    ]),
  );
  return Math.min(...own, ...others);
}

/** Returns when a window opened, by its end, ms since the epoch. */
export function opensAt(algorithm: QuotaAlgorithm, endsAt: number): number | null {
  if (algorithm.kind !== "fixed-window") return null;
  const { anchor, windowSeconds } = algorithm;
  if (typeof anchor === "object" && "calendar" in anchor)
    return calendarWindow(anchor.calendar, anchor.zone, endsAt - 1).opensAt;
  return endsAt - windowSeconds * 1000;
}
