// Who may pass: the checks that come before every resource, in the order of SPEC.md §6, and the answers to
// those who may not.
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Readings } from "../engine/adapter.ts";
import { headers, refusalBody } from "../engine/answers.ts";
import type { Store } from "../engine/store.ts";
import { type Owner, type Rules, type Scope, type Semantics, semanticsOf } from "../rules/rules.ts";
import type { Token, TokenScope } from "../rules/tokens.ts";
import { type Fields, send, sendMessage } from "./answer.ts";
import { type Caller, TokenTable } from "./auth.ts";

const UNKNOWN_CALLER = "Authentication required: send `Authorization: Bearer TOKEN` with a known token";

/**
 * The eight headers, and of GraphQL what the query asked for and used (SPEC.md §5).
 * @param requested points, 0 where the query could not be priced; meaningless for REST
 * @param actual points, 0 where nothing was executed; meaningless for REST
 */
export function fieldsOf(scope: Scope, readings: Readings, requested: number, actual: number): Fields {
  const fields = headers(scope, readings);
  if (scope === "graphql") {
    fields["RateLimit-Complexity-Requested"] = requested;
    fields["RateLimit-Complexity-Actual"] = actual;
  }
  return fields;
}

/** What every route needs: who calls, the counters, the clock. */
export class Gate {
  readonly store: Store;
  /** Milliseconds since the Unix epoch. */
  readonly now: () => number;
  readonly semantics: Readonly<Record<Scope, Semantics>>;
  readonly #tokens: TokenTable;

  constructor(rules: Rules, tokens: readonly Token[], store: Store, now: () => number) {
    this.store = store;
    this.now = now;
    this.semantics = { rest: semanticsOf(rules, "rest"), graphql: semanticsOf(rules, "graphql") };
    this.#tokens = new TokenTable(tokens);
  }

  /**
   * Identifies the caller: 401, then 404 for an organization, then 403. `null` where one of them was sent.
   * @param organization the slug in the path; `null` where the path names none and the token's is meant
   * @param needs the token's scope without which the resource is closed; `null` where any token will do
   */
  enter(
    request: FastifyRequest,
    reply: FastifyReply,
    scope: Scope,
    organization: string | null,
    needs: TokenScope | null,
  ): Caller | null {
    const caller = this.#tokens.find(request.headers.authorization);
    if (caller === null) {
      sendMessage(reply, 401, { "WWW-Authenticate": "Bearer" }, UNKNOWN_CALLER);
      return null;
    }
    if (organization !== null && organization !== caller.organization) {
      // The same for an organization that does not exist and one that is another's: neither shows which.
      sendMessage(reply, 404, {}, "No organization found");
      return null;
    }
    if (needs !== null && !caller.scopes.has(needs)) {
      const fields = this.uncounted(scope, caller, this.now());
      sendMessage(reply, 403, fields, `Forbidden: this token lacks the scope ${needs}`);
      return null;
    }
    return caller;
  }

  /** The headers of an answer that counts nothing: the windows as they stand, nothing executed. */
  uncounted(scope: Scope, { organization, user }: Caller, nowMs: number, requested = 0): Fields {
    return fieldsOf(scope, this.store.readings(organization, user, scope, nowMs), requested, 0);
  }

  /**
   * 429, all of it of the window that refused.
   * @param fields the eight headers, and what else this answer shows
   */
  refuse(reply: FastifyReply, scope: Scope, refusedBy: Owner, readings: Readings, fields: Fields): void {
    if (this.semantics[scope].retryAfter) fields["Retry-After"] = readings[refusedBy].reset;
    send(reply, 429, fields, refusalBody(scope, refusedBy, readings));
  }
}
