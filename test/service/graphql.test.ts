// GraphQL: what a query brings back, and how its points are charged while it is in flight (SPEC.md §5, §8).
import { describe, expect, test } from "vitest";
import type { RulesInput } from "../../src/rules/rules.ts";
import { Deployment, eight, START_MS } from "./deployment.ts";

/** 503 points requested, 13 brought back. */
const list = "{ organization { pipelines(first: 500) { edges { node { slug } } } } }";
const tiny = "{ viewer { user { name } } }";

/** A deployment whose queries stay in flight until they are let go. */
class Held extends Deployment {
  readonly #waiting: (() => void)[] = [];
  #arrived: () => void = () => {};

  constructor(rules: RulesInput = {}) {
    super(rules, {
      executionDelayMs: 1,
      sleep: () =>
        new Promise((resolve) => {
          this.#waiting.push(resolve);
          this.#arrived();
        }),
    });
  }

  /** Starts a query, and waits until it is in flight or has been refused. */
  async start(query: string, as?: string) {
    const admitted = new Promise<void>((resolve) => {
      this.#arrived = resolve;
    });
    const answer = this.graphql(query, as === undefined ? {} : { as });
    await Promise.race([admitted, answer]);
    return { answer };
  }

  /** Lets the query that has waited longest complete. */
  release(): void {
    this.#waiting.shift()?.();
  }
}

describe("a query", () => {
  test("is answered from the same data as REST", async () => {
    const service = new Deployment();
    const rest = await service.call("/v2/organizations/acme/pipelines");
    const graphql = await service.graphql(
      "{ organization { pipelines { count edges { node { id uuid name slug repository { url } } } } } }",
    );
    const shown = graphql.json().data.organization.pipelines;
    expect(shown.count).toBe(10);
    expect(shown.edges.map(({ node }: { node: object }) => node)).toEqual(
      rest.json().map((one: Record<string, unknown>) => ({
        id: one["graphql_id"],
        uuid: one["id"],
        name: one["name"],
        slug: one["slug"],
        repository: { url: one["repository"] },
      })),
    );
  });

  test("sees the token's organization and user, and no other", async () => {
    const service = new Deployment();
    const query = `{ viewer { user { name } } mine: organization { slug } same: organization(slug: "acme") { slug }
      other: organization(slug: "globex") { slug } wrong: organization(slug: "Acme") { slug } }`;
    expect((await service.graphql(query, { as: "bob@acme" })).json().data).toEqual({
      viewer: { user: { name: "bob" } },
      mine: { slug: "acme" },
      same: { slug: "acme" },
      other: null,
      wrong: null,
    });
  });

  test("is in flight for as long as its execution is said to take, and no other call is", async () => {
    const slept: number[] = [];
    const service = new Deployment({}, { executionDelayMs: 7, sleep: async (ms) => void slept.push(ms) });
    await service.graphql(tiny);
    await service.call("/v2/user");
    expect(slept).toEqual([7]);
  });

  test("pages forwards and backwards by cursors", async () => {
    const service = new Deployment();
    const page = async (args: string) => {
      const query = `{ organization { pipelines(${args}) {
        edges { cursor node { slug } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } } }`;
      const { edges, pageInfo } = (await service.graphql(query)).json().data.organization.pipelines;
      return { slugs: edges.map((edge: { node: { slug: string } }) => edge.node.slug), ...pageInfo };
    };
    const all = (await page("first: 500")).slugs;
    const seen = [];
    let next = await page("first: 4");
    for (;;) {
      seen.push(...next.slugs);
      if (!next.hasNextPage) break;
      next = await page(`first: 4, after: "${next.endCursor}"`);
    }
    expect(seen).toEqual(all);
    const last = await page("last: 3");
    expect(last.slugs).toEqual(all.slice(7));
    expect((await page(`last: 3, before: "${last.startCursor}"`)).slugs).toEqual(all.slice(4, 7));
    expect(await page("first: 0")).toMatchObject({ slugs: [], startCursor: null, endCursor: null });
    expect((await page('first: 2, after: "no cursor"')).slugs).toEqual(all.slice(0, 2));
  });

  test("may have variables and several operations", async () => {
    const body = {
      query:
        "query A { viewer { user { name } } } query B($n: Int!) { organization { pipelines(first: $n) { edges { cursor } } } }",
      operationName: "B",
      variables: { n: 2 },
    };
    const service = new Deployment();
    const answer = await service.call("/v1/graphql", { method: "POST", body });
    expect(answer.json().data.organization.pipelines.edges).toHaveLength(2);
    const { operationName: _, ...unnamed } = body;
    for (const wrong of [
      unnamed,
      { ...body, operationName: "C" },
      { ...body, variables: { n: "two" } },
      { ...body, variables: {} },
    ]) {
      const rejected = await service.call("/v1/graphql", { method: "POST", body: wrong });
      expect([rejected.statusCode, rejected.json().data]).toEqual([200, undefined]);
      expect(rejected.json().errors.length).toBeGreaterThan(0);
    }
    expect((await service.counted()).graphql).toBe(3);
  });

  test("may ask for the schema: a point for each of its objects", async () => {
    const service = new Deployment();
    const answer = await service.graphql(
      '{ __schema { queryType { name fields { name } } } __type(name: "Build") { name } __typename }',
    );
    expect(answer.json().data.__type).toEqual({ name: "Build" });
    expect(answer.headers).toMatchObject({
      "ratelimit-complexity-requested": "4",
      "ratelimit-complexity-actual": "4",
    });
    expect((await service.counted()).graphql).toBe(4);
  });

  test("there are no mutations and no subscriptions", async () => {
    const service = new Deployment();
    for (const query of ["mutation { x }", "subscription { x }"]) {
      const answer = await service.graphql(query);
      expect([answer.statusCode, answer.json().data]).toEqual([200, undefined]);
    }
    expect((await service.counted()).graphql).toBe(0);
  });
});

describe("reserved: what was asked for is held, what was not used is given back", () => {
  test("in flight it counts as requested, completed as actual", async () => {
    const service = new Held();
    const { answer } = await service.start(list);
    expect((await service.counted()).graphql).toBe(503);
    service.release();
    expect(eight(await answer)).toMatchObject({ remaining: 20_000 - 13, "user-remaining": 5000 - 13 });
    expect((await service.counted()).graphql).toBe(13);
  });

  test("points on hold refuse others, until they are given back", async () => {
    const service = new Held({ organization: { graphql: { limit: 600 } } });
    const first = await service.start(list);
    const second = await service.start(list, "bob@acme");
    const refused = await second.answer;
    expect(refused.statusCode).toBe(429);
    expect(refused.json()).toEqual({
      errors: [
        {
          message:
            "Your organization has exceeded the limit of 600 complexity points. Please try again in 298 seconds.",
        },
      ],
    });
    service.release();
    await first.answer;
    const third = await service.start(list, "bob@acme");
    service.release();
    expect(eight(await third.answer)).toMatchObject({ remaining: 600 - 26 });
  });

  test("the user's window refuses in its own words", async () => {
    const service = new Deployment({ user: { graphql: { limit: 100 } } });
    const answer = await service.graphql(list);
    expect(answer.statusCode).toBe(429);
    expect(answer.json()).toEqual({
      errors: [
        {
          message:
            "You have exceeded your per-user limit of 100 complexity points. Please try again in 298 seconds.",
        },
      ],
    });
    expect(answer.headers["retry-after"]).toBe("298");
    expect(await service.counted()).toEqual({ rest: 0, graphql: 0 });
  });

  test("a query that completes in a later window shows that one, and gives nothing back", async () => {
    const service = new Held();
    const { answer } = await service.start(list);
    service.nowMs = START_MS + 298_000 + 1500;
    service.release();
    expect(eight(await answer)).toMatchObject({ remaining: 20_000, reset: 299, "user-remaining": 5000 });
    expect((await service.counted()).graphql).toBe(0);
  });
});

describe("prepaid: what was asked for stays charged", () => {
  const rules = { semantics: { graphqlCharge: "prepaid" as const } };

  test("the headers are those of the decision", async () => {
    const service = new Held(rules);
    const { answer } = await service.start(list);
    service.nowMs += 10_000;
    await service.start(tiny, "bob@acme");
    service.release();
    expect(eight(await answer)).toMatchObject({ remaining: 20_000 - 503, reset: 298 });
    service.release();
    expect((await service.counted()).graphql).toBe(505);
  });
});

describe("postpaid: what was used is charged when the query completes", () => {
  const rules = {
    organization: { graphql: { limit: 20 } },
    semantics: { graphqlCharge: "postpaid" as const },
  };

  test("admitted while anything is left; it may overshoot", async () => {
    const service = new Held(rules);
    const first = await service.start(list);
    const second = await service.start(list, "bob@acme");
    expect((await service.counted()).graphql).toBe(0);
    service.release();
    expect(eight(await first.answer)).toMatchObject({ remaining: 7 });
    service.release();
    expect(eight(await second.answer)).toMatchObject({ remaining: 0 });
    expect((await service.counted()).graphql).toBe(26);
    expect((await service.graphql(tiny)).statusCode).toBe(429);
  });

  test("to the window of its decision, nowhere if that is over", async () => {
    const service = new Held(rules);
    const { answer } = await service.start(list);
    service.nowMs += 300_000;
    service.release();
    expect(eight(await answer)).toMatchObject({ remaining: 20, reset: 298 });
    expect((await service.counted()).graphql).toBe(0);
  });
});

describe("what is never executed counts nothing", () => {
  test.each([
    [
      "above 50,000 points",
      "{ organization { pipelines(first: 49999) { edges { node { slug } } } } }",
      /50002/,
    ],
    [
      "deeper than 15 fields",
      `{ organization ${"{ pipelines { edges { node { organization ".repeat(4)}{ slug }${" } } } }".repeat(4)} }`,
      /deeper than 15/,
    ],
    [
      "with more fields than one may resolve",
      `{ organization { pipelines { edges { node { builds(first: 9) { edges { node { ...B } } } } } } } }
       fragment B on Build { ${Array.from({ length: 1200 }, (_, n) => `m${n}: message`).join(" ")} }`,
      /above the 100000 that one query may resolve/,
    ],
    ["nested in 10,000 brackets", "{a".repeat(10_000), /deeper than 200 brackets/],
    ["with a page size below zero", "{ organization { pipelines(first: -1) { count } } }", /negative/],
    ["with first and last", "{ organization { pipelines(first: 1, last: 1) { count } } }", /not both/],
    ["unknown to the schema", "{ organization { secrets } }", /secrets/],
  ])("a query %s", async (_, query, message) => {
    const service = new Deployment();
    const answer = await service.graphql(query);
    expect(answer.statusCode).toBe(200);
    expect(answer.json()).toEqual({
      errors: [expect.objectContaining({ message: expect.stringMatching(message) })],
    });
    expect(answer.headers["ratelimit-complexity-actual"]).toBe("0");
    expect(await service.counted()).toEqual({ rest: 0, graphql: 0 });
  });

  test("50,000 points are admitted where limits allow", async () => {
    const limits = { graphql: { limit: 50_000 } };
    const service = new Deployment({ organization: limits, user: limits });
    const query = "{ organization { pipelines(first: 49997) { edges { node { slug } } } } }";
    expect((await service.graphql(query)).headers["ratelimit-complexity-requested"]).toBe("50000");
  });

  test("a cost above the limit is refused in every window", async () => {
    const service = new Deployment({ user: { graphql: { limit: 502 } } });
    expect((await service.graphql(list)).statusCode).toBe(429);
    service.nowMs += 300_000;
    expect((await service.graphql(list)).statusCode).toBe(429);
    expect((await service.counted()).graphql).toBe(0);
  });
});
