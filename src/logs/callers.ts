// Callers: users and organizations as numbers, and each pair of them as one more number. Memory grows with the callers
// of a log, not with its length.
import { Names } from "../trace/names.ts";
import { hashOf } from "./field-values.ts";
import type { LogCaller } from "./rows.ts";
import { bareToken, type Digest, looksSecret } from "./secrets.ts";

/** Least number of digits of a fingerprint; more are used if two tokens would share one. */
const fingerprintDigits = 6;

/** Caller of rows that name none. */
export const EVERYONE = "everyone";

const encoder = new TextEncoder();

/** Returns a text's bytes. */
export function viewOf(name: string): DataView {
  const { buffer, byteOffset, byteLength } = encoder.encode(name);
  return new DataView(buffer, byteOffset, byteLength);
}

export class Callers {
  readonly list: LogCaller[] = [];
  /** Number of users whose organization nothing named. */
  unplaced = 0;
  /** Number of rows that name no user. */
  anonymous = 0;
  readonly #digest: Digest;
  readonly #organizations = new Names();
  /** Users as the log writes them. Tokens are kept apart, since a token may read like a user's name. */
  readonly #written = [new Names(), new Names()] as const;
  /** User of each written name. */
  readonly #users: [number[], number[]] = [[], []];
  readonly #shown = new Map<string, number>();
  readonly #tokens = new Map<string, string>();
  readonly #texts: string[] = [];
  /** Last organization of each user, and the caller that the two make; -1 for none. */
  #organization = new Int32Array(256).fill(-1);
  #caller = new Int32Array(256).fill(-1);
  /** Callers by user and organization. */
  readonly #pairs = new Map<number, number>();

  constructor(digest: Digest) {
    this.#digest = digest;
  }

  /** Returns the number of the user whose name stands from `from` to `to`. @param hash `hashOf` over its bytes */
  userAt(view: DataView, from: number, to: number, hash: number, isToken: boolean): number {
    const kind = isToken ? 1 : 0;
    const written = this.#written[kind].find(view, from, to, hash);
    return this.#users[kind][written] ?? this.#newUser(kind, written);
  }

  user(name: string, isToken = false): number {
    const view = viewOf(name);
    return this.userAt(view, 0, view.byteLength, hashOf(view, 0, view.byteLength), isToken);
  }

  organizationAt(view: DataView, from: number, to: number, hash: number): number {
    return this.#organizations.find(view, from, to, hash);
  }

  organization(name: string): number {
    const view = viewOf(name);
    return this.organizationAt(view, 0, view.byteLength, hashOf(view, 0, view.byteLength));
  }

  /** Returns the last organization of a user; -1 if none. */
  lastOrganization(user: number): number {
    return this.#organization[user] as number;
  }

  /** Returns the caller that a user and an organization make. */
  of(user: number, organization: number): number {
    if (this.#organization[user] === organization) return this.#caller[user] as number;
    const key = organization * 0x8000_0000 + user;
    let caller = this.#pairs.get(key);
    if (caller === undefined) {
      caller = this.list.length;
      this.list.push({
        organization: this.#organizations.text(organization),
        user: this.#texts[user] ?? EVERYONE,
      });
      this.#pairs.set(key, caller);
    }
    this.#organization[user] = organization;
    this.#caller[user] = caller;
    return caller;
  }

  /** Returns the caller of two names. */
  named(organization: string, user: string): number {
    return this.of(this.user(user), this.organization(organization));
  }

  #newUser(kind: 0 | 1, written: number): number {
    const text = this.#written[kind].text(written);
    const shown = kind === 1 || looksSecret(text) ? this.fingerprint(bareToken(text)) : text;
    let user = this.#shown.get(shown);
    if (user === undefined) {
      user = this.#texts.length;
      this.#texts.push(shown);
      this.#shown.set(shown, user);
      if (user >= this.#organization.length) this.#grow();
    }
    this.#users[kind][written] = user;
    return user;
  }

  /** Returns `token-3f2a91`, with as many digits as it needs to be unique. */
  fingerprint(token: string): string {
    const digest = this.#digest(token);
    for (let length = fingerprintDigits; length <= digest.length; length += 2) {
      const name = `token-${digest.slice(0, length)}`;
      const owner = this.#tokens.get(name);
      if (owner === digest) return name;
      if (owner !== undefined) continue;
      this.#tokens.set(name, digest);
      return name;
    }
    return `token-${digest}`;
  }

  #grow(): void {
    const grown = (array: Int32Array): Int32Array<ArrayBuffer> => {
      const larger = new Int32Array(2 * array.length).fill(-1);
      larger.set(array);
      return larger;
    };
    this.#organization = grown(this.#organization);
    this.#caller = grown(this.#caller);
  }
}
