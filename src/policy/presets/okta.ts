// Okta's limits of an org's management endpoints, and the limit of concurrent calls shown by the same headers.
import type { Preset } from "../preset.ts";

const perMinute = (limit: number) =>
  ({
    key: ["org"],
    algorithm: { kind: "fixed-window", limit, windowSeconds: 60, anchor: "first-request" },
    shown: { retryAfter: false },
  }) as const;
const buckets = ["users", "user_by_id", "user_changes", "logs", "other"];
const tooMany = "API call exceeded rate limit due to too many requests.";

export const okta: Preset = {
  title: "Okta's management API, for an org of Workforce Identity",
  wire: {
    revision: "2026-11",
    readings: [
      {
        quotas: buckets,
        headers: {
          "X-Rate-Limit-Limit": "{limit}",
          "X-Rate-Limit-Remaining": "{remaining}",
          "X-Rate-Limit-Reset": "{reset}",
        },
        reset: { form: "epoch-s", means: "window-end", round: "ceil" },
      },
    ],
    outcomes: [
      {
        outcome: "refused",
        by: "concurrency",
        status: [429],
        headers: { "X-Rate-Limit-Limit": "0", "X-Rate-Limit-Remaining": "0" },
        readings: false,
      },
      {
        outcome: "refused",
        status: [429],
        body: { "/errorCode": ["E0000047", "*"], "/errorSummary": [tooMany, "*"] },
      },
    ],
  },
  policy: {
    version: 2,
    name: "okta",
    quotas: {
      users: perMinute(600),
      user_by_id: perMinute(2000),
      user_changes: perMinute(600),
      logs: perMinute(120),
      other: perMinute(1200),
      concurrency: {
        key: ["org"],
        algorithm: { kind: "concurrency", limit: 75 },
        unit: "calls",
        shown: { retryAfter: false },
      },
    },
    operations: {
      list_users: { uses: { users: 1, concurrency: 1 }, samples: [{ path: "/api/v1/users" }] },
      get_user: { uses: { user_by_id: 1, concurrency: 1 }, samples: [{ path: "/api/v1/users/ann" }] },
      change_user: {
        uses: { user_changes: 1, concurrency: 1 },
        samples: [{ method: "POST", path: "/api/v1/users/ann", body: { profile: { nickName: "Ann" } } }],
      },
      read_logs: { uses: { logs: 1, concurrency: 1 }, samples: [{ path: "/api/v1/logs" }] },
      call: { uses: { other: 1, concurrency: 1 }, samples: [{ path: "/api/v1/idps" }] },
    },
    routes: [
      { methods: ["GET", "POST"], path: "/api/v1/users", operation: "list_users" },
      { methods: ["GET"], path: "/api/v1/users/{user}", operation: "get_user" },
      { methods: ["POST", "PUT", "DELETE"], path: "/api/v1/users/{user}", operation: "change_user" },
      { path: "/api/v1/logs", operation: "read_logs" },
      { path: "/api/v1/**", operation: "call" },
    ],
    auth: { header: "Authorization", form: ["SSWS {token}", "Bearer {token}"], attributes: ["org"] },
    wire: "okta",
  },
  notes: [
    "A call beyond the limit of concurrent ones shows 0 as limit and remaining: no numbers of its bucket, and an estimate as reset.",
    "The limits are those of Workforce Identity; an org's own stand in its rate limit dashboard. Apps and groups have others.",
    "Nobody says where a minute begins: here, with its first call. No Retry-After is documented.",
    "A token may have only a share of its org's limits; that is left out.",
  ],
  sources: [
    {
      at: "okta/okta-developer-docs packages/@okta/vuepress-site/docs/reference/rl-best-practices/index.md",
      kind: "documented",
      seen: "2026-11-22",
    },
    {
      at: "okta/okta-developer-docs packages/@okta/vuepress-site/docs/reference/rl-global-mgmt/index.md",
      kind: "documented",
      seen: "2026-11-22",
    },
    { at: "developer.okta.com/docs/reference/rl-additional-limits", kind: "documented", seen: "2026-11-22" },
  ],
  answers: [
    {
      title: "A call with room left",
      seen: "2026-11-22",
      operation: "list_users",
      answer: {
        status: 200,
        headers: {
          "X-Rate-Limit-Limit": "600",
          "X-Rate-Limit-Remaining": "598",
          "X-Rate-Limit-Reset": "1609459200",
        },
      },
      shows: {
        outcome: "admitted",
        readings: [
          {
            quota: "users",
            limit: 600,
            remaining: 598,
            reset: { atMs: 1_609_459_200_000, means: "window-end" },
          },
        ],
      },
    },
    {
      title: "A refusal by the endpoint's limit",
      seen: "2026-11-22",
      operation: "list_users",
      answer: {
        status: 429,
        headers: {
          "X-Rate-Limit-Limit": "600",
          "X-Rate-Limit-Remaining": "0",
          "X-Rate-Limit-Reset": "1609459200",
        },
        body: { errorCode: "E0000047", errorSummary: tooMany },
      },
      shows: { outcome: "refused", by: "users", readings: [{ quota: "users", limit: 600, remaining: 0 }] },
    },
    {
      title: "A refusal by the limit of concurrent calls, which shows no numbers of the endpoint",
      seen: "2026-11-22",
      operation: "list_users",
      answer: {
        status: 429,
        headers: {
          "X-Rate-Limit-Limit": "0",
          "X-Rate-Limit-Remaining": "0",
          "X-Rate-Limit-Reset": "1609459200",
        },
      },
      shows: { outcome: "refused", by: "concurrency", readings: [] },
    },
  ],
};
