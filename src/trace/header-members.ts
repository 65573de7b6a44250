// Line 1 of a trace, checked member by member.
import * as v from "valibot";
import { isPolicy, parsePolicy } from "../policy/parse.ts";
import type { Policy } from "../policy/policy.ts";
import { type Problem, quote, SpillwayError } from "../rules/errors.ts";
import { parseRules } from "../rules/parse.ts";
import { isPlainObject } from "../rules/plain-object.ts";
import type { QuotaTraceHeader } from "./quota-record.ts";
import { type TraceHeader, traceSources } from "./record.ts";
import { ms, scope, text, yes } from "./shapes.ts";

const span = (allowed: string) => v.pipe(v.number(allowed), v.finite(allowed), v.minValue(0, allowed));
const count = v.pipe(
  v.number("a whole number >= 0"),
  v.safeInteger("a whole number >= 0"),
  v.minValue(0, "a whole number >= 0"),
);

const members = {
  source: v.picklist(traceSources, `one of ${traceSources.join(", ")}`),
  scenario: v.nullable(text),
  seed: v.nullable(v.pipe(v.number("a whole number or null"), v.safeInteger("a whole number or null"))),
  target: v.nullable(text),
  startedAt: ms,
  clock: v.object({
    kind: v.picklist(["wall", "virtual"], '"wall" or "virtual"'),
    resolutionMs: span("milliseconds >= 0"),
    errorMs: span("milliseconds >= 0"),
  }),
  complete: yes,
};
const schema = v.object({
  ...members,
  lost: v.union(
    [count, v.array(v.object({ org: text, scope, count }))],
    'a whole number >= 0, or [{"org","scope","count"}]',
  ),
});
const quotaSchema = v.object({ ...members, lost: count });

const invalid = (summary: string, problems: readonly Problem[], hint?: string): SpillwayError =>
  new SpillwayError("TRACE_INVALID", summary, { problems, hint });

/** @param value value of line 1 @throws SpillwayError `TRACE_INVALID`, naming every member that is wrong */
export function readHeader(value: unknown): TraceHeader | QuotaTraceHeader {
  const given = (typeof value === "object" && value !== null ? value : {}) as Record<string, unknown>;
  if (given["format"] !== "spillway-trace")
    throw invalid(
      "this is no trace",
      [{ path: "line 1: format", got: quote(given["format"]), allowed: '"spillway-trace"' }],
      "line 1 of a trace is its header; src/trace/FORMAT.md has an example",
    );
  const { version } = given;
  if (version === 1) {
    const { read: rules, ...rest } = parsed(schema, given, "rules", readRules);
    return { format: "spillway-trace", version, ...rest, rules };
  }
  if (version === 2) {
    const { read: policy, ...rest } = parsed(quotaSchema, given, "policy", readPolicy);
    return { format: "spillway-trace", version, ...rest, policy };
  }
  throw invalid(
    "this trace has a version that is not known here",
    [{ path: "line 1: version", got: quote(version), allowed: "1 or 2" }],
    "a newer spillway may read it",
  );
}

/** Reads the members of a version, and the one member that has its own reader. */
function parsed<S extends typeof schema | typeof quotaSchema, T>(
  members: S,
  given: Readonly<Record<string, unknown>>,
  name: string,
  read: (value: unknown) => T,
): v.InferOutput<S> & { readonly read: T } {
  const result = v.safeParse(members, given);
  const problems = result.success ? [] : result.issues.map(problemOf);
  try {
    const value = read(given[name]);
    if (result.success) return { ...result.output, read: value };
  } catch (error) {
    if (!(error instanceof SpillwayError)) throw error;
    const within = (path: string): string => (path === name ? path : `${name}.${path}`);
    problems.push(...error.problems.map((each) => ({ ...each, path: `line 1: ${within(each.path)}` })));
  }
  throw invalid("this trace's header cannot be read", problems);
}

function problemOf(issue: v.BaseIssue<unknown>): Problem {
  const path = issue.path?.map(({ key }) => String(key)).join(".") ?? "header";
  return { path: `line 1: ${path}`, got: quote(issue.input), allowed: issue.message };
}

/** Reads a policy. Rules of version 1 are none here: their traces have version 1, too. */
function readPolicy(value: unknown): Policy {
  if (isPlainObject(value) && isPolicy(value)) return parsePolicy(value);
  throw new SpillwayError("POLICY_INVALID", "this is no policy", {
    problem: { path: "policy", got: quote(value), allowed: "a policy of version 2" },
  });
}

const readRules = (value: unknown) => (value === null ? null : parseRules(value));
