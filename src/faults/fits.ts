// Tell whether a policy can have a fault: each check names the first thing that the policy lacks.
import type { Policy } from "../policy/policy.ts";
import { type Problem, quote } from "../rules/errors.ts";

/** Returns the first quota of each operation: a refusal names it first (POLICY.md §2.3). */
export function firstQuotas({ quotas, operations }: Policy): ReadonlySet<string> {
  const firsts = Object.values(operations).flatMap(({ uses }) =>
    Object.keys(quotas)
      .filter((name) => uses[name] !== undefined)
      .slice(0, 1),
  );
  return new Set(firsts);
}

/** Returns the problem of a policy with a fault that only the default API can have. */
export const ofDefault = ({ name }: Policy): Problem => ({
  path: "policy",
  got: quote(name),
  allowed: "the default API, whose answers it is in",
});

const lacks = (isFit: boolean, path: string, got: string, allowed: string): Problem | null =>
  isFit ? null : { path, got, allowed };

const costs = ({ operations }: Policy) =>
  Object.values(operations).flatMap(({ uses }) => Object.values(uses));

export const hasStatus = ({ routes }: Policy): Problem | null =>
  lacks(
    routes.some(({ operation }) => operation === "status"),
    "routes",
    "no status",
    "a route whose operation is status",
  );

export const hasWindows = ({ quotas }: Policy): Problem | null =>
  lacks(
    Object.values(quotas).some(({ algorithm }) => algorithm.kind === "fixed-window"),
    "quotas",
    "no fixed window",
    "a quota of fixed windows",
  );

export const hasTogether = ({ operations }: Policy): Problem | null =>
  lacks(
    Object.values(operations).some(
      ({ uses, relation }) => relation === "all-or-nothing" && Object.keys(uses).length > 1,
    ),
    "operations",
    "one quota a call",
    "an operation of two quotas that are charged together",
  );

export const hasOthers = (policy: Policy): Problem | null =>
  lacks(
    Object.values(policy.operations).some(
      ({ uses }) => Object.keys(uses).length < Object.keys(policy.quotas).length,
    ),
    "operations",
    "the same quotas for each",
    "operations of different quotas",
  );

export const hasCallers = ({ auth, quotas }: Policy): Problem | null =>
  lacks(
    Object.values(quotas).some(({ key }) => key.includes(auth.attributes.at(-1) ?? "")),
    "auth.attributes",
    "none that a quota is kept by",
    "an attribute of tokens that a quota is kept by",
  );

export const hasUnenforced = ({ quotas, overrides }: Policy): Problem | null =>
  lacks(
    [...Object.values(quotas), ...overrides.flatMap((one) => Object.values(one.quotas))].some(
      ({ enforced }) => enforced === false,
    ),
    "quotas",
    "all enforced",
    "a quota that refuses nobody",
  );

export const isDearer = (policy: Policy): Problem | null =>
  lacks(
    costs(policy).some((cost) => cost !== 1),
    "operations",
    "a cost of 1 each",
    "a call that costs more than 1",
  );

export const isDeclared = (policy: Policy): Problem | null =>
  lacks(
    costs(policy).some((cost) => typeof cost !== "number"),
    "operations",
    "fixed costs",
    "a call that declares its cost",
  );

export const hasJoinedKey = ({ quotas }: Policy): Problem | null =>
  lacks(
    Object.values(quotas).some(({ key }) => key.length > 1),
    "quotas",
    "keys of one attribute",
    "a quota whose key has two attributes",
  );
