// One status call before a run, which is free (SPEC.md §4). It tells apart the reasons why a target is none; k6 would
// show each of them as ten thousand failed requests.
import { hintFor, NoAnswer, redirectOf } from "../connect/no-answer.ts";
import { type Got, openSender, type SendOptions } from "../connect/send.ts";
import type { Target } from "../connect/target.ts";
import { quote, SpillwayError } from "../rules/errors.ts";
import type { Token } from "../rules/tokens.ts";
import { isRefusal } from "../wire/outcome.ts";

export interface PreflightOptions extends SendOptions {
  readonly signal?: AbortSignal | undefined;
}

/**
 * Asks a target for its status.
 * @param tokens tokens of the run's callers; one that may read the status is used
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
  const unreachable = (got: string, hint: string, cause?: unknown): SpillwayError =>
    new SpillwayError("TARGET_UNREACHABLE", "the target does not answer as a rate-limited API", {
      problem: { path: `GET ${url}`, got, allowed: "200 and the status of the organization's limits" },
      hint,
      cause,
    });
  const sender = openSender(options);
  const asked = sender.send({ method: "GET", url, token: token.token }, options.signal);
  const seen = await asked
    .catch((cause: unknown) => {
      if (!(cause instanceof NoAnswer)) throw cause;
      throw unreachable(cause.message, hintFor(cause.reason), cause);
    })
    .finally(() => sender.close());
  const problem = answerProblem(seen, token);
  if (problem !== null) throw unreachable(problem.got, problem.hint);
}

/** Returns what is wrong with an answer to the status call; `null` if the target seems to be one. */
export function answerProblem(
  { status, headers, body }: Got,
  token: Token,
): { readonly got: string; readonly hint: string } | null {
  const who = `the token of ${token.user}`;
  const redirect = redirectOf(status, headers.location);
  if (redirect !== null) return redirect;
  if (status === 401)
    return { got: `401: ${who} is not known there`, hint: "is this the tokens file of this target?" };
  if (status === 403) {
    // The run then needs no status either, and the target did answer.
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
  // A refused status call is a fault of the target, which the run will show.
  if (isRefusal(status) || isStatus(body)) return null;
  return { got: `${status} and ${quote(body)}`, hint: "is this the API's address?" };
}

function isStatus(body: string): boolean {
  try {
    const { scopes } = JSON.parse(body) as { scopes?: { rest?: unknown } };
    return typeof scopes?.rest === "object";
  } catch {
    return false;
  }
}
