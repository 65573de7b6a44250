// Reads rules from untrusted JSON. The schema is the one place that fills in defaults. Every mistake is reported, with
// its path, what was got and what is allowed.
import * as v from "valibot";
import { type Problem, quote, SpillwayError } from "./errors.ts";
import { isPlainObject } from "./plain-object.ts";
import {
  organizationLimit,
  type Rules,
  type RulesInput,
  type Scope,
  scopes,
  userKeyParts,
  userLimit,
} from "./rules.ts";
import { type SwitchName, switchNames, switchValues } from "./switches.ts";

const wholeFrom1 = (unit: string, most = Number.MAX_SAFE_INTEGER) => {
  const allowed = `a whole number of ${unit} from 1 to ${most}`;
  return v.pipe(
    v.number(allowed),
    v.check((n) => Number.isSafeInteger(n) && n >= 1 && n <= most, allowed),
  );
};

/** Longest window, s: a century or more is a mistake in units. The bound keeps every time in ms a safe integer. */
export const windowSecondsMost = 3_155_760_000;
const flag = v.boolean("true or false");
const limitEntries = {
  limit: wholeFrom1("requests or points"),
  windowSeconds: wholeFrom1("seconds", windowSecondsMost),
};
/** Returns the schema of an object whose members are all optional. Arrays are objects to valibot. */
const object = (members: Readonly<Record<string, v.GenericSchema>>) => {
  const names = Object.keys(members).join(", ");
  const entries = Object.fromEntries(
    Object.entries(members).map(([name, schema]) => [name, v.optional(schema)]),
  );
  return v.pipe(
    v.custom<object>(isPlainObject, `an object of ${names}`),
    v.strictObject(entries, `one of ${names}`),
  );
};

const perScope = (value: v.GenericSchema) => object({ rest: value, graphql: value });

const userOverride = object(limitEntries);
const organizationOverride = object({ ...limitEntries, enforced: flag });

function switchSchema(name: SwitchName) {
  const values: readonly (string | boolean)[] = switchValues[name];
  const words = values.map((value) => JSON.stringify(value)).join(", ");
  const value = v.picklist(values as readonly string[], `one of ${words}`) as v.GenericSchema<unknown>;
  return v.lazy((input) =>
    isPlainObject(input)
      ? perScope(value)
      : v.picklist(values as readonly string[], `one of ${words}, or {"rest": ..., "graphql": ...} of these`),
  );
}

const byName = <S extends v.GenericSchema>(name: string, value: S) =>
  v.pipe(
    v.custom<Record<string, unknown>>(isPlainObject, `an object by ${name}`),
    v.record(v.string(), value),
  );

const organizationLimits = perScope(organizationOverride);
const userLimits = perScope(userOverride);
const schema = object({
  organization: organizationLimits,
  user: userLimits,
  semantics: object(Object.fromEntries(switchNames.map((name) => [name, switchSchema(name)]))),
  organizations: byName("organization", organizationLimits),
  users: byName("organization/user", userLimits),
});

const defaults: Pick<Rules, "organization" | "user"> = {
  organization: {
    rest: { limit: 200, windowSeconds: 60, enforced: true },
    graphql: { limit: 20_000, windowSeconds: 300, enforced: true },
  },
  user: { rest: { limit: 50, windowSeconds: 60 }, graphql: { limit: 5_000, windowSeconds: 300 } },
};

function problemOf(issue: v.BaseIssue<unknown>): Problem {
  const path = issue.path?.map(({ key }) => String(key)).join(".") ?? "";
  return { path: path === "" ? "rules" : path, got: quote(issue.input), allowed: issue.message };
}

/** Returns the names that JavaScript objects treat specially, and that no slug or user may have. */
function reservedNames(input: RulesInput): Problem[] {
  const problems: Problem[] = [];
  for (const field of ["organizations", "users"] as const) {
    const record: unknown = input[field];
    if (typeof record !== "object" || record === null) continue;
    for (const name of Object.keys(record)) {
      if (["__proto__", "prototype", "constructor"].includes(name))
        problems.push({
          path: `${field}.${name}`,
          got: quote(name),
          allowed: "a slug that is no reserved word",
        });
      else if (field === "users" && !/^[^/]+\/.+$/.test(name))
        problems.push({ path: `${field}.${name}`, got: quote(name), allowed: '"organization/user"' });
    }
  }
  return problems;
}

/**
 * Reads rules from untrusted JSON and fills in every default (SPEC.md §1, §8).
 * @param input a parsed JSON value; complete rules are returned as an equal value
 * @throws SpillwayError `RULES_INVALID`, naming every field that is wrong
 */
export function parseRules(input: unknown): Rules {
  const parsed = v.safeParse(schema, input);
  const special = typeof input === "object" && input !== null ? reservedNames(input as RulesInput) : [];
  const problems = [...(parsed.success ? [] : parsed.issues.map(problemOf)), ...special];
  if (!parsed.success || problems.length > 0)
    throw new SpillwayError("RULES_INVALID", "these rules cannot be used", { problems });
  const given = parsed.output as RulesInput;
  return {
    organization: {
      rest: { ...defaults.organization.rest, ...given.organization?.rest },
      graphql: { ...defaults.organization.graphql, ...given.organization?.graphql },
    },
    user: {
      rest: { ...defaults.user.rest, ...given.user?.rest },
      graphql: { ...defaults.user.graphql, ...given.user?.graphql },
    },
    semantics: completeSemantics(given.semantics ?? {}),
    organizations: given.organizations ?? {},
    users: given.users ?? {},
  };
}

function completeSemantics(given: NonNullable<RulesInput["semantics"]>): Rules["semantics"] {
  const complete: Record<string, Record<Scope, unknown>> = {};
  for (const name of switchNames) {
    const value = given[name];
    const fallback = switchValues[name][0];
    complete[name] =
      typeof value === "object"
        ? { rest: value.rest ?? fallback, graphql: value.graphql ?? fallback }
        : { rest: value ?? fallback, graphql: value ?? fallback };
  }
  return complete as unknown as Rules["semantics"];
}

/**
 * Warns of rules that are legal but surely not meant (SPEC.md §2.7): a user's limit above the organization's, so that
 * some costs never fit. Returns one sentence each.
 */
export function adviseRules(rules: Rules): string[] {
  const advice: string[] = [];
  const compare = (organization: string, user: string, path: string): void => {
    for (const scope of scopes) {
      const broad = organizationLimit(rules, organization, scope).limit;
      const narrow = userLimit(rules, organization, user, scope).limit;
      if (narrow > broad)
        advice.push(
          `${path}.${scope}.limit is ${narrow}, above its organization's ${broad}: ` +
            `a user can never use it in full, and a cost above ${broad} is refused for ever`,
        );
    }
  };
  compare("", "", "user");
  for (const slug of Object.keys(rules.organizations)) compare(slug, "", `user (in ${slug})`);
  for (const key of Object.keys(rules.users)) {
    const [slug, user] = userKeyParts(key);
    compare(slug, user, `users["${key}"]`);
  }
  return advice;
}
