// The calls of a scenario under a policy: a request's operation, and its caller (POLICY.md §1).
import { isShared } from "../policy/attributes.ts";
import { graphqlKind } from "../policy/graphql-kind.ts";
import { routeOf } from "../policy/match.ts";
import type { CallSample, Policy, Route } from "../policy/policy.ts";
import { callPath } from "./calls.ts";
import type { CallTemplate } from "./client.ts";
import type { Seat } from "./seats.ts";

export interface OperationCall {
  /** Operation of the policy, or `status`, or `other`, which no quota counts. */
  readonly operation: string;
  /** Caller's attributes: those that the request fills, and those of who calls. */
  readonly caller: Readonly<Record<string, string>>;
}

/** Caller of a call. `attributes` are those of its token, if they are known. */
type Calling = Pick<Seat, "organization" | "user"> & {
  readonly attributes?: Readonly<Record<string, string>> | undefined;
};

/** Returns the attributes of a seat's token. */
export const ownAttributes = (
  { auth }: Policy,
  { organization, user }: Pick<Seat, "organization" | "user">,
): Record<string, string> =>
  Object.fromEntries(auth.attributes.map((name) => [name, isShared(name) ? organization : user]));

/** Returns the operation and the caller of a seat's call. The operation is `other` if no route matches. */
export function policyCall(
  policy: Policy,
  call: CallTemplate,
  { organization, user, attributes }: Calling,
): OperationCall {
  const found = call.kind === "status" ? null : matched(policy, call, organization);
  const own = (name: string): string => attributes?.[name] ?? (isShared(name) ? organization : user);
  const keys = Object.values(policy.quotas).flatMap(({ key }) => key);
  const caller: Record<string, string> = {};
  for (const name of [...policy.auth.attributes, ...keys])
    caller[name] = found?.attributes[name] ?? textOf(policy, found?.route, name, call) ?? own(name);
  return { operation: call.kind === "status" ? "status" : (found?.route.operation ?? "other"), caller };
}

/** Returns the route of a call. A query goes by the route for GraphQL, whatever that route's path is. */
function matched(policy: Policy, call: CallTemplate, organization: string): ReturnType<typeof routeOf> {
  const isQuery = call.scope === "graphql";
  const graphql = isQuery ? (graphqlKind(call.query ?? "") ?? "query") : null;
  const path = isQuery ? (graphqlPath(policy) ?? call.path) : callPath(call, organization, 1);
  const host = policy.routes.find((route) => route.host !== undefined)?.host ?? "";
  return routeOf(policy, { method: call.method, target: path, host, graphql });
}

/** Returns the path of a policy's queries; `null` if it has none. */
export const graphqlPath = ({ routes }: Policy): string | null =>
  routes.find((route) => isForGraphql(route))?.path ?? null;

const isForGraphql = ({ path, graphql }: Route): boolean =>
  graphql !== undefined || /\/graphql(?:\.json)?$/.test(path);

/** Returns the sample of an operation, with the headers and the body to call it by. */
export const sampleOf = (
  { operations }: Policy,
  operation: string,
  { method }: Pick<CallTemplate, "method">,
): CallSample | undefined => operations[operation]?.samples.find((sample) => sample.method === method);

/** Returns an attribute that a route does not take from the path. Bodies are not known here. */
function textOf(
  policy: Policy,
  route: Route | undefined,
  name: string,
  call: CallTemplate,
): string | undefined {
  const source = route?.attributes[name];
  if (route === undefined || source === undefined) return undefined;
  if ("text" in source) return source.text;
  if (!("header" in source)) return undefined;
  const headers = [call.headers, sampleOf(policy, route.operation, call)?.headers];
  return headers
    .flatMap((each) => Object.entries(each ?? {}))
    .find(([each]) => each.toLowerCase() === source.header.toLowerCase())?.[1];
}
