// Who calls. Tokens are kept as salted hashes alone, so neither a copy of the table nor the timing of a look-up
// shows anything that could be presented as a token.
import { hash, randomBytes, timingSafeEqual } from "node:crypto";
import type { Token, TokenScope } from "../rules/tokens.ts";

/** The owner of a token, without the token. */
export interface Caller {
  readonly user: string;
  /** Whose quota its calls use: the user's own. */
  readonly quota: string;
  /** The organization's slug. */
  readonly organization: string;
  readonly scopes: ReadonlySet<TokenScope>;
}

interface Entry {
  readonly digest: Buffer;
  readonly caller: Caller;
}

/** `Bearer TOKEN`, the scheme in any case (SPEC.md §4). */
const bearer = /^bearer +([\x21-\x7e]+)$/i;

const bucketOf = (digest: string): string => digest.slice(0, 4);

/** In a time that depends on the lengths alone. */
const same = (a: Uint8Array, b: Uint8Array): boolean => a.length === b.length && timingSafeEqual(a, b);

/** Finds callers by their token. */
export class TokenTable {
  /** So short that salt and token fit one block of SHA-256; it lives as long as the process. */
  readonly #salt = randomBytes(12).toString("base64url");
  /** By the first characters of the digest; the whole is compared in constant time. */
  readonly #buckets = new Map<string, Entry[]>();

  constructor(tokens: readonly Token[]) {
    for (const { token, user, organization, scopes } of tokens) {
      const digest = this.#digest(token);
      const entry = {
        digest: Buffer.from(digest, "latin1"),
        caller: { user, quota: user, organization, scopes: new Set(scopes) },
      };
      const bucket = this.#buckets.get(bucketOf(digest));
      if (bucket === undefined) this.#buckets.set(bucketOf(digest), [entry]);
      else bucket.push(entry);
    }
  }

  /** The caller of an `Authorization` header; `null` where it is absent, of another scheme, or unknown. */
  find(authorization: string | undefined): Caller | null {
    const token = authorization === undefined ? undefined : bearer.exec(authorization)?.[1];
    return token === undefined ? null : this.#look(this.#digest(token));
  }

  #look(digest: string): Caller | null {
    const bytes = Buffer.from(digest, "latin1");
    const bucket = this.#buckets.get(bucketOf(digest)) ?? [];
    return bucket.find((entry) => same(entry.digest, bytes))?.caller ?? null;
  }

  /** The 32 bytes as text, which costs half of what a fresh buffer does. */
  #digest(token: string): string {
    return hash("sha256", this.#salt + token, "binary");
  }
}
