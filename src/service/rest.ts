// The REST API: its resources as a table, and one way through the gate for all. A call is counted before its resource
// is looked up (SPEC.md §2.6); for GET and HEAD, Fastify parses no body before that.
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { TokenScope } from "../rules/tokens.ts";
import { headers } from "../wire/answer.ts";
import { statusBody } from "../wire/bodies.ts";
import { type Fields, lasting } from "./answer.ts";
import type { TokenOwner } from "./auth.ts";
import type { Gate } from "./gate.ts";
import { once } from "./once.ts";
import { buildView, organizationView, pipelineView, userView } from "./rest-views.ts";
import {
  BUILDS,
  sampleBuild,
  sampleBuilds,
  sampleOrganization,
  samplePipeline,
  samplePipelines,
  sampleUser,
} from "./sample-data.ts";

/** A call that has passed the gate. */
interface Ask {
  readonly request: FastifyRequest;
  readonly caller: TokenOwner;
  readonly params: Params;
  /** The eight headers; a resource may add its own. */
  readonly fields: Fields;
}

type Params = Readonly<Record<string, string>>;

interface Resource {
  readonly path: string;
  readonly needs: TokenScope;
  /**
   * Returns the body, or `null` if there is no such thing. `"status"` stands for the organization's windows: its GET
   * and HEAD count in no window and are never refused (SPEC.md §1).
   */
  readonly answer: "status" | ((ask: Ask) => object | null);
}

const organization = "/v2/organizations/:organization";
const pipeline = `${organization}/pipelines/:pipeline`;

const resources: readonly Resource[] = [
  {
    path: `${organization}/rate_limit`,
    needs: "read_accounts",
    answer: "status",
  },
  {
    path: "/v2/user",
    needs: "read_user",
    answer: ({ caller }) => ownView(caller.user),
  },
  {
    path: organization,
    needs: "read_organizations",
    answer: (ask) => organizationView(sampleOrganization(ask.caller.organization), originOf(ask)),
  },
  {
    path: `${organization}/pipelines`,
    needs: "read_pipelines",
    answer(ask) {
      const all = samplePipelines(ask.caller.organization);
      return paged(ask, all.length, (skip, most) =>
        all.slice(skip, skip + most).map((one) => pipelineView(one, originOf(ask))),
      );
    },
  },
  {
    path: pipeline,
    needs: "read_pipelines",
    answer(ask) {
      const found = findPipeline(ask);
      return found && pipelineView(found, originOf(ask));
    },
  },
  {
    path: `${pipeline}/builds`,
    needs: "read_builds",
    answer(ask) {
      const found = findPipeline(ask);
      return (
        found &&
        paged(ask, BUILDS, (skip, most) =>
          sampleBuilds(found, skip, most).map((build) => buildView(build, originOf(ask))),
        )
      );
    },
  },
  {
    path: `${pipeline}/builds/:number`,
    needs: "read_builds",
    answer(ask) {
      const found = findPipeline(ask);
      const build = found && sampleBuild(found, wholeFrom1(ask.params["number"] ?? "") ?? 0);
      return build && buildView(build, originOf(ask));
    },
  },
];

/** Returns the API's origin as the client knows it, `http://127.0.0.1:4100`; empty if the client sent no Host. */
const originOf = ({ request }: Ask): string =>
  request.host === "" ? "" : `${request.protocol}://${request.host}`;

function findPipeline({ caller, params }: Ask) {
  return samplePipeline(caller.organization, params["pipeline"] ?? "");
}

/** Views of the latest users. */
const ownView = once(1_000, (user) => lasting(userView(sampleUser(user))));

/** Returns one page of a list, and sets its `Link` header. */
function paged(ask: Ask, total: number, pick: (skip: number, most: number) => object[]): object[] {
  const { request, fields } = ask;
  const [path = "", text = ""] = request.url.split("?");
  const query = new URLSearchParams(text);
  const asked = pageRequest(query);
  const link = linkHeader(`${originOf(ask)}${path}`, query, asked, total);
  if (link !== null) fields["Link"] = link;
  return pageOf(`${originOf(ask)}${path} ${asked.page} ${asked.perPage}`, () =>
    pick((asked.page - 1) * asked.perPage, asked.perPage),
  );
}

/** The latest pages, each at most some 100 KB. */
const pageOf = once(100, (_name, make: () => object[]) => lasting(make()));

/**
 * Answers any REST call: 401, 404 for an organization, 403, windows, then 404, 405 or the resource.
 * @param params parameters of the path, with the organization's slug if the path names one
 * @param resource `null` if the path names none
 */
export function answerRest(
  gate: Gate,
  request: FastifyRequest,
  reply: FastifyReply,
  params: Params,
  resource: Resource | null,
): void {
  const caller = gate.enter(request, reply, "rest", params["organization"] ?? null, resource?.needs ?? null);
  if (caller === null) return;
  const reads = request.method === "GET" || request.method === "HEAD";
  const answer = resource?.answer;
  if (reads && answer === "status") {
    answerStatus(gate, reply, caller);
    return;
  }
  const { organization, quota } = caller;
  const call = { organization, user: quota, scope: "rest", cost: 1 } as const;
  gate.after(reply, gate.wait(gate.store.decide(call, gate.now())), (decision) => {
    const about = gate.about("call", caller, "rest");
    const fields: Fields = headers("rest", decision);
    if (decision.refusedBy !== null) return gate.refuse(reply, decision.refusedBy, decision, fields, about);
    if (resource !== null && !reads) {
      fields["Allow"] = "GET, HEAD";
      return gate.send(reply, 405, fields, { message: `${request.method} is not allowed here` }, about);
    }
    const body = typeof answer === "function" ? answer({ request, caller, params, fields }) : null;
    if (body === null) gate.send(reply, 404, fields, { message: "No such resource" }, about);
    else gate.send(reply, 200, fields, body, about);
  });
}

/** Answers with the status of the caller's organization: free, and true at this moment (SPEC.md §4). */
function answerStatus(gate: Gate, reply: FastifyReply, caller: TokenOwner): void {
  const nowMs = gate.now();
  gate.after(reply, gate.uncounted("rest", caller, nowMs), (fields) =>
    gate.after(reply, gate.wait(gate.store.status(caller.organization, nowMs)), (status) => {
      fields["Cache-Control"] = "no-store";
      gate.send(reply, 200, fields, statusBody(status), gate.about("status", caller, "rest"));
    }),
  );
}

/** Adds the REST routes. */
export function addRestRoutes(app: FastifyInstance, gate: Gate): void {
  for (const resource of resources)
    app.route({
      method: ["GET", "HEAD"],
      url: resource.path,
      handler: (request, reply) => answerRest(gate, request, reply, request.params as Params, resource),
    });
}

/**
 * Finds the resource of a path without the router, which knows neither other methods nor broken encodings.
 * @param segments decoded parts of the path: `["v2", "user"]`
 * @returns `null` if the path is outside the REST API; a `null` resource if there is none of that name
 */
export function locate(segments: readonly string[]): { resource: Resource | null; params: Params } | null {
  const resource = resources.find(({ path }) => {
    const names = path.split("/").slice(1);
    return (
      names.length === segments.length && names.every((name, at) => name[0] === ":" || name === segments[at])
    );
  });
  const [version, collection, slug] = segments;
  if (version === "v2" && collection === "organizations" && slug !== undefined)
    return { resource: resource ?? null, params: { organization: slug } };
  return resource === undefined ? null : { resource, params: {} };
}

const PER_PAGE_DEFAULT = 30;
const PER_PAGE_MOST = 100;

/** The part of a list that a query requests. */
interface PageRequest {
  /** Number of the page, from 1. */
  readonly page: number;
  readonly perPage: number;
}

const wholeFrom1 = (text: string | null): number | null =>
  text !== null && /^[1-9]\d{0,8}$/.test(text) ? Number(text) : null;

/** Reads the requested page. Anything but a whole number from 1 counts as absent; more than 100 a page become 100. */
export function pageRequest(query: URLSearchParams): PageRequest {
  return {
    page: wholeFrom1(query.get("page")) ?? 1,
    perPage: Math.min(wholeFrom1(query.get("per_page")) ?? PER_PAGE_DEFAULT, PER_PAGE_MOST),
  };
}

/**
 * Returns the `Link` header of a page, with those of `first`, `prev`, `next` and `last` that exist. It keeps the
 * query's other parameters. Returns `null` if one page holds everything.
 * @param url URL of the list, without a query
 */
export function linkHeader(
  url: string,
  query: URLSearchParams,
  { page, perPage }: PageRequest,
  total: number,
): string | null {
  const last = Math.max(1, Math.ceil(total / perPage));
  const link = (relation: string, to: number): string => {
    const parameters = new URLSearchParams(query);
    parameters.set("page", String(to));
    parameters.set("per_page", String(perPage));
    return `<${url}?${parameters}>; rel="${relation}"`;
  };
  const links: string[] = [];
  if (page > 1) links.push(link("first", 1), link("prev", Math.min(page - 1, last)));
  if (page < last) links.push(link("next", page + 1), link("last", last));
  return links.join(", ") || null;
}
