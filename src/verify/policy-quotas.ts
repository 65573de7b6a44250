// Every quota of a version 2 trace, by name and key, with what the policy tells of it.
import { calendarSeconds } from "../policy/calendar.ts";
import { limitOf, quotaFor } from "../policy/effective.ts";
import { type Envelope, envelopeOf } from "../policy/envelope.ts";
import type { Cost, FixedWindow, Policy, Quota as PolicyQuota, Relation } from "../policy/policy.ts";
import { wireOf } from "../policy/presets.ts";
import { dayMs, hourMs } from "../rules/duration.ts";
import type { Owner } from "../rules/rules.ts";
import type { QuotaTraceHeader } from "../trace/quota-record.ts";
import { readingsOf, roundingOf, tellingEnds } from "../wire/rounding.ts";
import { type Count, type CountGroup, type CountKind, type Counts, epochGrid } from "./count.ts";
import { Enforcement } from "./enforcement.ts";
import { Hypotheses } from "./hypotheses.ts";
import { PolicyGrid } from "./policy-grid.ts";
import type { QuotaName } from "./quota-name.ts";
import type { Charging, Terms } from "./terms.ts";
import type { Unexplained } from "./unknowns.ts";

type Caller = Readonly<Record<string, string>>;

/**
 * Way in which calls charge, by `charge.when`. APIs take readings at any time, many once the call is over. So places
 * are unknown, and counts are held between bounds. What is charged at admission gives nothing back.
 */
const chargings: Readonly<Record<PolicyQuota["charge"]["when"], Charging>> = {
  admission: "reserved",
  completion: "postpaid",
  "reserve-settle": "reserved",
};

/** Length of a fixed window, least and greatest, ms. */
export interface LengthRange {
  readonly least: number;
  readonly most: number;
}

/** Returns the length of a window. Clocks of a zone change by an hour at most. */
function lengthOf({ windowSeconds, anchor }: FixedWindow): LengthRange {
  if (typeof anchor === "string" || "offsetMs" in anchor) {
    const length = windowSeconds * 1000;
    return { least: length, most: length };
  }
  const most = calendarSeconds[anchor.calendar] * 1000 + hourMs;
  return { least: (anchor.calendar === "month" ? 28 * dayMs : most - hourMs) - hourMs, most };
}

/** Returns the name of the grid that windows lie on; `null` if they lie on none. */
function gridOf({ anchor }: FixedWindow): string | null {
  if (anchor === "epoch") return epochGrid;
  return typeof anchor === "object" && "offsetMs" in anchor ? JSON.stringify(anchor) : null;
}

/** A quota of the policy, for all callers. */
export class PolicyQuotaJudge implements CountKind {
  readonly name: string;
  readonly quota: PolicyQuota;
  /** Length of its windows; `null` if they are not fixed. */
  readonly length: LengthRange | null;
  /** Reason why its counts are not judged; `null` if they are. */
  readonly notJudged: string | null;
  /** Rounding of resets; `null` (any rounding) unless every form of them tells it. */
  readonly rounding: Terms["reset"];
  /** True if its resets tell when a window ends. At that end a window is full again. */
  readonly tellsEnd: boolean;
  /** Units of which counts are shown as multiples. */
  readonly grain: number;
  readonly terms: Terms;
  readonly hypotheses: Hypotheses;
  readonly givesBack: boolean;
  /** True if calls may take its count above its limit: any room suffices, or a quota that is asked first refuses them. */
  readonly mayPassLimit: boolean;
  readonly shapes = null;
  /** `user` if a broader quota decides beside it, as an organization's does beside a user's. */
  readonly owner: Owner;
  readonly counts = new Map<string, Count>();
  /** Calls without a line that may have used a count. */
  readonly lost: Unexplained;
  /** True once a call came whose key is unknown: any count may hold its charge. */
  #isAnonymous = false;
  readonly #policy: Policy;
  readonly #unit: string;
  readonly #isUnit: boolean;
  readonly #isNarrowest: boolean;
  readonly #isMixable: boolean;

  constructor({ policy, lost }: QuotaTraceHeader, name: string) {
    const quota = policy.quotas[name] as PolicyQuota;
    const { algorithm, charge, shown, unit } = quota;
    this.#policy = policy;
    this.name = name;
    this.quota = quota;
    this.length = algorithm.kind === "fixed-window" ? lengthOf(algorithm) : null;
    const rows = readingsOf(wireOf(policy), name);
    this.rounding = roundingOf(rows);
    this.tellsEnd = rows.every(({ reset }) => reset === undefined || tellingEnds.includes(reset.means));
    this.grain = Math.max(1, ...rows.map(({ grain = 1 }) => grain));
    this.notJudged = whyNotJudged(quota, this.grain, envelopeOf(quota, this.length?.least ?? null));
    this.#unit = unit.replace(/s$/, "");
    this.#isUnit = Object.values(policy.operations).every(({ uses }) => isOne(uses[name]));
    this.lost = { calls: lost, points: lost > 0 && !this.#isUnit ? Number.POSITIVE_INFINITY : lost };
    const isGrid = algorithm.kind === "fixed-window" && gridOf(algorithm) !== null;
    const opensFirst = algorithm.kind === "fixed-window" && algorithm.anchor === "first-request";
    this.terms = {
      anchor: isGrid ? "epoch" : opensFirst ? "first-request" : null,
      refused: charge.refused === "counted" ? "counted" : "uncounted",
      refusedByUser: charge.refusedByOther === "charged" ? "charges-organization" : "charges-nothing",
      userEnforced: "with-organization",
      remaining: shown.remaining,
      reset: null,
      charging: chargings[charge.when],
    };
    this.givesBack = charge.when === "reserve-settle";
    const isBound = charge.fits === "whole" || charge.when === "completion";
    this.mayPassLimit = !isBound || isChargedUnasked(policy, name);
    this.hypotheses = new Hypotheses("rest", this.terms);
    this.owner = isNarrow(policy, name) ? "user" : "organization";
    this.#isNarrowest = isNarrowest(policy, name);
    this.#isMixable = Object.values(policy.operations).some(({ uses }) => (uses[name] ?? 0) === 0);
  }

  get #scope(): "rest" | "graphql" {
    return this.#isUnit ? "rest" : "graphql";
  }

  /** Returns the count that a caller uses; `null` if its attributes do not tell the key. */
  of(caller: Caller, make: (judge: PolicyQuotaJudge, key: Caller, name: QuotaName) => Count): Count | null {
    const { key: attributes } = this.quota;
    let id = "";
    for (const attribute of attributes) {
      const value = caller[attribute];
      if (value === undefined) {
        this.#becomeAnonymous();
        return null;
      }
      // Lengths keep the ids of two keys apart.
      id = attributes.length === 1 ? value : `${id}${value.length} ${value}`;
    }
    const known = this.counts.get(id);
    if (known !== undefined) return known;
    const key = Object.fromEntries(attributes.map((attribute) => [attribute, caller[attribute] as string]));
    const count = make(this, key, {
      told: { quota: this.name, key },
      scope: this.#scope,
      owner: this.owner,
      isNarrowest: this.#isNarrowest,
      isMixable: this.#isMixable,
      unit: this.#unit,
    });
    this.counts.set(id, count);
    return count;
  }

  /** True if answers showed its windows, and told no end closely enough to tell one window from the next. */
  get isBlurred(): boolean {
    const quotas = [...this.counts.values()].flatMap(({ quota }) => quota ?? []);
    return quotas.some(({ wide }) => wide > 0) && quotas.every(({ closed }) => closed === 0);
  }

  get isAnonymous(): boolean {
    return this.#isAnonymous;
  }

  #becomeAnonymous(): void {
    if (this.#isAnonymous) return;
    this.#isAnonymous = true;
    for (const { quota, unread } of this.counts.values()) {
      quota?.becomeIncomplete();
      for (const judge of unread) judge.addUnknown(Number.POSITIVE_INFINITY);
    }
  }

  /** Returns the way in which an operation's quotas decide together. */
  relationOf(operation: string): Relation | undefined {
    return this.#policy.operations[operation]?.relation;
  }

  /** Returns the quota as it applies to a key. */
  effective(key: Caller): PolicyQuota {
    return quotaFor(this.#policy, this.name, key);
  }
}

/** Tells whether a key has all attributes of another, and more. */
const isWithin = (key: readonly string[], broad: readonly string[]): boolean =>
  key.length > broad.length && broad.every((attribute) => key.includes(attribute));

/** Tells whether each call of a quota uses a broader one, too, and neither is charged where the other refuses. */
function isNarrow({ quotas, operations }: Policy, name: string): boolean {
  const { key, charge } = quotas[name] as PolicyQuota;
  const using = Object.values(operations).filter(({ uses }) => uses[name] !== undefined);
  const isBroader = (other: string): boolean => isWithin(key, quotas[other]?.key ?? key);
  return (
    charge.refusedByOther === "nothing" &&
    using.length > 0 &&
    using.every(({ uses, relation }) => relation === "all-or-nothing" && Object.keys(uses).some(isBroader))
  );
}

/** Tells whether a quota is charged for calls that another one refuses before it is asked for room. */
function isChargedUnasked(policy: Policy, name: string): boolean {
  const { quotas, operations } = policy;
  const names = Object.keys(quotas);
  const earlier = names.slice(0, names.indexOf(name));
  return (
    quotas[name]?.charge.refusedByOther === "charged" &&
    Object.values(operations).some(
      ({ uses, relation }) =>
        relation === "all-or-nothing" &&
        uses[name] !== undefined &&
        earlier.some((other) => uses[other] !== undefined && mayRefuse(policy, other)),
    )
  );
}

/** Tells whether a quota refuses some caller, if only one with an override. */
const mayRefuse = ({ quotas, overrides }: Policy, name: string): boolean =>
  quotas[name]?.enforced !== false || overrides.some((own) => own.quotas[name]?.enforced === true);

/** Tells whether a quota has a key, and no other quota of its calls has that key and more. */
function isNarrowest({ quotas, operations }: Policy, name: string): boolean {
  const { key } = quotas[name] as PolicyQuota;
  const using = Object.values(operations).filter(({ uses }) => uses[name] !== undefined);
  const isNarrower = (other: string): boolean => isWithin(quotas[other]?.key ?? key, key);
  return key.length > 0 && !using.some(({ uses }) => Object.keys(uses).some(isNarrower));
}

const isOne = (cost: Cost | undefined): boolean => cost === undefined || cost === 1 || cost === 0;

/** Kinds of quota whose counts are not judged, in words. */
const unjudged: Readonly<Record<string, string>> = {
  "token-bucket": "a token bucket's level is not judged",
  "sliding-log": "a sliding log is not judged",
  "sliding-counter": "a sliding counter is not judged",
  concurrency: "the number of calls at a time is not judged",
};

/** Kinds of which all is judged but this. */
const unjudgedResets: Readonly<Record<string, string>> = {
  "token-bucket": "a token bucket's resets",
  "sliding-log": "a sliding log's resets",
  "sliding-counter": "a sliding counter's resets",
};

function whyNotJudged(
  { algorithm: { kind } }: PolicyQuota,
  grain: number,
  envelope: Envelope | null,
): string | null {
  const why = unjudged[kind] ?? (grain > 1 ? `its counts are shown in multiples of ${grain}` : null);
  if (why === null || envelope === null) return why;
  const resets = unjudgedResets[kind];
  if (resets === undefined) return `${why}, only what it lets through`;
  return `${resets}${grain === 1 ? "" : " and levels"} are not judged`;
}

/** Tells whether refused calls are charged, also where there is no room for them. */
const chargesRefused = ({ charge }: PolicyQuota): boolean =>
  charge.refused === "counted" || charge.refusedByOther === "charged";

export class PolicyQuotas {
  readonly all: ReadonlyMap<string, PolicyQuotaJudge>;
  readonly #counts: Counts;

  constructor(header: QuotaTraceHeader, counts: Counts) {
    this.#counts = counts;
    this.all = new Map(
      Object.keys(header.policy.quotas).map((name) => [name, new PolicyQuotaJudge(header, name)] as const),
    );
  }

  /** Yields each count's group, quota by quota. */
  *groups(): Generator<CountGroup> {
    for (const { counts } of this.all.values()) for (const { group } of counts.values()) yield group;
  }

  /** Returns the count of a quota that a caller uses; makes a new one if needed. */
  count(judge: PolicyQuotaJudge, caller: Caller): Count | null {
    return judge.of(caller, (of, key, name) => this.#make(of, caller, key, name));
  }

  #make(kind: PolicyQuotaJudge, caller: Caller, key: Caller, name: QuotaName): Count {
    const effective = kind.effective(key);
    const { algorithm } = effective;
    const enforcement = this.#enforcement(kind, caller, key);
    const isOnGrid = algorithm.kind === "fixed-window" && algorithm.anchor !== "first-request";
    const grid = isOnGrid && kind.tellsEnd ? new PolicyGrid(name, algorithm) : null;
    const group = this.#counts.group({ name, kind, enforcement, lost: kind.lost, grid });
    if (algorithm.kind === "fixed-window" && kind.notJudged === null) {
      const windows = { limit: algorithm.limit, ...lengthOf(algorithm), grid: gridOf(algorithm) };
      return this.#counts.judged(group, name, windows, !kind.isAnonymous);
    }
    const length = algorithm.kind === "fixed-window" ? lengthOf(algorithm) : null;
    const isTold = kind.lost.calls === 0 && !kind.isAnonymous && !chargesRefused(effective);
    const facts = { quota: effective, lengthMs: length?.least ?? null, isTold, isExact: kind.grain === 1 };
    return this.#counts.unjudged(group, name, limitOf(algorithm), length?.most ?? null, facts);
  }

  /** Returns the enforcement of a count; `{"with": NAME}` follows that quota's count of the same caller. */
  #enforcement(judge: PolicyQuotaJudge, caller: Caller, key: Caller): Enforcement {
    // A limit that the count may pass bounds nothing.
    if (judge.mayPassLimit) return new Enforcement(null);
    const { enforced } = judge.effective(key);
    if (typeof enforced === "object") {
      // A policy has that quota, and its key is a part of this one's, which is known here.
      const other = this.all.get(enforced.with) as PolicyQuotaJudge;
      return (this.count(other, caller) as Count).group.enforcement;
    }
    return new Enforcement(enforced === "unknown" ? null : enforced);
  }
}
