// The quotas of a version 1 trace: an organization's and its users', of both scopes, made when they are first seen.
import { organizationLimit, type Scope, userLimit } from "../rules/rules.ts";
import type { TraceHeader } from "../trace/record.ts";
import type { TraceTime } from "./clock.ts";
import {
  type CountGroup,
  type CountKind,
  type Counts,
  epochGrid,
  type JudgedCount,
  type KnownWindows,
} from "./count.ts";
import { Enforcement } from "./enforcement.ts";
import { EpochGrid } from "./epoch-grid.ts";
import { rulesQuota } from "./quota-name.ts";
import { RefusalOrder } from "./refusal-order.ts";
import type { Unexplained } from "./unknowns.ts";

export interface OrganizationScope {
  readonly group: CountGroup;
  readonly organization: JudgedCount;
  readonly users: Map<string, JudgedCount>;
  /** True once a call came whose user is unknown: any user's count may hold its charge. */
  anonymous: boolean;
}

export class Quotas {
  readonly #header: TraceHeader;
  readonly #kinds: Readonly<Record<Scope, CountKind>>;
  readonly #time: TraceTime;
  readonly #counts: Counts;
  readonly #organizations = new Map<string, Record<Scope, OrganizationScope>>();
  /** Groups of counts, in the order in which they were first seen. */
  readonly groups: CountGroup[] = [];

  constructor(
    header: TraceHeader,
    kinds: Readonly<Record<Scope, CountKind>>,
    time: TraceTime,
    counts: Counts,
  ) {
    this.#header = header;
    this.#kinds = kinds;
    this.#time = time;
    this.#counts = counts;
  }

  /** Iterates over the organizations with their scopes. */
  [Symbol.iterator](): IterableIterator<[string, Record<Scope, OrganizationScope>]> {
    return this.#organizations[Symbol.iterator]();
  }

  /** Returns both scopes of an organization; makes them if they are new. */
  organization(org: string): Record<Scope, OrganizationScope> {
    let both = this.#organizations.get(org);
    if (both === undefined) {
      both = { rest: this.#scope(org, "rest"), graphql: this.#scope(org, "graphql") };
      this.#organizations.set(org, both);
    }
    return both;
  }

  #scope(org: string, scope: Scope): OrganizationScope {
    const { rules } = this.#header;
    const kind = this.#kinds[scope];
    const limit = rules === null ? null : organizationLimit(rules, org, scope);
    const name = rulesQuota(org, null, scope);
    const onGrid = limit !== null && kind.terms.anchor === "epoch";
    const group = this.#counts.group({
      name,
      kind,
      enforcement: new Enforcement(limit?.enforced ?? null),
      lost: this.#lost(org, scope),
      order: new RefusalOrder(name, kind.terms, this.#time),
      grid: onGrid ? new EpochGrid(name, limit.windowSeconds * 1000) : null,
    });
    this.groups.push(group);
    const organization = this.#counts.judged(group, name, windowsOf(limit, kind), true);
    return { group, organization, users: new Map(), anonymous: false };
  }

  /** Returns a user's quota; makes it if it is new. */
  user(org: string, user: string, scope: Scope, own: OrganizationScope): JudgedCount {
    const known = own.users.get(user);
    if (known !== undefined) return known;
    const { rules } = this.#header;
    const limit = rules === null ? null : userLimit(rules, org, user, scope);
    const name = rulesQuota(org, user, scope);
    const count = this.#counts.judged(own.group, name, windowsOf(limit, own.group.kind), !own.anonymous);
    own.users.set(user, count);
    return count;
  }

  /** Returns the calls without a line that may have used a quota; points of unknown cost are `Infinity`. */
  #lost(org: string, scope: Scope): Unexplained {
    const { lost } = this.#header;
    const calls =
      typeof lost === "number"
        ? lost
        : lost.reduce(
            (sum, entry) => (entry.org === org && entry.scope === scope ? sum + entry.count : sum),
            0,
          );
    return { calls, points: calls > 0 && scope === "graphql" ? Number.POSITIVE_INFINITY : calls };
  }
}

function windowsOf(
  limit: { readonly limit: number; readonly windowSeconds: number } | null,
  { terms }: CountKind,
): KnownWindows | null {
  if (limit === null) return null;
  const length = limit.windowSeconds * 1000;
  const grid = terms.anchor === "epoch" ? epochGrid : null;
  return { limit: limit.limit, least: length, most: length, grid };
}

/** Notes that calls of unknown users may have been charged to any user. */
export function makeAnonymous(own: OrganizationScope): void {
  own.anonymous = true;
  for (const { quota } of own.users.values()) quota.becomeIncomplete();
}
