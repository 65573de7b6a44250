// The right deployment in virtual time: the pure limiter behind the API's answers (SPEC.md §2, §4-§6). Callers are
// the limiter's own handles, and readings are filled in place. An answer becomes an object only for a trace.
import type { WindowReading } from "../src/engine/adapter.ts";
import { CLOCK, LIMIT, REMAINING, RESET_AT } from "../src/engine/count-reading.ts";
import { BROAD, NARROW, READINGS, resetSeconds, windowAt } from "../src/engine/limiter.ts";
import { NONE_REFUSED, type PolicyCore } from "../src/engine/policy-core.ts";
import { PolicyLimiter } from "../src/engine/policy-limiter.ts";
import { quotaNames } from "../src/policy/names.ts";
import type { Operation, Policy, Quota } from "../src/policy/policy.ts";
import { policyOf } from "../src/policy/shorthand.ts";
import { type Rules, type Semantics, scopes, semanticsOf } from "../src/rules/rules.ts";
import { pointsMost } from "../src/scenario/calls.ts";
import { ABSENT, type CallTemplate } from "../src/scenario/client.ts";
import type { Seat } from "../src/scenario/seats.ts";
import { warningOf } from "../src/wire/answer.ts";
import { refusalBody, statusBody } from "../src/wire/bodies.ts";
import { REFUSED } from "../src/wire/outcome.ts";
import { ANSWERED, type AnswerParts, type Fate, RUNS, type TracedDeployment } from "./deployment.ts";
import * as Flight from "./flight-table.ts";

// A policy of rules has its operations in this order, each with the organization's quota before the user's.
const REST = 0;
const GRAPHQL = 1;
type ScopeIndex = typeof REST | typeof GRAPHQL;
const broadOf = (scope: ScopeIndex): number => 2 * scope;
const narrowOf = (scope: ScopeIndex): number => 2 * scope + 1;

/** Intended use of a deployment, so that facts nobody needs take no memory. */
export interface RightUse {
  /** True if `answer` will be called. */
  readonly traced: boolean;
  /** True if `caller` is called once for each name. */
  readonly distinct: boolean;
  /** True if all calls are counted REST calls. */
  readonly restAlone: boolean;
}

export class RightDeployment implements TracedDeployment {
  readonly #limiter: PolicyLimiter;
  readonly #core: PolicyCore;
  readonly #flights: Flight.FlightTable;
  readonly #isPrepaid: boolean;
  readonly #rounding: readonly Semantics["reset"][];
  readonly #advises: readonly boolean[];
  readonly #isDistinct: boolean;
  /** Names of callers by handle; `null` without a trace. */
  readonly #names: Omit<Seat, "token">[] | null;
  /** Readings of the organization's and the user's window, filled in by `readEach`. */
  readonly #readings = new Float64Array(READINGS);
  readonly #windows = new Float64Array(2);
  /** Bodies of refusals and status answers, by flight; `null` without a trace. */
  readonly #bodies: unknown[] | null;

  constructor(rules: Rules, flights: Flight.FlightTable, { traced, distinct, restAlone }: RightUse) {
    const policy = policyOf(rules);
    this.#limiter = new PolicyLimiter(restAlone ? ofRestAlone(policy) : policy);
    this.#core = this.#limiter.core;
    this.#flights = flights;
    this.#rounding = scopes.map((scope) => semanticsOf(rules, scope).reset);
    this.#advises = scopes.map((scope) => semanticsOf(rules, scope).retryAfter);
    this.#isPrepaid = rules.semantics.graphqlCharge.graphql === "prepaid";
    this.#bodies = traced ? [] : null;
    this.#isDistinct = distinct;
    this.#names = traced ? [] : null;
  }

  caller(organization: string, user: string): number {
    const names = { organization, user };
    const caller = this.#isDistinct ? this.#limiter.newCaller(names) : this.#limiter.handleOf(names, "rest");
    if (this.#names !== null) this.#names[caller] = names;
    return caller;
  }

  lookAt(caller: number): number {
    return this.#core.lookAt(caller);
  }

  arrive(flight: number, caller: number, call: CallTemplate, nowMs: number): Fate {
    if (call.kind === "status") {
      this.#reply(flight, caller, call, REST, Flight.ADMITTED, nowMs);
      this.#showStatus(flight, caller, nowMs);
      return ANSWERED;
    }
    const scope = call.scope === "rest" ? REST : GRAPHQL;
    // A call with too many points is refused with a 200, before any window is read (SPEC.md §6).
    const decided =
      scope === GRAPHQL && call.cost > pointsMost
        ? Flight.ADMITTED
        : refuserOf(this.#core.decide(caller, scope, call.cost, nowMs));
    if (decided === Flight.ADMITTED && scope === GRAPHQL && call.cost <= pointsMost) {
      this.#execute(flight, caller, call, nowMs);
      return RUNS;
    }
    this.#reply(flight, caller, call, scope, decided, nowMs);
    if (scope === GRAPHQL && call.cost > pointsMost)
      this.#flights.ints[flight * Flight.INTS + Flight.SHOWN] =
        Flight.ADMITTED | Flight.SHOWS_ALL | Flight.UNCOUNTED;
    return ANSWERED;
  }

  /** Adds the resets in a status answer's body, and keeps the body for a trace. */
  #showStatus(flight: number, caller: number, nowMs: number): void {
    const { doubles } = this.#flights;
    const at = flight * Flight.DOUBLES;
    doubles[at + Flight.REST_RESET] = doubles[at + Flight.RESET] as number;
    this.#core.readEach(caller, GRAPHQL, nowMs, this.#readings);
    doubles[at + Flight.GRAPHQL_RESET] = this.#seconds(BROAD, GRAPHQL);
    if (this.#bodies !== null) this.#bodies[flight] = this.#statusScopes(caller, nowMs);
  }

  resume(): Fate {
    throw new RangeError("the right deployment decides at once");
  }

  /** Starts a query. Under `prepaid` its answer shows the windows at the decision (SPEC.md §5). */
  #execute(flight: number, caller: number, call: CallTemplate, nowMs: number): void {
    const { doubles } = this.#flights;
    const at = flight * Flight.DOUBLES;
    doubles[at + Flight.ORGANIZATION_WINDOW] = this.#core.windowOf(caller, broadOf(GRAPHQL));
    doubles[at + Flight.USER_WINDOW] = this.#core.windowOf(caller, narrowOf(GRAPHQL));
    if (this.#isPrepaid) this.#reply(flight, caller, call, GRAPHQL, Flight.ADMITTED, nowMs);
  }

  complete(flight: number, caller: number, call: CallTemplate, nowMs: number): Fate {
    const { doubles } = this.#flights;
    const at = flight * Flight.DOUBLES;
    const windows = this.#windows;
    windows[0] = doubles[at + Flight.ORGANIZATION_WINDOW] as number;
    windows[1] = doubles[at + Flight.USER_WINDOW] as number;
    this.#core.settle(caller, GRAPHQL, call.cost, call.actual, windows, nowMs);
    if (!this.#isPrepaid) this.#reply(flight, caller, call, GRAPHQL, Flight.ADMITTED, nowMs);
    return ANSWERED;
  }

  answer(flight: number, caller: number, call: CallTemplate): AnswerParts {
    const { ints, doubles } = this.#flights;
    const at = flight * Flight.DOUBLES;
    const remaining = doubles[at + Flight.REMAINING] as number;
    const reset = doubles[at + Flight.RESET] as number;
    const userRemaining = doubles[at + Flight.USER_REMAINING] as number;
    const userReset = doubles[at + Flight.USER_RESET] as number;
    const { scope, kind } = call;
    const status = ints[flight * Flight.INTS + Flight.STATUS] as number;
    if (this.#names === null) throw new RangeError("no trace was wanted: no names are kept");
    const { organization, user } = this.#names[caller] as Omit<Seat, "token">;
    const answer: AnswerParts = {
      org: organization,
      user,
      scope,
      kind,
      cost: kind === "status" ? null : call.cost,
      status,
      scopeName: scope,
      limit: doubles[at + Flight.LIMIT] as number,
      remaining,
      reset,
      userScopeName: quotaNames[scope].user,
      userLimit: doubles[at + Flight.USER_LIMIT] as number,
      userRemaining,
      userReset,
    };
    if (status === REFUSED) {
      const retryAfter = doubles[at + Flight.RETRY_AFTER] as number;
      if (retryAfter !== ABSENT) answer.retryAfter = retryAfter;
      answer.refusal = this.#bodies?.[flight];
    } else if (kind === "status") answer.body = this.#bodies?.[flight];
    else if (scope === "graphql" && call.cost > pointsMost) {
      answer.kind = "other";
      answer.cost = null;
      answer.actual = 0;
    } else if (scope === "graphql") answer.actual = call.actual;
    const warning = warningOf("organization", { remaining, reset });
    const userWarning = warningOf("user", { remaining: userRemaining, reset: userReset });
    if (warning !== undefined) answer.warning = warning;
    if (userWarning !== undefined) answer.userWarning = userWarning;
    return answer;
  }

  /** Reads both windows at `nowMs`, and writes the answer into the flight. */
  #reply(
    flight: number,
    caller: number,
    call: CallTemplate,
    scope: ScopeIndex,
    decided: Flight.Refuser,
    nowMs: number,
  ): void {
    const readings = this.#readings;
    this.#core.readEach(caller, scope, nowMs, readings);
    const reset = this.#seconds(BROAD, scope);
    const userReset = this.#seconds(NARROW, scope);
    const { ints, doubles } = this.#flights;
    ints[flight * Flight.INTS + Flight.STATUS] = decided === Flight.ADMITTED ? 200 : REFUSED;
    ints[flight * Flight.INTS + Flight.SHOWN] = decided | Flight.SHOWS_ALL;
    const at = flight * Flight.DOUBLES;
    const refusing = decided === Flight.REFUSED_BY_ORGANIZATION ? reset : userReset;
    doubles[at + Flight.RETRY_AFTER] =
      decided !== Flight.ADMITTED && this.#advises[scope] === true ? refusing : ABSENT;
    doubles[at + Flight.LIMIT] = readings[BROAD + LIMIT] as number;
    doubles[at + Flight.REMAINING] = readings[BROAD + REMAINING] as number;
    doubles[at + Flight.RESET] = reset;
    doubles[at + Flight.USER_LIMIT] = readings[NARROW + LIMIT] as number;
    doubles[at + Flight.USER_REMAINING] = readings[NARROW + REMAINING] as number;
    doubles[at + Flight.USER_RESET] = userReset;
    if (this.#bodies !== null && decided !== Flight.ADMITTED) {
      const owner = decided === Flight.REFUSED_BY_ORGANIZATION ? "organization" : "user";
      const windows = {
        organization: this.#window(scope, BROAD),
        user: this.#window(scope, NARROW),
      };
      this.#bodies[flight] = refusalBody(call.scope, owner, windows);
    }
  }

  /** Returns the seconds to a window's end, rounded as the rules say. */
  #seconds(from: number, scope: ScopeIndex): number {
    const readings = this.#readings;
    const resetAtMs = readings[from + RESET_AT] as number;
    return resetSeconds(
      resetAtMs,
      readings[from + CLOCK] as number,
      this.#rounding[scope] as Semantics["reset"],
    );
  }

  /** Returns a reading taken before, in the shape of SPEC.md. */
  #window(scope: ScopeIndex, from: typeof BROAD | typeof NARROW): WindowReading {
    return windowAt(this.#readings, from, this.#rounding[scope] as Semantics["reset"]);
  }

  #statusScopes(caller: number, nowMs: number): unknown {
    const of = (scope: ScopeIndex): WindowReading => {
      this.#core.readEach(caller, scope, nowMs, this.#readings);
      return this.#window(scope, BROAD);
    };
    return statusBody({ rest: of(REST), graphql: of(GRAPHQL) }).scopes;
  }
}

/** Returns a policy without GraphQL and its quotas; the places of REST's quotas stay. */
const ofRestAlone = (policy: Policy): Policy => ({
  ...policy,
  quotas: Object.fromEntries(
    Object.values(quotaNames.rest).map((name) => [name, policy.quotas[name] as Quota]),
  ),
  operations: { rest: policy.operations["rest"] as Operation },
});

const refuserOf = (refusing: number): Flight.Refuser =>
  refusing === NONE_REFUSED
    ? Flight.ADMITTED
    : refusing % 2 === 0
      ? Flight.REFUSED_BY_ORGANIZATION
      : Flight.REFUSED_BY_USER;
