// The tokens file, the same for `serve`, `load`, `probe` and `status`: who calls, for which organization, with which
// scopes. A problem names the entry, and never quotes its text.
import * as v from "valibot";
import { type Problem, SpillwayError } from "./errors.ts";
import { parseDocument } from "./json.ts";
import type { JsonPath } from "./repeated-member.ts";

/** Permissions that a token may have (SPEC.md §6). */
export const tokenScopes = [
  "read_accounts",
  "read_organizations",
  "read_pipelines",
  "read_builds",
  "read_user",
  "graphql",
] as const;
export type TokenScope = (typeof tokenScopes)[number];

export interface Token {
  readonly token: string;
  readonly user: string;
  /** Slug of the organization. */
  readonly organization: string;
  readonly scopes: readonly TokenScope[];
}

/** Allowed values of each member of an entry, in words. */
const allowedOf = {
  token: "text, printable ASCII without spaces",
  user: "text of letters, digits, dots, dashes, underscores",
  organization: "the organization's slug: text of letters, digits, dots, dashes, underscores",
  scopes: `a list of ${tokenScopes.join(", ")}; all of them where it is left out`,
} as const;
const isMember = (key: unknown): key is keyof typeof allowedOf =>
  typeof key === "string" && Object.hasOwn(allowedOf, key);

/** Tells whether a text can be a token: a header can hold no other characters. */
export const isToken = (text: string): boolean => /^[\x21-\x7e]+$/.test(text);

const slug = v.pipe(v.string(), v.regex(/^[A-Za-z0-9][A-Za-z0-9._-]*$/));
const schema = v.pipe(
  v.array(
    v.strictObject({
      token: v.pipe(v.string(), v.check(isToken)),
      user: slug,
      organization: slug,
      scopes: v.optional(v.array(v.picklist(tokenScopes)), [...tokenScopes]),
    }),
  ),
  v.minLength(1),
);

/**
 * Reads tokens from untrusted JSON. Errors quote nothing of it: a token may be in a wrong place.
 * @throws SpillwayError `TOKENS_INVALID`, with the path and the type of every field that is wrong
 */
export function parseTokens(input: unknown): Token[] {
  const parsed = v.safeParse(schema, input);
  const problems: Problem[] = parsed.success ? repeated(parsed.output) : parsed.issues.map(problemOf);
  if (!parsed.success || problems.length > 0)
    throw new SpillwayError("TOKENS_INVALID", "this tokens file cannot be used", { problems });
  return parsed.output;
}

/**
 * Reads a tokens file's text.
 * @param file path of the file, for errors
 * @throws SpillwayError `JSON_INVALID`, `TOKENS_INVALID`
 */
export const parseTokensFile = (text: string, file: string): Token[] =>
  parseTokens(
    parseDocument(text, file, { name: "tokens file", code: "TOKENS_INVALID", pathOf, isSecret: true }),
  );

/** Returns a path for errors. Unknown members are not named. */
function pathOf(path: JsonPath): string {
  const words = path.map((step) => (typeof step === "number" || isMember(step) ? step : "(another member)"));
  return ["tokens", ...words].join(".");
}

function problemOf(issue: v.BaseIssue<unknown>): Problem {
  const path = issue.path?.map(({ key }) => key as string | number) ?? [];
  const [place, member] = path;
  const got = Array.isArray(issue.input) && issue.input.length === 0 ? "an empty list" : typeOf(issue.input);
  if (place === undefined) return { path: "tokens", got, allowed: "a list of entries, at least one" };
  if (member === undefined)
    return { path: pathOf(path), got, allowed: "an entry: an object of token, user, organization, scopes" };
  if (!isMember(member))
    return { path: pathOf(path), got: "an unknown member", allowed: "token, user, organization, scopes" };
  return { path: pathOf(path), got, allowed: allowedOf[member] };
}

function typeOf(value: unknown): string {
  if (value === undefined) return "nothing";
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "string") return value === "" ? "an empty text" : "a text that is not allowed here";
  return (
    { number: "a number", boolean: "true or false", object: "an object" }[typeof value as string] ?? "a value"
  );
}

function repeated(tokens: readonly Token[]): Problem[] {
  const seen = new Set<string>();
  const problems: Problem[] = [];
  for (const [index, { token }] of tokens.entries()) {
    if (seen.has(token))
      problems.push({
        path: `tokens.${index}.token`,
        got: "a token that stands above",
        allowed: "each token once",
      });
    seen.add(token);
  }
  return problems;
}
