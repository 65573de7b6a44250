// Tokens for a deployment that was started without any.
import { randomBytes } from "node:crypto";
import { type Token, type TokenScope, tokenScopes } from "../rules/tokens.ts";

export interface SampleTokensOptions {
  /** Number of users, each with one token: `user-0`, `user-1`, ... */
  readonly users?: number;
  readonly organization?: string;
  readonly scopes?: readonly TokenScope[];
}

/**
 * Fresh tokens of 192 random bits.
 * @throws RangeError where `users` is no whole number from 1
 */
export function sampleTokens({
  users = 30,
  organization = "acme",
  scopes = tokenScopes,
}: SampleTokensOptions = {}): Token[] {
  if (!Number.isSafeInteger(users) || users < 1)
    throw new RangeError(`users must be a whole number from 1, got ${users}`);
  return Array.from({ length: users }, (_, index) => ({
    token: `spw_${randomBytes(24).toString("base64url")}`,
    user: `user-${index}`,
    organization,
    scopes,
  }));
}
