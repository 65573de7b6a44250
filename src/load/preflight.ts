// One status call before a run: it is free (SPEC.md §4), and tells apart the ways in which a target is none,
// which k6 would show as ten thousand failed requests.
import type { IncomingHttpHeaders } from "node:http";
import type { Dispatcher } from "undici";
import { quote, SpillwayError } from "../rules/errors.ts";
import type { Token } from "../rules/tokens.ts";
import { type ConnectionOptions, openDispatcher } from "./connection.ts";
import type { Target } from "./target.ts";

/** How long a target may take to say that it is there, ms. */
const patienceMs = 10_000;
const bodyMost = 1 << 20;

export interface PreflightOptions extends ConnectionOptions {
  readonly signal?: AbortSignal | undefined;
  /** How long the target may take to answer, ms. Default: 10,000. */
  readonly timeoutMs?: number | undefined;
}

/**
 * Asks a target for its status.
 * @param tokens of the callers to come; one that may read the status is used
 * @throws SpillwayError `TARGET_UNREACHABLE` saying what was seen instead of a status
 */
export async function preflight(
  target: Target,
  tokens: readonly Token[],
  options: PreflightOptions = {},
): Promise<void> {
  const token = tokens.find(({ scopes }) => scopes.includes("read_accounts")) ?? tokens[0];
  if (token === undefined) return;
  const url = `${target.base}/v2/organizations/${token.organization}/rate_limit`;
  const timeoutMs = options.timeoutMs ?? patienceMs;
  const timeout = AbortSignal.timeout(timeoutMs);
  const signal = options.signal === undefined ? timeout : AbortSignal.any([timeout, options.signal]);
  const unreachable = (got: string, hint: string, cause?: unknown): SpillwayError =>
    new SpillwayError("TARGET_UNREACHABLE", "the target does not answer as a rate-limited API", {
      problems: [{ path: `GET ${url}`, got, allowed: "200 and the status of the organization's limits" }],
      hint,
      cause,
    });
  const limits = { connections: 1, connectTimeoutMs: timeoutMs };
  const dispatcher = openDispatcher(target, { tls: options.tls, proxy: options.proxy, ...limits });
  const asked = ask(dispatcher, url, token.token, signal).finally(() => dispatcher.destroy());
  const seen = await asked.catch((cause: NodeJS.ErrnoException) => {
    if (options.signal?.aborted === true) throw cause;
    const got = timeout.aborted ? `no answer within ${timeoutMs} ms` : connectionProblem(cause);
    throw unreachable(got, "is it running, and is this its address?", cause);
  });
  const problem = answerProblem(seen, token);
  if (problem !== null) throw unreachable(problem.got, problem.hint);
}

interface Seen {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** One GET. Redirects are not followed; `fetch` would also try again by itself. */
async function ask(dispatcher: Dispatcher, url: string, token: string, signal: AbortSignal): Promise<Seen> {
  const { origin, pathname } = new URL(url);
  const headers = { authorization: `Bearer ${token}`, "user-agent": "spillway" };
  const {
    statusCode,
    headers: shown,
    body,
  } = await dispatcher.request({
    origin,
    path: pathname,
    method: "GET",
    headers,
    signal,
  });
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of body) {
    text += decoder.decode(chunk as Uint8Array, { stream: true });
    // More than any status: what never ends is none.
    if (text.length > bodyMost) break;
  }
  return { status: statusCode, headers: shown, body: text };
}

const untrusted = "a certificate that nobody known here vouches for";

const connectionProblems: Readonly<Record<string, string>> = {
  ECONNREFUSED: "connection refused",
  ENOTFOUND: "no such host",
  EAI_AGAIN: "no such host",
  ECONNRESET: "the connection was closed without an answer",
  UND_ERR_SOCKET: "the connection was closed without an answer",
  EHOSTUNREACH: "no route to the host",
  ENETUNREACH: "no route to the host",
  DEPTH_ZERO_SELF_SIGNED_CERT: untrusted,
  SELF_SIGNED_CERT_IN_CHAIN: untrusted,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: untrusted,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: untrusted,
};

function connectionProblem({ code = "", message }: NodeJS.ErrnoException): string {
  return connectionProblems[code] ?? message;
}

function answerProblem(
  { status, headers, body }: Seen,
  token: Token,
): { readonly got: string; readonly hint: string } | null {
  const who = `the token of ${token.user}`;
  if (status >= 300 && status < 400)
    return {
      got: `${status}, a redirect to ${quote(headers.location)}`,
      hint: "name the address that it leads to, if you may load it: redirects are not followed",
    };
  if (status === 401)
    return { got: `401: ${who} is not known there`, hint: "is this the tokens file of this target?" };
  if (status === 403) {
    // Then the run needs no status either, and the target did answer.
    if (!token.scopes.includes("read_accounts")) return null;
    return { got: `403: ${who} may not read the status`, hint: "its tokens need the scope read_accounts" };
  }
  if (/html/i.test(headers["content-type"] ?? "") || /^\s*</.test(body))
    return { got: `${status} and HTML`, hint: "is this the API's address, or a website's or proxy's?" };
  if (status === 404)
    return {
      got: `404: no organization ${quote(token.organization)} there, or ${who} is not of it`,
      hint: "is this the tokens file of this target, and its API's address?",
    };
  // A refused status call is a fault of the target's, for the run to show.
  if (status === 429 || isStatus(body)) return null;
  return { got: `${status} and ${quote(body.slice(0, 60))}`, hint: "is this the API's address?" };
}

function isStatus(body: string): boolean {
  try {
    const { scopes } = JSON.parse(body) as { scopes?: { rest?: unknown } };
    return typeof scopes?.rest === "object";
  } catch {
    return false;
  }
}
