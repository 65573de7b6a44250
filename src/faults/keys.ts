// Faults in the choice of the window in which a call counts.
import type { PolicyCall } from "../engine/decision.ts";
import { Counter, type CountKey, type FoundAll } from "./counter.ts";
import { counted, type FaultEntry, type FaultyQuotas } from "./fault.ts";
import { hasCallers, hasJoinedKey, hasOthers, ofDefault } from "./fits.ts";

/** Counts all users of an organization as one, as if they came through one proxy. */
class WrongUserKey extends Counter {
  override nameOf(key: CountKey, nowMs: number): string {
    const user = this.policy.auth.attributes.at(-1) ?? "";
    return super.nameOf({ ...key, caller: { ...key.caller, [user]: "the proxy" } }, nowMs);
  }
}

/** Joins the names of a key by a dash, which names may contain. */
class NamesCollide extends Counter {
  override nameOf(key: CountKey, nowMs: number): string {
    const names = this.policy.quotas[key.quota]?.key ?? [];
    if (names.length < 2) return super.nameOf(key, nowMs);
    return `${key.quota} ${names.map((name) => key.caller[name] ?? "").join("-")}`;
  }
}

const slots = 80;

/** Keeps counts of users in `slots` slots, by a hash of the key: two users may share one. */
class KeysHashed extends Counter {
  override nameOf(key: CountKey, nowMs: number): string {
    const names = this.policy.quotas[key.quota]?.key ?? [];
    if (!names.includes(this.policy.auth.attributes.at(-1) ?? "")) return super.nameOf(key, nowMs);
    // FNV-1a.
    let hash = 0x811c9dc5;
    for (const byte of new TextEncoder().encode(names.map((name) => key.caller[name] ?? "").join("\n")))
      hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
    return `${key.quota} ${hash % slots}`;
  }
}

/** Counts each operation's calls in all other operations' quotas, too, each as 1. */
class ScopesMixed extends Counter {
  override decideOn(call: PolicyCall, found: FoundAll, nowMs: number) {
    const decision = super.decideOn(call, found, nowMs);
    if (decision.refusedBy === null) this.#mix(call, nowMs);
    return decision;
  }

  #mix({ caller, operation }: PolicyCall, nowMs: number): void {
    const { quotas, operations } = this.policy;
    for (const [quota, { key: names }] of Object.entries(quotas)) {
      const isOwn = operations[operation]?.uses[quota] !== undefined;
      if (isOwn || !names.every((name) => caller[name] !== undefined)) continue;
      const key = { quota, caller };
      this.charge(key, 1, nowMs, this.found(key, nowMs));
    }
  }
}

/** Returns a correct deployment of the default API, except that a call may use another user's quota. */
const ofOther = (make: () => FaultyQuotas["userOf"] & {}): Pick<FaultEntry, "unfit" | "inject"> => ({
  unfit: ofDefault,
  inject: (policy) => ({ store: new Counter(policy), userOf: make() }),
});

const keyHeaders = ["x-user-id", "x-forwarded-for", "x-real-ip"] as const;

export const keyFaults: readonly FaultEntry[] = [
  {
    name: "wrong-user-key",
    wrong: "all users behind one proxy share a key",
    shows: "one user's calls drain another's window",
    seenIn: ["mcp-uptime-kuma PR#90"],
    nets: ["P", "V", "L"],
    ...counted((policy) => new WrongUserKey(policy), hasCallers),
  },
  {
    name: "user-key-from-header",
    wrong: `a header of the client's picks the key: ${keyHeaders.join(", ")}`,
    shows: "a fresh quota for each value of the header",
    seenIn: ["express-rate-limit#134"],
    nets: ["L"],
    ...ofOther(() => (user, headers) => {
      const name = keyHeaders.find((known) => headers[known] !== undefined);
      return name === undefined ? user : `${user} as ${headers[name]}`;
    }),
  },
  {
    name: "scheme-letters-pick-key",
    wrong: "the credential as it is sent is the key: its scheme in other letters is another caller",
    shows: "a fresh quota for `bearer` in place of `Bearer`",
    nets: ["A"],
    ...ofOther(() => (user, { authorization = "" }) => {
      const [scheme = ""] = authorization.split(" ");
      return scheme === "" || scheme === "Bearer" ? user : `${user} by ${scheme}`;
    }),
  },
  {
    name: "names-collide",
    wrong: "organization and user are joined by a dash, which may stand in a name",
    shows: "`a-b` and `c` share a quota with `a` and `b-c`",
    nets: ["A"],
    ...counted((policy) => new NamesCollide(policy), hasJoinedKey),
  },
  {
    name: "client-picks-key",
    wrong: "the client's User-Agent is part of the key",
    shows: "a fresh quota for each client of one user",
    nets: ["A"],
    ...ofOther(() => {
      const first = new Map<string, string>();
      return (user, { "user-agent": agent = "" }) => {
        const known = first.get(user) ?? agent;
        first.set(user, known);
        return agent === known ? user : `${user} by ${agent}`;
      };
    }),
  },
  {
    name: "keys-hashed",
    wrong: `users' counts lie in ${slots} slots, by a hash of the key`,
    shows: "two users whose keys have one hash drain each other's window",
    nets: ["A"],
    ...counted((policy) => new KeysHashed(policy), hasCallers),
  },
  {
    name: "scopes-mixed",
    wrong: "REST and GraphQL share a counter: each counts the other's calls, too",
    shows: "remaining falls in the other scope",
    nets: ["P", "V", "L"],
    ...counted((policy) => new ScopesMixed(policy), hasOthers),
  },
];
