// Every quota that a trace of version 2 speaks of, by name and key, with what is known of it by the policy.
import { calendarSeconds } from "../policy/calendar.ts";
import { quotaFor } from "../policy/effective.ts";
import type { Cost, FixedWindow, Policy, Quota as PolicyQuota, Relation } from "../policy/policy.ts";
import { wireOf } from "../policy/presets.ts";
import type { WireReading } from "../policy/wire-data.ts";
import type { Owner } from "../rules/rules.ts";
import type { QuotaTraceHeader } from "../trace/quota-record.ts";
import { readingsOf, roundingOf } from "../wire/rounding.ts";
import { BareWindows } from "./bare-windows.ts";
import type { TraceTime } from "./clock.ts";
import type { Docket } from "./docket.ts";
import { EnforcedEvidence } from "./enforced-evidence.ts";
import { Enforcement } from "./enforcement.ts";
import { Hypotheses } from "./hypotheses.ts";
import { OpenWindows } from "./open-windows.ts";
import { JudgedQuota } from "./quota.ts";
import type { QuotaName } from "./quota-name.ts";
import { SpanTotals } from "./span-totals.ts";
import { phasedMsMost, TargetPhase } from "./target-phase.ts";
import type { Charging, Terms } from "./terms.ts";
import { UnenforcedRefusals } from "./unenforced-refusals.ts";
import type { Unexplained } from "./unknowns.ts";
import { WindowColumns } from "./window-columns.ts";

type Caller = Readonly<Record<string, string>>;

/**
 * Nobody says when an API takes the readings of an answer: many do so once the call is over. So a call's place in a count
 * is not known, and counts are held between bounds. What is charged at admission gives nothing back.
 */
const chargings: Readonly<Record<PolicyQuota["charge"]["when"], Charging>> = {
  admission: "reserved",
  completion: "postpaid",
  "reserve-settle": "reserved",
};

/** One count: a quota of one key. */
export interface Count {
  readonly name: QuotaName;
  /** As it holds for this key. */
  readonly limit: number;
  readonly enforcement: Enforcement;
  readonly refusals: UnenforcedRefusals;
  /** `null` where the count is not judged. */
  readonly judged: JudgedCount | null;
}

export interface JudgedCount {
  readonly quota: JudgedQuota;
  readonly enforced: EnforcedEvidence;
  /** For answers that show no window; `null` where nobody else knows where windows lie. */
  readonly bare: BareWindows | null;
}

/** Length of a fixed window: the least and the greatest, ms. */
export interface LengthRange {
  readonly least: number;
  readonly most: number;
}

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/** Clocks of a zone are set by an hour at most. */
function lengthOf({ windowSeconds, anchor }: FixedWindow): LengthRange {
  if (typeof anchor === "string" || "offsetMs" in anchor) {
    const length = windowSeconds * 1000;
    return { least: length, most: length };
  }
  const most = calendarSeconds[anchor.calendar] * 1000 + hourMs;
  return { least: (anchor.calendar === "month" ? 28 * dayMs : most - hourMs) - hourMs, most };
}

/** A quota of the policy, whoever uses it. */
export class PolicyQuotaJudge {
  readonly name: string;
  readonly quota: PolicyQuota;
  /** `null` where windows are none, or not fixed. */
  readonly length: LengthRange | null;
  /** Reason why its counts are not judged; `null` where they are. */
  readonly notJudged: string | null;
  /** The rounding of resets, where every form of them says it; else it may be any. */
  readonly rounding: Terms["reset"];
  readonly terms: Terms;
  readonly hypotheses: Hypotheses;
  /** `user` where a broader quota decides beside it, as the user's window beside the organization's. */
  readonly owner: Owner;
  readonly counts = new Map<string, Count>();
  /** Calls came whose key is not known: any count may hold them. */
  #isAnonymous = false;
  readonly #policy: Policy;
  readonly #unit: string;
  readonly #isUnit: boolean;

  constructor(policy: Policy, name: string) {
    const quota = policy.quotas[name] as PolicyQuota;
    const { algorithm, charge, shown, unit } = quota;
    this.#policy = policy;
    this.name = name;
    this.quota = quota;
    this.length = algorithm.kind === "fixed-window" ? lengthOf(algorithm) : null;
    const rows = readingsOf(wireOf(policy), name);
    this.rounding = roundingOf(rows);
    this.notJudged = whyNotJudged(quota, rows);
    this.#unit = unit.replace(/s$/, "");
    this.#isUnit = Object.values(policy.operations).every(({ uses }) => isOne(uses[name]));
    const anchor = algorithm.kind === "fixed-window" ? algorithm.anchor : null;
    const isGrid =
      anchor === "epoch" || (typeof anchor === "object" && anchor !== null && "offsetMs" in anchor);
    this.terms = {
      anchor: isGrid ? "epoch" : anchor === "first-request" ? anchor : null,
      refused: charge.refused === "counted" ? "counted" : "uncounted",
      refusedByUser: charge.refusedByOther === "charged" ? "charges-organization" : "charges-nothing",
      userEnforced: "with-organization",
      remaining: shown.remaining,
      reset: null,
      charging: chargings[charge.when],
    };
    this.hypotheses = new Hypotheses("rest", this.terms);
    this.owner = isNarrow(policy, name) ? "user" : "organization";
  }

  get #scope(): "rest" | "graphql" {
    return this.#isUnit ? "rest" : "graphql";
  }

  /** True if windows of this quota lie on the grid of Unix time itself. */
  get isOnEpoch(): boolean {
    const { algorithm } = this.quota;
    return algorithm.kind === "fixed-window" && algorithm.anchor === "epoch";
  }

  /** The count that a caller uses; `null` where its attributes do not say which. */
  of(caller: Caller, make: (judge: PolicyQuotaJudge, key: Caller, name: QuotaName) => Count): Count | null {
    const { key: attributes } = this.quota;
    if (attributes.some((attribute) => caller[attribute] === undefined)) {
      this.#becomeAnonymous();
      return null;
    }
    const values = attributes.map((attribute) => caller[attribute] as string);
    const id = values.length === 1 ? (values[0] as string) : JSON.stringify(values);
    const known = this.counts.get(id);
    if (known !== undefined) return known;
    const key = Object.fromEntries(attributes.map((attribute, at) => [attribute, values[at] as string]));
    const count = make(this, key, {
      told: { quota: this.name, key },
      scope: this.#scope,
      owner: this.owner,
      unit: this.#unit,
    });
    this.counts.set(id, count);
    return count;
  }

  get isAnonymous(): boolean {
    return this.#isAnonymous;
  }

  #becomeAnonymous(): void {
    if (this.#isAnonymous) return;
    this.#isAnonymous = true;
    for (const { judged } of this.counts.values()) judged?.quota.becomeIncomplete();
  }

  /** The way in which an operation's quotas decide together. */
  relationOf(operation: string): Relation | undefined {
    return this.#policy.operations[operation]?.relation;
  }

  /** The quota as it holds for a key. */
  effective(key: Caller): PolicyQuota {
    return quotaFor(this.#policy, this.name, key);
  }

  /** Calls without a line that may have used a count. */
  lost(calls: number): Unexplained {
    return { calls, points: calls > 0 && !this.#isUnit ? Number.POSITIVE_INFINITY : calls };
  }
}

/** Tells whether each call that uses a quota uses a broader one, too, and neither is charged where the other refuses. */
function isNarrow({ quotas, operations }: Policy, name: string): boolean {
  const { key, charge } = quotas[name] as PolicyQuota;
  const isBroader = (other: string): boolean => {
    const broad = quotas[other]?.key ?? key;
    return broad.length < key.length && broad.every((attribute) => key.includes(attribute));
  };
  const using = Object.values(operations).filter(({ uses }) => uses[name] !== undefined);
  return (
    charge.refusedByOther === "nothing" &&
    using.length > 0 &&
    using.every(({ uses, relation }) => relation === "all-or-nothing" && Object.keys(uses).some(isBroader))
  );
}

const isOne = (cost: Cost | undefined): boolean => cost === undefined || cost === 1 || cost === 0;

/** Kinds of quota whose counts nobody judges yet, in words. */
const unjudged: Readonly<Record<string, string>> = {
  "token-bucket": "a token bucket's level is not judged",
  "sliding-log": "a sliding log is not judged",
  "sliding-counter": "a sliding counter is not judged",
  concurrency: "the number of calls at a time is not judged",
};

function whyNotJudged({ algorithm: { kind } }: PolicyQuota, rows: readonly WireReading[]): string | null {
  const why = unjudged[kind];
  if (why !== undefined) return why;
  const rounded = rows.find(({ grain = 1 }) => grain > 1);
  return rounded === undefined ? null : `its counts are shown in multiples of ${rounded.grain}`;
}

export interface SharedQuotaSetting {
  readonly time: TraceTime;
  readonly docket: Docket;
}

/** The quotas of one trace. */
export class PolicyQuotas {
  readonly all: ReadonlyMap<string, PolicyQuotaJudge>;
  readonly #header: QuotaTraceHeader;
  readonly #shared: SharedQuotaSetting;
  readonly #open = new OpenWindows();
  readonly #columns = new WindowColumns();
  /** By the windows' length and where their grid begins. */
  readonly #phases = new Map<string, TargetPhase>();
  #size = 0;

  constructor(header: QuotaTraceHeader, shared: SharedQuotaSetting) {
    const { policy } = header;
    this.#header = header;
    this.#shared = shared;
    this.all = new Map(
      Object.keys(policy.quotas).map((name) => [name, new PolicyQuotaJudge(policy, name)] as const),
    );
  }

  /** Number of counts. */
  get size(): number {
    return this.#size;
  }

  /** The count of a quota that a caller uses; a new one is made. */
  count(judge: PolicyQuotaJudge, caller: Caller): Count | null {
    return judge.of(caller, (of, key, name) => this.#make(of, caller, key, name));
  }

  #make(judge: PolicyQuotaJudge, caller: Caller, key: Caller, name: QuotaName): Count {
    const { algorithm } = judge.effective(key);
    const { time } = this.#shared;
    const enforcement = this.#enforcement(judge, caller, key);
    const limit = "limit" in algorithm ? algorithm.limit : algorithm.capacity;
    const refusals = new UnenforcedRefusals(name, judge.terms, time);
    this.#size += 1;
    const isJudged = judge.notJudged === null && algorithm.kind === "fixed-window";
    const judged = isJudged ? this.#judged(judge, algorithm, name, enforcement) : null;
    return { name, limit, enforcement, refusals, judged };
  }

  /** `{"with": NAME}` is enforced where that quota's count of the same caller is. */
  #enforcement(judge: PolicyQuotaJudge, caller: Caller, key: Caller): Enforcement {
    const { enforced, charge } = judge.effective(key);
    if (typeof enforced === "object") {
      const other = this.all.get(enforced.with);
      const count = other === undefined ? null : this.count(other, caller);
      return count?.enforcement ?? new Enforcement(null);
    }
    // If any room will do, the count may pass the limit: it bounds nothing.
    const isBound = charge.fits === "whole" || charge.when === "completion";
    return new Enforcement(enforced === "unknown" || !isBound ? null : enforced);
  }

  #judged(
    judge: PolicyQuotaJudge,
    algorithm: FixedWindow,
    name: QuotaName,
    enforcement: Enforcement,
  ): JudgedCount {
    const { time, docket } = this.#shared;
    const { startedAt, clock, complete } = this.#header;
    const { terms, hypotheses } = judge;
    const { least, most } = lengthOf(algorithm);
    const enforced = new EnforcedEvidence(enforcement);
    const isBound = terms.charging !== "postpaid";
    const quota = new JudgedQuota({
      name,
      terms,
      hypotheses,
      shapes: null,
      time,
      windowMs: least,
      windowMsMost: most,
      phase: this.#phase(algorithm, least),
      startedBy: startedAt + clock.resolutionMs + 2 * clock.errorMs,
      complete: complete && !judge.isAnonymous,
      enforcement,
      enforced,
      totals: isBound ? new SpanTotals(name, time, algorithm.limit, least, false) : null,
      docket,
      open: this.#open,
      columns: this.#columns,
    });
    const isPlain = isBound && clock.kind === "virtual" && judge.isOnEpoch;
    return {
      quota,
      enforced,
      bare: isPlain ? new BareWindows(name, time, algorithm.limit, least, false) : null,
    };
  }

  #phase({ anchor }: FixedWindow, lengthMs: number): TargetPhase | null {
    const isGrid = anchor === "epoch" || (typeof anchor === "object" && "offsetMs" in anchor);
    if (!isGrid || lengthMs > phasedMsMost) return null;
    const id = JSON.stringify([anchor, lengthMs]);
    const known = this.#phases.get(id) ?? new TargetPhase(lengthMs);
    this.#phases.set(id, known);
    return known;
  }

  /** Closes the windows that are over by then (`Quota.close`). */
  close(watermark: number): void {
    for (const { counts } of this.all.values())
      for (const { judged } of counts.values()) {
        judged?.quota.close(watermark);
        judged?.bare?.close(watermark);
      }
  }
}
