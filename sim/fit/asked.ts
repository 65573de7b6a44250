// A policy's calls as a fit reads them: owners, attributes in paths, and requests that stand in for calls.
import { isShared } from "../../src/policy/attributes.ts";
import { isSettled } from "../../src/policy/effective.ts";
import { routeOf } from "../../src/policy/match.ts";
import type { Policy } from "../../src/policy/policy.ts";
import { attributesOfPath } from "../../src/policy/routes.ts";
import { graphqlPath } from "../../src/scenario/policy-calls.ts";
import { defaultOrganization } from "../../src/scenario/seats.ts";

type Attributes = Readonly<Record<string, string>>;
interface Owner {
  readonly organization: string;
  readonly user: string;
}

/** A request that stands in for calls of an operation. */
export interface StandIn {
  readonly method: string;
  readonly path: string;
  /** GraphQL query; `null` for other requests. */
  readonly query: string | null;
}

export class AskedCalls {
  readonly policy: Policy;
  /** Names of the policy's operations, in its order. */
  readonly operations: readonly string[];
  readonly #inPaths = new Map<string, readonly string[]>();

  constructor(policy: Policy) {
    this.policy = policy;
    this.operations = Object.keys(policy.operations);
    for (const { operation, path } of policy.routes)
      this.#inPaths.set(operation, [...(this.#inPaths.get(operation) ?? []), ...attributesOfPath(path)]);
  }

  /** Tells whether the policy has this operation, or it is the free status. */
  counts(operation: string): boolean {
    return operation === "status" || this.operations.includes(operation);
  }

  /** Returns the owner of a call by what its token stands for; the log's user if the token names none. */
  owner(attributes: Attributes, { user }: Pick<Owner, "user">): Owner {
    const own = this.policy.auth.attributes.filter((name) => attributes[name] !== undefined);
    const shared = own.filter(isShared).map((name) => attributes[name]);
    const [alone] = own.filter((name) => !isShared(name)).map((name) => attributes[name]);
    return {
      organization: shared.length > 0 ? shared.join("-") : defaultOrganization,
      user: alone ?? (user || "everyone"),
    };
  }

  /** Returns those attributes of a caller that paths of an operation name; `undefined` if there are none. */
  inPath(operation: string, attributes: Attributes): Attributes | undefined {
    const named = (this.#inPaths.get(operation) ?? []).filter((name) => attributes[name] !== undefined);
    if (named.length === 0) return undefined;
    return Object.fromEntries(named.map((name) => [name, attributes[name] as string]));
  }
}

/** Tells whether calls of an operation run for a while after they are admitted. */
export const runs = (policy: Policy, operation: string): boolean =>
  isSettled(policy, operation) || standInOf(policy, operation, {}).query !== null;

/** Returns a request of an operation, made of its first sample, with the values of `asked` in its path. */
export function standInOf(policy: Policy, operation: string, asked: Attributes): StandIn {
  const [sample] = policy.operations[operation]?.samples ?? [];
  const own = policy.routes.find((route) => route.operation === operation);
  const { method = own?.methods?.[0] ?? "GET", path = own?.path ?? "/" } = sample ?? {};
  const host = policy.routes.find((route) => route.host !== undefined)?.host ?? "";
  const request = { method, target: path, host, graphql: "query" as const };
  const route = (sample === undefined ? null : routeOf(policy, request)?.route) ?? own;
  const isQuery = route?.graphql !== undefined || route?.path === graphqlPath(policy);
  if (isQuery) return { method: "POST", path, query: queryOf(sample?.body) };
  const template = route?.path.split("/") ?? [];
  const segments = path.split("/").map((segment, place) => {
    const name = /^\{(\w+)\}$/.exec(template[place] ?? "")?.[1];
    const value = name === undefined ? undefined : asked[name];
    return value === undefined ? segment.replace(/[{}*]/g, "") || segment : encodeURIComponent(value);
  });
  return { method, path: segments.join("/").replaceAll("**", "x"), query: null };
}

const usualQuery = "{ viewer { login } }";

function queryOf(body: unknown): string {
  const query = typeof body === "object" && body !== null ? (body as { query?: unknown }).query : undefined;
  return typeof query === "string" ? query : usualQuery;
}
