// Presets: the terms that their sources state, in one table, and the answers that are documented of them.
import { describe, expect, test } from "vitest";
import { parsePolicy } from "../../src/policy/parse.ts";
import type { Policy, Quota } from "../../src/policy/policy.ts";
import { presets, wireOf } from "../../src/policy/presets.ts";
import { readAnswer } from "../../src/wire/read-answer.ts";

/** By preset: its quotas, and whatever of them is not usual; what each operation uses; overrides. */
const terms: Readonly<Record<string, readonly string[]>> = {
  anthropic: [
    "requests: 50, 50 back in 60000 ms of organization,model",
    "input_tokens: 30000, 30000 back in 60000 ms of organization,model; when reserve-settle",
    "output_tokens: 8000, 8000 back in 60000 ms of organization,model; when reserve-settle",
    "tokens: 38000, 38000 back in 60000 ms of organization,model; when reserve-settle; enforced false",
    "message: requests 1, input_tokens declared, output_tokens declared, tokens declared; sample costs 100",
  ],
  buildkite: [
    "rest: 200 in 60 s by epoch of organization",
    "rest_user: 50 in 60 s by epoch of organization,user; enforced with rest",
    "graphql: 20000 in 300 s by epoch of organization; when reserve-settle",
    "graphql_user: 5000 in 300 s by epoch of organization,user; when reserve-settle; enforced with graphql",
    "rest: rest 1, rest_user 1",
    "graphql: graphql declared, graphql_user declared; sample costs 4",
  ],
  discord: [
    "channel: 5 in 5 s by first-request of bot,channel",
    "guild: 5 in 5 s by first-request of bot,guild",
    "webhook: 5 in 5 s by first-request of bot,webhook",
    "route: 5 in 5 s by first-request of bot",
    "global: 50 in 1 s by first-request of bot",
    "channel: channel 1, global 1",
    "guild: guild 1, global 1",
    "webhook: webhook 1, global 1",
    "call: route 1, global 1",
  ],
  "docker-hub": ["pulls: 200 in 21600 s by first-request of user", "pull: pulls 1"],
  "envoy-filter": [
    "per-ip: 10 in 1 s by epoch of client; refused counted; retryAfter false",
    "hourly: 1000 in 3600 s by epoch of client; refused counted; retryAfter false",
    "call: per-ip 1, hourly 1; each-alone",
  ],
  "envoy-json": [
    "one: 1 in 60 s by epoch of client; refused counted; retryAfter false",
    "two: 2 in 60 s by epoch of client; refused counted; retryAfter false",
    "check: one 1, two 1; each-alone",
  ],
  "express-rate-limit": [
    "requests: 5 in 60 s by first-request of client; refused counted",
    "call: requests 1",
  ],
  "express-rate-limit-6": [
    "requests: 5 in 60 s by first-request of client; refused counted",
    "call: requests 1",
  ],
  "express-rate-limit-7": [
    "requests: 5 in 60 s by first-request of client; refused counted",
    "call: requests 1",
  ],
  "express-rate-limit-8": [
    "requests: 5 in 60 s by first-request of client; refused counted",
    "call: requests 1",
  ],
  fastify: ["requests: 1000 in 60 s by first-request of client; refused counted", "call: requests 1"],
  github: [
    "core: 5000 in 3600 s by first-request of user; retryAfter false",
    "search: 30 in 60 s by first-request of user; retryAfter false",
    "code_search: 10 in 60 s by first-request of user; retryAfter false",
    "graphql: 5000 in 3600 s by first-request of user; retryAfter false",
    "rest_points: 900 in 60 s by first-request of user",
    "graphql_points: 2000 in 60 s by first-request of user",
    "read: core 1, rest_points 1",
    "write: core 1, rest_points 5",
    "search: search 1, rest_points 1",
    "code_search: code_search 1, rest_points 1",
    "query: graphql declared, graphql_points 1",
    "mutation: graphql declared, graphql_points 5",
  ],
  gitlab: [
    "throttle_authenticated_api: 7200 in 3600 s by epoch of user; refused counted",
    "throttle_authenticated_packages_api: 1000 in 15 s by epoch of user; refused counted",
    "api: throttle_authenticated_api 1",
    "packages: throttle_authenticated_packages_api 1",
  ],
  "ietf-06": ["requests: 100 in 60 s by epoch of client", "call: requests 1"],
  "ietf-07": ["requests: 100 in 60 s by epoch of client", "call: requests 1"],
  "ietf-11": [
    "burst: 100 in 60 s by epoch of client",
    "daily: 1000 in 86400 s by epoch of client",
    "call: burst 1, daily 1",
  ],
  kong: [
    "minute: 5 in 60 s by epoch of consumer",
    "hour: 100 in 3600 s by epoch of consumer",
    "call: minute 1, hour 1",
  ],
  linear: [
    "requests: 2500, 2500 back in 3600000 ms of user; retryAfter false",
    "complexity: 3000000, 3000000 back in 3600000 ms of user; retryAfter false",
    "endpoint: 5, 5 back in 60000 ms of user; retryAfter false",
    "query: requests 1, complexity declared; sample costs 2",
  ],
  nginx: ["requests: 6, 1 back in 1000 ms of client; retryAfter false", "call: requests 1"],
  okta: [
    "users: 600 in 60 s by first-request of org; retryAfter false",
    "user_by_id: 2000 in 60 s by first-request of org; retryAfter false",
    "user_changes: 600 in 60 s by first-request of org; retryAfter false",
    "logs: 120 in 60 s by first-request of org; retryAfter false",
    "other: 1200 in 60 s by first-request of org; retryAfter false",
    "concurrency: 75 at a time of org; retryAfter false",
    "list_users: users 1, concurrency 1",
    "get_user: user_by_id 1, concurrency 1",
    "change_user: user_changes 1, concurrency 1",
    "read_logs: logs 1, concurrency 1",
    "call: other 1, concurrency 1",
  ],
  openai: [
    "requests: 60, 60 back in 60000 ms of organization,model",
    "tokens: 150000, 150000 back in 60000 ms of organization,model",
    "chat: requests 1, tokens declared; sample costs 16",
    "respond: requests 1, tokens declared; sample costs 16",
  ],
  "shopify-graphql": [
    "points: 2000, 100 back in 1000 ms of app,shop; when reserve-settle",
    "query: points declared",
    "mutation: points declared; sample costs 10",
  ],
  "shopify-rest": ["requests: 40, 2 back in 1000 ms of app,shop", "call: requests 1"],
  slack: [
    "tier_2: 20 in 60 s by first-request of app,workspace,method; enforced unknown",
    "tier_3: 50 in 60 s by first-request of app,workspace,method; enforced unknown",
    "tier_4: 100 in 60 s by first-request of app,workspace,method; enforced unknown",
    "posting: 1 in 1 s by first-request of app,workspace,channel; enforced unknown",
    "list: tier_2 1",
    "look: tier_3 1",
    "tell: tier_4 1",
    "post: posting 1",
  ],
  "spring-cloud-gateway": ["requests: 20, 10 back in 1000 ms of user; retryAfter false", "call: requests 1"],
  stripe: [
    "global-rate: 100, 100 back in 1000 ms of mode,account",
    "endpoint-rate: 25, 25 back in 1000 ms of mode,account,resource,action",
    "resource-specific: 1000 in 3600 s by first-request of mode,account,intent",
    "call: global-rate 1, endpoint-rate 1",
    "update_intent: global-rate 1, endpoint-rate 1, resource-specific 1",
    "match mode sandbox, quotas global-rate capacity 25, refill amount 25, everyMs 1000",
  ],
  traefik: ["requests: 200, 100 back in 1000 ms of client", "call: requests 1"],
  x: [
    "posts: 5000 in 900 s by first-request of app,user; retryAfter false",
    "post: 900 in 900 s by first-request of app,user; retryAfter false",
    "search: 300 in 900 s by first-request of app,user; retryAfter false",
    "create: 100 in 900 s by first-request of app,user; retryAfter false",
    "app_day: 10000 in 86400 s by first-request of app; retryAfter false",
    "user_day: 17 in 86400 s by first-request of app,user; retryAfter false",
    "posts: posts 1",
    "post: post 1",
    "search: search 1",
    "create: create 1, app_day 1",
  ],
};

const usual: Readonly<Record<string, unknown>> = {
  when: "admission",
  fits: "whole",
  refused: "nothing",
  refusedByOther: "nothing",
  remaining: "clamped",
  reset: "ceil",
  retryAfter: true,
  enforced: true,
};
const plain = (value: unknown): string =>
  JSON.stringify(value).replace(/[{}"]/g, "").replaceAll(",", ", ").replaceAll(":", " ");

function countOf({ algorithm }: Quota): string {
  if (algorithm.kind === "token-bucket")
    return `${algorithm.capacity}, ${algorithm.refill.amount} back in ${algorithm.refill.everyMs} ms`;
  if (algorithm.kind !== "fixed-window") return `${algorithm.limit} at a time`;
  return `${algorithm.limit} in ${algorithm.windowSeconds} s by ${plain(algorithm.anchor)}`;
}

const termsOf = ({ quotas, operations, overrides }: Policy): string[] => [
  ...Object.entries(quotas).map(([name, quota]) => {
    const members = { ...quota.charge, ...quota.shown, enforced: quota.enforced };
    const odd = Object.entries(members).filter(([member, value]) => usual[member] !== value);
    const words = odd.map(([member, value]) => `${member} ${plain(value)}`);
    return [`${name}: ${countOf(quota)} of ${quota.key}`, ...words].join("; ");
  }),
  ...Object.entries(operations).map(([name, { uses, relation, samples }]) => {
    const costs = samples.flatMap(({ cost }) => (cost === 1 ? [] : [`sample costs ${cost}`]));
    return [`${name}: ${plain(uses)}`, ...(relation === "all-or-nothing" ? [] : [relation]), ...costs].join(
      "; ",
    );
  }),
  ...overrides.map(plain),
];

/** Statuses of known answers that are neither an admitted 200 nor a refused 429. */
const oddStatuses: Readonly<Record<string, readonly string[]>> = {
  anthropic: ["unknown 529"],
  fastify: ["refused 403", "admitted 403"],
  github: ["refused 403", "refused 403", "refused 200", "admitted 403"],
  "ietf-11": ["refused 503"],
  linear: ["refused 400", "refused 400", "unknown 400"],
  nginx: ["refused 503"],
  "shopify-graphql": ["refused 200", "unknown 430"],
  "shopify-rest": ["unknown 430"],
  stripe: ["admitted 429"],
};

const quotasOf = ({ operations, quotas }: Policy, operation: string): string[] =>
  operation === "status" ? Object.keys(quotas) : Object.keys(operations[operation]?.uses ?? {});

describe.each(Object.entries(presets))("%s", (name, preset) => {
  const policy = parsePolicy(preset.policy);

  test("promises these terms", () => {
    expect(termsOf(policy)).toEqual(terms[name]);
  });

  test("is a policy of that name, with its sources and an answer", () => {
    expect([policy.name, policy.wire]).toEqual([name, name]);
    expect(preset.sources.length).toBeGreaterThanOrEqual(1);
    expect(preset.answers.length).toBeGreaterThanOrEqual(1);
  });

  test("has answers of these statuses", () => {
    const statuses = preset.answers.map(({ shows, answer }) => `${shows.outcome} ${answer.status}`);
    const odd = statuses.filter((one) => one !== "admitted 200" && one !== "refused 429");
    expect(odd).toEqual(oddStatuses[name] ?? []);
  });

  test.each(preset.answers.map((known) => [known.title, known] as const))("%s", (_, known) => {
    const { operation, answer, shows } = known;
    expect(["status", ...Object.keys(policy.operations)]).toContain(operation);
    const asked = { quotas: quotasOf(policy, operation), isStatus: operation === "status" };
    const read = readAnswer(wireOf(policy), answer, asked);
    expect(read).toMatchObject(shows);
    expect(read.unread).toEqual([]);
  });
});
