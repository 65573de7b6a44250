// The calls that the probe makes. None changes anything at the target, and a query that asks for many points
// asks them of an organization that does not exist, so that next to nothing is looked up.
import { counted } from "../rules/words.ts";
import type { Action } from "./session.ts";

/** A query above so many requested points is not executed (SPEC.md §6). */
export const pointsMost = 50_000;
/** The documented API's largest page. */
const pageMost = 500;

/** Resources to look for one that this token may read, each with a page of one where it is a list. */
export function resources(organization: string): string[] {
  const slug = encodeURIComponent(organization);
  return [`/v2/organizations/${slug}`, `/v2/organizations/${slug}/pipelines?per_page=1`, "/v2/user"];
}

export const get = (path: string): Action => ({ what: `GET ${path}`, scope: "rest", method: "GET", path });
export const head = (path: string): Action => ({ what: `HEAD ${path}`, scope: "rest", method: "HEAD", path });

/** A resource that surely is not there. */
export const missing = (organization: string): Action =>
  get(`/v2/organizations/${encodeURIComponent(organization)}/spillway-probe-nothing`);

/** A method that the status does not have, with no body: there is nothing that it could create. */
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

function post(query: string, points: number, what: string): Action {
  return { what, scope: "graphql", method: "POST", path: null, body: JSON.stringify({ query }), points };
}

/** A field that no schema has. */
export const badQuery: Action = { ...post("{ spillwayProbeNoSuchField }", 0, "a query of an unknown field") };

const organizationOf = (slug: string, inner: string): string =>
  `{ organization(slug: ${JSON.stringify(slug)}) { ${inner} } }`;
const page = (first: number): string => `pipelines(first: ${first}) { edges { node { id } } }`;

/** The organization's own first pipelines: `3 + first` points as they are counted (SPEC.md §1). */
export function ownPipelines(organization: string, first: number): Action {
  return post(organizationOf(organization, page(first)), 3 + first, `query of ${3 + first} points`);
}

/** The builds of the organization's own first pipelines: 3 points, and for each pipeline 3 and its builds. */
export function ownBuilds(organization: string, pipelines: number, builds: number): Action {
  const inner = `pipelines(first: ${pipelines}) { edges { node { builds(first: ${builds}) { edges { node { id } } } } } }`;
  const points = 3 + pipelines * (3 + builds);
  return post(organizationOf(organization, inner), points, `query of ${counted(points, "point")}`);
}

/**
 * A query of exactly so many points, of an organization that does not exist: what comes back costs nothing.
 * 1 is `organization`, 1 more `pipelines`, 1 more `edges`, and 1 for each `node`; each further page has an alias.
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
