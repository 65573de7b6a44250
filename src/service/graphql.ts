// POST /v1/graphql. Counted when the query is about to be executed, not before: what cannot be read, is too
// large or too deep counts nothing (SPEC.md §2.6, §6).
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import * as v from "valibot";
import type { Decision, Readings } from "../engine/adapter.ts";
import { send } from "./answer.ts";
import type { Caller } from "./auth.ts";
import { fieldsOf, type Gate } from "./gate.ts";
import { executeQuery, prepareQuery } from "./query.ts";

export interface GraphqlOptions {
  /** How long each query is in flight. */
  readonly executionDelayMs?: number;
  readonly sleep?: (ms: number) => Promise<void>;
}

export const GRAPHQL_PATH = "/v1/graphql";
/** A body over 1 MiB is answered 413. */
const BODY_MOST = 1_048_576;
const CALLER = "graphqlCaller";

const utf8 = new TextDecoder("utf-8", { fatal: true });
const isRecord = (value: unknown): boolean =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const bodySchema = v.object({
  query: v.string(),
  operationName: v.optional(v.nullable(v.string())),
  variables: v.optional(v.nullable(v.custom<Readonly<Record<string, unknown>>>(isRecord))),
});

const errorsBody = (...messages: readonly string[]) => ({ errors: messages.map((message) => ({ message })) });

/**
 * Adds the GraphQL route.
 * @throws RangeError where there is an `executionDelayMs` and no `sleep`
 */
export function addGraphqlRoute(app: FastifyInstance, gate: Gate, options: GraphqlOptions): void {
  const { executionDelayMs = 0, sleep } = options;
  if (executionDelayMs > 0 && sleep === undefined)
    throw new RangeError("executionDelayMs needs a sleep: buildApp({ executionDelayMs, sleep })");
  const inFlight = executionDelayMs > 0 ? () => sleep?.(executionDelayMs) : null;

  app.decorateRequest(CALLER, null);
  // A scope of its own: its parser and its error answers are for this route only.
  app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser("application/json", { parseAs: "buffer", bodyLimit: BODY_MOST }, parseJson);
    scope.setErrorHandler<FastifyError>((error, request, reply) => {
      const caller = request.getDecorator<Caller | null>(CALLER);
      const status = error.statusCode ?? 500;
      // Only what the client can mend is answered here; the rest is the application's, as 500.
      if (caller === null || status >= 500) throw error;
      send(reply, status, gate.uncounted("graphql", caller, gate.now()), errorsBody(error.message));
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
  const fields = { ...gate.uncounted("graphql", caller, gate.now()), Allow: "POST" };
  send(reply, 405, fields, errorsBody(`${request.method} is not allowed here`));
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
  const caller = request.getDecorator<Caller>(CALLER);
  const body = v.safeParse(bodySchema, request.body);
  if (!body.success) {
    const message = "The body must be an object with a `query`, and may have `variables` and `operationName`";
    return send(reply, 400, gate.uncounted("graphql", caller, gate.now()), errorsBody(message));
  }
  const prepared = prepareQuery(body.output);
  if ("errors" in prepared) {
    const fields = gate.uncounted("graphql", caller, gate.now(), prepared.requested);
    return send(reply, 200, fields, { errors: prepared.errors });
  }
  const { organization, user } = caller;
  const { requested } = prepared;
  const decision = gate.store.decide({ organization, user, scope: "graphql", cost: requested }, gate.now());
  if (decision.refusedBy !== null)
    return gate.refuse(
      reply,
      "graphql",
      decision.refusedBy,
      decision,
      fieldsOf("graphql", decision, requested, 0),
    );
  if (inFlight !== null) await inFlight();
  // From here on nothing asks whether the caller still listens: an admitted query completes (SPEC.md §8).
  const { result, actual } = executeQuery(prepared, organization, user);
  send(reply, 200, fieldsOf("graphql", settled(gate, decision, actual), requested, actual), result);
}

/** What the headers show: under `prepaid` the decision's readings, else those of the completion (SPEC.md §5). */
function settled(gate: Gate, decision: Decision, actual: number): Readings {
  if (decision.reservation === null) return decision;
  const completed = gate.store.settle(decision.reservation, actual, gate.now());
  return gate.semantics.graphql.graphqlCharge === "prepaid" ? decision : completed;
}
