// The reference deployment as a Fastify application, apart from listening: tests go through `inject`.
import fastify, { type FastifyInstance } from "fastify";
import { Limiter } from "../engine/limiter.ts";
import type { Faulty } from "../faults/fault.ts";
import type { Rules } from "../rules/rules.ts";
import type { Token } from "../rules/tokens.ts";
import { sendMessage } from "./answer.ts";
import { type Counters, Gate } from "./gate.ts";
import { addGraphqlRoute } from "./graphql.ts";
import { type ServerTls, serverOptions } from "./listen.ts";
import { addRestRoutes } from "./rest.ts";
import { addUnrouted, answerUnrouted } from "./unrouted.ts";

export interface AppOptions extends Pick<Faulty, "change" | "userOf"> {
  readonly rules: Rules;
  /** Who may call; kept as hashes only. */
  readonly tokens: readonly Token[];
  /** Milliseconds since the Unix epoch, whole. */
  readonly now: () => number;
  /** The counters; a `Limiter` of its own where it is left out. */
  readonly store?: Counters;
  /** Time that each GraphQL query is in flight, ms; none where it is left out. */
  readonly executionDelayMs?: number;
  /** Waits; `executionDelayMs` and slow stores need it. Injected, so that tests hold calls in flight as they like. */
  readonly sleep?: (ms: number) => Promise<void>;
  /** Who calls by TLS is answered; plain HTTP where it is left out. */
  readonly tls?: ServerTls | undefined;
  /** Told of an error that nobody meant, answered 500. */
  readonly onUnexpected?: (error: Error) => void;
}

/** A slug or a page of any length reaches the gate: longer ones are answered by the header limit, 431. */
const LONGEST_PARAMETER = 16_384;

/**
 * Builds the service (SPEC.md §4-§6). Close it with `app.close()`.
 * @throws RangeError where there is an `executionDelayMs` and no `sleep`
 */
export function buildApp(options: AppOptions): FastifyInstance {
  const { onUnexpected = () => {} } = options;
  const gate = new Gate({ ...options, store: options.store ?? new Limiter(options.rules) });
  const app = fastify({
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: LONGEST_PARAMETER },
    ...serverOptions(options.tls),
    frameworkErrors: (_error, request, reply) => answerUnrouted(gate, request, reply),
  });
  app.setErrorHandler((error, _request, reply) => {
    onUnexpected(error instanceof Error ? error : new Error(String(error)));
    sendMessage(reply, 500, {}, "Internal error");
  });
  addRestRoutes(app, gate);
  addGraphqlRoute(app, gate, options);
  addUnrouted(app, gate);
  return app;
}
