// Makes tokens for a deployment that was started without any.
import { randomBytes } from "node:crypto";
import { isShared } from "../policy/attributes.ts";
import type { PolicyToken } from "../policy/tokens.ts";
import { type Token, type TokenScope, tokenScopes } from "../rules/tokens.ts";

export interface SampleTokensOptions {
  /** Number of users, each with one token: `user-0`, `user-1`, ... */
  readonly users?: number;
  readonly organization?: string;
  readonly scopes?: readonly TokenScope[];
}

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

/**
 * Returns fresh tokens of 192 random bits.
 * @throws RangeError unless `users` is a whole number from 1
 */
export function sampleTokens({
  users = 30,
  organization = "acme",
  scopes = tokenScopes,
}: SampleTokensOptions = {}): Token[] {
  if (!Number.isSafeInteger(users) || users < 1)
    throw new RangeError(`users must be a whole number from 1, got ${users}`);
  return Array.from({ length: users }, (_, index) => ({
    token: freshToken(),
    user: `user-${index}`,
    organization,
    scopes,
  }));
}
