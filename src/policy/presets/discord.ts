// Discord's limits of routes, which only its answers tell, and a bot's global limit.
import type { Preset } from "../preset.ts";

const example = (...key: string[]) => ({
  key: ["bot", ...key],
  algorithm: { kind: "fixed-window", limit: 5, windowSeconds: 5, anchor: "first-request" } as const,
});
const routes = ["channel", "guild", "webhook", "route"];
const limited = "You are being rate limited.";

export const discord: Preset = {
  title: "Discord's HTTP API, for a bot",
  wire: {
    revision: "10",
    readings: [
      {
        quotas: routes,
        headers: {
          "X-RateLimit-Limit": "{limit}",
          "X-RateLimit-Remaining": "{remaining}",
          "X-RateLimit-Reset-After": "{reset}",
        },
        reset: { form: "delta-s-float", means: "window-end" },
      },
      {
        quotas: routes,
        headers: { "X-RateLimit-Reset": "{reset}" },
        reset: { form: "epoch-s-float", means: "window-end" },
      },
      // This row only writes the header: a name alone is no reading, so none is read from it.
      { quotas: routes, headers: { "X-RateLimit-Bucket": "{quota}" } },
    ],
    retryAfter: [
      { pointer: "/retry_after", form: "delta-s-float" },
      { header: "Retry-After", form: "delta-s" },
    ],
    outcomes: [
      {
        outcome: "refused",
        by: "global",
        status: [429],
        headers: { "X-RateLimit-Global": "true", "X-RateLimit-Scope": "global" },
        body: { "/message": [limited, "*"], "/global": "true" },
        readings: false,
      },
      {
        outcome: "refused",
        by: "global",
        status: [429],
        headers: { "X-RateLimit-Global": "true" },
        readings: false,
      },
      { outcome: "refused", by: "shared", status: [429], headers: { "X-RateLimit-Scope": "shared" } },
      {
        outcome: "refused",
        status: [429],
        headers: { "X-RateLimit-Scope": "user" },
        body: { "/message": [limited, "*"], "/global": "false" },
      },
    ],
  },
  policy: {
    version: 2,
    name: "discord",
    quotas: {
      channel: example("channel"),
      guild: example("guild"),
      webhook: example("webhook"),
      route: example(),
      global: {
        key: ["bot"],
        algorithm: { kind: "fixed-window", limit: 50, windowSeconds: 1, anchor: "first-request" },
      },
    },
    operations: {
      channel: {
        uses: { channel: 1, global: 1 },
        samples: [{ method: "POST", path: "/api/v10/channels/1234/messages", body: { content: "Hello" } }],
      },
      guild: { uses: { guild: 1, global: 1 }, samples: [{ path: "/api/v10/guilds/1234/channels" }] },
      webhook: { uses: { webhook: 1, global: 1 }, samples: [{ path: "/api/v10/webhooks/1234" }] },
      call: { uses: { route: 1, global: 1 }, samples: [{ path: "/api/v10/users/@me" }] },
    },
    routes: [
      { path: "/api/v10/channels/{channel}/**", operation: "channel" },
      { path: "/api/v10/guilds/{guild}/**", operation: "guild" },
      { path: "/api/v10/webhooks/{webhook}/**", operation: "webhook" },
      { path: "/api/v10/**", operation: "call" },
    ],
    auth: { form: "Bot {token}", attributes: ["bot"] },
    wire: "discord",
  },
  notes: [
    "Limits of routes are not published, and change: 5 calls in 5 seconds are an example. The global limit is documented.",
    "One quota stands for all routes of a channel, a guild or a webhook; each route may have one of its own.",
    "X-RateLimit-Bucket names a bucket in a word of the server's own; a reading is of the quota that the call's route uses.",
    "A shared refusal is by a resource that others have used up: its headers may show room left.",
    "A global refusal has none of the route's headers. Answers to interactions do not count there; that is left out.",
    "The limit of 10,000 answers of 401, 403 and 429 in 10 minutes, which bans an address, is left out.",
  ],
  sources: [
    { at: "discord/discord-api-docs docs/topics/rate-limits.md", kind: "documented", seen: "2026-11-22" },
  ],
  answers: [
    {
      title: "The last call of a bucket",
      seen: "2026-11-22",
      operation: "channel",
      answer: {
        status: 200,
        headers: {
          "X-RateLimit-Limit": "5",
          "X-RateLimit-Remaining": "0",
          "X-RateLimit-Reset": "1470173023",
          "X-RateLimit-Reset-After": "1",
          "X-RateLimit-Bucket": "abcd1234",
        },
      },
      shows: {
        outcome: "admitted",
        by: null,
        readings: [
          { quota: "channel", limit: 5, remaining: 0, reset: { afterMs: 1000, means: "window-end" } },
          { quota: "channel", reset: { atMs: 1_470_173_023_000 } },
        ],
      },
    },
    {
      title: "A refusal by the route's bucket, whose times have decimals",
      seen: "2026-11-22",
      operation: "channel",
      answer: {
        status: 429,
        headers: {
          "Retry-After": "65",
          "X-RateLimit-Limit": "10",
          "X-RateLimit-Remaining": "0",
          "X-RateLimit-Reset": "1470173023.123",
          "X-RateLimit-Reset-After": "64.57",
          "X-RateLimit-Bucket": "abcd1234",
          "X-RateLimit-Scope": "user",
        },
        body: { message: limited, retry_after: 64.57, global: false },
      },
      shows: {
        outcome: "refused",
        by: "channel",
        retryAfter: { afterMs: 64_570 },
        readings: [
          { quota: "channel", limit: 10, remaining: 0, reset: { afterMs: 64_570 } },
          { quota: "channel", reset: { atMs: 1_470_173_023_123 } },
        ],
      },
    },
    {
      title: "A refusal by a shared resource, while the bucket has room",
      seen: "2026-11-22",
      operation: "channel",
      answer: {
        status: 429,
        headers: {
          "Retry-After": "1337",
          "X-RateLimit-Limit": "10",
          "X-RateLimit-Remaining": "9",
          "X-RateLimit-Reset": "1470173023.123",
          "X-RateLimit-Reset-After": "64.57",
          "X-RateLimit-Bucket": "abcd1234",
          "X-RateLimit-Scope": "shared",
        },
        body: { message: "The resource is being rate limited.", retry_after: 1336.57, global: false },
      },
      shows: {
        outcome: "refused",
        by: "shared",
        retryAfter: { afterMs: 1_336_570 },
        readings: [{ quota: "channel", limit: 10, remaining: 9 }, { quota: "channel" }],
      },
    },
    {
      title: "A refusal by the global limit, without headers of the bucket",
      seen: "2026-11-22",
      operation: "channel",
      answer: {
        status: 429,
        headers: { "Retry-After": "65", "X-RateLimit-Global": "true", "X-RateLimit-Scope": "global" },
        body: { message: limited, retry_after: 64.57, global: true },
      },
      shows: {
        outcome: "refused",
        by: "global",
        retryAfter: { afterMs: 64_570 },
        readings: [],
      },
    },
  ],
};
