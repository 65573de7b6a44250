// Lists in pages, the `Link` header that clients follow, and the members that clients read.
import { describe, expect, test } from "vitest";
import { linkHeader, pageRequest } from "../../src/service/rest.ts";
import {
  type SampleBuild,
  type SamplePipeline,
  sampleBuild,
  sampleOrganization,
  samplePipeline,
  sampleUser,
} from "../../src/service/sample-data.ts";
import { Deployment } from "./deployment.ts";

const pipelines = "/v2/organizations/acme/pipelines";
const builds = `${pipelines}/api/builds`;

/** Relation → page of a `Link` header, read as go-buildkite reads it. */
function relations(link: unknown): Record<string, number> {
  const parts = typeof link === "string" ? link.split(",") : [];
  return Object.fromEntries(
    parts.map((part) => {
      const [, url = "", relation = ""] = /^\s*<([^>]+)>; rel="(\w+)"$/.exec(part) ?? [];
      return [relation, Number(new URL(url).searchParams.get("page"))];
    }),
  );
}

describe("pages", () => {
  test.each([
    ["", { page: 1, perPage: 30 }],
    ["page=3&per_page=7", { page: 3, perPage: 7 }],
    ["per_page=100", { page: 1, perPage: 100 }],
    ["per_page=101", { page: 1, perPage: 100 }],
    ["page=0&per_page=0", { page: 1, perPage: 30 }],
    ["page=-1&per_page=-5", { page: 1, perPage: 30 }],
    ["page=1.5&per_page=2e1", { page: 1, perPage: 30 }],
    ["page=one&per_page=", { page: 1, perPage: 30 }],
    ["page=99999999999999999999", { page: 1, perPage: 30 }],
    ["page=2&page=3", { page: 2, perPage: 30 }],
  ])("%s asks for %o", (query, asked) => {
    expect(pageRequest(new URLSearchParams(query))).toEqual(asked);
  });

  test.each([
    ["all on one page", 1, 30, 10, {}],
    ["the first of several", 1, 3, 10, { next: 2, last: 4 }],
    ["one in the middle", 2, 3, 10, { first: 1, prev: 1, next: 3, last: 4 }],
    ["the last", 4, 3, 10, { first: 1, prev: 3 }],
    ["behind the last", 9, 3, 10, { first: 1, prev: 4 }],
    ["of an empty list", 1, 30, 0, {}],
    ["exactly full", 2, 5, 10, { first: 1, prev: 1 }],
  ])("%s", (_, page, perPage, total, expected) => {
    const link = linkHeader("http://x/list", new URLSearchParams(), { page, perPage }, total);
    expect(relations(link)).toEqual(expected);
  });

  test("links name the size of the page that was shown", () => {
    const link = (query: string) => {
      const asked = new URLSearchParams(query);
      return linkHeader("http://x/list", asked, pageRequest(asked), 240)?.split(", ")[0];
    };
    expect(link("")).toBe('<http://x/list?page=2&per_page=30>; rel="next"');
    expect(link("per_page=500")).toBe('<http://x/list?per_page=100&page=2>; rel="next"');
  });

  test("links keep the other parameters and say where they lead", async () => {
    const service = new Deployment();
    const answer = await service.call(`${builds}?state=passed&per_page=100&branch=a,b`);
    expect(String(answer.headers["link"]).split(", ")).toEqual([
      `<http://localhost:80${builds}?state=passed&per_page=100&branch=a%2Cb&page=2>; rel="next"`,
      `<http://localhost:80${builds}?state=passed&per_page=100&branch=a%2Cb&page=3>; rel="last"`,
    ]);
  });

  test.each([
    [pipelines, 3, 10],
    [builds, 100, 240],
  ])("following `next` through %s by %i shows each of %i once", async (url, perPage, total) => {
    const service = new Deployment();
    const seen: string[] = [];
    let page = 1;
    while (page > 0) {
      const answer = await service.call(`${url}?page=${page}&per_page=${perPage}`);
      seen.push(...answer.json().map(({ id }: { id: string }) => id));
      page = relations(answer.headers["link"])["next"] ?? 0;
    }
    expect(seen).toHaveLength(total);
    expect(new Set(seen).size).toBe(total);
    expect((await service.call(`${url}?page=999&per_page=${perPage}`)).json()).toEqual([]);
  });
});

describe("the sample data", () => {
  test("is the same in every deployment, and another's in another organization", async () => {
    const [one, two] = [new Deployment(), new Deployment()];
    for (const url of ["/v2/user", "/v2/organizations/acme", pipelines, builds, `${builds}/7`])
      expect((await two.call(url)).body).toBe((await one.call(url)).body);
    const other = await one.call("/v2/organizations/globex/pipelines", { as: "alice@globex" });
    expect(other.json()[0].id).not.toBe((await one.call(pipelines)).json()[0].id);
  });

  test("has the members that clients read", async () => {
    const service = new Deployment();
    const read = async (url: string, as = "alice@acme") => (await service.call(url, { as })).json();
    const created = "2025-01-01T00:00:00Z";
    const api = "http://localhost:80/v2/organizations/acme";
    const shown = ({ id, graphqlId }: { id: string; graphqlId: string }) => ({ id, graphql_id: graphqlId });
    expect(await read("/v2/user", "bob@acme")).toEqual({
      ...shown(sampleUser("bob")),
      ...{ name: "bob", email: "bob@example.com", created_at: created },
    });
    expect(await read("/v2/organizations/acme")).toEqual({
      ...shown(sampleOrganization("acme")),
      ...{ slug: "acme", name: "acme", created_at: created },
      ...{ url: api, web_url: "http://localhost:80/acme", pipelines_url: `${api}/pipelines` },
    });
    const found = samplePipeline("acme", "end-to-end") as SamplePipeline;
    const pipeline = {
      ...shown(found),
      url: `${api}/pipelines/end-to-end`,
      web_url: "http://localhost:80/acme/end-to-end",
      builds_url: `${api}/pipelines/end-to-end/builds`,
      ...{ slug: "end-to-end", name: "End to end", description: "Sample pipeline of acme" },
      repository: "https://git.example.com/acme/end-to-end.git",
      ...{ default_branch: "main", visibility: "private", created_at: created, archived_at: null },
      ...{ scheduled_builds_count: 0, running_builds_count: 1 },
      ...{ scheduled_jobs_count: 0, running_jobs_count: 0, waiting_jobs_count: 0 },
      provider: { id: "github", webhook_url: null, settings: { trigger_mode: "code" } },
      steps: [{ type: "script", name: "Test", command: "make test" }],
    };
    expect(await read(`${pipelines}/end-to-end`)).toEqual(pipeline);
    const author = sampleUser("author-4");
    expect(await read(`${pipelines}/end-to-end/builds/239`)).toEqual({
      ...shown(sampleBuild(found, 239) as SampleBuild),
      url: `${api}/pipelines/end-to-end/builds/239`,
      web_url: "http://localhost:80/acme/end-to-end/builds/239",
      ...{ number: 239, state: "passed", blocked: false, message: "Change 239 of end-to-end" },
      ...{ commit: sampleBuild(found, 239)?.commit, branch: "change-239", source: "webhook" },
      author: { name: "author-4", email: "author-4@example.com" },
      creator: { id: author.id, name: "author-4", email: "author-4@example.com", created_at: created },
      ...{ env: {}, meta_data: {}, jobs: [], pipeline },
      ...{ created_at: "2026-01-03T11:45:00Z", scheduled_at: "2026-01-03T11:45:00Z" },
      ...{ started_at: "2026-01-03T11:45:05Z", finished_at: "2026-01-03T11:49:00Z" },
    });
  });

  test("every URL that it names is answered", async () => {
    const service = new Deployment();
    const build = (await service.call(`${builds}/1`)).json();
    const organization = (await service.call("/v2/organizations/acme")).json();
    for (const url of [
      build.url,
      build.pipeline.url,
      build.pipeline.builds_url,
      organization.url,
      organization.pipelines_url,
    ])
      expect((await service.call(new URL(url).pathname)).statusCode).toBe(200);
  });

  test("identifiers are UUIDs, all different", async () => {
    const service = new Deployment();
    const ids = [];
    for (const url of [pipelines, `${builds}?per_page=100`, `${pipelines}/web/builds?per_page=100`])
      ids.push(...(await service.call(url)).json().map(({ id }: { id: string }) => id));
    for (const id of ids)
      expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-a[0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(new Set(ids).size).toBe(ids.length);
  });
});
