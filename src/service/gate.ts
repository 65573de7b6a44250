// The checks before every resource, in the order of SPEC.md §6, and the answers to callers who may not pass.
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Readings } from "../engine/adapter.ts";
import type { Pending, RemoteStore, SlowStore, Store } from "../engine/store.ts";
import type { Answered, Faulty } from "../faults/fault.ts";
import { type Owner, type Rules, type Scope, type Semantics, semanticsOf } from "../rules/rules.ts";
import type { Token, TokenScope } from "../rules/tokens.ts";
import { headers } from "../wire/answer.ts";
import { refusalBody } from "../wire/bodies.ts";
import { headerNames } from "../wire/fields.ts";
import { REFUSED } from "../wire/outcome.ts";
import { changing, type Fields, lasting, type SendAnswer, send, sendMessage } from "./answer.ts";
import { callersOf, credentialIn, type TokenOwner, TokenTable } from "./auth.ts";
import { once } from "./once.ts";

const UNKNOWN_CALLER = "Authentication required: send `Authorization: Bearer TOKEN` with a known token";

/** Counters of any kind: at hand, slow, or in another process. */
export type Counters = Store | SlowStore | RemoteStore;

/**
 * Returns the eight headers, for GraphQL with the points that the query requested and used (SPEC.md §5).
 * @param requested points, 0 if the query could not be priced; meaningless for REST
 * @param actual points, 0 if nothing was executed; meaningless for REST
 */
export function fieldsOf(scope: Scope, readings: Readings, requested: number, actual: number): Fields {
  const fields = headers(scope, readings);
  if (scope === "graphql") {
    fields[headerNames.requested] = requested;
    fields[headerNames.actual] = actual;
  }
  return fields;
}

export interface GateOptions extends Pick<Faulty, "change" | "userOf"> {
  readonly rules: Rules;
  /** Tokens of those who may call, kept as hashes only. */
  readonly tokens: readonly Token[];
  readonly store: Counters;
  /** Returns the time, whole ms since the Unix epoch. */
  readonly now: () => number;
  /** Waits; slow stores need it. Injected, so that tests hold calls in flight as they like. */
  readonly sleep?: (ms: number) => Promise<void>;
}

/** Everything that each route needs: the caller, the counters, the clock, the sending of answers. */
export class Gate {
  readonly store: Counters;
  /** Returns the time, ms since the Unix epoch. */
  readonly now: () => number;
  readonly semantics: Readonly<Record<Scope, Semantics>>;
  /** Sends an answer to a known caller. */
  readonly send: SendAnswer;
  readonly #callerOf: (request: FastifyRequest) => TokenOwner | null;
  readonly #sleep: ((ms: number) => Promise<void>) | undefined;

  constructor({ rules, tokens, store, now, sleep, change, userOf }: GateOptions) {
    this.store = store;
    this.now = now;
    this.semantics = { rest: semanticsOf(rules, "rest"), graphql: semanticsOf(rules, "graphql") };
    this.send = change === undefined ? send : changing(change);
    this.#sleep = sleep;
    const table = new TokenTable(callersOf(tokens));
    this.#callerOf = (request) => {
      const caller = table.find(credentialIn(request), request.raw.socket);
      return userOf && caller ? charging(caller, request.headers, userOf) : caller;
    };
  }

  /**
   * Identifies the caller: sends 401, then 404 for an organization, then 403; returns `null` if it sent one of them.
   * @param organization the slug in the path; `null` if the path names none and means the token's
   * @param needs the scope that the token must have for the resource; `null` if any token will do
   */
  enter(
    request: FastifyRequest,
    reply: FastifyReply,
    scope: Scope,
    organization: string | null,
    needs: TokenScope | null,
  ): TokenOwner | null {
    const caller = this.#callerOf(request);
    if (caller === null) {
      sendMessage(reply, 401, { "WWW-Authenticate": "Bearer" }, UNKNOWN_CALLER);
      return null;
    }
    if (organization !== null && organization !== caller.organization) {
      // An unknown organization and somebody else's get the same answer, so that it does not show which exist.
      sendMessage(reply, 404, {}, "No organization found");
      return null;
    }
    if (needs !== null && !caller.scopes.has(needs)) {
      const message = `Forbidden: this token lacks the scope ${needs}`;
      this.after(reply, this.uncounted(scope, caller), (fields) =>
        this.send(reply, 403, fields, { message }, this.about("other", caller, scope)),
      );
      return null;
    }
    return caller;
  }

  /** Returns the headers of an uncounted answer: the windows as they stand, nothing executed. */
  uncounted(
    scope: Scope,
    { organization, quota }: TokenOwner,
    nowMs = this.now(),
    requested = 0,
  ): Fields | Promise<Fields> {
    const readings = this.wait(this.store.readings(organization, quota, scope, nowMs));
    if (readings instanceof Promise) return readings.then((read) => fieldsOf(scope, read, requested, 0));
    return fieldsOf(scope, readings, requested, 0);
  }

  /** Describes the call that is answered, at the time of now. */
  about(kind: Answered["kind"], { organization, user }: TokenOwner, scope: Scope): Answered {
    return { kind, organization, user, scope, nowMs: this.now() };
  }

  /**
   * Returns the counters' answer: at once if they have it at once.
   * @throws RangeError if they are slow and there is no `sleep`
   */
  wait<T extends object>(said: T | Pending<T> | Promise<T>): T | Promise<T> {
    if (!isPending(said)) return said;
    if (this.#sleep === undefined)
      throw new RangeError("a slow store needs a sleep: buildApp({ store, sleep })");
    return this.#sleep(said.waitMs).then(() => said.resume(this.now()));
  }

  /** Goes on with the result of `wait`, at once if it is there. An error is answered like any other. */
  after<T>(reply: FastifyReply, waited: T | Promise<T>, go: (value: T) => void): void {
    if (waited instanceof Promise) waited.then(go).catch((error: unknown) => void reply.send(error));
    else go(waited);
  }

  /**
   * Answers 429, with everything about the window that refused.
   * @param fields the eight headers, and the further ones of this answer
   */
  refuse(reply: FastifyReply, refusedBy: Owner, readings: Readings, fields: Fields, about: Answered): void {
    const { scope } = about;
    const { limit, current, reset } = readings[refusedBy];
    if (this.semantics[scope].retryAfter) fields[headerNames.retryAfter] = reset;
    const body = refusalOf(`${scope} ${refusedBy} ${limit} ${current} ${reset}`, scope, refusedBy, readings);
    this.send(reply, REFUSED, fields, body, about);
  }
}

/** The latest bodies of refusals, as text: refusals in a row mostly show the same numbers. */
const refusalOf = once(64, (_numbers, scope: Scope, refusedBy: Owner, readings: Readings) =>
  lasting(refusalBody(scope, refusedBy, readings)),
);

function isPending<T extends object>(said: T | Pending<T> | Promise<T>): said is Pending<T> {
  return "resume" in said;
}

/** Returns the caller with the user whose quota a fault makes pay for its calls. */
function charging(
  caller: TokenOwner,
  headers: FastifyRequest["headers"],
  userOf: NonNullable<Faulty["userOf"]>,
): TokenOwner {
  const texts = Object.entries(headers).map(([name, value]) => [name, String(value)]);
  return { ...caller, quota: userOf(caller.user, Object.fromEntries(texts)) };
}
