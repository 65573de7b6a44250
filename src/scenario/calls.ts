// The calls that clients make. A GraphQL call holds query, cost and actual cost together: the simulator needs the
// numbers, k6 needs the query, and one place makes all three.
import type { CallTemplate } from "./client.ts";
import { Mistakes } from "./mistakes.ts";

/** Greatest number of points of a query. One above it is answered with errors and counts nothing (SPEC.md §6). */
export const pointsMost = 50_000;

/** Number of pipelines of each organization in the service's sample data. */
const samplePipelines = 10;

const namePattern = /^[A-Za-z0-9][A-Za-z0-9_-]*$/;
const nameAllowed = "letters, digits, dashes, underscores";

export interface RestOptions {
  /** Name for reports and k6's metrics. Default: the path's last word. */
  readonly name?: string;
  /** Default: `GET`. */
  readonly method?: CallTemplate["method"];
  /** Units that the call asks for, under a policy whose operation leaves that to the call. Default: 1. */
  readonly cost?: number;
  /** Units charged in the end, at most `cost`. Default: `cost`. */
  readonly actual?: number;
}

const methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"] as const;

/**
 * Returns a REST call of cost 1: `rest("/v2/user")`. Other APIs have other calls: `rest("/v1/messages", { method:
 * "POST", cost: 4_000, actual: 900 })`.
 * @param path the path with its slash; `:org` stands for the organization's slug, `:page` for the page's number
 * @param options the name alone, or an object
 */
export function rest(path: string, options: string | RestOptions = {}): CallTemplate {
  const mistakes = new Mistakes();
  const {
    name,
    method = "GET",
    cost = 1,
    actual = cost,
  } = typeof options === "string"
    ? { name: options }
    : mistakes.options("rest", options, ["name", "method", "cost", "actual"]);
  mistakes.oneOf("rest.method", method, methods);
  mistakes.whole("rest.cost", cost, 0, Number.MAX_SAFE_INTEGER);
  mistakes.whole("rest.actual", actual, 0, Number.isSafeInteger(cost) ? cost : 0);
  const checked = mistakes.text("rest.path", path, /^\/[\x21-\x7e]*$/, "a path such as /v2/user, ASCII");
  const words = checked.split("?")[0]?.split("/") ?? [];
  const given = name ?? words.filter((word) => namePattern.test(word)).at(-1) ?? "call";
  mistakes.text("rest.name", given, namePattern, nameAllowed);
  mistakes.finish("this REST call cannot be made");
  return { name: given, scope: "rest", kind: "call", method, path, cost, actual };
}

/**
 * Returns the call with more headers: `withHeaders(rest("/v2/user"), { "X-Forwarded-For": "203.0.113.1" })`. The
 * simulator sends no headers.
 */
export function withHeaders(
  call: CallTemplate,
  headers: Readonly<Record<string, string>>,
): CallTemplate & { readonly headers: Readonly<Record<string, string>> } {
  const mistakes = new Mistakes();
  mistakes.call("withHeaders.call", call);
  if (typeof headers !== "object" || headers === null || Array.isArray(headers))
    mistakes.add("withHeaders.headers", headers, "an object of texts by header");
  for (const [name, value] of Object.entries(headers ?? {})) {
    const isOurs = /^(?:authorization|host|content-type|content-length)$/i.test(name);
    if (isOurs || !/^[\w!#$%&'*+.^`|~-]+$/.test(name))
      mistakes.add(`withHeaders.${name}`, name, "a header's name, none that the call has anyway");
    mistakes.text(`withHeaders.${name}`, value, /^[\x20-\x7e]*$/, "a line of ASCII");
  }
  mistakes.finish("this call cannot be made");
  return { ...call, headers: { ...call.headers, ...headers } };
}

/** Returns the free status call of the client's organization (SPEC.md §4). */
export function status(): CallTemplate {
  return {
    name: "status",
    scope: "rest",
    kind: "status",
    method: "GET",
    path: "/v2/organizations/:org/rate_limit",
    cost: 0,
    actual: 0,
  };
}

export interface GraphqlOptions {
  /** Requested points, as SPEC.md §1 counts complexity. */
  readonly cost: number;
  /** Points charged in the end, at most `cost`. Default: `cost`. */
  readonly actual?: number;
  readonly name?: string;
}

/**
 * Returns a GraphQL call.
 * @param query the query; `:org` stands for the organization's slug
 */
export function graphql(query: string, options: GraphqlOptions): CallTemplate {
  const mistakes = new Mistakes();
  const {
    cost,
    actual = cost,
    name = "graphql",
  } = mistakes.options("graphql", options, ["cost", "actual", "name"]);
  mistakes.text("graphql.query", query, /\S/, "a GraphQL query");
  mistakes.whole("graphql.cost", cost, 0, Number.MAX_SAFE_INTEGER);
  mistakes.whole("graphql.actual", actual, 0, Number.isSafeInteger(cost) ? cost : 0);
  mistakes.text("graphql.name", name, namePattern, nameAllowed);
  mistakes.finish("this GraphQL call cannot be made");
  return { name, scope: "graphql", kind: "call", method: "POST", path: "/v1/graphql", cost, actual, query };
}

/**
 * Returns a query for the first pipelines of the client's organization. It costs 3 points for `organization`,
 * `pipelines` and `edges`, and one for each `node` (SPEC.md §1: 500 pipelines are 503 points). The charge in the end
 * counts only the pipelines that exist.
 * @param first number of pipelines to ask for, 1 to 500
 * @param existing number of pipelines that there are
 */
export function pipelinesQuery(first: number, existing = samplePipelines): CallTemplate {
  const mistakes = new Mistakes();
  mistakes.whole("pipelinesQuery.first", first, 1, 500);
  mistakes.whole("pipelinesQuery.existing", existing, 0, Number.MAX_SAFE_INTEGER);
  mistakes.finish("this query cannot be made");
  const query = `{ organization(slug: ":org") { pipelines(first: ${first}) { edges { node { slug name } } } } }`;
  return graphql(query, {
    cost: 3 + first,
    actual: 3 + Math.min(first, existing),
    name: `pipelines-${first}`,
  });
}

/** Returns the path to ask for, its blanks filled in. */
export function callPath(template: CallTemplate, organization: string, page: number): string {
  return template.path.replaceAll(":org", organization).replaceAll(":page", String(page));
}

/** Returns the GraphQL query, its blanks filled in; empty for REST. */
export function callQuery(template: CallTemplate, organization: string): string {
  return (template.query ?? "").replaceAll(":org", organization);
}
