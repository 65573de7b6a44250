// The sample data as GraphQL shows them: whole nodes, and the pages of a connection.
import { describe, expect, test } from "vitest";
import { executeQuery, prepareQuery } from "../../src/service/query.ts";
import {
  type SampleBuild,
  type SamplePipeline,
  sampleBuild,
  sampleOrganization,
  samplePipeline,
  sampleUser,
} from "../../src/service/sample-data.ts";

/** Data that a query of acme's ann gets. */
function shown(query: string): unknown {
  const prepared = prepareQuery({ query });
  if ("errors" in prepared) throw prepared.errors[0];
  return JSON.parse(JSON.stringify(executeQuery(prepared, "acme", "ann").result.data));
}

const cursor = (index: number | string): string => Buffer.from(`at:${index}`).toString("base64");
const at = (index: number | string): string => `"${cursor(index)}"`;

describe("a page of ten pipelines", () => {
  const slugs = "api web ios android deploy docs infrastructure billing search end-to-end".split(" ");

  test.each<[args: string, from: number, to: number]>([
    ["first: 4", 0, 4],
    ["first: 10", 0, 10],
    ["first: 500", 0, 10],
    ["last: 4", 6, 10],
    ["last: 500", 0, 10],
    ["first: 0", 0, 0],
    ["last: 0", 10, 10],
    [`first: 3, after: ${at(4)}`, 5, 8],
    [`first: 3, after: ${at(8)}`, 9, 10],
    [`first: 3, after: ${at(9)}`, 10, 10],
    [`first: 3, after: ${at(99)}`, 10, 10],
    [`first: 3, before: ${at(2)}`, 0, 2],
    [`first: 3, after: ${at(0)}, before: ${at(9)}`, 1, 4],
    [`first: 3, after: ${at(5)}, before: ${at(3)}`, 6, 6],
    [`last: 3, before: ${at(5)}`, 2, 5],
    [`last: 3, before: ${at(99)}`, 7, 10],
    [`last: 5, after: ${at(2)}, before: ${at(6)}`, 3, 6],
    [`last: 3, before: ${at(0)}`, 0, 0],
    [`first: 3, after: ${at("12345678901")}, before: ${at("-1")}`, 0, 3],
    [`first: 3, after: ${at("1 ")}`, 0, 3],
    ["first: 3, after: null, before: null, last: null", 0, 3],
  ])("by %s", (args, from, to) => {
    const members = "count edges { cursor node { slug } }";
    const info = "pageInfo { hasNextPage hasPreviousPage startCursor endCursor }";
    const ends = from < to ? [cursor(from), cursor(to - 1)] : [null, null];
    expect(shown(`{ organization { pipelines(${args}) { ${members} ${info} } } }`)).toEqual({
      organization: {
        pipelines: {
          count: 10,
          edges: slugs
            .slice(from, to)
            .map((slug, offset) => ({ cursor: cursor(from + offset), node: { slug } })),
          pageInfo: {
            ...{ hasNextPage: to < 10, hasPreviousPage: from > 0 },
            ...{ startCursor: ends[0], endCursor: ends[1] },
          },
        },
      },
    });
  });
});

test("an organization is the caller's own, named or not, or null", () => {
  const asked = (args: string): unknown => shown(`{ organization${args} { slug } }`);
  for (const args of ["", '(slug: "acme")', "(slug: null)"])
    expect(asked(args)).toEqual({ organization: { slug: "acme" } });
  for (const args of ['(slug: "globex")', '(slug: "")', '(slug: "ACME")'])
    expect(asked(args)).toEqual({ organization: null });
});

describe("the members of", () => {
  test("a user, an organization and a pipeline", () => {
    const pipeline = samplePipeline("acme", "end-to-end") as SamplePipeline;
    const fields = "id uuid slug name description defaultBranch createdAt repository { url }";
    const own = `organization { id slug name pipelines(last: 1) { edges { node { ${fields} organization { slug } } } } }`;
    expect(shown(`{ viewer { user { id name email } } ${own} }`)).toEqual({
      viewer: { user: { id: sampleUser("ann").graphqlId, name: "ann", email: "ann@example.com" } },
      organization: {
        ...{ id: sampleOrganization("acme").graphqlId, slug: "acme", name: "acme" },
        pipelines: {
          edges: [
            {
              node: {
                ...{ id: pipeline.graphqlId, uuid: pipeline.id, slug: "end-to-end", name: "End to end" },
                ...{ description: "Sample pipeline of acme", defaultBranch: "main" },
                createdAt: "2025-01-01T00:00:00Z",
                repository: { url: "https://git.example.com/acme/end-to-end.git" },
                organization: { slug: "acme" },
              },
            },
          ],
        },
      },
    });
  });

  test("a build, the newest of its pipeline first", () => {
    const web = samplePipeline("acme", "web") as SamplePipeline;
    const build = sampleBuild(web, 239) as SampleBuild;
    const fields = "id uuid number state branch commit message createdAt startedAt finishedAt";
    const builds = `builds(first: 1, after: ${at(0)}) { count edges { node { ${fields} createdBy { name } pipeline { slug } } } }`;
    const query = `{ organization { pipelines(first: 1, after: ${at(0)}) { edges { node { ${builds} } } } } }`;
    const node = {
      ...{ id: build.graphqlId, uuid: build.id, number: 239, state: "passed", branch: "change-239" },
      ...{ commit: build.commit, message: "Change 239 of web", createdAt: "2026-01-03T11:45:00Z" },
      ...{ startedAt: "2026-01-03T11:45:05Z", finishedAt: "2026-01-03T11:49:00Z" },
      ...{ createdBy: { name: "author-4" }, pipeline: { slug: "web" } },
    };
    expect(shown(query)).toEqual({
      organization: { pipelines: { edges: [{ node: { builds: { count: 240, edges: [{ node }] } } }] } },
    });
  });
});
