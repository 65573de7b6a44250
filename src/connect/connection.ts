// HTTP from Node to one origin: kept connections, one call at a time on each, none of them sent again.
//
// The way to a target, the same for all that call one: connections, TLS, proxy.
//
// undici sends a call once (7.30, lib/dispatcher/client-h1.js, onHttpSocketClose): where a connection breaks, the call
// at its head fails, and those behind it would be sent anew. With `pipelining: 1` there are none behind it. Its
// RetryAgent and redirect interceptor would call again; neither is used.
import { type Dispatcher, EnvHttpProxyAgent, Pool } from "undici";
import { isLoopback, type Target } from "./target.ts";

/** PEM texts, for targets of https. */
export interface TlsOptions {
  /** Who vouches for the target, in place of the authorities that Node knows. */
  readonly ca?: string | undefined;
  /** By which the target knows its caller, with its key. */
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
}

export interface Proxy {
  /** `HTTPS_PROXY`'s; it may hold a password. */
  readonly url: string;
  /** Hosts that are reached without it, in the words of `NO_PROXY`. */
  readonly except: string;
}

export interface ConnectionOptions {
  readonly tls?: TlsOptions | undefined;
  /** By which targets of https are reached; loopback never is. */
  readonly proxy?: Proxy | undefined;
}

export interface DispatcherOptions extends ConnectionOptions {
  /** The most connections at a time. */
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
  // Time-outs are the caller's: undici's own are half a second off, and count from chunk to chunk.
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
