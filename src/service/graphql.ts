// POST /v1/graphql. A query is counted when it is about to be executed. Queries that are unreadable, too large or too
// deep count nothing (SPEC.md §2.6, §6).

import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import * as v from "valibot";
import type { Decision, Readings } from "../engine/adapter.ts";
import { isPlainObject } from "../rules/plain-object.ts";
import type { TokenOwner } from "./auth.ts";
import { fieldsOf, type Gate, type GateOptions } from "./gate.ts";
import { executeQuery, prepareQuery } from "./query.ts";

export interface GraphqlAppOptions extends Pick<GateOptions, "sleep"> {
  /** Time that each query is in flight, ms; it needs `sleep`. Default: none. */
  readonly executionDelayMs?: number;
}

export const GRAPHQL_PATH = "/v1/graphql";
/** Greatest body, bytes: 1 MiB. A larger one is answered 413. */
const BODY_MOST = 1_048_576;
const CALLER = "graphqlCaller";

const utf8 = new TextDecoder("utf-8", { fatal: true });
const bodySchema = v.object({
  query: v.string(),
  operationName: v.optional(v.nullable(v.string())),
  variables: v.optional(v.nullable(v.custom<Readonly<Record<string, unknown>>>(isPlainObject))),
});

const errorsBody = (...messages: readonly string[]) => ({ errors: messages.map((message) => ({ message })) });

/**
 * Adds the GraphQL route.
 * @throws RangeError if there is an `executionDelayMs` and no `sleep`
 */
export function addGraphqlRoute(app: FastifyInstance, gate: Gate, options: GraphqlAppOptions): void {
  const { executionDelayMs = 0, sleep } = options;
  if (executionDelayMs > 0 && sleep === undefined)
    throw new RangeError("executionDelayMs needs a sleep: buildApp({ executionDelayMs, sleep })");
  const inFlight = executionDelayMs > 0 ? () => sleep?.(executionDelayMs) : null;

  app.decorateRequest(CALLER, null);
  // A separate Fastify scope, because its parser and its error answers hold for this route only.
  app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser("application/json", { parseAs: "buffer", bodyLimit: BODY_MOST }, parseJson);
    scope.setErrorHandler<FastifyError>((error, request, reply) => {
      const caller = request.getDecorator<TokenOwner | null>(CALLER);
      const { statusCode: status } = error;
      // Only errors that the client can correct are answered here; the application answers the rest with 500.
      if (caller === null || status === undefined || status >= 500) throw error;
      gate.after(reply, gate.uncounted("graphql", caller), (fields) =>
        gate.send(reply, status, fields, errorsBody(error.message), gate.about("other", caller, "graphql")),
      );
    });
    scope.route({
      method: "POST",
      url: GRAPHQL_PATH,
      onRequest(request, reply, done) {
        const caller = gate.enter(request, reply, "graphql", null, "graphql");
        if (caller === null) return;
        request.setDecorator(CALLER, caller);
        done();
      },
      handler: (request, reply) => answer(gate, inFlight, request, reply),
    });
  });
}

/** Answers a call of the GraphQL path by another method than POST: 401, 403, then 405. */
export function refuseGraphqlMethod(gate: Gate, request: FastifyRequest, reply: FastifyReply): void {
  const caller = gate.enter(request, reply, "graphql", null, "graphql");
  if (caller === null) return;
  gate.after(reply, gate.uncounted("graphql", caller), (fields) => {
    fields["Allow"] = "POST";
    const body = errorsBody(`${request.method} is not allowed here`);
    gate.send(reply, 405, fields, body, gate.about("other", caller, "graphql"));
  });
}

function parseJson(
  _request: FastifyRequest,
  body: Buffer,
  done: (error: Error | null, body?: unknown) => void,
): void {
  try {
    done(null, JSON.parse(utf8.decode(body)));
  } catch {
    done(Object.assign(new Error("The body is no JSON in UTF-8"), { statusCode: 400 }));
  }
}

async function answer(
  gate: Gate,
  inFlight: (() => Promise<void> | undefined) | null,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const caller = request.getDecorator<TokenOwner>(CALLER);
  const uncounted = async (status: number, body: object, requested = 0): Promise<void> => {
    const fields = await gate.uncounted("graphql", caller, gate.now(), requested);
    gate.send(reply, status, fields, body, gate.about("other", caller, "graphql"));
  };
  const body = v.safeParse(bodySchema, request.body);
  if (!body.success) {
    const message = "The body must be an object with a `query`, and may have `variables` and `operationName`";
    return uncounted(400, errorsBody(message));
  }
  const prepared = prepareQuery(body.output);
  if ("errors" in prepared) return uncounted(200, { errors: prepared.errors }, prepared.requested);
  const { organization, user, quota } = caller;
  const { requested } = prepared;
  const call = { organization, user: quota, scope: "graphql", cost: requested } as const;
  const decision = await gate.wait(gate.store.decide(call, gate.now()));
  if (decision.refusedBy !== null) {
    const fields = fieldsOf("graphql", decision, requested, 0);
    return gate.refuse(reply, decision.refusedBy, decision, fields, gate.about("call", caller, "graphql"));
  }
  if (inFlight !== null) await inFlight();
  // An admitted query completes, even if the caller no longer listens (SPEC.md §8).
  const { result, actual } = executeQuery(prepared, organization, user);
  const fields = fieldsOf("graphql", await settled(gate, decision, actual), requested, actual);
  gate.send(reply, 200, fields, result, gate.about("call", caller, "graphql"));
}

/** Returns the readings for the headers: the decision's under `prepaid`, otherwise the completion's (SPEC.md §5). */
async function settled(gate: Gate, decision: Decision, actual: number): Promise<Readings> {
  if (decision.reservation === null) return decision;
  const completed = await gate.store.settle(decision.reservation, actual, gate.now());
  return gate.semantics.graphql.graphqlCharge === "prepaid" ? decision : completed;
}
