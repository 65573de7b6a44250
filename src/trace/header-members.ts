// Line 1 of a trace, checked member by member.
import * as v from "valibot";
import { type Problem, quote, SpillwayError } from "../rules/errors.ts";
import { parseRules } from "../rules/parse.ts";
import type { Rules } from "../rules/rules.ts";
import { type TraceHeader, traceSources } from "./record.ts";

const text = v.string("text");
const time = v.pipe(v.number("milliseconds since the epoch"), v.finite("milliseconds since the epoch"));
const span = (allowed: string) => v.pipe(v.number(allowed), v.finite(allowed), v.minValue(0, allowed));
const count = v.pipe(
  v.number("a whole number >= 0"),
  v.safeInteger("a whole number >= 0"),
  v.minValue(0, "a whole number >= 0"),
);
const scope = v.picklist(["rest", "graphql"], '"rest" or "graphql"');

const schema = v.object({
  source: v.picklist(traceSources, `one of ${traceSources.join(", ")}`),
  scenario: v.nullable(text),
  seed: v.nullable(v.pipe(v.number("a whole number or null"), v.safeInteger("a whole number or null"))),
  target: v.nullable(text),
  startedAt: time,
  clock: v.object({
    kind: v.picklist(["wall", "virtual"], '"wall" or "virtual"'),
    resolutionMs: span("milliseconds >= 0"),
    errorMs: span("milliseconds >= 0"),
  }),
  complete: v.boolean("true or false"),
  lost: v.union(
    [count, v.array(v.object({ org: text, scope, count }))],
    'a whole number >= 0, or [{"org","scope","count"}]',
  ),
});

const invalid = (summary: string, problems: readonly Problem[], hint?: string): SpillwayError =>
  new SpillwayError("TRACE_INVALID", summary, hint === undefined ? { problems } : { problems, hint });

/**
 * @param value what line 1 holds
 * @throws SpillwayError `TRACE_INVALID`, naming every member that is wrong
 */
export function readHeader(value: unknown): TraceHeader {
  const members = (typeof value === "object" && value !== null ? value : {}) as Record<string, unknown>;
  if (members["format"] !== "spillway-trace")
    throw invalid(
      "this is no trace",
      [{ path: "line 1: format", got: quote(members["format"]), allowed: '"spillway-trace"' }],
      "line 1 of a trace is its header; src/trace/FORMAT.md has an example",
    );
  if (members["version"] !== 1)
    throw invalid(
      "this trace has a version that is not known here",
      [{ path: "line 1: version", got: quote(members["version"]), allowed: "1" }],
      "a newer spillway may read it",
    );
  const parsed = v.safeParse(schema, value);
  const rules = readRules(members["rules"]);
  const problems = [...(parsed.success ? [] : parsed.issues.map(problemOf)), ...rules.problems];
  if (!parsed.success || problems.length > 0) throw invalid("this trace's header cannot be read", problems);
  return { format: "spillway-trace", version: 1, ...parsed.output, rules: rules.rules };
}

function problemOf(issue: v.BaseIssue<unknown>): Problem {
  const path = issue.path?.map(({ key }) => String(key)).join(".") ?? "header";
  return { path: `line 1: ${path}`, got: quote(issue.input), allowed: issue.message };
}

function readRules(value: unknown): { rules: Rules | null; problems: readonly Problem[] } {
  if (value === null) return { rules: null, problems: [] };
  try {
    return { rules: parseRules(value), problems: [] };
  } catch (error) {
    if (!(error instanceof SpillwayError)) throw error;
    const within = (path: string): string => (path === "rules" ? path : `rules.${path}`);
    return {
      rules: null,
      problems: error.problems.map((problem) => ({ ...problem, path: `line 1: ${within(problem.path)}` })),
    };
  }
}
