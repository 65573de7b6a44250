// HTTP from Node to one origin: kept connections, one call at a time on each, none of them sent again. Connections, TLS
// and proxy are the same for all that call a target.
//
// undici sends a call once (7.30, lib/dispatcher/client-h1.js, onHttpSocketClose). If a connection breaks, the call at
// its head fails, and those behind it would be sent anew. With `pipelining: 1` there are none behind it. Its RetryAgent
// and redirect interceptor would call again; neither is used.
import { type Dispatcher, EnvHttpProxyAgent, Pool } from "undici";
import { isLoopback, type Target } from "./target.ts";

/** PEM texts, for targets of https. */
export interface TlsOptions {
  /** Authorities that vouch for the target, in place of those that Node knows. */
  readonly ca?: string | undefined;
  /** Certificate by which the target knows its caller, with its key. */
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
}

export interface Proxy {
  /** URL of `HTTPS_PROXY`, which may hold a password. */
  readonly url: string;
  /** Hosts that are reached without it, in the form of `NO_PROXY`. */
  readonly except: string;
}

export interface ConnectionOptions {
  readonly tls?: TlsOptions | undefined;
  /** Proxy to targets of https, never to loopback. */
  readonly proxy?: Proxy | undefined;
}

export interface DispatcherOptions extends ConnectionOptions {
  /** Greatest number of connections at a time. */
  readonly connections: number;
  /** Longest time to make a connection, ms. */
  readonly connectTimeoutMs: number;
}

/** Opens the way to a target. @returns a dispatcher; destroy it in the end */
export function openDispatcher(
  { origin, host }: Pick<Target, "origin" | "host">,
  { tls = {}, proxy, connections, connectTimeoutMs }: DispatcherOptions,
): Dispatcher {
  const isSecure = origin.startsWith("https:");
  const connect = { ...(isSecure ? defined(tls) : {}), timeout: connectTimeoutMs };
  // The caller has its own time-outs: undici's are half a second off, and count from chunk to chunk.
  const options = { connections, pipelining: 1, allowH2: false, headersTimeout: 0, bodyTimeout: 0 };
  if (proxy === undefined || !isSecure || isLoopback(host)) return new Pool(origin, { ...options, connect });
  return new EnvHttpProxyAgent({
    ...options,
    httpProxy: "",
    httpsProxy: proxy.url,
    noProxy: proxy.except,
    connect,
    requestTls: connect,
    proxyTls: { timeout: connectTimeoutMs },
  });
}

function defined({ ca, cert, key }: TlsOptions): { ca?: string; cert?: string; key?: string } {
  return {
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
  };
}
