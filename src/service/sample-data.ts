// The data that the sample API serves: ten pipelines for each organization, 240 builds for each pipeline. They are
// functions of names and numbers, so two runs, two processes and both APIs show the same.
import { hash } from "node:crypto";
import { isoSecond } from "../wire/bodies.ts";
import { once } from "./once.ts";

const names: readonly string[] = [
  "API",
  "Web",
  "iOS",
  "Android",
  "Deploy",
  "Docs",
  "Infrastructure",
  "Billing",
  "Search",
  "End to end",
];

/** Number of pipelines of each organization. */
export const PIPELINES = names.length;
/** Number of builds of each pipeline, numbered from 1. */
export const BUILDS = 240;

const FIRST_BUILD_MS = Date.UTC(2026, 0, 1);
const BUILD_EVERY_MS = 15 * 60_000;

/** An object with a UUID for REST and an opaque id for GraphQL. */
interface Identified {
  readonly id: string;
  readonly graphqlId: string;
}

export interface SampleUser extends Identified {
  readonly name: string;
  readonly email: string;
  readonly createdAt: string;
}

export interface SampleOrganization extends Identified {
  readonly slug: string;
  readonly name: string;
  readonly createdAt: string;
}

export interface SamplePipeline extends Identified {
  readonly organization: string;
  readonly slug: string;
  readonly name: string;
  readonly description: string;
  readonly repository: string;
  readonly createdAt: string;
}

export interface SampleBuild extends Identified {
  readonly pipeline: SamplePipeline;
  readonly number: number;
  readonly state: "passed" | "failed" | "running";
  readonly branch: string;
  readonly commit: string;
  readonly message: string;
  readonly author: SampleUser;
  readonly createdAt: string;
  readonly startedAt: string;
  readonly finishedAt: string | null;
}

/** Returns a stable UUID for a name, and the opaque id made of it. */
function identify(type: string, name: string): Identified {
  const hex = hash("sha1", `${type}/${name}`, "hex");
  const id = hex.replace(/^(.{8})(.{4}).(...).(...)(.{12}).*/, "$1-$2-5$3-a$4-$5");
  return { id, graphqlId: Buffer.from(`${type}---${id}`).toString("base64") };
}

const created = isoSecond(Date.UTC(2025, 0, 1));

export const sampleUser = once(
  10_000,
  (user): SampleUser => ({
    ...identify("User", user),
    name: user,
    email: `${user}@example.com`,
    createdAt: created,
  }),
);

export const sampleOrganization = once(
  1_000,
  (slug): SampleOrganization => ({ ...identify("Organization", slug), slug, name: slug, createdAt: created }),
);

/** Returns all pipelines of an organization, in the order of `names`. */
export const samplePipelines = once(1_000, (organization): readonly SamplePipeline[] =>
  names.map((name) => {
    const slug = name.toLowerCase().replaceAll(" ", "-");
    return {
      ...identify("Pipeline", `${organization}/${slug}`),
      organization,
      slug,
      name,
      description: `Sample pipeline of ${organization}`,
      repository: `https://git.example.com/${organization}/${slug}.git`,
      createdAt: created,
    };
  }),
);

export function samplePipeline(organization: string, slug: string): SamplePipeline | null {
  return samplePipelines(organization).find((pipeline) => pipeline.slug === slug) ?? null;
}

/** Returns one build of a pipeline; `null` if it has no build of that number. */
export function sampleBuild(pipeline: SamplePipeline, number: number): SampleBuild | null {
  if (!Number.isSafeInteger(number) || number < 1 || number > BUILDS) return null;
  return madeBuild(`${pipeline.id}/${number}`, pipeline, number);
}

const madeBuild = once(10_000, (name, pipeline: SamplePipeline, number: number): SampleBuild => {
  const createdMs = FIRST_BUILD_MS + number * BUILD_EVERY_MS;
  const state = number === BUILDS ? "running" : number % 7 === 0 ? "failed" : "passed";
  return {
    ...identify("Build", name),
    pipeline,
    number,
    state,
    branch: number % 3 === 0 ? "main" : `change-${number}`,
    commit: hash("sha1", `commit/${name}`, "hex"),
    message: `Change ${number} of ${pipeline.slug}`,
    author: sampleUser(`author-${number % 5}`),
    createdAt: isoSecond(createdMs),
    startedAt: isoSecond(createdMs + 5_000),
    finishedAt: state === "running" ? null : isoSecond(createdMs + 240_000),
  };
});

/**
 * Returns builds of a pipeline, the newest first.
 * @param skip number of the newest builds to leave out
 */
export function sampleBuilds(pipeline: SamplePipeline, skip: number, most: number): SampleBuild[] {
  const numbers = Array.from({ length: most }, (_, at) => BUILDS - skip - at);
  return numbers.flatMap((number) => sampleBuild(pipeline, number) ?? []);
}
