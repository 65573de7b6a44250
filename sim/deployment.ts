// The deployment in virtual time: the pure limiter behind the API's answers (SPEC.md §2, §4-§6), as the trace
// records them.
import { headers, refusalBody, statusBody, windowName } from "../src/engine/answers.ts";
import {
  ADMITTED,
  emptyReading,
  GRAPHQL,
  LimiterCore,
  REFUSED_BY_ORGANIZATION,
  REST,
  type ScopeIndex,
} from "../src/engine/core.ts";
import type { Pending } from "../src/engine/store.ts";
import { organizationLimit, type Rules, userLimit } from "../src/rules/rules.ts";
import { pointsMost } from "../src/scenario/calls.ts";
import type { CallTemplate } from "../src/scenario/client.ts";
import type { TraceCall } from "../src/trace/record.ts";

/** A user that calls, as the deployment knows it. */
export interface Caller {
  readonly organization: string;
  readonly user: string;
  /** The limiter's; meaningless where it goes by names. */
  readonly handle: number;
}

/** A GraphQL query that runs: what it has to settle when it completes. */
export interface Execution {
  readonly organizationWindow: number;
  readonly userWindow: number;
  /** Under `prepaid` the answer shows the windows of the decision (SPEC.md §5). */
  readonly answer: Answer | null;
}

/** What an answer shows; who asked, and when, is the client's to add. */
export type Answer = Omit<TraceCall, "sent" | "received" | "client" | "call">;

/** What becomes of a call that arrives: its answer, a query that runs, or a decision that takes its time. */
export type Outcome<Running extends object> = Answer | Running | Pending<Answer | Running>;

/**
 * What the simulator sees of a deployment: the right one, or one with a fault. Every time is an argument.
 * @typeParam Running what it knows of a query that runs; it has neither `status` nor `waitMs`
 */
export interface SimulatedDeployment<Running extends object> {
  /** The caller of this name; the same one for the same name. */
  caller(organization: string, user: string): Caller;
  /** Decides a call, now; a query that is admitted runs on and is answered by `complete`. */
  arrive(caller: Caller, call: CallTemplate, nowMs: number): Outcome<Running>;
  /** Settles a query that has run until now, and answers it. */
  complete(caller: Caller, call: CallTemplate, running: Running, nowMs: number): Answer;
}

/** The right deployment. */
export class Deployment implements SimulatedDeployment<Execution> {
  readonly #rules: Rules;
  readonly #core: LimiterCore;
  readonly #organizations = new Map<
    string,
    { readonly handle: number; readonly callers: Map<string, Caller> }
  >();
  // Filled in place, one reading after the other.
  readonly #broad = emptyReading();
  readonly #narrow = emptyReading();

  constructor(rules: Rules) {
    this.#rules = rules;
    this.#core = new LimiterCore(rules);
  }

  caller(organization: string, user: string): Caller {
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
      const handle = this.#core.addUser(owner.handle, {
        rest: userLimit(this.#rules, organization, user, "rest"),
        graphql: userLimit(this.#rules, organization, user, "graphql"),
      });
      caller = { organization, user, handle };
      owner.callers.set(user, caller);
    }
    return caller;
  }

  arrive(caller: Caller, call: CallTemplate, nowMs: number): Answer | Execution {
    if (call.kind === "status") return this.#status(caller, call, nowMs);
    const scope = call.scope === "rest" ? REST : GRAPHQL;
    // Too many points: refused before any window is asked, with a 200 (SPEC.md §6).
    if (scope === GRAPHQL && call.cost > pointsMost) {
      this.#read(caller, scope, nowMs);
      return { ...this.#answer(caller, call, 200), kind: "other", cost: null, actual: 0 };
    }
    const outcome = this.#core.decide(caller.handle, scope, call.cost, nowMs);
    if (outcome !== ADMITTED)
      return this.#refuse(caller, call, outcome === REFUSED_BY_ORGANIZATION, scope, nowMs);
    if (scope === GRAPHQL) return this.#execute(caller, call, nowMs);
    this.#read(caller, scope, nowMs);
    return this.#answer(caller, call, 200);
  }

  #execute(caller: Caller, call: CallTemplate, nowMs: number): Execution {
    const prepaid = this.#rules.semantics.graphqlCharge.graphql === "prepaid";
    return {
      organizationWindow: this.#core.windowOf("organization", caller.handle, GRAPHQL),
      userWindow: this.#core.windowOf("user", caller.handle, GRAPHQL),
      answer: prepaid ? this.#executed(caller, call, nowMs) : null,
    };
  }

  complete(caller: Caller, call: CallTemplate, execution: Execution, nowMs: number): Answer {
    const { organizationWindow, userWindow, answer } = execution;
    this.#core.settle(caller.handle, call.cost, call.actual, organizationWindow, userWindow, nowMs);
    return answer ?? this.#executed(caller, call, nowMs);
  }

  #executed(caller: Caller, call: CallTemplate, nowMs: number): Answer {
    this.#read(caller, GRAPHQL, nowMs);
    const answer = this.#answer(caller, call, 200);
    answer.actual = call.actual;
    return answer;
  }

  #status(caller: Caller, call: CallTemplate, nowMs: number): Answer {
    const owner = this.#core.organizationOf(caller.handle);
    const [rest, graphql] = [emptyReading(), emptyReading()];
    this.#core.readOrganization(owner, REST, nowMs, rest);
    this.#core.readOrganization(owner, GRAPHQL, nowMs, graphql);
    this.#read(caller, REST, nowMs);
    return { ...this.#answer(caller, call, 200), cost: null, body: statusBody({ rest, graphql }).scopes };
  }

  #refuse(
    caller: Caller,
    call: CallTemplate,
    byOrganization: boolean,
    scope: ScopeIndex,
    nowMs: number,
  ): Answer {
    this.#read(caller, scope, nowMs);
    const readings = { organization: this.#broad, user: this.#narrow };
    const owner = byOrganization ? "organization" : "user";
    const answer = this.#answer(caller, call, 429);
    if (this.#rules.semantics.retryAfter[call.scope]) answer.retryAfter = readings[owner].reset;
    answer.refusal = refusalBody(call.scope, owner, readings);
    return answer;
  }

  #read(caller: Caller, scope: ScopeIndex, nowMs: number): void {
    this.#core.readOrganization(this.#core.organizationOf(caller.handle), scope, nowMs, this.#broad);
    this.#core.readUser(caller.handle, scope, nowMs, this.#narrow);
  }

  /** An answer with the headers last read, its members in the trace's order. */
  #answer(caller: Caller, call: CallTemplate, status: number): Answer {
    const [broad, narrow] = [this.#broad, this.#narrow];
    const answer: Answer = {
      org: caller.organization,
      user: caller.user,
      scope: call.scope,
      kind: call.kind,
      cost: call.cost,
      status,
      scopeName: call.scope,
      limit: broad.limit,
      remaining: broad.remaining,
      reset: broad.reset,
      userScopeName: windowName(call.scope, "user"),
      userLimit: narrow.limit,
      userRemaining: narrow.remaining,
      userReset: narrow.reset,
    };
    if (broad.remaining > 0 && narrow.remaining > 0) return answer;
    const texts = headers(call.scope, { organization: broad, user: narrow });
    const { "RateLimit-Warning": warning, "RateLimit-User-Warning": userWarning } = texts;
    if (warning !== undefined) answer.warning = warning;
    if (userWarning !== undefined) answer.userWarning = userWarning;
    return answer;
  }
}
