// The stand-in for any API: a policy decides and answers, and real clients find what they know.
import { Octokit } from "@octokit/core";
import { throttling } from "@octokit/plugin-throttling";
import { describe, expect, test } from "vitest";
import { PolicyLimiter } from "../../src/engine/policy-limiter.ts";
import { parsePolicy } from "../../src/policy/parse.ts";
import { presets } from "../../src/policy/presets.ts";
import { buildPolicyApp } from "../../src/service/policy-app.ts";
import { servePolicy } from "../../src/service/serve.ts";

const START = 1_795_305_600_250;

/** A stand-in without a socket, whose clock the test moves. */
function standIn(input: unknown, attributes: readonly Readonly<Record<string, string>>[]) {
  const policy = parsePolicy(input);
  let nowMs = START;
  const tokens = attributes.map((own, index) => ({ token: `token-${index}`, attributes: own }));
  const unexpected: Error[] = [];
  const app = buildPolicyApp({
    policy,
    tokens,
    limiter: new PolicyLimiter(policy),
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
    return { status: answer.statusCode, headers: answer.headers, body: answer.json() as unknown };
  };
  return { call, pass: (ms: number) => (nowMs += ms) };
}

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

test("octokit with its throttling plugin knows each refusal, by REST and GraphQL", async () => {
  const policy = parsePolicy({
    ...presets["github"]?.policy,
    name: "small",
    overrides: [
      { match: { user: "ann" }, quotas: { core: { limit: 1 }, graphql: { limit: 1 } } },
      { match: { user: "bob" }, quotas: { rest_points: { limit: 5 } } },
    ],
  });
  const tokens = ["ann", "bob"].map((user) => ({ token: `token-of-${user}`, attributes: { user } }));
  const serving = await servePolicy({ port: 0, policy, tokens });
  const told: string[] = [];
  // The reset is rounded up to a second; octokit rounds up once more, and adds one.
  const note = (kind: string) => (retryAfter: number, options: { url?: string }) => {
    told.push(`${kind} ${options.url ?? ""} ${retryAfter > 0 && retryAfter <= 3_603}`);
    return false;
  };
  const [ann, bob] = tokens.map(
    ({ token }) =>
      new (Octokit.plugin(throttling))({
        auth: token,
        baseUrl: serving.url,
        throttle: { onRateLimit: note("primary"), onSecondaryRateLimit: note("secondary") },
      }),
  );
  const label = { owner: "acme", repo: "app", name: "bug" };
  const refused = { status: 403 };
  try {
    await ann?.request("GET /user");
    await ann?.graphql("{ viewer { login } }");
    await expect(ann?.request("GET /user")).rejects.toMatchObject(refused);
    await expect(ann?.graphql("{ viewer { login } }")).rejects.toThrow("Rate Limit Exceeded");
    await bob?.request("POST /repos/{owner}/{repo}/labels", label);
    await expect(bob?.request("GET /user")).rejects.toMatchObject(refused);
  } finally {
    await serving.close();
  }
  expect(told).toEqual(["primary /user true", "primary /graphql true", "secondary /user true"]);
});
