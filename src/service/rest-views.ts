// The sample data as REST shows them, with the members that the public API and its Go client (go-buildkite) name.
import type { SampleBuild, SampleOrganization, SamplePipeline, SampleUser } from "./sample-data.ts";

/** Returns the URL of an organization's resources in the API at `origin`. */
function organizationUrl(origin: string, slug: string): string {
  return `${origin}/v2/organizations/${slug}`;
}

export function userView({ id, graphqlId, name, email, createdAt }: SampleUser) {
  return { id, graphql_id: graphqlId, name, email, created_at: createdAt };
}

export function organizationView(
  { id, graphqlId, slug, name, createdAt }: SampleOrganization,
  origin: string,
) {
  const url = organizationUrl(origin, slug);
  return {
    id,
    graphql_id: graphqlId,
    url,
    web_url: `${origin}/${slug}`,
    name,
    slug,
    pipelines_url: `${url}/pipelines`,
    created_at: createdAt,
  };
}

export function pipelineView(pipeline: SamplePipeline, origin: string) {
  const { id, graphqlId, organization, slug, name, description, repository, createdAt } = pipeline;
  const url = `${organizationUrl(origin, organization)}/pipelines/${slug}`;
  return {
    id,
    graphql_id: graphqlId,
    url,
    web_url: `${origin}/${organization}/${slug}`,
    name,
    slug,
    description,
    repository,
    default_branch: "main",
    visibility: "private",
    builds_url: `${url}/builds`,
    created_at: createdAt,
    archived_at: null,
    scheduled_builds_count: 0,
    running_builds_count: 1,
    scheduled_jobs_count: 0,
    running_jobs_count: 0,
    waiting_jobs_count: 0,
    provider: { id: "github", webhook_url: null, settings: { trigger_mode: "code" } },
    steps: [{ type: "script", name: "Test", command: "make test" }],
  };
}

export function buildView(build: SampleBuild, origin: string) {
  const { id, graphqlId, number, state, branch, commit, message, author, createdAt, startedAt, finishedAt } =
    build;
  const parent = pipelineView(build.pipeline, origin);
  return {
    id,
    graphql_id: graphqlId,
    url: `${parent.builds_url}/${number}`,
    web_url: `${parent.web_url}/builds/${number}`,
    number,
    state,
    blocked: false,
    message,
    commit,
    branch,
    author: { name: author.name, email: author.email },
    creator: { id: author.id, name: author.name, email: author.email, created_at: author.createdAt },
    env: {},
    meta_data: {},
    source: "webhook",
    created_at: createdAt,
    scheduled_at: createdAt,
    started_at: startedAt,
    finished_at: finishedAt,
    jobs: [],
    pipeline: parent,
  };
}
