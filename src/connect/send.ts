// One HTTP call at a time. `fetch` would follow redirects, retry by itself and read bodies without end. A prober must
// know each call that it makes, and call nobody else.
import type { Dispatcher } from "undici";
import { isToken } from "../rules/tokens.ts";
import { headerTexts } from "../wire/fields.ts";
import { type ConnectionOptions, openDispatcher } from "./connection.ts";
import { NoAnswer, reasonOf } from "./no-answer.ts";

/** One call to make. */
export interface Ask {
  readonly method: "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly url: string;
  /** Sent as `Authorization: Bearer`, and kept nowhere. `null` if the headers identify the caller. */
  readonly token: string | null;
  /** JSON, or text that is no JSON on purpose. */
  readonly body?: string | undefined;
  /** Further headers, names in lower case. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** An answer as it came. */
export interface Got {
  readonly status: number;
  /** Names in lower case; a doubled header is joined by ", ". */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Body, cut off after `bodyMost` characters. */
  readonly body: string;
}

/**
 * Makes one call. It rejects with `NoAnswer` if none came, and with the signal's reason if it was interrupted. If no
 * header can hold the token, it rejects with a RangeError.
 */
export type Send = (ask: Ask, signal: AbortSignal | undefined) => Promise<Got>;

/** Makes one call by any `Send`. @returns its answer, or the reason why none came */
export async function sendOnce(
  send: Send,
  ask: Ask,
  signal: AbortSignal | undefined,
): Promise<{ readonly got: Got | null; readonly error: string | null }> {
  try {
    return { got: await send(ask, signal), error: null };
  } catch (cause) {
    if (!(cause instanceof NoAnswer)) throw cause;
    return { got: null, error: cause.reason };
  }
}

export interface SendOptions extends ConnectionOptions {
  /** Longest time from the call to the end of its answer, ms. Default: 10,000. */
  readonly timeoutMs?: number | undefined;
  /** Greatest number of connections to an origin, and of calls on the way to it. Default: 1. */
  readonly connections?: number | undefined;
}

/** Greatest length of a body, characters. It exceeds that of any status or refusal. */
export const bodyMost = 1 << 20;
const timeoutDefaultMs = 10_000;

/** A way to make calls, and the connections that it keeps. */
export interface Sender {
  readonly send: Send;
  /** Closes all connections. Those that are idle keep no process alive. */
  close(): Promise<unknown>;
}

/** Opens a sender. It keeps connections between calls, so that `sent` is close to the time when the target reads it. */
export function openSender(options: SendOptions = {}): Sender {
  const { timeoutMs = timeoutDefaultMs, connections = 1, tls, proxy } = options;
  const limits = { connections, connectTimeoutMs: timeoutMs };
  const dispatchers = new Map<string, Dispatcher>();
  const dispatcherTo = ({ origin, hostname: host }: URL): Dispatcher => {
    const known = dispatchers.get(origin) ?? openDispatcher({ origin, host }, { tls, proxy, ...limits });
    dispatchers.set(origin, known);
    return known;
  };
  const send: Send = async (ask, signal) => {
    // undici's pool never answers again after a header that it cannot send (7.30, lib/dispatcher/pool-base.js).
    if (ask.token !== null && !isToken(ask.token))
      throw new RangeError("a token must be printable ASCII without spaces");
    const timeout = AbortSignal.timeout(timeoutMs);
    const either = signal === undefined ? timeout : AbortSignal.any([timeout, signal]);
    const url = new URL(ask.url);
    try {
      return await exchange(dispatcherTo(url), url, ask, either);
    } catch (cause) {
      signal?.throwIfAborted();
      if (timeout.aborted) throw new NoAnswer("timeout", `no answer within ${timeoutMs} ms`, cause);
      throw new NoAnswer(reasonOf(cause as NodeJS.ErrnoException), undefined, cause);
    }
  };
  return { send, close: () => Promise.all([...dispatchers.values()].map((each) => each.destroy())) };
}

async function exchange(
  dispatcher: Dispatcher,
  { origin, pathname, search }: URL,
  { method, token, body, headers }: Ask,
  signal: AbortSignal,
): Promise<Got> {
  const answer = await dispatcher.request({
    origin,
    path: pathname + search,
    method,
    headers: {
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      "user-agent": "spillway",
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...headers,
    },
    body: body ?? null,
    signal,
  });
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of answer.body) {
    text += decoder.decode(chunk as Uint8Array, { stream: true });
    // Leaving the loop closes the connection.
    if (text.length > bodyMost) break;
  }
  return { status: answer.statusCode, headers: headerTexts(answer.headers), body: text.slice(0, bodyMost) };
}
