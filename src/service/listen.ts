// Binds a server to one address; its errors say what to do.

import { lookup } from "node:dns/promises";
import { once } from "node:events";
import type { AddressInfo, Server } from "node:net";
import type { FastifyServerOptions } from "fastify";
import { SpillwayError } from "../rules/errors.ts";

export interface ListenOptions {
  /** Port; 0 for any free one. */
  readonly port?: number;
  readonly host?: string;
  /** Returns the time, whole ms since the Unix epoch. Default: the wall clock. */
  readonly now?: () => number;
  /** Time between two sweeps of idle keys, ms. */
  readonly sweepEveryMs?: number;
  /** Time that `close` waits for calls on their way before it cuts them off, ms. */
  readonly closeWithinMs?: number;
}

export const SWEEP_EVERY_MS = 60_000;
export const CLOSE_WITHIN_MS = 10_000;

/**
 * Binds a server.
 * @throws SpillwayError as `listenError` makes it
 */
export async function bind(server: Server, port: number, host: string): Promise<void> {
  try {
    server.listen({ port, host: await addressOf(host) });
    await once(server, "listening");
  } catch (error) {
    throw listenError(error, port, host);
  }
}

/** Returns one address. For `localhost` some servers would listen on several, and close only one with care. */
export async function addressOf(host: string): Promise<string> {
  const { address } = await lookup(host);
  return address;
}

/** PEM texts of a server that speaks TLS. */
export interface ServerTls {
  readonly cert: string;
  readonly key: string;
}

/** Returns Fastify's options for a server; by TLS it speaks HTTP/2 or HTTP/1.1, as the client chooses. */
export const serverOptions = (tls: ServerTls | undefined): FastifyServerOptions => ({
  // Calls that arrive while the server stops were on their way: they are served, and told to close.
  return503OnClosing: false,
  requestTimeout: 60_000,
  ...(tls === undefined ? {} : { http2: true, https: { ...tls, allowHTTP1: true } }),
});

/** Returns the URL of a listening server; a callable one even if it listens on every address. */
export function urlOf(server: Server): string {
  const { address, family, port } = server.address() as AddressInfo;
  const callable = address === "0.0.0.0" ? "127.0.0.1" : address === "::" ? "::1" : address;
  const scheme = "setSecureContext" in server ? "https" : "http";
  return `${scheme}://${family === "IPv6" ? `[${callable}]` : callable}:${port}`;
}

/** Allowed values of a host or port that cannot be bound, by the error's code. */
const allowedInPlace: ReadonlyMap<string | undefined, string> = new Map([
  ["EACCES", "a port that you may open (most systems: from 1024)"],
  ["EADDRNOTAVAIL", "an address of this machine"],
  ["ENOTFOUND", "an address of this machine"],
  ["EAI_AGAIN", "an address of this machine"],
  ["ERR_SOCKET_BAD_PORT", "a port from 0 to 65535"],
]);

/** Makes a coded error: `PORT_IN_USE` if the port is taken, `USAGE` if it cannot be bound for another reason. */
export function listenError(error: unknown, port: number, host: string): unknown {
  const { code } = error as NodeJS.ErrnoException;
  if (code === "EADDRINUSE")
    return new SpillwayError("PORT_IN_USE", `port ${port} of ${host} is in use`, {
      hint: "stop what listens there, or choose another port: --port 0 takes any free one",
      cause: error,
    });
  const allowed = allowedInPlace.get(code);
  if (allowed === undefined) return error;
  return new SpillwayError("USAGE", "the service cannot listen there", {
    problem: { path: "host:port", got: `${host}:${port} (${code})`, allowed },
    cause: error,
  });
}
