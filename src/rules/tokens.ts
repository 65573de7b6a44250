// The tokens file, the same for `serve`, `load`, `probe` and `status`: who calls, for which organization,
// with which scopes. A problem names the entry, never the token.
import * as v from "valibot";
import { type Problem, quote, SpillwayError } from "./errors.ts";

/** What a token may be allowed to do (SPEC.md §6). */
export const tokenScopes = [
  "read_accounts",
  "read_organizations",
  "read_pipelines",
  "read_builds",
  "read_user",
  "graphql",
] as const;
export type TokenScope = (typeof tokenScopes)[number];

/** One entry of a tokens file. */
export interface Token {
  readonly token: string;
  readonly user: string;
  /** The organization's slug. */
  readonly organization: string;
  readonly scopes: readonly TokenScope[];
}

const slug = v.pipe(
  v.string("text"),
  v.regex(/^[A-Za-z0-9][A-Za-z0-9._-]*$/, "letters, digits, dots, dashes, underscores"),
);
const schema = v.pipe(
  v.array(
    v.strictObject({
      token: v.pipe(v.string("text"), v.regex(/^[\x21-\x7e]+$/, "printable ASCII without spaces")),
      user: slug,
      organization: slug,
      scopes: v.array(v.picklist(tokenScopes, `one of ${tokenScopes.join(", ")}`), "a list of scopes"),
    }),
    "a list of entries",
  ),
  v.minLength(1, "at least one entry"),
);

/**
 * Reads tokens from untrusted JSON.
 * @throws SpillwayError `TOKENS_INVALID`, naming every field that is wrong, quoting no token
 */
export function parseTokens(input: unknown): Token[] {
  const parsed = v.safeParse(schema, input);
  const problems: Problem[] = parsed.success
    ? repeated(parsed.output)
    : parsed.issues.map((issue) => {
        const keys = issue.path?.map(({ key }) => String(key)) ?? [];
        const secret = keys.length === 0 || keys.length === 1 || keys.includes("token");
        return {
          path: keys.length === 0 ? "tokens" : `tokens.${keys.join(".")}`,
          got: secret ? `a value of type ${typeof issue.input}` : quote(issue.input),
          allowed: issue.message,
        };
      });
  if (!parsed.success || problems.length > 0)
    throw new SpillwayError("TOKENS_INVALID", "this tokens file cannot be used", { problems });
  return parsed.output;
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
