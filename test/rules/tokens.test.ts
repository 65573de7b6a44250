// Tokens files: every mistake is told by path and type, and nothing that stands in the file is ever quoted.
import { describe, expect, test } from "vitest";
import { SpillwayError } from "../../src/rules/errors.ts";
import { parseTokens, parseTokensFile, tokenScopes } from "../../src/rules/tokens.ts";

const secret = "spw_do-not-show-me";
const entry = { token: secret, user: "user-0", organization: "acme" };

/** The error of a document, in which the secret stands. */
function mistake(read: () => unknown): SpillwayError {
  try {
    read();
  } catch (error) {
    if (!(error instanceof SpillwayError)) throw error;
    expect(JSON.stringify([error.message, error.problems, error.hint])).not.toContain(secret);
    return error;
  }
  throw new Error("nothing was thrown");
}

describe("a tokens file", () => {
  test("needs no scopes: all of them are the default", () => {
    expect(parseTokens([entry])).toEqual([{ ...entry, scopes: tokenScopes }]);
    expect(parseTokens([{ ...entry, scopes: ["graphql"] }])).toEqual([{ ...entry, scopes: ["graphql"] }]);
  });

  test.each<[string, unknown, string, string, RegExp]>([
    ["no list", { token: secret }, "tokens", "an object", /^a list of entries, at least one$/],
    ["an empty list", [], "tokens", "an empty list", /at least one/],
    ["a token for an entry", [secret], "tokens.0", "a text", /^an entry: an object of token, user/],
    ["a missing user", [{ token: secret, organization: "acme" }], "tokens.0.user", "nothing", /letters/],
    [
      "a token with spaces",
      [{ ...entry, token: `${secret} x` }],
      "tokens.0.token",
      "a text",
      /without spaces/,
    ],
    ["a token as the user", [{ ...entry, user: `${secret}/` }], "tokens.0.user", "a text", /letters/],
    ["a token as a scope", [{ ...entry, scopes: [secret] }], "tokens.0.scopes.0", "a text", /read_accounts/],
    [
      "a token as a member's name",
      [{ ...entry, [secret]: 1 }],
      "tokens.0.(another member)",
      "an unknown",
      /token, user/,
    ],
    [
      "a token twice",
      [entry, { ...entry, user: "user-1" }],
      "tokens.1.token",
      "a token that stands above",
      /once/,
    ],
    [
      "scopes that are no list",
      [{ ...entry, scopes: secret }],
      "tokens.0.scopes",
      "a text",
      /a list of read_accounts/,
    ],
    [
      "a number for the organization",
      [{ ...entry, organization: 7 }],
      "tokens.0.organization",
      "a number",
      /slug/,
    ],
  ])("%s is told by path and type", (_, document, path, got, allowed) => {
    const { code, problems } = mistake(() => parseTokens(document));
    expect(code).toBe("TOKENS_INVALID");
    expect(problems[0]).toEqual({
      path,
      got: expect.stringContaining(got),
      allowed: expect.stringMatching(allowed),
    });
  });

  test.each([
    [
      "a member twice",
      `[{"token":"${secret}","token":"x","user":"u","organization":"o"}]`,
      "TOKENS_INVALID",
      "tokens.0.token",
    ],
    [
      "an unknown member twice",
      `[{"${secret}":1,"${secret}":2}]`,
      "TOKENS_INVALID",
      "tokens.0.(another member)",
    ],
    ["text that is no JSON", `[{"token": ${secret}}]`, "JSON_INVALID", "tokens.json"],
  ])("%s is refused", (_, text, code, path) => {
    const error = mistake(() => parseTokensFile(text, "tokens.json"));
    expect(error).toMatchObject({ code, problems: [{ path }] });
  });

  test("a byte order mark is passed over", () => {
    expect(parseTokensFile(`\uFEFF${JSON.stringify([entry])}`, "tokens.json")).toHaveLength(1);
  });
});
