// The first call, which tells whether the API is there at all. If not, the error says what is there instead, before any
// call that counts.
import { hintFor, inWords, redirectOf } from "../connect/no-answer.ts";
import { quote, SpillwayError } from "../rules/errors.ts";
import { isRefusal } from "../wire/outcome.ts";
import { isLimiters, type SeenCall } from "./seen.ts";
import type { ProbeSession } from "./session.ts";

/**
 * Reads the status once, or twice if the first reading is of 5xx answers alone.
 * @throws SpillwayError `TARGET_UNREACHABLE`, with what was seen instead
 */
export async function contact(session: ProbeSession): Promise<SeenCall> {
  let last = await session.status();
  if (last === null && session.calls.at(-1)?.status !== 0) last = await session.status();
  const seen = last ?? session.calls.at(-1) ?? null;
  const problem =
    seen === null ? { got: "no call was allowed", hint: "allow status calls" } : problemOf(seen);
  // What has no problem is a status that was read, and not a failure.
  if (problem === null) return last as SeenCall;
  const { got, hint } = problem;
  throw new SpillwayError("TARGET_UNREACHABLE", "the target does not answer as a rate-limited API", {
    problem: {
      path: `GET ${session.options.base}${session.statusPath}`,
      got,
      allowed: "200 and the status of the organization's limits",
    },
    hint,
  });
}

/** Says what was seen in place of a status; `null` if it is or may be a status. */
export function problemOf(seen: SeenCall): { got: string; hint: string } | null {
  const { status, error, body } = seen;
  if (status === 0) return { got: inWords(error ?? "no answer"), hint: hintFor(error) };
  const redirect = redirectOf(status, seen.location);
  if (redirect !== null) return redirect;
  if (status === 401)
    return { got: "401: the token is not known there", hint: "is this a token of this target?" };
  if (status === 403)
    return { got: "403: the token may not read the status", hint: "it needs the scope read_accounts" };
  if (status === 404)
    return {
      got: "404: no such organization there, or the token is not of it",
      hint: "is this the organization's slug (case matters), and the API's address?",
    };
  if (isRefusal(status))
    return { got: "429: even the status is refused", hint: "wait, then try again: it should be free" };
  if (status >= 500) return { got: `${status}, again and again`, hint: "is it healthy?" };
  if (status === 200 && (seen.statusScopes !== null || isLimiters(seen))) return null;
  if (typeof body === "string" && /^\s*</.test(body))
    return { got: `${status} and HTML`, hint: "is this the API's address, or a website's or proxy's?" };
  if (status === 200) return null;
  return { got: `${status} and ${quote(body)}`, hint: "is this the API's address?" };
}
