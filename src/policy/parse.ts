// Untrusted JSON → Policy. Version 1 rules are read as shorthand of a policy (`shorthand.ts`), for ever.
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

function problemOf(issue: v.BaseIssue<unknown>): Problem {
  const path = issue.path?.map(({ key }) => String(key)).join(".") ?? "";
  return { path: path === "" ? "policy" : path, got: quote(issue.input), allowed: issue.message };
}

const invalid = (problems: readonly Problem[], hint?: string): SpillwayError =>
  new SpillwayError("POLICY_INVALID", "this policy cannot be used", {
    problems,
    ...(hint === undefined ? {} : { hint }),
  });

/** Members that stand in a policy of version 2 alone. */
const ownMembers = ["quotas", "operations", "routes", "wire", "auth", "overrides", "provoke"];

/** Tells whether a document is a policy: otherwise it is rules of version 1. */
export function isPolicy(input: unknown): boolean {
  if (!isPlainObject(input)) return false;
  const { version } = input;
  if (version !== undefined && version !== 1) return true;
  const members = ownMembers.filter((name) => Object.hasOwn(input, name));
  if (members.length === 0) return false;
  throw invalid(
    members.map((path) => ({
      path,
      got: "a member of version 2",
      allowed: "members of version 1, or both as version 2",
    })),
    'a policy begins with "version": 2',
  );
}

/**
 * Reads a policy from untrusted JSON and fills in every default (POLICY.md).
 * @param input a parsed JSON value: a policy, or rules of version 1; a complete policy is returned as an equal value
 * @throws SpillwayError `POLICY_INVALID` or `RULES_INVALID`, naming every field that is wrong
 */
export function parsePolicy(input: unknown): Policy {
  if (!isPolicy(input)) return policyOf(parseRules(withoutVersion(input)));
  const parsed = v.safeParse(policySchema, input);
  if (!parsed.success) throw invalid(parsed.issues.map(problemOf));
  const missing = withoutWindow(parsed.output);
  if (missing.length > 0) throw invalid(missing);
  const policy = completed(parsed.output);
  const problems = misfits(policy);
  if (problems.length > 0) throw invalid(problems);
  return policy;
}

/** A policy file, for errors. */
export const policyFile: DocumentKind = {
  name: "policy file",
  code: "POLICY_INVALID",
  pathOf: (path) => path.join("."),
};

/** Returns rules without the member that says they are of version 1. */
export function withoutVersion(input: unknown): unknown {
  if (!isPlainObject(input)) return input;
  const { version: _, ...rules } = input;
  return rules;
}

type ReadAlgorithm = ReadPolicy["quotas"][string]["algorithm"];

/** Length of a calendar's windows; `undefined` of others. */
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

function completed({ $schema: _, quotas, auth, ...policy }: ReadPolicy): Policy {
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
