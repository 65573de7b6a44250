// The GraphQL schema of the sample data, and its roots. Lists of objects appear only as `edges` of connections. What a
// query brings back thus never costs more than what it requested.
import { buildSchema, GraphQLError, type GraphQLObjectType } from "graphql";
import {
  BUILDS,
  PIPELINES,
  type SampleBuild,
  type SamplePipeline,
  type SampleUser,
  sampleBuilds,
  sampleOrganization,
  samplePipelines,
  sampleUser,
} from "./sample-data.ts";

/** Page size of a connection that names none (SPEC.md §1). */
const PAGE_SIZE_ABSENT = 500;

export const schema = buildSchema(`
  type Query {
    "The user of the token."
    viewer: Viewer!
    "The token's organization; null for any other slug."
    organization(slug: ID): Organization
  }
  type Viewer { user: User! }
  type User { id: ID!, name: String!, email: String! }
  type Organization {
    id: ID!
    slug: String!
    name: String!
    pipelines(first: Int, last: Int, after: String, before: String): PipelineConnection!
  }
  type PipelineConnection { count: Int!, edges: [PipelineEdge!]!, pageInfo: PageInfo! }
  type PipelineEdge { cursor: String!, node: Pipeline! }
  type Pipeline {
    id: ID!
    uuid: String!
    slug: String!
    name: String!
    description: String!
    defaultBranch: String!
    createdAt: String!
    repository: Repository!
    organization: Organization!
    builds(first: Int, last: Int, after: String, before: String): BuildConnection!
  }
  type Repository { url: String! }
  type BuildConnection { count: Int!, edges: [BuildEdge!]!, pageInfo: PageInfo! }
  type BuildEdge { cursor: String!, node: Build! }
  type Build {
    id: ID!
    uuid: String!
    number: Int!
    state: String!
    branch: String!
    commit: String!
    message: String!
    createdAt: String!
    startedAt: String!
    finishedAt: String
    createdBy: User!
    pipeline: Pipeline!
  }
  type PageInfo { hasNextPage: Boolean!, hasPreviousPage: Boolean!, startCursor: String, endCursor: String }
`);

export const queryType = schema.getQueryType() as GraphQLObjectType;

/** Returns the root of queries: the caller's own data, resolved field by field on request. */
export function rootValue(organization: string, user: string) {
  return {
    viewer: { user: userNode(sampleUser(user)) },
    organization: ({ slug }: { readonly slug?: string | null }) =>
      (slug ?? organization) === organization ? organizationNode(organization) : null,
  };
}

const userNode = ({ graphqlId, name, email }: SampleUser) => ({ id: graphqlId, name, email });

function organizationNode(slug: string) {
  const { graphqlId, name } = sampleOrganization(slug);
  return {
    id: graphqlId,
    slug,
    name,
    pipelines: (args: ConnectionArgs) =>
      connection(args, PIPELINES, (from, to) => samplePipelines(slug).slice(from, to).map(pipelineNode)),
  };
}

function pipelineNode(pipeline: SamplePipeline) {
  return {
    id: pipeline.graphqlId,
    uuid: pipeline.id,
    slug: pipeline.slug,
    name: pipeline.name,
    description: pipeline.description,
    defaultBranch: "main",
    createdAt: pipeline.createdAt,
    repository: { url: pipeline.repository },
    organization: () => organizationNode(pipeline.organization),
    builds: (args: ConnectionArgs) =>
      connection(args, BUILDS, (from, to) => sampleBuilds(pipeline, from, to - from).map(buildNode)),
  };
}

function buildNode({ id, graphqlId, author, pipeline, ...rest }: SampleBuild) {
  return {
    ...rest,
    id: graphqlId,
    uuid: id,
    createdBy: userNode(author),
    pipeline: () => pipelineNode(pipeline),
  };
}

interface ConnectionArgs {
  readonly first?: number | null;
  readonly last?: number | null;
  readonly after?: string | null;
  readonly before?: string | null;
}

/**
 * Returns the page size that a connection's arguments request.
 * @throws GraphQLError if both `first` and `last` are given, or one is negative
 */
export function pageSize(args: { readonly first?: unknown; readonly last?: unknown }): number {
  const first = args.first ?? null;
  const last = args.last ?? null;
  if (first !== null && last !== null) throw new GraphQLError("Give either `first` or `last`, not both.");
  const size = Number(first ?? last ?? PAGE_SIZE_ABSENT);
  if (size < 0) throw new GraphQLError("`first` and `last` must not be negative.");
  return size;
}

const cursorOf = (index: number): string => Buffer.from(`at:${index}`).toString("base64");

/** Returns the index that a cursor stands for; `null` if this service did not make the cursor. */
function indexOf(cursor: string): number | null {
  const digits = /^at:(\d{1,9})$/.exec(Buffer.from(cursor, "base64").toString())?.[1];
  return digits === undefined ? null : Number(digits);
}

/** Returns a page of a list of `count`. `pick` gives the items between two indices. Strange cursors are ignored. */
function connection(args: ConnectionArgs, count: number, pick: (from: number, to: number) => object[]) {
  const size = pageSize(args);
  const least = Math.min(count, (indexOf(args.after ?? "") ?? -1) + 1);
  const most = Math.max(least, Math.min(count, indexOf(args.before ?? "") ?? count));
  const backwards = typeof args.last === "number";
  const from = backwards ? Math.max(least, most - size) : least;
  const to = backwards ? most : Math.min(most, least + size);
  return {
    count,
    edges: pick(from, to).map((node, offset) => ({ cursor: cursorOf(from + offset), node })),
    pageInfo: {
      hasNextPage: to < count,
      hasPreviousPage: from > 0,
      startCursor: from < to ? cursorOf(from) : null,
      endCursor: from < to ? cursorOf(to - 1) : null,
    },
  };
}
