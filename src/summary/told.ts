// Calls in the form that figures and pictures need, the same for both versions of the trace.

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
  /** Seconds until the window ends; `null` for a quota without windows, such as a bucket. */
  readonly reset: number | null;
  readonly sent: number;
  readonly received: number;
}

/** One call of a trace of either version. */
export interface ToldCall {
  readonly client: string;
  readonly sent: number;
  readonly received: number;
  readonly kind: TraceCall["kind"];
  readonly attempt: number;
  readonly wanted: number | undefined;
  /** `null` if unknown. */
  readonly user: { readonly org: string; readonly user: string } | null;
  readonly end: "admitted" | "refused" | "unanswered";
  /** Under rules, owner of the window that refused; under a policy, quota that refused, or a word for the refuser. */
  readonly owner: Owner | null;
  readonly refusedBy: string | null;
  /** Points of a GraphQL call, or units of a declared cost. */
  readonly points: number;
  /** Windows that a status answer shows. */
  readonly shown: readonly ToldWindow[];
  /** Windows that the call used, the broadest first; empty for a status call of a policy. */
  readonly used: readonly ToldWindow[];
  /** Window of `used` that refused. */
  readonly refusing: ToldWindow | null;
  /** Count of `refusing` in the refusal's body; `null` if the body shows none. */
  readonly refusedAt: number | null;
}

/** Lengths of windows, and the rounding of their resets. */
export interface WindowLengths {
  /** Returns a window's length, ms; `null` if unknown. */
  lengthMs(whose: Whose): number | null;
  /** Returns ms from a span's start to `sent + reset`; it ends 1000 less these ms after `received + reset`. */
  beforeMs(whose: Whose): number;
}

/** Call of a trace of either version. */
export type AnyCall = TraceCall | QuotaCall;

/** Tells the calls of one trace. */
export interface Teller {
  readonly lengths: WindowLengths;
  /** @param call call of the trace's version */
  told(call: AnyCall): ToldCall;
  /** Names of a policy's quotas; `null` under rules. */
  readonly quotas: readonly string[] | null;
}

const beforeMs = { ceil: 1000, floor: 0, round: 500 } as const;

/** Returns the lengths by the rules of version 1; each is `null` if the rules are unknown. */
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

/** Owners by name: the same name gets the same object. */
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

class RulesTeller implements Teller {
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

  /** Returns an owner's window from the headers; `null` if they show none. */
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

class QuotaTeller implements Teller {
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
    // If the answer shows no limit, the policy's limit for this key holds.
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
    // Under this anchor a count of 0 means that no window is open yet.
    if (isWindow && (afterMs === null || (count === 0 && algorithm.anchor === "first-request"))) return [];
    const seconds = isWindow && afterMs !== null ? Math.max(0, afterMs) / 1000 : null;
    return [{ whose, limit, count, reset: seconds, sent, received }];
  }
}

/** Returns the length of a quota's fixed windows, ms; `null` if lengths differ, or if it has no such windows. */
function windowMsOf({ quotas }: Policy, name: string): number | null {
  const algorithm = quotas[name]?.algorithm;
  if (algorithm?.kind !== "fixed-window") return null;
  const { anchor, windowSeconds } = algorithm;
  return typeof anchor === "object" && "calendar" in anchor ? null : windowSeconds * 1000;
}

/** Returns a caller as a user: its last attribute names the user, the others name the organization. */
function userOf(caller: QuotaCall["caller"]): ToldCall["user"] {
  const values = Object.values(caller);
  const [user] = values.slice(-1);
  return user === undefined ? null : { org: values.slice(0, -1).join("/"), user };
}

/** Returns the teller for a trace's version. */
export const tellerOf = (header: TraceHeader | QuotaTraceHeader): Teller =>
  header.version === 1 ? new RulesTeller(header.rules) : new QuotaTeller(header.policy);

/** Returns an owner's name, as a key of maps. */
export const whoseName = (whose: Whose): string => JSON.stringify(Object.values(whoseOf(whose)));

/** Tells whether a window is a user's own, under rules. */
export const isNarrow = (whose: Whose): boolean => !("quota" in whose) && whose.user !== null;
