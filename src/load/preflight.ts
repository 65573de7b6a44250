// One status call before a run: it is free (SPEC.md §4), and tells apart the ways in which a target is none,
// which k6 would show as ten thousand failed requests.
import http, { type IncomingHttpHeaders } from "node:http";
import https from "node:https";
import { quote, SpillwayError } from "../rules/errors.ts";
import type { Token } from "../rules/tokens.ts";
import type { Target } from "./target.ts";

/** How long a target may take to say that it is there, ms. */
const patienceMs = 10_000;
const bodyMost = 1 << 20;

export interface PreflightOptions {
  readonly signal?: AbortSignal | undefined;
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
  const seen = await ask(url, token.token, signal).catch((cause: NodeJS.ErrnoException) => {
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

/** One GET on a connection of its own. Redirects are not followed; `fetch` would also try again by itself. */
function ask(url: string, token: string, signal: AbortSignal): Promise<Seen> {
  const headers = { authorization: `Bearer ${token}`, "user-agent": "spillway" };
  const get = url.startsWith("https:") ? https.get : http.get;
  return new Promise((resolve, reject) => {
    const request = get(url, { headers, signal, agent: false }, (response) => {
      let body = "";
      const done = (): void => resolve({ status: response.statusCode ?? 0, headers: response.headers, body });
      response.setEncoding("utf8");
      response.on("data", (text: string) => {
        body += text;
        if (body.length <= bodyMost) return;
        // More than any status: what never ends is none.
        done();
        request.destroy();
      });
      response.on("end", done);
      response.on("error", reject);
    });
    request.on("error", reject);
  });
}

const connectionProblems: Readonly<Record<string, string>> = {
  ECONNREFUSED: "connection refused",
  ENOTFOUND: "no such host",
  EAI_AGAIN: "no such host",
  ECONNRESET: "the connection was closed without an answer",
  EHOSTUNREACH: "no route to the host",
  ENETUNREACH: "no route to the host",
  DEPTH_ZERO_SELF_SIGNED_CERT: "a certificate that nobody vouches for",
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
