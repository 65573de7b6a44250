// Answers calls that no route takes: another method, an unknown resource, a path that is broken or outside the API.
// Fastify would answer 404 to all of them; SPEC.md §6 tells them apart, and §2.6 counts some.
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { segmentsOf } from "../policy/match.ts";
import { sendMessage } from "./answer.ts";
import type { Gate } from "./gate.ts";
import { GRAPHQL_PATH, refuseGraphqlMethod } from "./graphql.ts";
import { answerRest, locate } from "./rest.ts";

/** Adds the answer to calls that no route takes. A Fastify scope of its own keeps its hook away from the routes. */
export function addUnrouted(app: FastifyInstance, gate: Gate): void {
  app.register(async (scope) => {
    // Answered in `onRequest`, as the routes are: before any body is parsed.
    scope.addHook("onRequest", (request, reply) => answerUnrouted(gate, request, reply));
    scope.setNotFoundHandler(() => undefined);
  });
}

/** Answers a call that no route takes. */
export function answerUnrouted(gate: Gate, request: FastifyRequest, reply: FastifyReply): void {
  const segments = segmentsOf(request.raw.url ?? "");
  const found = locate(segments);
  if (found !== null) answerRest(gate, request, reply, found.params, found.resource);
  else if (`/${segments.join("/")}` === GRAPHQL_PATH) refuseGraphqlMethod(gate, request, reply);
  else sendMessage(reply, 404, {}, "Not found");
}
