// The first calls of an audit: whether the API is there at all, and which callers it knows.
import { hintFor, inWords, redirectOf } from "../connect/no-answer.ts";
import type { Policy } from "../policy/policy.ts";
import { wireOf } from "../policy/presets.ts";
import type { WireData } from "../policy/wire-data.ts";
import { quote, SpillwayError } from "../rules/errors.ts";
import { counted } from "../rules/words.ts";
import { readBody } from "../wire/bodies.ts";
import { readAnswer } from "../wire/read-answer.ts";
import type { Lab } from "./lab.ts";
import type { AuditCaller, Shot } from "./step.ts";
import type { Raw, Wires } from "./wires.ts";

interface Problem {
  readonly got: string;
  readonly hint: string;
}

/** Callers that the target serves, and notes on the others. */
export interface Served {
  readonly callers: readonly AuditCaller[];
  readonly notes: readonly string[];
}

/**
 * Makes one call of each caller: of the status, or a plain one.
 * @param heard records each call, because it may have been charged
 * @throws SpillwayError `TARGET_UNREACHABLE`, with what was seen, if no caller is served
 */
export async function preflight(
  lab: Lab,
  wires: Pick<Wires, "send">,
  base: string,
  heard: (shot: Shot, raw: Raw) => void,
): Promise<Served> {
  const callers: AuditCaller[] = [];
  const notes: string[] = [];
  let worst: { readonly shot: Shot; readonly problem: Problem } | null = null;
  for (const caller of lab.callers) {
    const [subject] = lab.subjects;
    if (subject === undefined)
      throw new SpillwayError("POLICY_INVALID", "this policy has no sample of a call that uses a quota", {
        hint: "an operation's `samples` are the requests that an audit may send",
      });
    const shot = lab.hasStatus ? lab.status(caller) : lab.shot(caller, subject.operation);
    const raw = await wires.send(shot);
    heard(shot, raw);
    const problem = problemOf(lab.policy, shot, raw);
    if (problem === null) callers.push(caller);
    else {
      worst ??= { shot, problem };
      notes.push(`${caller.name} is left out: ${problem.got}`);
      // Nothing answers there: each further caller would wait as long.
      if (raw.status === 0) break;
    }
  }
  if (callers.length > 0 || worst === null) return { callers, notes };
  const { shot, problem } = worst;
  throw new SpillwayError("TARGET_UNREACHABLE", "the target does not answer as the policy says", {
    problem: {
      path: `${shot.method} ${base}${shot.path}`,
      got: notes.length > 1 ? `${problem.got} (${counted(notes.length, "caller")} in all)` : problem.got,
      allowed:
        shot.operation === "status" && readsStatus(lab.wire)
          ? "200 and the status"
          : "an answer that is no error",
    },
    hint: problem.hint,
  });
}

/** Tells whether a status's answer shows counts in a form that the policy's wire knows. */
const readsStatus = ({ readings }: WireData): boolean => readings.some(({ on }) => on.includes("status"));

function problemOf(
  policy: Policy,
  { operation }: Shot,
  { status, headers, body: text, error }: Raw,
): Problem | null {
  if (status === 0) return { got: inWords(error ?? "no answer"), hint: hintFor(error) };
  const redirect = redirectOf(status, headers["location"]);
  if (redirect !== null) return redirect;
  if (status === 401)
    return {
      got: "401: the token is not known there, or has expired",
      hint: "is this a tokens file of this target?",
    };
  const quotas = Object.keys(policy.quotas);
  const body = readBody(text);
  const wire = wireOf(policy);
  // If the format shows nothing, any answer without an error counts.
  if (wire.readings.length === 0 && status < 400) return null;
  const read = readAnswer(wire, { status, headers, body }, { quotas, isStatus: operation === "status" });
  if (read.outcome === "refused") return null;
  if (read.readings.length > 0 && status < 400) return null;
  const isHtml = /html/i.test(headers["content-type"] ?? "") || /^\s*</.test(text);
  if (isHtml)
    return { got: `${status} and HTML`, hint: "is this the API's address, or a website's or proxy's?" };
  if (status === 403)
    return {
      got: "403: the token has no permission for it",
      hint: "the status and all samples must be allowed",
    };
  if (status === 404)
    return {
      got: "404: no such resource, or not this caller's",
      hint: "is this the API's address, and its policy?",
    };
  if (status >= 400) return { got: `${status}`, hint: "is it healthy?" };
  return read.unread.length > 0 || operation !== "status" || !readsStatus(wire)
    ? null
    : {
        got: `${status} and ${quote(text)}`,
        hint: "is this the API's address, and its policy?",
      };
}
