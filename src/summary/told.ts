// Calls as figures and pictures need them, whatever the version of their trace.

import { limitOf, quotaFor } from "../policy/effective.ts";
import { quotaNames } from "../policy/names.ts";
import type { Policy } from "../policy/policy.ts";
import {
  type Owner,
  organizationLimit,
  type Rules,
  type Scope,
  scopes,
  semanticsOf,
  userLimit,
} from "../rules/rules.ts";
import type { QuotaCall, QuotaReading, QuotaTraceHeader } from "../trace/quota-record.ts";
import type { TraceCall, TraceHeader } from "../trace/record.ts";
import { type RulesOwner, type Whose, whoseOf } from "../trace/whose.ts";
import { readRefusal, readStatus } from "../wire/bodies.ts";
import { headersOf, integerOf } from "../wire/fields.ts";
import { isAnswered, isRefusal, refusedBy } from "../wire/outcome.ts";

/** One window as an answer showed it. */
export interface ToldWindow {
  /** The same object for the same owner. */
  readonly whose: Whose;
  readonly limit: number | null;
  readonly count: number | null;
  /** Seconds until it ends; `null` of what has no windows, as a bucket. */
  readonly reset: number | null;
  readonly sent: number;
  readonly received: number;
}

/** One call. */
export interface ToldCall {
  readonly client: string;
  readonly sent: number;
  readonly received: number;
  readonly kind: TraceCall["kind"];
  readonly attempt: number;
  readonly wanted: number | undefined;
  /** `null` where nobody knows. */
  readonly user: { readonly org: string; readonly user: string } | null;
  readonly end: "admitted" | "refused" | "unanswered";
  /** Whose window refused, under rules; the name of what did, under a policy. */
  readonly owner: Owner | null;
  readonly refusedBy: string | null;
  /** Points of GraphQL; units of declared costs. */
  readonly points: number;
  /** Windows that a status answer shows. */
  readonly shown: readonly ToldWindow[];
  /** Windows that the call used, the broadest first. */
  readonly used: readonly ToldWindow[];
  /** Of those, the one that refused. */
  readonly refusing: ToldWindow | null;
  /** Its count by the refusal's own words; `null` where it does not say. */
  readonly refusedAt: number | null;
}

/** Lengths of windows, as far as they are known. */
export interface WindowLengths {
  /** Ms; `null` where it is not known. */
  lengthMs(whose: Whose): number | null;
  /** Ms from a reading's span's begin to `sent + reset`; it ends a second less this behind `received + reset`. */
  beforeMs(whose: Whose): number;
}

/** Tells the calls of one trace. */
export interface Teller<Call> {
  readonly lengths: WindowLengths;
  told(call: Call): ToldCall;
  /** Names of a policy's quotas; `null` under rules. */
  readonly quotas: readonly string[] | null;
}

const beforeMs = { ceil: 1000, floor: 0, round: 500 } as const;

/** Lengths by the rules of version 1; `null` where they are not known. */
export const rulesLengths = (rules: Rules | null): WindowLengths => ({
  lengthMs: (whose) => {
    if (rules === null || "quota" in whose) return null;
    const { org, user, scope } = whose;
    const { windowSeconds } =
      user === null ? organizationLimit(rules, org, scope) : userLimit(rules, org, user, scope);
    return windowSeconds * 1000;
  },
  beforeMs: (whose) =>
    beforeMs[rules === null || "quota" in whose ? "ceil" : semanticsOf(rules, whose.scope).reset],
});

/** Owners by their names, each once. */
class Owners {
  readonly #known = new Map<string, Map<string | null, Record<Scope, RulesOwner>>>();

  of(org: string, user: string | null, scope: Scope): RulesOwner {
    let users = this.#known.get(org);
    if (users === undefined) {
      users = new Map();
      this.#known.set(org, users);
    }
    let own = users.get(user);
    if (own === undefined) {
      own = { rest: { org, user, scope: "rest" }, graphql: { org, user, scope: "graphql" } };
      users.set(user, own);
    }
    return own[scope];
  }
}

class RulesTeller implements Teller<TraceCall> {
  readonly lengths: WindowLengths;
  readonly quotas = null;
  readonly #owners = new Owners();

  constructor(rules: Rules | null) {
    this.lengths = rulesLengths(rules);
  }

  told(call: TraceCall): ToldCall {
    const { client, sent, received, kind, attempt = 0, wanted, org, user } = call;
    const answered = isAnswered(call);
    const isRefused = isRefusal(call.status);
    const owner = isRefused ? refusedBy(call) : null;
    const broad = this.#header(call, "organization");
    const narrow = this.#header(call, "user");
    return {
      client,
      sent,
      received,
      kind,
      attempt,
      wanted,
      user: user === null ? null : { org, user },
      end: !answered ? "unanswered" : isRefused ? "refused" : "admitted",
      owner,
      refusedBy: null,
      points: call.scope === "graphql" ? (call.actual ?? call.cost ?? 0) : 0,
      shown: kind === "status" ? this.#status(call) : [],
      used: [broad, narrow].filter((each) => each !== null),
      refusing: owner === null ? null : owner === "organization" ? broad : narrow,
      refusedAt: isRefused ? readRefusal(call.refusal).current : null,
    };
  }

  /** An owner's window by the headers; `null` where they show none. */
  #header(call: TraceCall, owner: Owner): ToldWindow | null {
    const user = owner === "user" ? call.user : null;
    if (owner === "user" && user === null) return null;
    const { org, scope, sent, received } = call;
    const shown = headersOf(call, owner);
    const reset = integerOf(shown.reset);
    if (shown.scopeName !== quotaNames[scope][owner] || reset === null) return null;
    const limit = integerOf(shown.limit);
    const remaining = integerOf(shown.remaining);
    const count = limit === null || remaining === null ? null : limit - remaining;
    return { whose: this.#owners.of(org, user, scope), limit, count, reset, sent, received };
  }

  #status(call: TraceCall): ToldWindow[] {
    const { org, sent, received } = call;
    return scopes.flatMap((scope) => {
      const { limit, current: count, reset } = readStatus(call.body, scope);
      const whose = this.#owners.of(org, null, scope);
      return reset === null ? [] : [{ whose, limit, count, reset, sent, received }];
    });
  }
}

class QuotaTeller implements Teller<QuotaCall> {
  readonly lengths: WindowLengths;
  readonly quotas: readonly string[];
  readonly #policy: Policy;
  readonly #known = new Map<string, Whose>();

  constructor(policy: Policy) {
    this.#policy = policy;
    this.quotas = Object.keys(policy.quotas);
    this.lengths = {
      lengthMs: (whose) => ("quota" in whose ? windowMsOf(policy, whose.quota) : null),
      beforeMs: (whose) =>
        beforeMs["quota" in whose ? (policy.quotas[whose.quota]?.shown.reset ?? "ceil") : "ceil"],
    };
  }

  told(call: QuotaCall): ToldCall {
    const { client, sent, received, operation, outcome, attempt = 0, wanted, by } = call;
    const kind = operation === "status" || operation === "other" ? operation : "call";
    const windows = call.readings.flatMap((reading) => this.#window(call, reading));
    const isRefused = outcome === "refused";
    const declared = Object.values(this.#policy.operations[operation]?.uses ?? {}).includes("declared");
    return {
      client,
      sent,
      received,
      kind: outcome === "exempt" ? "other" : kind,
      attempt,
      wanted,
      user: userOf(call.caller),
      end: outcome === "unknown" ? "unanswered" : isRefused ? "refused" : "admitted",
      owner: null,
      refusedBy: isRefused ? (by ?? "unknown") : null,
      points: declared ? (call.actual ?? call.cost ?? 0) : 0,
      shown: kind === "status" ? windows : [],
      used: kind === "status" ? [] : windows,
      refusing: windows.find(({ whose }) => "quota" in whose && whose.quota === by) ?? null,
      refusedAt: null,
    };
  }

  #window({ caller, sent, received }: QuotaCall, reading: QuotaReading): ToldWindow[] {
    const { quota, remaining, used, reset } = reading;
    const { key = [], algorithm } = this.#policy.quotas[quota] ?? {};
    // An answer that shows no limit has that of the policy, as it holds for this key.
    const limit =
      reading.limit ?? (algorithm ? limitOf(quotaFor(this.#policy, quota, caller).algorithm) : null);
    const values = key.map((attribute) => caller[attribute] ?? "");
    const name = JSON.stringify([quota, values]);
    const whose = this.#known.get(name) ?? {
      quota,
      key: Object.fromEntries(key.map((attribute, at) => [attribute, values[at] ?? ""])),
    };
    this.#known.set(name, whose);
    const count = used ?? (limit === null || remaining === null ? null : limit - remaining);
    const isWindow = algorithm?.kind === "fixed-window";
    const afterMs =
      reset === null ? null : (reset.afterMs ?? (reset.atMs === null ? null : reset.atMs - received));
    // An idle window would open with the next call: it is none yet.
    if (isWindow && (afterMs === null || (count === 0 && algorithm.anchor === "first-request"))) return [];
    const seconds = isWindow && afterMs !== null ? Math.max(0, afterMs) / 1000 : null;
    return [{ whose, limit, count, reset: seconds, sent, received }];
  }
}

/** Length of a fixed window; `null` where they differ, or there is none. */
function windowMsOf({ quotas }: Policy, name: string): number | null {
  const algorithm = quotas[name]?.algorithm;
  if (algorithm?.kind !== "fixed-window") return null;
  const { anchor, windowSeconds } = algorithm;
  return typeof anchor === "object" && "calendar" in anchor ? null : windowSeconds * 1000;
}

/** A caller as a user: its last attribute's value, of what the others say. */
function userOf(caller: QuotaCall["caller"]): ToldCall["user"] {
  const values = Object.values(caller);
  const [user] = values.slice(-1);
  return user === undefined ? null : { org: values.slice(0, -1).join("/"), user };
}

/** Returns what tells the calls of a trace. */
export function tellerOf(header: TraceHeader): Teller<TraceCall>;
export function tellerOf(header: QuotaTraceHeader): Teller<QuotaCall>;
export function tellerOf(header: TraceHeader | QuotaTraceHeader): Teller<TraceCall> | Teller<QuotaCall> {
  return header.version === 1 ? new RulesTeller(header.rules) : new QuotaTeller(header.policy);
}

/** The owner's name, for tables by text. */
export const whoseName = (whose: Whose): string => JSON.stringify(Object.values(whoseOf(whose)));

/** True of a window that one user has for itself, beside an organization's. */
export const isNarrow = (whose: Whose): boolean => !("quota" in whose) && whose.user !== null;
