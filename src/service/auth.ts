// Who calls. Tokens are kept as salted hashes, so neither a copy of the table nor the timing of a look-up shows
// anything that could be presented as a token. All that is held of a token in clear is the header that an open
// connection sent last, as long as that connection lives: hashing it again for each call of a kept-alive
// client cost 1 of 9 us.
import { hash, randomBytes, timingSafeEqual } from "node:crypto";
import type { Token, TokenScope } from "../rules/tokens.ts";

/** The owner of a token, without the token. */
export interface Caller {
  readonly user: string;
  /** The organization's slug. */
  readonly organization: string;
  readonly scopes: ReadonlySet<TokenScope>;
}

interface Entry {
  readonly digest: Buffer;
  readonly caller: Caller;
}

/** What a connection sent last, and who that was. */
interface Remembered {
  /** A copy of its own: a small Buffer would keep its whole pool of 8 KiB. */
  readonly header: Uint8Array;
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
  readonly #last = new WeakMap<object, Remembered>();

  constructor(tokens: readonly Token[]) {
    for (const { token, user, organization, scopes } of tokens) {
      const digest = this.#digest(token);
      const entry = {
        digest: Buffer.from(digest, "latin1"),
        caller: { user, organization, scopes: new Set(scopes) },
      };
      const bucket = this.#buckets.get(bucketOf(digest));
      if (bucket === undefined) this.#buckets.set(bucketOf(digest), [entry]);
      else bucket.push(entry);
    }
  }

  /**
   * The caller of an `Authorization` header; `null` where it is absent, of another scheme, or unknown.
   * @param connection that it came on
   */
  find(authorization: string | undefined, connection: object): Caller | null {
    if (authorization === undefined) return null;
    const header = Buffer.from(authorization, "latin1");
    const last = this.#last.get(connection);
    if (last !== undefined && same(last.header, header)) return last.caller;
    const token = bearer.exec(authorization)?.[1];
    const caller = token === undefined ? null : this.#look(this.#digest(token));
    if (caller !== null) this.#last.set(connection, { header: new Uint8Array(header), caller });
    return caller;
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
