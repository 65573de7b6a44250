// Parts of the service by themselves: sample data, memories that are bounded, letters between processes, counters of several.
import { describe, expect, test } from "vitest";
import { Limiter } from "../../src/engine/limiter.ts";
import type { QuotaStore, Store } from "../../src/engine/store.ts";
import { parseFault } from "../../src/faults/choice.ts";
import { policyOf } from "../../src/policy/shorthand.ts";
import { parseRules } from "../../src/rules/parse.ts";
import { answerLetter, type Letter, RemoteCounters } from "../../src/service/letters.ts";
import { once } from "../../src/service/once.ts";
import { locate } from "../../src/service/rest.ts";
import {
  BUILDS,
  PIPELINES,
  sampleBuild,
  sampleBuilds,
  sampleOrganization,
  samplePipeline,
  samplePipelines,
  sampleUser,
} from "../../src/service/sample-data.ts";

describe("sample data", () => {
  const pipeline = samplePipelines("acme")[0] as ReturnType<typeof samplePipelines>[number];
  const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-a[0-9a-f]{3}-[0-9a-f]{12}$/;

  test("are ten pipelines, each with its slug, and 240 builds", () => {
    expect([PIPELINES, BUILDS]).toEqual([10, 240]);
    expect(samplePipelines("acme").map(({ slug }) => slug)).toEqual([
      ...[
        "api",
        "web",
        "ios",
        "android",
        "deploy",
        "docs",
        "infrastructure",
        "billing",
        "search",
        "end-to-end",
      ],
    ]);
    expect(samplePipeline("acme", "api")).toBe(pipeline);
    expect(samplePipeline("acme", "none")).toBeNull();
    expect(pipeline).toMatchObject({
      ...{
        organization: "acme",
        name: "API",
        description: "Sample pipeline of acme",
        createdAt: "2025-01-01T00:00:00Z",
      },
      repository: "https://git.example.com/acme/api.git",
    });
    expect(sampleUser("ann")).toMatchObject({
      name: "ann",
      email: "ann@example.com",
      createdAt: "2025-01-01T00:00:00Z",
    });
    expect(sampleOrganization("acme")).toMatchObject({ slug: "acme", name: "acme" });
  });

  test("have ids by what they are and what they are called, one in REST and one in GraphQL", () => {
    const { id, graphqlId } = sampleUser("ann");
    expect(id).toMatch(uuid);
    expect(Buffer.from(graphqlId, "base64").toString()).toBe(`User---${id}`);
    expect(sampleOrganization("ann").id).not.toBe(id);
    // SHA-1 of `User/ann`, as `printf User/ann | sha1sum` tells it.
    expect(id).toBe("78030b06-9e59-5839-aae6-d4e7acfd5f7c");
  });

  test.each([
    [1, "passed", "change-1", "2026-01-01T00:15:00Z", "2026-01-01T00:15:05Z", "2026-01-01T00:19:00Z"],
    [3, "passed", "main", "2026-01-01T00:45:00Z", "2026-01-01T00:45:05Z", "2026-01-01T00:49:00Z"],
    [7, "failed", "change-7", "2026-01-01T01:45:00Z", "2026-01-01T01:45:05Z", "2026-01-01T01:49:00Z"],
    [240, "running", "main", "2026-01-03T12:00:00Z", "2026-01-03T12:00:05Z", null],
  ])("build %s is %s", (number, state, branch, createdAt, startedAt, finishedAt) => {
    expect(sampleBuild(pipeline, number)).toMatchObject({
      ...{ number, state, branch, createdAt, startedAt, finishedAt, message: `Change ${number} of api` },
      author: { name: `author-${number % 5}` },
    });
  });

  test("are none beyond the first and the last build; the newest come first", () => {
    expect([0, 241, 1.5, Number.NaN].map((number) => sampleBuild(pipeline, number))).toEqual([
      null,
      null,
      null,
      null,
    ]);
    const numbers = (skip: number, most: number) =>
      sampleBuilds(pipeline, skip, most).map(({ number }) => number);
    expect([numbers(0, 3), numbers(238, 5), numbers(240, 5), numbers(0, 0)]).toEqual([
      [240, 239, 238],
      [2, 1],
      [],
      [],
    ]);
  });
});

test("a bounded memory makes each thing once, and forgets all where there is one too many", () => {
  const asked: string[] = [];
  const make = once(2, (name, more: number) => {
    asked.push(name);
    return `${name}${more}`;
  });
  expect(["a", "b", "a", "b"].map((name) => make(name, 1))).toEqual(["a1", "b1", "a1", "b1"]);
  expect(asked).toEqual(["a", "b"]);
  expect([make("c", 1), make("c", 2), make("a", 2), make("b", 3)]).toEqual(["c1", "c1", "a2", "b3"]);
  expect(asked).toEqual(["a", "b", "c", "a", "b"]);
});

describe("letters", () => {
  const rules = parseRules({});
  const call = { organization: "acme", user: "ann", scope: "rest", cost: 1 } as const;

  test("are answered each with its own reply, whatever order they come in", async () => {
    const posted: Letter[] = [];
    const remote = new RemoteCounters((letter) => posted.push(letter));
    const store = new Limiter(rules);
    const said = [
      remote.decide(call),
      remote.status("acme"),
      remote.readings("acme", "ann", "rest"),
      remote.decide({ ...call, user: "bob" }),
    ];
    expect(posted.map(({ number, question }) => [number, question.ask])).toEqual([
      [1, "decide"],
      [2, "status"],
      [3, "readings"],
      [4, "decide"],
    ]);
    const replies = posted.map((letter) => answerLetter(store, letter, 5_000));
    for (const reply of replies.toReversed()) remote.take(reply);
    // A reply to nothing says nothing.
    remote.take({ number: 9, answer: {} });
    expect(await Promise.all(said)).toMatchObject([
      { refusedBy: null, organization: { current: 1 } },
      { rest: { current: 1 } },
      { organization: { current: 1 }, user: { current: 1 } },
      { organization: { current: 2 }, user: { current: 1 } },
    ]);
  });

  test("that fail are told", async () => {
    const letter = { number: 3, question: { ask: "status", organization: "acme" } } as const;
    const failing = (error: unknown): Store =>
      Object.assign(new Limiter(rules), {
        status() {
          throw error;
        },
      });
    expect(answerLetter(failing(new RangeError("no")), letter, 1_000)).toEqual({ number: 3, failure: "no" });
    expect(answerLetter(failing("odd"), letter, 1_000)).toEqual({ number: 3, failure: "odd" });
    const remote = new RemoteCounters(() => undefined);
    const asked = remote.status("acme");
    remote.take({ number: 1, failure: "no" });
    await expect(asked).rejects.toThrow(new Error("no"));
  });
});

describe("counters of several processes", () => {
  const policy = policyOf(parseRules({}));
  const call = { caller: { organization: "acme", user: "ann" }, operation: "rest", cost: 1 };
  const counts = (name: string, count?: number) => {
    const { fault, rate } = parseFault(name);
    return fault.processes?.(policy, rate, count) ?? [];
  };
  /** Charges the first count, and reads the user's window from each. */
  const used = (stores: readonly QuotaStore[]): (number | undefined)[] => {
    stores[0]?.decide(call, 1_000);
    return stores.map((store) => store.read(call.caller, ["rest_user"], 1_000)[0]?.used);
  };

  test("are apart, as many as there are processes, else as the rate says", () => {
    expect(used(counts("per-instance-counters=3"))).toEqual([1, 0, 0]);
    expect(used(counts("per-instance-counters=3", 2))).toEqual([1, 0]);
  });

  test("are one's, seen in two ways", () => {
    expect(used(counts("limit-changes-mid-window"))).toEqual([1, 1]);
    // Both times are in one window.
    expect(used(counts("skewed-nodes=1"))).toEqual([1, 1]);
  });

  test("are one's, read late", () => {
    const [copied] = counts("stale-replica-read=2");
    copied?.decide(call, 1_000);
    const read = (nowMs: number) => copied?.read(call.caller, ["rest_user"], nowMs)[0]?.used;
    expect([read(2_999), read(3_000)]).toEqual([0, 1]);
  });
});

test.each<[path: string, resource: string | null, organization: string | undefined]>([
  ["v2/user", "/v2/user", undefined],
  ["v2/organizations/acme", "/v2/organizations/:organization", "acme"],
  ["v2/organizations/acme/pipelines", "/v2/organizations/:organization/pipelines", "acme"],
  ["v2/organizations/acme/rate_limit", "/v2/organizations/:organization/rate_limit", "acme"],
  ["v2/organizations/acme/nothing", null, "acme"],
  ["v2/organizations/acme/pipelines/p/nothing", null, "acme"],
])("%s is the resource %s of %s", (path, resource, organization) => {
  const found = locate(path.split("/"));
  expect(found?.resource?.path ?? null).toBe(resource);
  expect(found?.params["organization"]).toBe(organization);
});

test.each(["", "v2", "v2/users", "v3/user", "v2/user/more", "v2/organizations", "v1/organizations/acme"])(
  "%j is outside the REST API",
  (path) => {
    expect(locate(path.split("/"))).toBeNull();
  },
);
