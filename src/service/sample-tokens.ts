// Makes tokens for a deployment that was started without any.
import { randomBytes } from "node:crypto";
import { isShared } from "../policy/attributes.ts";
import type { PolicyToken } from "../policy/tokens.ts";
import { type Token, tokenScopes } from "../rules/tokens.ts";

/** Returns a token of 192 random bits. */
const freshToken = (): string => `spw_${randomBytes(24).toString("base64url")}`;

/**
 * Returns fresh tokens of a policy's callers: users of one organization, or organizations if the policy has no users.
 * @param names the policy's `auth.attributes`
 */
export function samplePolicyTokens(names: readonly string[], count: number): PolicyToken[] {
  const isOne = (name: string): boolean => isShared(name) && !names.every(isShared);
  return Array.from({ length: count }, (_, index) => ({
    token: freshToken(),
    attributes: Object.fromEntries(names.map((name) => [name, `${name}-${isOne(name) ? 0 : index}`])),
  }));
}

/** Returns fresh tokens, with every scope, of users of one organization: `user-0`, `user-1`, ... */
export const sampleTokens = (users: number): Token[] =>
  Array.from({ length: users }, (_, index) => ({
    token: freshToken(),
    user: `user-${index}`,
    organization: "acme",
    scopes: tokenScopes,
  }));
