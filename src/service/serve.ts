// Serves the application on a port. `close` lets calls on their way finish.
import type { Http2Session } from "node:http2";
import type { Socket } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import type { FastifyInstance } from "fastify";
import { Limiter } from "../engine/limiter.ts";
import { PolicyLimiter } from "../engine/policy-limiter.ts";
import type { FaultyQuotas } from "../faults/fault.ts";
import { type AppOptions, buildApp } from "./app.ts";
import {
  addressOf,
  CLOSE_WITHIN_MS,
  type ListenOptions,
  listenError,
  SWEEP_EVERY_MS,
  urlOf,
} from "./listen.ts";
import { buildPolicyApp, type PolicyAppOptions } from "./policy-app.ts";

export interface ServeOptions extends Omit<AppOptions, "now" | "sleep">, ListenOptions {
  readonly sleep?: (ms: number) => Promise<void>;
}

export interface ServePolicyOptions
  extends Omit<PolicyAppOptions, "now" | "limiter" | "faulty" | "sleep">,
    ListenOptions {
  /** Deployment with a fault, made by `injectQuotaFault`. */
  readonly faulty?: FaultyQuotas | undefined;
}

/** A deployment that is listening. */
export interface Serving {
  /** URL without a slash at its end: `http://127.0.0.1:4100`. */
  readonly url: string;
  readonly app: FastifyInstance;
  /** Takes no new connection, and waits for calls on their way. Callers may call it again. */
  close(): Promise<void>;
}

/** Time between two closings of idle connections while the server closes, ms. */
const IDLE_CHECK_MS = 20;

/**
 * Starts the reference deployment.
 * @throws SpillwayError `PORT_IN_USE` if the port is taken, `USAGE` if it cannot be bound for another reason
 */
export function serve(options: ServeOptions): Promise<Serving> {
  const { now = Date.now, sleep = wait } = options;
  const store = options.store ?? new Limiter(options.rules);
  return listen(buildApp({ ...options, now, sleep, store }), store, options);
}

/**
 * Starts a stand-in for the API of a policy.
 * @throws SpillwayError `PORT_IN_USE`, `USAGE` as `serve` does; `POLICY_UNSUPPORTED` if the engine lacks a quota's kind
 */
export function servePolicy(options: ServePolicyOptions): Promise<Serving> {
  const { now = Date.now, policy } = options;
  const limiter = options.faulty?.store ?? new PolicyLimiter(policy);
  return listen(buildPolicyApp({ ...options, now, sleep: wait, limiter }), limiter, options);
}

async function listen(
  app: FastifyInstance,
  store: { sweep(nowMs: number): unknown },
  {
    port = 4100,
    host = "127.0.0.1",
    now = Date.now,
    sweepEveryMs = SWEEP_EVERY_MS,
    closeWithinMs = CLOSE_WITHIN_MS,
  }: ListenOptions,
): Promise<Serving> {
  const connections: Connections = { sockets: new Set(), sessions: new Set() };
  app.server.on("connection", (socket) => keep(connections.sockets, socket));
  app.server.on("session", (session) => keep(connections.sessions, session));
  try {
    await app.listen({ port, host: await addressOf(host) });
  } catch (error) {
    throw listenError(error, port, host);
  }
  const sweeping = setInterval(() => store.sweep(now()), sweepEveryMs);
  sweeping.unref();
  let closed: Promise<void> | null = null;
  return {
    url: urlOf(app.server),
    app,
    close() {
      clearInterval(sweeping);
      closed ??= closeGently(app, connections, closeWithinMs);
      return closed;
    },
  };
}

/** Connections of a server. Those of HTTP/2 are sessions as well. */
interface Connections {
  readonly sockets: Set<Socket>;
  readonly sessions: Set<Http2Session>;
}

/** Keeps a connection until it closes. */
function keep<One extends Socket | Http2Session>(all: Set<One>, one: One): void {
  all.add(one);
  one.once("close", () => all.delete(one));
}

/**
 * Closes the server and its connections. Node's own `close` ends only connections that are idle at that instant. This
 * also ends those that turn idle later, never sent a word, or stop in the middle of a request.
 */
async function closeGently(
  app: FastifyInstance,
  { sockets, sessions }: Connections,
  withinMs: number,
): Promise<void> {
  const idle = setInterval(() => {
    app.server.closeIdleConnections();
    for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
    // A session's calls on their way are answered first.
    for (const session of sessions) session.close();
  }, IDLE_CHECK_MS);
  const cut = setTimeout(() => {
    for (const socket of sockets) socket.destroy();
  }, withinMs);
  try {
    await app.close();
  } finally {
    clearInterval(idle);
    clearTimeout(cut);
  }
}
