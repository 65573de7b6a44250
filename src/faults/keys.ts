// Faults in whose window a call is counted.
import type { Call } from "../engine/adapter.ts";
import { Limiter } from "../engine/limiter.ts";
import type { Rules, Scope } from "../rules/rules.ts";
import { Counter, type Found, type WindowKey } from "./counter.ts";
import { deployed } from "./deployed.ts";
import type { Fault } from "./fault.ts";

/** All users of an organization come through one proxy. */
class WrongUserKey extends Counter {
  override nameOf(key: WindowKey, nowMs: number): string {
    return super.nameOf(key.user === null ? key : { ...key, user: "the proxy" }, nowMs);
  }
}

/** REST counts the requests to GraphQL, too, and GraphQL each request to REST as a point. */
class ScopesMixed extends Counter {
  readonly #other: Readonly<Record<Scope, Scope>> = { rest: "graphql", graphql: "rest" };

  override decideOn(call: Call, found: Parameters<Counter["decideOn"]>[1], nowMs: number) {
    const decision = super.decideOn(call, found, nowMs);
    if (decision.admitted) this.#mix(call, nowMs);
    return decision;
  }

  #mix({ organization, user, scope }: Call, nowMs: number): void {
    for (const owner of [null, user]) {
      const key: WindowKey = { organization, user: owner, scope: this.#other[scope] };
      const found: Found = this.window(key, nowMs);
      this.charge(key, 1, nowMs, found);
    }
  }
}

const keyHeaders = ["x-user-id", "x-forwarded-for", "x-real-ip"] as const;

export const keyFaults: readonly Fault[] = [
  {
    name: "wrong-user-key",
    wrong: "all users behind one proxy share a key",
    shows: "one user's calls drain another's window",
    seenIn: ["mcp-uptime-kuma PR#90"],
    nets: ["P", "V", "L"],
    rate: null,
    processes: "one",
    inject: (rules: Rules) => deployed(new WrongUserKey(rules)),
  },
  {
    name: "user-key-from-header",
    wrong: `a header of the client's picks the key: ${keyHeaders.join(", ")}`,
    shows: "a fresh quota for each value of the header",
    seenIn: ["express-rate-limit#134"],
    nets: ["L"],
    rate: null,
    processes: "one",
    inject: (rules) => ({
      ...deployed(new Limiter(rules)),
      userOf(user, headers) {
        const name = keyHeaders.find((known) => headers[known] !== undefined);
        return name === undefined ? user : `${user} as ${headers[name]}`;
      },
    }),
  },
  {
    name: "scopes-mixed",
    wrong: "REST and GraphQL share a counter: each counts the other's calls, too",
    shows: "remaining falls in the other scope",
    seenIn: [],
    nets: ["P", "V", "L"],
    rate: null,
    processes: "one",
    inject: (rules) => deployed(new ScopesMixed(rules)),
  },
];
