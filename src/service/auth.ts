// Identifies callers. The table keeps tokens as salted hashes alone. Neither a copy of the table nor the timing of a
// look-up shows anything that works as a token.
import { hash, randomBytes, timingSafeEqual } from "node:crypto";
import type { FastifyRequest } from "fastify";
import type { Token, TokenScope } from "../rules/tokens.ts";

/** The owner of a token, without the token. */
export interface TokenOwner {
  readonly user: string;
  /** User whose quota pays for its calls: normally itself. */
  readonly quota: string;
  /** Slug of the organization. */
  readonly organization: string;
  readonly scopes: ReadonlySet<TokenScope>;
}

interface Entry<Who> {
  readonly digest: Buffer;
  readonly caller: Who;
}

export const callersOf = (tokens: readonly Token[]): [string, TokenOwner][] =>
  tokens.map(({ token, user, organization, scopes }) => [
    token,
    { user, quota: user, organization, scopes: new Set(scopes) },
  ]);

const AUTHORIZATION = "authorization";

/** A request's headers, as Node reads them and as they came. */
interface Authorized {
  readonly headers: FastifyRequest["headers"];
  readonly raw: Pick<FastifyRequest["raw"], "rawHeaders">;
}

/**
 * Returns the header with a caller's token; nothing if there are two, of which Node may show only the first.
 * @param header its name in small letters
 */
export function credentialIn(
  { headers, raw: { rawHeaders } }: Authorized,
  header = AUTHORIZATION,
): string | undefined {
  let found = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] as string;
    // Few names have this length, so few are compared.
    if (name.length === header.length && name.toLowerCase() === header) found += 1;
  }
  const value = headers[header];
  return found > 1 || typeof value !== "string" ? undefined : value;
}

/** Returns the pattern of a header's value, with the scheme in any case (SPEC.md §4). */
function patternOf(form: string): RegExp {
  const parts = form
    .split("{token}")
    .map((text) => text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&").replace(/ +/g, " +"));
  return new RegExp(`^${parts.join("([\\x21-\\x7e]+)")}$`, "i");
}

const bucketOf = (digest: string): string => digest.slice(0, 4);

/** Finds callers by their token. */
export class TokenTable<Who> {
  /** Short enough that salt and token fit one block of SHA-256. It lives as long as the process. */
  readonly #salt = randomBytes(12).toString("base64url");
  /** Entries by the digest's first characters; the whole digest is compared in constant time. */
  readonly #buckets = new Map<string, Entry<Who>[]>();

  readonly #patterns: readonly RegExp[];

  /** Last correct header of each open connection. Only that connection's own client can ask whether it repeats it. */
  readonly #last = new WeakMap<object, { readonly value: string | undefined; readonly caller: Who }>();

  /** @param form the header's value with `{token}` in it, or several such forms */
  constructor(
    callers: Iterable<readonly [token: string, caller: Who]>,
    form: string | readonly string[] = "Bearer {token}",
  ) {
    this.#patterns = [form].flat().map(patternOf);
    for (const [token, caller] of callers) {
      const digest = this.#digest(token);
      const bucket = this.#buckets.get(bucketOf(digest)) ?? [];
      this.#buckets.set(bucketOf(digest), [...bucket, { digest: Buffer.from(digest, "latin1"), caller }]);
    }
  }

  /**
   * Returns the caller of a header's value; `null` if it is absent, malformed, or unknown.
   * @param connection the connection of the call: the same value sent again over it is not looked up again
   */
  find(value: string | undefined, connection: object): Who | null {
    const last = this.#last.get(connection);
    if (last !== undefined && last.value === value) return last.caller;
    const token = value === undefined ? undefined : this.#tokenIn(value);
    const caller = token === undefined ? null : this.#look(this.#digest(token));
    if (caller !== null) this.#last.set(connection, { value, caller });
    return caller;
  }

  #tokenIn(value: string): string | undefined {
    for (const pattern of this.#patterns) {
      const token = pattern.exec(value)?.[1];
      if (token !== undefined) return token;
    }
    return undefined;
  }

  #look(digest: string): Who | null {
    const bytes = Buffer.from(digest, "latin1");
    const bucket = this.#buckets.get(bucketOf(digest)) ?? [];
    return bucket.find((entry) => timingSafeEqual(entry.digest, bytes))?.caller ?? null;
  }

  /** Returns the 32 bytes as text, at half the cost of a new buffer. */
  #digest(token: string): string {
    return hash("sha256", this.#salt + token, "binary");
  }
}
