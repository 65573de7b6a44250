// Parts of the service by themselves: sample data, memories that are bounded, letters between processes, arrangements.
import { describe, expect, test } from "vitest";
import { Limiter } from "../../src/engine/limiter.ts";
import type { Store } from "../../src/engine/store.ts";
import { faults } from "../../src/faults/catalogue.ts";
import { parseFault } from "../../src/faults/choice.ts";
import { parseRules } from "../../src/rules/parse.ts";
import { faultyArrangement, shared } from "../../src/service/arrangement.ts";
import { answerLetter, type Letter, RemoteCounters } from "../../src/service/letters.ts";
import { once } from "../../src/service/once.ts";
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
    const replies = await Promise.all(
      posted.map((letter) =>
        answerLetter(
          store,
          letter,
          () => 5_000,
          async () => undefined,
        ),
      ),
    );
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

  test("of slow counters wait, and go on by the clock of then; what fails is told", async () => {
    const waits: number[] = [];
    let nowMs = 1_000;
    const slow = {
      status: (_: string, at: number) => ({ waitMs: 70, resume: (later: number) => ({ at, later }) }),
    };
    const ask = (store: unknown, organization = "acme") =>
      answerLetter(
        store as Store,
        { number: 3, question: { ask: "status", organization } },
        () => nowMs,
        async (ms) => {
          waits.push(ms);
          nowMs += ms;
        },
      );
    expect(await ask(slow)).toEqual({ number: 3, answer: { at: 1_000, later: 1_070 } });
    expect(waits).toEqual([70]);
    const failing = (error: unknown) => ({
      status() {
        throw error;
      },
    });
    expect(await ask(failing(new RangeError("no")))).toEqual({ number: 3, failure: "no" });
    expect(await ask(failing("odd"))).toEqual({ number: 3, failure: "odd" });
    const remote = new RemoteCounters(() => undefined);
    const asked = remote.status("acme");
    remote.take({ number: 1, failure: "no" });
    await expect(asked).rejects.toThrow(new Error("no"));
  });
});

describe("counters of several processes", () => {
  const rules = parseRules({});
  const call = { organization: "acme", user: "ann", scope: "rest", cost: 1 } as const;
  const several = faults.filter(({ processes }) => processes !== "one");

  test("are one's, whom all ask, where nothing is wrong", () => {
    const { own, lagMs, storesOf } = shared(rules);
    const storeOf = storesOf(() => undefined);
    expect([own, lagMs, storeOf(0) === storeOf(1)]).toEqual(["nothing", 0, true]);
  });

  test.each(several.map((fault) => [fault.name, fault]))("%s", (name, { processes }) => {
    const chosen = parseFault(name);
    const { own, lagMs, storesOf } = faultyArrangement(chosen, rules);
    const told: unknown[] = [];
    const storeOf = storesOf((change) => told.push(change));
    const owns = new Map<unknown, string>([
      ["counters-apart", "counters"],
      ["replicas-lag", "copy"],
    ]);
    expect(own).toBe(owns.get(processes) ?? "nothing");
    expect(lagMs).toBe(processes === "replicas-lag" ? Math.round(chosen.rate * 1_000) : 0);
    // Of several workers every other one, beginning with the second, is another's, where they see the counters apart.
    expect(storeOf(0) === storeOf(2)).toBe(true);
    expect(storeOf(1) === storeOf(3)).toBe(true);
    expect(storeOf(0) === storeOf(1)).toBe(typeof processes === "string");
    (storeOf(0) as Store).decide(call, 1_000);
    expect(told).toEqual(processes === "replicas-lag" ? [{ change: "decide", call, nowMs: 1_000 }] : []);
  });

  test("are at least two faults' own; a fault of one process is none of theirs", () => {
    expect(several.length).toBeGreaterThanOrEqual(2);
    expect(() => faultyArrangement(parseFault("one-extra"), rules)).toThrow(
      new RangeError("one-extra is no fault of several processes"),
    );
  });
});
