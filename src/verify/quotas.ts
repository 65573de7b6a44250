// Every quota that a trace speaks of: an organization's and its users', of both scopes, with what bounds them
// beyond their windows. Made when they are first seen.
import { type Owner, organizationLimit, type Scope, scopes, userLimit } from "../rules/rules.ts";
import type { TraceCall, TraceHeader } from "../trace/record.ts";
import { BareWindows } from "./bare-windows.ts";
import type { TraceTime } from "./clock.ts";
import type { Docket } from "./docket.ts";
import { EnforcedEvidence } from "./enforced-evidence.ts";
import { Enforcement } from "./enforcement.ts";
import { EpochGrid } from "./epoch-grid.ts";
import type { Hypotheses } from "./hypotheses.ts";
import { OpenWindows } from "./open-windows.ts";
import { OversizeCalls } from "./oversize.ts";
import { JudgedQuota } from "./quota.ts";
import { type QuotaName, rulesQuota } from "./quota-name.ts";
import { RefusalOrder } from "./refusal-order.ts";
import { SpanTotals } from "./span-totals.ts";
import { phasedMsMost, TargetPhase } from "./target-phase.ts";
import type { Terms } from "./terms.ts";
import { UnenforcedRefusals } from "./unenforced-refusals.ts";
import type { Unexplained } from "./unknowns.ts";
import { WindowColumns } from "./window-columns.ts";
import type { WindowShapes } from "./window-shapes.ts";

/** One owner's quota of one scope, and what bounds it beyond its windows. */
export interface Owned {
  readonly quota: JudgedQuota;
  /** For answers that show no window; `null` where nobody else knows where windows lie. */
  readonly bare: BareWindows | null;
}

/** Quotas of one organization's scope. */
export interface OrganizationScope {
  readonly enforcement: Enforcement;
  readonly enforced: EnforcedEvidence;
  readonly refusals: UnenforcedRefusals;
  readonly oversize: OversizeCalls;
  readonly order: RefusalOrder;
  /** Grid of the epoch's windows. */
  readonly grid: EpochGrid | null;
  readonly organization: Owned;
  readonly users: Map<string, Owned>;
  /** Calls came whose user is not known: any user's count may hold them. */
  anonymous: boolean;
}

/** Setting that all quotas of a judgement have in common. */
export interface SharedSetting {
  readonly time: TraceTime;
  readonly terms: Readonly<Record<Scope, Terms>>;
  readonly hypotheses: Readonly<Record<Scope, Hypotheses>>;
  /** Readings of the windows of a trace without rules. */
  readonly shapes: Readonly<Record<Scope, WindowShapes>> | null;
  readonly docket: Docket;
}

/** The quotas of one trace. */
export class Quotas {
  readonly #header: TraceHeader;
  readonly #shared: SharedSetting;
  readonly #organizations = new Map<string, Record<Scope, OrganizationScope>>();
  readonly open = new OpenWindows();
  readonly #columns = new WindowColumns();
  /** By the windows' length. */
  readonly #phases = new Map<number, TargetPhase>();
  #count = 0;

  constructor(header: TraceHeader, shared: SharedSetting) {
    this.#header = header;
    this.#shared = shared;
  }

  /** Number of quotas. */
  get count(): number {
    return this.#count;
  }

  /** Each organization with its scopes. */
  [Symbol.iterator](): IterableIterator<[string, Record<Scope, OrganizationScope>]> {
    return this.#organizations[Symbol.iterator]();
  }

  /** The quotas that a call uses; a user's only where the user is known. */
  touched(call: TraceCall, own: OrganizationScope): Map<Owner, Owned> {
    const touched = new Map<Owner, Owned>([["organization", own.organization]]);
    if (call.user !== null) touched.set("user", this.user(call.org, call.user, call.scope, own));
    return touched;
  }

  /** Both scopes of an organization; what is new is made. */
  organization(org: string): Record<Scope, OrganizationScope> {
    const known = this.#organizations.get(org);
    if (known !== undefined) return known;
    const { rules } = this.#header;
    const of = (scope: Scope): OrganizationScope => {
      const limit = rules === null ? null : organizationLimit(rules, org, scope);
      const name = rulesQuota(org, null, scope);
      const enforcement = new Enforcement(limit?.enforced ?? null);
      const enforced = new EnforcedEvidence(enforcement);
      const onGrid = limit !== null && this.#shared.terms[scope].anchor === "epoch";
      return {
        grid: onGrid ? new EpochGrid(name, limit.windowSeconds * 1000) : null,
        enforcement,
        enforced,
        oversize: new OversizeCalls(name, this.#shared.time),
        order: new RefusalOrder(name, this.#shared.terms[scope], this.#shared.time),
        refusals: new UnenforcedRefusals(name, this.#shared.terms[scope], this.#shared.time),
        organization: this.#owned(name, limit, true, { enforcement, enforced }),
        users: new Map(),
        anonymous: false,
      };
    };
    const both = { rest: of("rest"), graphql: of("graphql") };
    this.#organizations.set(org, both);
    return both;
  }

  /** A user's quota; a new one is made. */
  user(org: string, user: string, scope: Scope, own: OrganizationScope): Owned {
    const known = own.users.get(user);
    if (known !== undefined) return known;
    const { rules } = this.#header;
    const limit = rules === null ? null : userLimit(rules, org, user, scope);
    const owned = this.#owned(rulesQuota(org, user, scope), limit, !own.anonymous, own);
    own.users.set(user, owned);
    return owned;
  }

  #owned(
    name: QuotaName,
    limit: { readonly limit: number; readonly windowSeconds: number } | null,
    complete: boolean,
    { enforcement, enforced }: Pick<OrganizationScope, "enforcement" | "enforced">,
  ): Owned {
    const terms = this.#shared.terms[name.scope];
    const windowMs = limit === null ? null : limit.windowSeconds * 1000;
    const { startedAt, clock } = this.#header;
    this.#count += 1;
    const always = name.owner === "user" && terms.userEnforced === "always";
    const { time } = this.#shared;
    const bound = terms.charging === "postpaid" ? null : limit;
    const quota = new JudgedQuota({
      name,
      terms,
      hypotheses: this.#shared.hypotheses[name.scope],
      shapes: this.#shared.shapes?.[name.scope] ?? null,
      time,
      windowMs,
      phase: this.#phase(terms, windowMs),
      startedBy: startedAt + clock.resolutionMs + 2 * clock.errorMs,
      complete: complete && this.#header.complete,
      enforcement,
      enforced,
      totals: bound && new SpanTotals(name, time, bound.limit, bound.windowSeconds * 1000, always),
      docket: this.#shared.docket,
      open: this.open,
      columns: this.#columns,
    });
    if (limit !== null) this.open.know(quota.number, limit.limit, limit.windowSeconds);
    const isPlain = clock.kind === "virtual" && terms.anchor === "epoch";
    if (bound === null || !isPlain) return { quota, bare: null };
    return { quota, bare: new BareWindows(name, time, bound.limit, bound.windowSeconds * 1000, always) };
  }

  #phase({ anchor }: Terms, windowMs: number | null): TargetPhase | null {
    if (windowMs === null || windowMs > phasedMsMost || anchor !== "epoch") return null;
    const known = this.#phases.get(windowMs) ?? new TargetPhase(windowMs);
    this.#phases.set(windowMs, known);
    return known;
  }

  /** Closes the windows that are over by then (`Quota.close`). */
  close(watermark: number): void {
    for (const both of this.#organizations.values())
      for (const scope of scopes) {
        const { organization, users } = both[scope];
        for (const { quota, bare } of [organization, ...users.values()]) {
          quota.close(watermark);
          bare?.close(watermark);
        }
      }
  }

  /** Calls without a line that may have used a quota; points of unknown cost are `Infinity`. */
  lost(org: string, scope: Scope): Unexplained {
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

/** From now on any user of it may have been charged by calls of nobody. */
export function makeAnonymous(own: OrganizationScope): void {
  own.anonymous = true;
  for (const { quota } of own.users.values()) quota.becomeIncomplete();
}
