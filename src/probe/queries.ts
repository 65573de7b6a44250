// The calls that the probe makes. None changes anything at the target. A query that requests many points names an
// organization that does not exist: the target then looks up next to nothing.
import { counted } from "../rules/words.ts";
import type { Action, QueryAction } from "./session.ts";

/** Most requested points of a query that is executed (SPEC.md §6). */
export const pointsMost = 50_000;
/** Largest page of the documented API. */
const pageMost = 500;

/** Returns resources among which the token may read one; a list has a page of one. */
export function resources(organization: string): string[] {
  const slug = encodeURIComponent(organization);
  return [`/v2/organizations/${slug}`, `/v2/organizations/${slug}/pipelines?per_page=1`, "/v2/user"];
}

export const get = (path: string): Action => ({ what: `GET ${path}`, scope: "rest", method: "GET", path });
export const head = (path: string): Action => ({ what: `HEAD ${path}`, scope: "rest", method: "HEAD", path });

/** Returns a call of a resource that surely does not exist. */
export const missing = (organization: string): Action =>
  get(`/v2/organizations/${encodeURIComponent(organization)}/spillway-probe-nothing`);

/** Returns a call of the status by a method that it lacks. Without a body there is nothing to create. */
export const wrongMethod = (statusPath: string): Action => ({
  what: "POST status",
  scope: "rest",
  method: "POST",
  path: statusPath,
});

export const graphqlGet: Action = { what: "GET graphql", scope: "graphql", method: "GET", path: null };
export const badBody: Action = {
  what: "POST graphql, no JSON",
  scope: "graphql",
  method: "POST",
  path: null,
  body: "{",
};

function post(query: string, points: number, what: string): QueryAction {
  return { what, scope: "graphql", method: "POST", path: null, body: JSON.stringify({ query }), points };
}

/** Query of a field that no schema has. */
export const badQuery: Action = post("{ spillwayProbeNoSuchField }", 0, "a query of an unknown field");

const organizationOf = (slug: string, inner: string): string =>
  `{ organization(slug: ${JSON.stringify(slug)}) { ${inner} } }`;
const page = (first: number): string => `pipelines(first: ${first}) { edges { node { id } } }`;

/** Returns a query of the organization's own first pipelines: `3 + first` counted points (SPEC.md §1). */
export function ownPipelines(organization: string, first: number): QueryAction {
  return post(organizationOf(organization, page(first)), 3 + first, `query of ${3 + first} points`);
}

/** Returns a query of builds of the own first pipelines: 3 points, and 3 and its builds for each pipeline. */
export function ownBuilds(organization: string, pipelines: number, builds: number): QueryAction {
  const inner = `pipelines(first: ${pipelines}) { edges { node { builds(first: ${builds}) { edges { node { id } } } } } }`;
  const points = 3 + pipelines * (3 + builds);
  return post(organizationOf(organization, inner), points, `query of ${counted(points, "point")}`);
}

/**
 * Returns a query of exactly `points` points, of an organization that does not exist: what comes back costs nothing. 1
 * is `organization`, 1 more `pipelines`, 1 more `edges`, and 1 for each `node`; each further page has an alias.
 * @param points from 1 to `pointsMost`
 */
export function pointsOfNobody(organization: string, points: number): Action {
  const slug = `${organization}-spillway-probe-nobody`;
  const small = ["id", "pipelines(first: 1) { count }", "pipelines(first: 1) { edges { cursor } }"][
    points - 1
  ];
  const what = `query of ${counted(points, "point")}, of nobody's`;
  if (small !== undefined) return post(organizationOf(slug, small), points, what);
  const pages = Math.ceil((points - 1) / (pageMost + 2));
  const nodes = points - 1 - 2 * pages;
  const inner = Array.from({ length: pages }, (_, index) => {
    const first = Math.floor((nodes * (index + 1)) / pages) - Math.floor((nodes * index) / pages);
    return `p${index}: ${page(first)}`;
  });
  return post(organizationOf(slug, inner.join(" ")), points, what);
}
