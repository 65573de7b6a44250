// The reference deployment as a Fastify application. It does not listen: tests call it by `inject`.
import fastify, {
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
} from "fastify";
import { Limiter } from "../engine/limiter.ts";
import { segmentsOf } from "../policy/match.ts";
import { sendMessage } from "./answer.ts";
import { type Counters, Gate, type GateOptions } from "./gate.ts";
import { addGraphqlRoute, GRAPHQL_PATH, type GraphqlAppOptions, refuseGraphqlMethod } from "./graphql.ts";
import { type ServerTls, serverOptions } from "./listen.ts";
import { addRestRoutes, answerRest, locate } from "./rest.ts";

export interface AppOptions extends Omit<GateOptions, "store">, GraphqlAppOptions {
  /** Counters. Default: a new `Limiter`. */
  readonly store?: Counters;
  /** Certificate for TLS. Default: plain HTTP. */
  readonly tls?: ServerTls | undefined;
  /** Receives each unexpected error, which is answered 500. */
  readonly onUnexpected?: (error: Error) => void;
}

/** Greatest length of a path's parameter. Longer paths exceed the header limit and are answered 431. */
const LONGEST_PARAMETER = 16_384;

/**
 * Builds the service (SPEC.md §4-§6). `app.close()` closes it.
 * @throws RangeError if there is an `executionDelayMs` and no `sleep`
 */
export function buildApp(options: AppOptions): FastifyInstance {
  const { onUnexpected = () => {} } = options;
  const gate = new Gate({ ...options, store: options.store ?? new Limiter(options.rules) });
  const app = fastify({
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: LONGEST_PARAMETER },
    ...serverOptions(options.tls),
    frameworkErrors: (_error, request, reply) => answerUnrouted(gate, request, reply),
  });
  app.setErrorHandler<FastifyError>((error, _request, reply) => {
    onUnexpected(error);
    sendMessage(reply, 500, {}, "Internal error");
  });
  addRestRoutes(app, gate);
  addGraphqlRoute(app, gate, options);
  addUnrouted(app, gate);
  return app;
}

// Answers calls that no route takes: another method, an unknown resource, a path that is broken or outside the API.
// Fastify would answer 404 to all of them; SPEC.md §6 tells them apart, and §2.6 counts some.

/** Adds the answer to calls that no route takes. A Fastify scope of its own keeps its hook away from the routes. */
function addUnrouted(app: FastifyInstance, gate: Gate): void {
  app.register(async (scope) => {
    // Answered in `onRequest`, as the routes are: before any body is parsed.
    scope.addHook("onRequest", (request, reply) => answerUnrouted(gate, request, reply));
    scope.setNotFoundHandler(() => undefined);
  });
}

/** Answers a call that no route takes. */
function answerUnrouted(gate: Gate, request: FastifyRequest, reply: FastifyReply): void {
  const segments = segmentsOf(request.raw.url ?? "");
  const found = locate(segments);
  if (found !== null) answerRest(gate, request, reply, found.params, found.resource);
  else if (`/${segments.join("/")}` === GRAPHQL_PATH) refuseGraphqlMethod(gate, request, reply);
  else sendMessage(reply, 404, {}, "Not found");
}
