// A deployment under test: no socket, a clock that only the test moves, and tokens with names.

import type { FastifyInstance, InjectOptions, LightMyRequestResponse } from "fastify";
import { expect } from "vitest";
import { parseRules } from "../../src/rules/parse.ts";
import type { RulesInput, Scope } from "../../src/rules/rules.ts";
import { type Token, type TokenScope, tokenScopes } from "../../src/rules/tokens.ts";
import { type AppOptions, buildApp } from "../../src/service/app.ts";

/** Two seconds into a minute, and into a span of five minutes. */
export const START_MS = Date.UTC(2026, 0, 2, 3, 0, 2);

/** The token of a user, `alice@acme`; `alice@acme:read_user` has that scope alone, `alice@acme:` none. */
export function token(name: string): Token {
  const [, user = "", organization = "", scopes] = /^([^@]+)@([^:]+)(?::(.*))?$/.exec(name) ?? [];
  const held = scopes === undefined ? tokenScopes : scopes.split(",").filter((scope) => scope !== "");
  return { token: `token-of-${name}`, user, organization, scopes: held as TokenScope[] };
}

const tokenNames = [
  "alice@acme",
  "bob@acme",
  "alice@globex",
  "alice@acme:",
  ...tokenScopes.map((scope) => `only@acme:${scope}`),
  ...tokenScopes.map((scope) => `allbut@acme:${tokenScopes.filter((other) => other !== scope).join(",")}`),
];

/** A name of the token that has every scope but one. */
export const allBut = (scope: TokenScope): string =>
  `allbut@acme:${tokenScopes.filter((other) => other !== scope).join(",")}`;

export interface CallOptions {
  readonly method?: string;
  /** Whose token; `null` sends none. */
  readonly as?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer | object;
}

export class Deployment {
  nowMs = START_MS;
  readonly app: FastifyInstance;

  constructor(rules: RulesInput = {}, options: Partial<AppOptions> = {}) {
    this.app = buildApp({
      rules: parseRules(rules),
      tokens: tokenNames.map(token),
      now: () => this.nowMs,
      onUnexpected: (error) => {
        throw error;
      },
      ...options,
    });
  }

  call(url: string, { method = "GET", as = "alice@acme", headers = {}, body }: CallOptions = {}) {
    const request: InjectOptions = {
      method: method as NonNullable<InjectOptions["method"]>,
      url,
      headers: as === null ? headers : { authorization: `Bearer ${token(as).token}`, ...headers },
    };
    if (body !== undefined) request.payload = body;
    return this.app.inject(request);
  }

  graphql(query: string, { variables, as }: { variables?: object; as?: string } = {}) {
    return this.call("/v1/graphql", {
      method: "POST",
      body: { query, variables },
      ...(as === undefined ? {} : { as }),
    });
  }

  /** Counts of an organization, without counting the question. */
  async counted(as = "alice@acme"): Promise<Record<Scope, number>> {
    const status = await this.call(`/v2/organizations/${token(as).organization}/rate_limit`, { as });
    const { rest, graphql } = status.json().scopes;
    return { rest: rest.current, graphql: graphql.current };
  }
}

/** A promise, and what fulfils it. */
export function deferred<T = void>(): { readonly promise: Promise<T>; readonly resolve: (value: T) => void } {
  let resolve: (value: T) => void = () => {};
  const promise = new Promise<T>((fulfil) => {
    resolve = fulfil;
  });
  return { promise, resolve };
}

/** The eight headers of SPEC.md §5, by name; `null` where one is missing, the raw text where it is no integer. */
export function eight({ headers }: LightMyRequestResponse): Record<string, string | number | null> {
  const names = ["scope", "limit", "remaining", "reset"].flatMap((name) => [name, `user-${name}`]);
  return Object.fromEntries(
    names.map((name) => {
      const value = headers[`ratelimit-${name}`];
      if (value === undefined) return [name, null];
      return [name, /^-?\d+$/.test(String(value)) ? Number(value) : String(value)];
    }),
  );
}

/** Look of the eight headers of an answer that owes them: each there, each an integer, the names right. */
export const owed = (scope: Scope) => ({
  scope,
  limit: expect.any(Number),
  remaining: expect.any(Number),
  reset: expect.any(Number),
  "user-scope": `${scope}_user`,
  "user-limit": expect.any(Number),
  "user-remaining": expect.any(Number),
  "user-reset": expect.any(Number),
});

/** Look of the headers on an answer that owes none. */
export const noneOwed = Object.fromEntries(
  ["scope", "limit", "remaining", "reset"].flatMap((name) => [
    [name, null],
    [`user-${name}`, null],
  ]),
);
