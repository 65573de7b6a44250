// Reads a policy from untrusted JSON. Rules of version 1 stay readable as shorthand of a policy (`shorthand.ts`).
import * as v from "valibot";
import { type Problem, quote, SpillwayError } from "../rules/errors.ts";
import type { DocumentKind } from "../rules/json.ts";
import { parseRules } from "../rules/parse.ts";
import { isPlainObject } from "../rules/plain-object.ts";
import { calendarSeconds } from "./calendar.ts";
import { misfits } from "./checks.ts";
import type { Policy, QuotaAlgorithm } from "./policy.ts";
import { attributesOfRoute } from "./routes.ts";
import { policySchema, type ReadPolicy } from "./schema.ts";
import { policyOf } from "./shorthand.ts";

/** Names the mistakes within a value of several forms, if it is clear which form was meant. */
function problemsOf(issue: v.BaseIssue<unknown>, above: readonly string[] = []): Problem[] {
  const path = [...above, ...(issue.path?.map(({ key }) => String(key)) ?? [])];
  const isEmpty = isPlainObject(issue.input) && Object.keys(issue.input).length === 0;
  const within = isEmpty ? [] : meantIn(issue.issues ?? []);
  if (within.length > 0) return within.flatMap((each) => problemsOf(each, path));
  return [{ path: path.join(".") || "policy", got: quote(issue.input), allowed: issue.message }];
}

/** Returns the issues of the one form whose outline a value has; none if no form, or several, have it. */
function meantIn(issues: readonly v.BaseIssue<unknown>[]): readonly v.BaseIssue<unknown>[] {
  const placed = issues.filter(({ path }) => path !== undefined);
  const pathOf = ({ path }: v.BaseIssue<unknown>): string => JSON.stringify(path?.map(({ key }) => key));
  const byPath = new Map(placed.map((issue) => [pathOf(issue), issue]));
  const values = [...byPath.values()].filter(({ type }) => type !== "strict_object");
  // Members that are missing or unknown in each of several forms do not tell which form was meant.
  const missing = placed.filter(({ expected }) => expected !== "never").length;
  const isOpen = byPath.size < placed.length || (missing > 1 && missing < placed.length);
  return values.length > 0 ? values : isOpen ? [] : placed;
}

/** Returns each mistake once: a value may fail several checks of one form, all of which say what is allowed. */
const once = (problems: readonly Problem[]): Problem[] => [
  ...new Map(problems.map((problem) => [JSON.stringify(problem), problem])).values(),
];

const invalid = (problems: readonly Problem[], hint?: string): SpillwayError =>
  new SpillwayError("POLICY_INVALID", "this policy cannot be used", { problems, hint });

/** Members that only a policy of version 2 has. */
const ownMembers = ["quotas", "operations", "routes", "wire", "auth", "overrides", "provoke"];

/** Tells whether a document is a policy; otherwise it is rules of version 1. */
export function isPolicy(input: unknown): boolean {
  if (!isPlainObject(input)) return false;
  const { version } = input;
  if (version !== undefined && version !== 1) return true;
  const members = ownMembers.filter((name) => Object.hasOwn(input, name));
  if (members.length === 0) return false;
  throw invalid([
    { path: "version", got: quote(version), allowed: `2, as ${members.join(", ")} are members of a policy` },
  ]);
}

/**
 * Reads a policy from untrusted JSON and fills in every default (POLICY.md).
 * @param input a parsed JSON value: a policy, or rules of version 1; a complete policy is returned as an equal value
 * @throws SpillwayError `POLICY_INVALID` or `RULES_INVALID`, naming every field that is wrong
 */
export function parsePolicy(input: unknown): Policy {
  if (!isPlainObject(input))
    throw invalid([{ path: "policy", got: quote(input), allowed: "an object of a policy, or of rules" }]);
  if (!isPolicy(input)) return policyOf(parseRules(withoutVersion(input)));
  const parsed = v.safeParse(policySchema, input);
  if (!parsed.success) throw invalid(once(parsed.issues.flatMap((issue) => problemsOf(issue))));
  const missing = withoutWindow(parsed.output);
  if (missing.length > 0) throw invalid(missing);
  const policy = completed(parsed.output);
  const problems = misfits(policy);
  if (problems.length > 0) throw invalid(problems);
  return policy;
}

/** Document kind of a policy file, for errors. */
export const policyFile: DocumentKind = {
  name: "policy file",
  code: "POLICY_INVALID",
  pathOf: (path) => path.join("."),
};

/** Returns rules without the member for their version. */
export function withoutVersion(input: unknown): unknown {
  if (!isPlainObject(input)) return input;
  const { version: _, ...rules } = input;
  return rules;
}

type ReadAlgorithm = ReadPolicy["quotas"][string]["algorithm"];

/** Returns the length of a calendar's windows, s; `undefined` for other windows. */
function calendarLength(algorithm: ReadAlgorithm): number | undefined {
  if (algorithm.kind !== "fixed-window" || typeof algorithm.anchor === "string") return undefined;
  return "calendar" in algorithm.anchor ? calendarSeconds[algorithm.anchor.calendar] : undefined;
}

function withoutWindow({ quotas }: ReadPolicy): Problem[] {
  return Object.entries(quotas).flatMap(([name, { algorithm }]) =>
    algorithm.kind === "fixed-window" &&
    algorithm.windowSeconds === undefined &&
    calendarLength(algorithm) === undefined
      ? [
          {
            path: `quotas.${name}.algorithm.windowSeconds`,
            got: "nothing",
            allowed: "the window's length in seconds, or a calendar as its anchor",
          },
        ]
      : [],
  );
}

function completed({ $schema: _, quotas, auth, ...rest }: ReadPolicy): Policy {
  // A final slash changes no request's path (`segmentsOf`).
  const routes = rest.routes.map((route) => ({ ...route, path: route.path.replace(/(?<=.)\/$/, "") }));
  const policy = { ...rest, routes };
  const complete = Object.fromEntries(
    Object.entries(quotas).map(([name, quota]) => {
      const length = calendarLength(quota.algorithm);
      const algorithm = (length === undefined ? {} : { windowSeconds: length }) as Partial<QuotaAlgorithm>;
      return [name, { ...quota, algorithm: { ...algorithm, ...quota.algorithm } }];
    }),
  );
  const inRequests = (policy.routes as Policy["routes"]).flatMap(attributesOfRoute);
  const inKeys = Object.values(quotas).flatMap(({ key }) => key);
  const attributes = auth.attributes ?? [...new Set(inKeys.filter((name) => !inRequests.includes(name)))];
  return { ...policy, quotas: complete, auth: { ...auth, attributes } } as Policy;
}
