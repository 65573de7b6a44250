// The right deployment in virtual time: the pure limiter behind the API's answers (SPEC.md §2, §4-§6). Callers are the
// limiter's own handles, readings are filled in place; only where a trace is wanted an answer becomes an object.
import {
  ADMITTED,
  type Outcome as Decided,
  emptyReading,
  GRAPHQL,
  LimiterCore,
  REFUSED_BY_ORGANIZATION,
  REST,
  type ScopeIndex,
} from "../src/engine/core.ts";
import { quotaNames } from "../src/policy/names.ts";
import { organizationLimit, type Rules, userLimit } from "../src/rules/rules.ts";
import { pointsMost } from "../src/scenario/calls.ts";
import { ABSENT, type CallTemplate } from "../src/scenario/client.ts";
import { warningOf } from "../src/wire/answer.ts";
import { refusalBody, statusBody } from "../src/wire/bodies.ts";
import { REFUSED } from "../src/wire/outcome.ts";
import { ANSWERED, type AnswerParts, type Fate, type NumericDeployment, RUNS } from "./deployment.ts";
import * as Flight from "./flight-table.ts";

interface Owner {
  readonly handle: number;
  /** Users by name. */
  readonly callers: Map<string, number>;
}

export class RightDeployment implements NumericDeployment {
  readonly #rules: Rules;
  readonly #core: LimiterCore;
  readonly #flights: Flight.FlightTable;
  readonly #isPrepaid: boolean;
  readonly #organizations = new Map<string, Owner>();
  // Who calls, by handle.
  readonly #organizationNames: string[] = [];
  readonly #userNames: string[] = [];
  // Filled in place, one reading after the other.
  readonly #broad = emptyReading();
  readonly #narrow = emptyReading();
  /** By flight; `null` where no trace is wanted. */
  readonly #answers: AnswerParts[] | null;

  /** @param traced whether `answer` will be asked */
  constructor(rules: Rules, flights: Flight.FlightTable, traced: boolean) {
    this.#rules = rules;
    this.#core = new LimiterCore(rules);
    this.#flights = flights;
    this.#isPrepaid = rules.semantics.graphqlCharge.graphql === "prepaid";
    this.#answers = traced ? [] : null;
  }

  caller(organization: string, user: string): number {
    let owner = this.#organizations.get(organization);
    if (owner === undefined) {
      const handle = this.#core.addOrganization({
        rest: organizationLimit(this.#rules, organization, "rest"),
        graphql: organizationLimit(this.#rules, organization, "graphql"),
      });
      owner = { handle, callers: new Map() };
      this.#organizations.set(organization, owner);
    }
    let caller = owner.callers.get(user);
    if (caller === undefined) {
      caller = this.#core.addUser(owner.handle, {
        rest: userLimit(this.#rules, organization, user, "rest"),
        graphql: userLimit(this.#rules, organization, user, "graphql"),
      });
      owner.callers.set(user, caller);
      this.#organizationNames[caller] = organization;
      this.#userNames[caller] = user;
    }
    return caller;
  }

  lookAt(caller: number): number {
    return this.#core.organizationOf(caller);
  }

  arrive(flight: number, caller: number, call: CallTemplate, nowMs: number): Fate {
    if (call.kind === "status") {
      this.#reply(flight, caller, call, REST, ADMITTED, nowMs);
      this.#showStatus(flight, caller, nowMs);
      return ANSWERED;
    }
    const scope = call.scope === "rest" ? REST : GRAPHQL;
    // Too many points: refused before any window is asked, with a 200 (SPEC.md §6).
    const decided =
      scope === GRAPHQL && call.cost > pointsMost
        ? ADMITTED
        : this.#core.decide(caller, scope, call.cost, nowMs);
    if (decided === ADMITTED && scope === GRAPHQL && call.cost <= pointsMost) {
      this.#execute(flight, caller, call, nowMs);
      return RUNS;
    }
    this.#reply(flight, caller, call, scope, decided, nowMs);
    if (scope === GRAPHQL && call.cost > pointsMost)
      this.#flights.ints[flight * Flight.INTS + Flight.SHOWN] =
        ADMITTED | Flight.SHOWS_ALL | Flight.UNCOUNTED;
    return ANSWERED;
  }

  /** Adds what the body of a status answer shows beside the headers. */
  #showStatus(flight: number, caller: number, nowMs: number): void {
    const { doubles } = this.#flights;
    const at = flight * Flight.DOUBLES;
    doubles[at + Flight.REST_RESET] = this.#broad.reset;
    this.#core.readOrganization(this.#core.organizationOf(caller), GRAPHQL, nowMs, this.#broad);
    doubles[at + Flight.GRAPHQL_RESET] = this.#broad.reset;
  }

  resume(): Fate {
    throw new RangeError("the right deployment decides at once");
  }

  /** Under `prepaid` the answer shows the windows of the decision (SPEC.md §5). */
  #execute(flight: number, caller: number, call: CallTemplate, nowMs: number): void {
    const { doubles } = this.#flights;
    const at = flight * Flight.DOUBLES;
    doubles[at + Flight.ORGANIZATION_WINDOW] = this.#core.windowOf("organization", caller, GRAPHQL);
    doubles[at + Flight.USER_WINDOW] = this.#core.windowOf("user", caller, GRAPHQL);
    if (this.#isPrepaid) this.#reply(flight, caller, call, GRAPHQL, ADMITTED, nowMs);
  }

  complete(flight: number, caller: number, call: CallTemplate, nowMs: number): Fate {
    const { doubles } = this.#flights;
    const at = flight * Flight.DOUBLES;
    const organizationWindow = doubles[at + Flight.ORGANIZATION_WINDOW] as number;
    const userWindow = doubles[at + Flight.USER_WINDOW] as number;
    this.#core.settle(caller, call.cost, call.actual, organizationWindow, userWindow, nowMs);
    if (!this.#isPrepaid) this.#reply(flight, caller, call, GRAPHQL, ADMITTED, nowMs);
    return ANSWERED;
  }

  answer(flight: number): AnswerParts {
    return this.#answers?.[flight] as AnswerParts;
  }

  /** Reads both windows as they are now, and writes the answer into the flight. */
  #reply(
    flight: number,
    caller: number,
    call: CallTemplate,
    scope: ScopeIndex,
    decided: Decided,
    nowMs: number,
  ): void {
    const [broad, narrow] = [this.#broad, this.#narrow];
    this.#core.readOrganization(this.#core.organizationOf(caller), scope, nowMs, broad);
    this.#core.readUser(caller, scope, nowMs, narrow);
    const { ints, doubles } = this.#flights;
    ints[flight * Flight.INTS + Flight.STATUS] = decided === ADMITTED ? 200 : REFUSED;
    ints[flight * Flight.INTS + Flight.SHOWN] = decided | Flight.SHOWS_ALL;
    const at = flight * Flight.DOUBLES;
    doubles[at + Flight.RETRY_AFTER] = this.#retryAfter(call, decided);
    doubles[at + Flight.LIMIT] = broad.limit;
    doubles[at + Flight.REMAINING] = broad.remaining;
    doubles[at + Flight.RESET] = broad.reset;
    doubles[at + Flight.USER_LIMIT] = narrow.limit;
    doubles[at + Flight.USER_REMAINING] = narrow.remaining;
    doubles[at + Flight.USER_RESET] = narrow.reset;
    if (this.#answers !== null) this.#answers[flight] = this.#traced(caller, call, decided, nowMs);
  }

  #retryAfter({ scope }: CallTemplate, decided: Decided): number {
    if (decided === ADMITTED || !this.#rules.semantics.retryAfter[scope]) return ABSENT;
    return decided === REFUSED_BY_ORGANIZATION ? this.#broad.reset : this.#narrow.reset;
  }

  /** The answer as traces have it, of the readings that were just taken. */
  #traced(caller: number, call: CallTemplate, decided: Decided, nowMs: number): AnswerParts {
    const answer = this.#shown(caller, call, decided === ADMITTED ? 200 : REFUSED);
    if (decided !== ADMITTED) this.#addRefusal(answer, call, decided);
    else if (call.kind === "status") {
      answer.cost = null;
      answer.body = this.#statusScopes(caller, nowMs);
    } else if (call.scope === "graphql" && call.cost > pointsMost) {
      answer.kind = "other";
      answer.cost = null;
      answer.actual = 0;
    } else if (call.scope === "graphql") answer.actual = call.actual;
    return answer;
  }

  #addRefusal(answer: AnswerParts, call: CallTemplate, decided: Decided): void {
    const owner = decided === REFUSED_BY_ORGANIZATION ? "organization" : "user";
    const retryAfter = this.#retryAfter(call, decided);
    if (retryAfter !== ABSENT) answer.retryAfter = retryAfter;
    answer.refusal = refusalBody(call.scope, owner, { organization: this.#broad, user: this.#narrow });
  }

  #statusScopes(caller: number, nowMs: number): unknown {
    const owner = this.#core.organizationOf(caller);
    const [rest, graphql] = [emptyReading(), emptyReading()];
    this.#core.readOrganization(owner, REST, nowMs, rest);
    this.#core.readOrganization(owner, GRAPHQL, nowMs, graphql);
    return statusBody({ rest, graphql }).scopes;
  }

  /** Returns the parts of every answer, its members in the trace's order. */
  #shown(caller: number, call: CallTemplate, status: number): AnswerParts {
    const [broad, narrow] = [this.#broad, this.#narrow];
    const answer: AnswerParts = {
      org: this.#organizationNames[caller] as string,
      user: this.#userNames[caller] as string,
      scope: call.scope,
      kind: call.kind,
      cost: call.cost,
      status,
      scopeName: call.scope,
      limit: broad.limit,
      remaining: broad.remaining,
      reset: broad.reset,
      userScopeName: quotaNames[call.scope].user,
      userLimit: narrow.limit,
      userRemaining: narrow.remaining,
      userReset: narrow.reset,
    };
    const warning = warningOf("organization", broad);
    const userWarning = warningOf("user", narrow);
    if (warning !== undefined) answer.warning = warning;
    if (userWarning !== undefined) answer.userWarning = userWarning;
    return answer;
  }
}
