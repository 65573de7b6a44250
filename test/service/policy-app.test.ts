// The stand-in for any API: a policy decides and answers, and real clients find what they know.
import { Octokit } from "@octokit/core";
import { throttling } from "@octokit/plugin-throttling";
import { describe, expect, test } from "vitest";
import { PolicyLimiter } from "../../src/engine/policy-limiter.ts";
import { injectQuotaFault, parseFault } from "../../src/faults/choice.ts";
import { parsePolicy } from "../../src/policy/parse.ts";
import { presets } from "../../src/policy/presets.ts";
import { buildPolicyApp } from "../../src/service/policy-app.ts";
import { servePolicy } from "../../src/service/serve.ts";

const START = 1_795_305_600_250;

/** A stand-in without a socket, whose clock the test moves. */
function standIn(input: unknown, attributes: readonly Readonly<Record<string, string>>[], fault?: string) {
  const policy = parsePolicy(input);
  let nowMs = START;
  const tokens = attributes.map((own, index) => ({ token: `token-${index}`, attributes: own }));
  const unexpected: Error[] = [];
  const faulty = fault === undefined ? undefined : injectQuotaFault(parseFault(fault), policy, () => 0);
  const app = buildPolicyApp({
    policy,
    tokens,
    limiter: faulty?.store ?? new PolicyLimiter(policy),
    faulty,
    sleep: async (ms) => {
      nowMs += ms;
    },
    now: () => nowMs,
    onUnexpected: (error) => unexpected.push(error),
  });
  const call = async (
    method: "GET" | "POST",
    url: string,
    {
      caller = 0,
      body,
      headers = {},
    }: { caller?: number; body?: object | string; headers?: Record<string, string> } = {},
  ) => {
    const authorization = ([policy.auth.form].flat()[0] ?? "").replace("{token}", `token-${caller}`);
    const answer = await app.inject({
      method,
      url,
      headers: { [policy.auth.header]: authorization, ...headers },
      ...(body === undefined ? {} : { payload: typeof body === "string" ? body : JSON.stringify(body) }),
    });
    expect(unexpected).toEqual([]);
    const isJson = String(answer.headers["content-type"]).startsWith("application/json");
    return {
      status: answer.statusCode,
      headers: answer.headers,
      body: isJson ? (answer.json() as unknown) : answer.body,
    };
  };
  return { call, pass: (ms: number) => (nowMs += ms) };
}

describe("a stand-in with a known bug", () => {
  const users = [{ user: "ann" }];
  const searchesBy = async (fault: string) => {
    const { call } = standIn(presets["github"]?.policy, users, fault);
    const answers = [];
    for (let index = 0; index < 12; index++) answers.push(await call("GET", "/search/code?q=a"));
    return { call, answers, admitted: answers.filter(({ status }) => status === 200).length };
  };

  test("counts as it does", async () => {
    expect((await searchesBy("one-extra")).admitted).toBe(11);
    expect((await searchesBy("double-count")).admitted).toBe(5);
    // Each is decided by what was there when it came, and written later.
    expect((await searchesBy("race-read-then-write=25")).admitted).toBe(10);
  });

  test("answers as it does", async () => {
    const { answers } = await searchesBy("headers-doubled");
    expect(answers[0]?.headers).toMatchObject({ "x-ratelimit-limit": "10, 10", "x-ratelimit-used": "1, 1" });
    const { call } = await searchesBy("status-pristine");
    const { body } = await call("GET", "/rate_limit");
    expect(body).toMatchObject({ resources: { code_search: { limit: 10, used: 0, remaining: 10 } } });
  });
});

describe("github", () => {
  const users = [{ user: "ann" }, { user: "bob" }];

  test("counts by user and resource, and shows the resource of the call", async () => {
    const { call } = standIn(presets["github"]?.policy, users);
    await call("GET", "/user");
    const { status, headers } = await call("GET", "/repos/acme/app");
    expect(status).toBe(200);
    expect(headers).toMatchObject({
      "x-ratelimit-limit": "5000",
      "x-ratelimit-remaining": "4998",
      "x-ratelimit-used": "2",
      "x-ratelimit-reset": String(Math.ceil((START + 3_600_000) / 1000)),
      "x-ratelimit-resource": "core",
    });
    expect((await call("GET", "/user", { caller: 1 })).headers["x-ratelimit-used"]).toBe("1");
  });

  test("refuses by the primary limit with 403, and lets pass after the reset", async () => {
    const { call, pass } = standIn(presets["github"]?.policy, users);
    for (let index = 0; index < 10; index++) expect((await call("GET", "/search/code?q=a")).status).toBe(200);
    const refused = await call("GET", "/search/code?q=a");
    expect([refused.status, refused.headers["retry-after"]]).toEqual([403, undefined]);
    expect(refused.headers).toMatchObject({
      "x-ratelimit-remaining": "0",
      "x-ratelimit-resource": "code_search",
    });
    expect(refused.body).toEqual({ message: "API rate limit exceeded for user." });
    pass(59_999);
    expect((await call("GET", "/search/code?q=a")).status).toBe(403);
    pass(1);
    expect((await call("GET", "/search/code?q=a")).status).toBe(200);
  });

  test("refuses by the secondary limit while the primary one has room, with Retry-After", async () => {
    const { call } = standIn(presets["github"]?.policy, users);
    for (let index = 0; index < 180; index++) await call("POST", "/repos/acme/app/issues", { body: {} });
    const { status, headers, body } = await call("POST", "/repos/acme/app/issues", { body: {} });
    expect([status, headers["retry-after"], headers["x-ratelimit-remaining"]]).toEqual([403, "60", "4820"]);
    expect(body).toMatchObject({ message: expect.stringContaining("secondary rate limit") as string });
  });

  test("refuses GraphQL with status 200, by the cost that a request declares", async () => {
    const { call } = standIn(presets["github"]?.policy, users);
    const ask = (cost: number) =>
      call("POST", "/graphql", {
        body: { query: "{ viewer { login } }" },
        headers: { "spillway-cost": String(cost) },
      });
    expect((await ask(4_990)).body).toEqual({ data: {} });
    const { status, headers, body } = await ask(11);
    expect([status, headers["x-ratelimit-remaining"], headers["x-ratelimit-resource"]]).toEqual([
      200,
      "10",
      "graphql",
    ]);
    expect(body).toMatchObject({ errors: [{ type: "RATE_LIMITED" }] });
  });

  test("charges a mutation more points than a query", async () => {
    const { call } = standIn(presets["github"]?.policy, users);
    const ask = (query: string) => call("POST", "/graphql", { body: { query } });
    for (let index = 0; index < 399; index++) await ask("mutation { star { clientMutationId } }");
    // 1,995 of 2,000 points are used: five queries fit, and no sixth.
    for (let index = 0; index < 5; index++)
      expect((await ask("{ viewer { login } }")).body).toEqual({ data: {} });
    expect((await ask("{ viewer { login } }")).body).toMatchObject({
      message: expect.stringContaining("secondary rate limit") as string,
    });
  });

  test("tells all resources for nothing", async () => {
    const { call } = standIn(presets["github"]?.policy, users);
    await call("GET", "/user");
    const { body, headers } = await call("GET", "/rate_limit");
    expect(headers["x-ratelimit-resource"]).toBe("core");
    expect(body).toMatchObject({
      resources: {
        core: { limit: 5000, used: 1, remaining: 4999 },
        search: { limit: 30, used: 0, remaining: 30 },
      },
    });
    expect((await call("GET", "/rate_limit")).body).toEqual(body);
  });

  test("counts a path whose encoding is broken", async () => {
    const { call } = standIn(presets["github"]?.policy, users);
    expect(await call("GET", "/%zz")).toMatchObject({
      status: 200,
      headers: { "x-ratelimit-used": "1" },
      body: { path: "/%zz" },
    });
  });

  test("answers a caller whom nobody knows with 401", async () => {
    const { call } = standIn(presets["github"]?.policy, users);
    expect((await call("GET", "/user", { caller: 7 })).status).toBe(401);
  });
});

describe("a policy of one's own", () => {
  const inference = {
    version: 2,
    name: "inference",
    quotas: {
      tokens: {
        algorithm: { kind: "token-bucket", capacity: 1000, refill: { amount: 10, everyMs: 1000 } },
        key: ["tenant", "model"],
        unit: "tokens",
        charge: { when: "reserve-settle" },
      },
      slots: { algorithm: { kind: "concurrency", limit: 4 }, key: ["tenant"] },
    },
    operations: {
      completion: {
        uses: { tokens: "declared" },
        samples: [
          {
            method: "POST",
            path: "/acme/complete",
            body: { model: "small", max_tokens: 10 },
            cost: 10,
            dearer: { pointer: "/max_tokens", costEach: 1 },
          },
        ],
      },
    },
    routes: [
      { path: "/health", operation: "other" },
      {
        methods: ["POST"],
        path: "/{tenant}/complete",
        operation: "completion",
        attributes: { model: { pointer: "/model" } },
      },
    ],
    auth: { header: "X-Api-Key", form: "{token}", attributes: ["tenant"] },
    wire: "express-rate-limit",
  };
  const { slots: _, ...served } = inference.quotas;
  const policy = { ...inference, quotas: served };
  const ask = (tokens: number, model = "small") => ({ body: { model, max_tokens: tokens } });

  test("fills keys from path, body and token, and costs from the sample's pointer", async () => {
    const { call, pass } = standIn(policy, [{ tenant: "acme" }]);
    const first = await call("POST", "/acme/complete", ask(900));
    expect([first.status, first.headers["x-ratelimit-remaining"]]).toEqual([200, "100"]);
    expect((await call("POST", "/acme/complete", ask(101))).status).toBe(429);
    expect((await call("POST", "/acme/complete", ask(101, "large"))).status).toBe(200);
    pass(100);
    expect((await call("POST", "/acme/complete", ask(101))).status).toBe(200);
  });

  test.each([
    ["the cost that a header declares", { max_tokens: 900 }, "7", 993],
    ["at most 600, declared or not", { max_tokens: 900 }, "601", 400],
    ["the sample's cost for each token that is more than the sample's", { max_tokens: 30 }, undefined, 915],
    ["the sample's cost, which is 45, where the body says nothing", { max_tokens: "30" }, undefined, 955],
    ["less for fewer tokens", { max_tokens: 1 }, undefined, 973],
    ["of a half token, a whole one", { max_tokens: 29.5 }, undefined, 915],
    ["at most 600 by the body", { max_tokens: 900 }, undefined, 400],
    ["the cost in the body where the header holds no whole number", { max_tokens: 30 }, "1.5", 915],
  ])("charges %s", async (_, body, declared, remaining) => {
    const [sample] = policy.operations.completion.samples;
    const samples = [{ ...sample, cost: 45, dearer: { pointer: "/max_tokens", costEach: 2 } }];
    const completion = { uses: { tokens: { atMost: 600 } }, samples };
    const own = { ...policy, operations: { completion } };
    const { call } = standIn(own, [{ tenant: "acme" }]);
    const headers: Record<string, string> = declared === undefined ? {} : { "Spillway-Cost": declared };
    const answer = await call("POST", "/acme/complete", { body: { model: "small", ...body }, headers });
    expect([answer.status, answer.headers["x-ratelimit-remaining"]]).toEqual([200, String(remaining)]);
  });

  test.each([
    ["what a header tells that it was charged in the end", "declared", { "Spillway-Actual": "60" }, 940],
    ["at most what it declared", "declared", { "Spillway-Actual": "200" }, 900],
    ["what it declared where the header holds no whole number", "declared", { "Spillway-Actual": "-1" }, 900],
    ["what the header tells, of a bounded cost", { atMost: 600 }, { "Spillway-Actual": "60" }, 940],
    ["at most its bound", { atMost: 600 }, { "Spillway-Actual": "700" }, 400],
  ])("charges a reserved call %s", async (_, cost, told, remaining) => {
    const [sample] = policy.operations.completion.samples;
    const own = {
      ...policy,
      quotas: { ...policy.quotas, tokens: { ...policy.quotas.tokens, charge: { when: "reserve-settle" } } },
      operations: { completion: { uses: { tokens: cost }, samples: [sample] } },
    };
    const { call } = standIn(own, [{ tenant: "acme" }]);
    const headers = { "Spillway-Cost": "100", ...told };
    const answer = await call("POST", "/acme/complete", { body: { model: "small" }, headers });
    expect(answer.headers["x-ratelimit-remaining"]).toBe(String(remaining));
  });

  test.each([
    ["the operation that the body names", "M", "1995"],
    ["the first one where it names none", undefined, "1999"],
    ["the first one where there is none of that name", "none", "1999"],
  ])("takes a GraphQL document for %s", async (_, operationName, remaining) => {
    const points = {
      algorithm: { kind: "fixed-window", windowSeconds: 60, limit: 2000, anchor: "epoch" },
      key: ["tenant"],
      unit: "points",
    };
    const sample = { method: "POST", path: "/graphql", cost: 1 };
    const uses = (cost: number) => ({ uses: { points: cost }, samples: [{ ...sample, cost }] });
    const own = {
      ...policy,
      quotas: { points },
      operations: { query: uses(1), mutation: uses(5) },
      routes: [
        { path: "/graphql", graphql: "mutation", operation: "mutation" },
        { path: "/graphql", operation: "query" },
      ],
    };
    const { call } = standIn(own, [{ tenant: "acme" }]);
    const query = "fragment F on User { login } query Q { viewer { ...F } } mutation M { star { id } }";
    const { headers } = await call("POST", "/graphql", { body: { query, operationName } });
    expect(headers["x-ratelimit-remaining"]).toBe(remaining);
  });

  test("answers 404 to another tenant's path, to no route, and to a body without the attribute", async () => {
    const { call } = standIn(policy, [{ tenant: "acme" }]);
    for (const [method, url] of [
      ["POST", "/globex/complete"],
      ["GET", "/acme/complete"],
      ["POST", "/acme/nothing"],
    ] as const)
      expect((await call(method, url, { body: { model: "small" } })).status, url).toBe(404);
    expect((await call("POST", "/acme/complete", { body: "{" })).status).toBe(404);
  });

  test("limits nothing of what is other", async () => {
    const { call } = standIn(policy, [{ tenant: "acme" }]);
    const { status, headers } = await call("GET", "/health");
    expect([status, headers["x-ratelimit-limit"]]).toEqual([200, undefined]);
  });
});

describe("public APIs, each by its own words", () => {
  /** A stand-in of a preset, for one caller. */
  function preset(name: string) {
    const policy = presets[name]?.policy;
    const names = parsePolicy(policy).auth.attributes;
    return standIn(policy, [Object.fromEntries(names.map((attribute) => [attribute, "a"]))]);
  }

  test("gitlab shows its limit for a minute, and refuses in plain text", async () => {
    const { call } = preset("gitlab");
    const path = "/api/v4/packages/npm/app";
    expect((await call("GET", path)).headers).toMatchObject({
      "ratelimit-limit": "4000",
      "ratelimit-name": "throttle_authenticated_packages_api",
      "ratelimit-remaining": "999",
    });
    for (let index = 1; index < 1000; index++) await call("GET", path);
    expect(await call("GET", path)).toMatchObject({
      status: 429,
      body: "Retry later",
      headers: { "ratelimit-observed": "1001", "ratelimit-resettime": expect.stringMatching(/ GMT$/) },
    });
  });

  test("discord shows no bucket where the global limit refuses, and advises in two places", async () => {
    const { call } = preset("discord");
    const get = (channel: number) => call("GET", `/api/v10/channels/${channel}/messages`);
    for (let index = 0; index < 50; index++) expect((await get(index)).status).toBe(200);
    const { status, headers, body } = await get(0);
    expect([status, headers["x-ratelimit-scope"], headers["x-ratelimit-limit"]]).toEqual([
      429,
      "global",
      undefined,
    ]);
    expect([headers["retry-after"], body]).toEqual([
      "1",
      { message: "You are being rate limited.", global: true, retry_after: 1 },
    ]);
  });

  test("openai tells the span until all is back, and what refused", async () => {
    const { call } = preset("openai");
    const ask = (tokens: number) =>
      call("POST", "/v1/chat/completions", { body: { model: "a", max_completion_tokens: tokens } });
    expect((await ask(16)).headers).toMatchObject({
      "x-ratelimit-reset-requests": "1s",
      "x-ratelimit-reset-tokens": "7ms",
    });
    expect(await ask(149_985)).toMatchObject({
      status: 429,
      headers: { "retry-after-ms": "1", "retry-after": "1" },
      body: { error: { type: "tokens", code: "rate_limit_exceeded" } },
    });
  });

  test("anthropic rounds tokens to thousands", async () => {
    const { call } = preset("anthropic");
    const ask = (tokens: number) =>
      call("POST", "/v1/messages", { body: { model: "a", max_tokens: tokens } });
    expect((await ask(499)).headers["anthropic-ratelimit-output-tokens-remaining"]).toBe("8000");
    expect((await ask(1001)).headers["anthropic-ratelimit-output-tokens-remaining"]).toBe("7000");
  });

  test("shopify-graphql refuses with status 200, linear with 400", async () => {
    const shopify = preset("shopify-graphql");
    const dear = { "Spillway-Cost": "1500" };
    const body = { query: "{ shop { name } }" };
    await shopify.call("POST", "/admin/api/2026-10/graphql.json", { body, headers: dear });
    expect(
      await shopify.call("POST", "/admin/api/2026-10/graphql.json", { body, headers: dear }),
    ).toMatchObject({
      status: 200,
      body: {
        errors: [{ extensions: { code: "THROTTLED" } }],
        extensions: {
          cost: {
            requestedQueryCost: 1500,
            actualQueryCost: null,
            throttleStatus: { currentlyAvailable: 500, restoreRate: 100 },
          },
        },
      },
    });
    const linear = preset("linear");
    await linear.call("POST", "/graphql", { body, headers: { "Spillway-Cost": "2000000" } });
    expect(
      await linear.call("POST", "/graphql", { body, headers: { "Spillway-Cost": "2000000" } }),
    ).toMatchObject({
      status: 400,
      headers: { "x-ratelimit-complexity-remaining": "1000000" },
      body: { errors: [{ extensions: { code: "RATELIMITED" } }] },
    });
  });

  test("stripe names the kind of limit that refused", async () => {
    const { call } = preset("stripe");
    for (let index = 0; index < 25; index++) expect((await call("GET", "/v1/customers")).status).toBe(200);
    expect((await call("GET", "/v1/customers")).headers["stripe-rate-limited-reason"]).toBe("endpoint-rate");
    for (const path of ["/v1/prices", "/v1/refunds", "/v1/charges"])
      for (let index = 0; index < 25; index++) expect((await call("GET", path)).status).toBe(200);
    expect((await call("GET", "/v1/customers/1")).headers["stripe-rate-limited-reason"]).toBe("global-rate");
  });
});

describe("octokit with its throttling plugin", () => {
  const viewer = "{ viewer { login } }";
  const rest = (octokit: Octokit) => octokit.request("GET /user");
  const graphql = (octokit: Octokit) => octokit.graphql(viewer);

  test.each([
    ["primary", "REST", "core", "/user", rest, "API rate limit exceeded"],
    ["primary", "GraphQL", "graphql", "/graphql", graphql, "Rate Limit Exceeded"],
    ["secondary", "REST", "rest_points", "/user", rest, "secondary rate limit"],
    ["secondary", "GraphQL", "graphql_points", "/graphql", graphql, "secondary rate limit"],
  ])("knows a %s refusal of %s", async (kind, _, quota, url, call, message) => {
    const match = { user: "ann" };
    const overrides = [{ match, quotas: { [quota]: { limit: 1 } } }];
    const policy = parsePolicy({ ...presets["github"]?.policy, overrides });
    const token = "token-of-ann";
    const serving = await servePolicy({ port: 0, policy, tokens: [{ token, attributes: match }] });
    const told: [kind: string, url: string | undefined, retryAfter: number][] = [];
    const note = (refused: string) => (retryAfter: number, options: { url?: string }) => {
      told.push([refused, options.url, retryAfter]);
      return false;
    };
    // Calls of one id share a pace of a second for a query.
    const octokit = new (Octokit.plugin(throttling))({
      auth: token,
      baseUrl: serving.url,
      throttle: { id: quota, onRateLimit: note("primary"), onSecondaryRateLimit: note("secondary") },
    });
    try {
      await call(octokit);
      await expect(call(octokit)).rejects.toThrow(message);
    } finally {
      await serving.close();
    }
    expect(told).toEqual([[kind, url, expect.any(Number)]]);
    // The reset is rounded up to a second; of a primary refusal octokit rounds up once more, and adds one.
    const most = kind === "secondary" ? 60 : 3_603;
    expect(told[0]?.[2]).toBeGreaterThan(kind === "secondary" ? 57 : 3_590);
    expect(told[0]?.[2]).toBeLessThanOrEqual(most);
  });
});

describe("what cannot be answered", () => {
  const told: string[] = [];
  const failing = (): never => {
    throw new RangeError("no store");
  };
  const policy = parsePolicy(presets["github"]?.policy);
  const app = buildPolicyApp({
    policy,
    tokens: [{ token: "t", attributes: { user: "ann" } }],
    limiter: Object.assign(new PolicyLimiter(policy), { decide: failing }),
    now: () => START,
    sleep: async () => {},
    onUnexpected: ({ message }) => told.push(message),
  });
  const headers = { authorization: "Bearer t" };

  test.each([
    ["by the limiter's fault", { method: "GET", url: "/user" }, 500, "Internal error", ["no store"]],
    [
      "by the caller's",
      { method: "POST", url: "/graphql", payload: "x".repeat(1_048_577) },
      413,
      "Bad request",
      [],
    ],
  ] as const)("is told as an error, %s", async (_, request, status, message, errors) => {
    told.length = 0;
    const { statusCode, body } = await app.inject({ ...request, headers });
    expect([statusCode, body, told]).toEqual([status, JSON.stringify({ message }), errors]);
  });
});
