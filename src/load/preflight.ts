// One status call before a run: it is free (SPEC.md §4), and tells apart the ways in which a target is none,
// which k6 would show as ten thousand failed requests.
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
  let response: Response;
  let body: string;
  try {
    response = await fetch(url, {
      headers: { authorization: `Bearer ${token.token}`, "user-agent": "spillway", connection: "close" },
      // A redirect may lead to a host that nobody allowed.
      redirect: "manual",
      signal,
    });
    body = await readBody(response);
  } catch (cause) {
    if (options.signal?.aborted === true) throw cause;
    const got = timeout.aborted ? `no answer within ${timeoutMs} ms` : connectionProblem(cause);
    throw unreachable(got, "is it running, and is this its address?", cause);
  }
  const problem = answerProblem(response, body, token);
  if (problem !== null) throw unreachable(problem.got, problem.hint);
}

/** No more than what a status needs: a target that sends without end is no reason to wait for it. */
async function readBody(response: Response): Promise<string> {
  let text = "";
  const decoder = new TextDecoder();
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk as Uint8Array, { stream: true });
    if (text.length > bodyMost) break;
  }
  return text;
}

const connectionProblems: Readonly<Record<string, string>> = {
  ECONNREFUSED: "connection refused",
  ENOTFOUND: "no such host",
  EAI_AGAIN: "no such host",
  ECONNRESET: "the connection was closed without an answer",
  UND_ERR_SOCKET: "the connection was closed without an answer",
  EHOSTUNREACH: "no route to the host",
  ENETUNREACH: "no route to the host",
  DEPTH_ZERO_SELF_SIGNED_CERT: "a certificate that nobody vouches for",
};

function connectionProblem(thrown: unknown): string {
  const cause = (thrown as { cause?: { code?: unknown; message?: unknown } }).cause;
  const code = typeof cause?.code === "string" ? cause.code : "";
  return connectionProblems[code] ?? String(cause?.message ?? thrown);
}

function answerProblem(
  { status, headers }: Response,
  body: string,
  token: Token,
): { readonly got: string; readonly hint: string } | null {
  const who = `the token of ${token.user}`;
  if (status >= 300 && status < 400)
    return {
      got: `${status}, a redirect to ${quote(headers.get("location"))}`,
      hint: "name the address that it leads to, if you may load it: redirects are not followed",
    };
  if (status === 401)
    return { got: `401: ${who} is not known there`, hint: "is this the tokens file of this target?" };
  if (status === 403) {
    // Then the run needs no status either, and the target did answer.
    if (!token.scopes.includes("read_accounts")) return null;
    return { got: `403: ${who} may not read the status`, hint: "its tokens need the scope read_accounts" };
  }
  if (/html/i.test(headers.get("content-type") ?? "") || /^\s*</.test(body))
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
