// The route of a request: the first that matches (POLICY.md §1).
import type { GraphqlKind } from "./graphql-kind.ts";
import type { Policy, Route } from "./policy.ts";

/** Parts of a request that choose its route. */
export interface RoutedRequest {
  readonly method: string;
  /** Target as it came, with its query. */
  readonly target: string;
  readonly host: string;
  /** Kind of the GraphQL operation in the body; `null` if there is none. */
  readonly graphql: GraphqlKind | null;
}

export interface Matched {
  readonly route: Route;
  /** Attributes that segments of the path fill. */
  readonly attributes: Readonly<Record<string, string>>;
}

/** Returns the first route that matches a request; `null` if none does. */
export function routeOf({ routes }: Pick<Policy, "routes">, request: RoutedRequest): Matched | null {
  const segments = segmentsOf(request.target);
  for (const route of routes) {
    const { methods, host, graphql } = route;
    if (methods !== undefined && !methods.some((method) => method.toUpperCase() === request.method)) continue;
    if (host !== undefined && host.toLowerCase() !== request.host.toLowerCase()) continue;
    if (graphql !== undefined && graphql !== request.graphql) continue;
    const attributes = attributesIn(route.path, segments);
    if (attributes !== null) return { route, attributes };
  }
  return null;
}

/** Returns the request that shows a caller its status under a policy; `null` if there is no such route. */
export function statusRequest(
  { routes }: Pick<Policy, "routes">,
  attributes: Readonly<Record<string, string>>,
): { readonly method: string; readonly path: string } | null {
  const route = routes.find(({ operation }) => operation === "status");
  if (route === undefined) return null;
  return { method: route.methods?.[0] ?? "GET", path: filled(route.path, attributes) };
}

/** Returns the text of a sample's path or body, with attributes in place of their names in braces. */
export const filled = (text: string, attributes: Readonly<Record<string, string>>): string =>
  text.replace(
    /\{(\w+)\}/g,
    (whole, name: string) => (Object.hasOwn(attributes, name) ? attributes[name] : undefined) ?? whole,
  );

/** Returns the value of the header by which a caller authenticates. */
export const credentialOf = ({ form }: Pick<Policy["auth"], "form">, token: string): string =>
  ([form].flat()[0] ?? "{token}").replace("{token}", () => token);

function attributesIn(path: string, segments: readonly string[]): Record<string, string> | null {
  const attributes: Record<string, string> = {};
  const expected = path.split("/").slice(1);
  for (const [place, part] of expected.entries()) {
    if (part === "**") return attributes;
    const segment = segments[place];
    if (segment === undefined) return null;
    const name = /^\{(\w+)\}$/.exec(part)?.[1];
    if (name === undefined) {
      if (segment !== part) return null;
    } else if (segment === "") return null;
    else attributes[name] = segment;
  }
  return segments.length === expected.length ? attributes : null;
}

/**
 * Returns the decoded segments of a request's target, without origin, query and final slash. A segment that is no
 * percent-encoded UTF-8 is empty: it names nothing.
 */
export function segmentsOf(target: string): string[] {
  const [path = ""] = target.replace(/^https?:\/\/[^/?#]*/i, "").split(/[?#]/, 1);
  return path
    .replace(/(?<=.)\/$/, "")
    .split("/")
    .slice(1)
    .map(decoded);
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return "";
  }
}
