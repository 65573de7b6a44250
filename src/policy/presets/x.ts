// X's limits of endpoints in 15 minutes and in a day; those of a day have their own headers.
import type { Preset } from "../preset.ts";

const in15Minutes = (limit: number) => ({
  key: ["app", "user"],
  algorithm: { kind: "fixed-window", limit, windowSeconds: 900, anchor: "first-request" } as const,
  shown: { retryAfter: false },
});
const aDay = (limit: number, ...key: string[]) => ({
  key,
  algorithm: { kind: "fixed-window", limit, windowSeconds: 86_400, anchor: "first-request" } as const,
  shown: { retryAfter: false },
});
const shown = (quotas: string[], words: string): object => ({
  quotas,
  headers: {
    [`${words}-limit`]: "{limit}",
    [`${words}-remaining`]: "{remaining}",
    [`${words}-reset`]: "{reset}",
  },
  reset: { form: "epoch-s", means: "window-end", round: "ceil" },
});
const exceeded = "Rate limit exceeded";

export const x: Preset = {
  title: "X's API v2, for a user's token",
  wire: {
    revision: "2",
    readings: [
      shown(["posts", "post", "search", "create"], "x-rate-limit"),
      shown(["app_day"], "x-app-limit-24hour"),
      shown(["user_day"], "x-user-limit-24hour"),
    ],
    outcomes: [
      {
        outcome: "refused",
        status: [429],
        body: { "/errors/*/code": "88", "/errors/*/message": [exceeded, "*"] },
      },
    ],
  },
  policy: {
    version: 2,
    name: "x",
    quotas: {
      posts: in15Minutes(5000),
      post: in15Minutes(900),
      search: in15Minutes(300),
      create: in15Minutes(100),
      app_day: aDay(10_000, "app"),
      user_day: aDay(17, "app", "user"),
    },
    operations: {
      posts: { uses: { posts: 1 }, samples: [{ path: "/2/tweets?ids=20" }] },
      post: { uses: { post: 1 }, samples: [{ path: "/2/tweets/20" }] },
      search: { uses: { search: 1 }, samples: [{ path: "/2/tweets/search/recent?query=limit" }] },
      create: {
        uses: { create: 1, app_day: 1 },
        samples: [
          {
            method: "POST",
            path: "/2/tweets",
            headers: { "Content-Type": "application/json" },
            body: { text: "Hello" },
          },
        ],
      },
    },
    routes: [
      { methods: ["GET"], path: "/2/tweets", operation: "posts" },
      { methods: ["POST"], path: "/2/tweets", operation: "create" },
      { methods: ["GET"], path: "/2/tweets/search/recent", operation: "search" },
      { methods: ["GET"], path: "/2/tweets/{id}", operation: "post" },
    ],
    auth: { attributes: ["app", "user"] },
    wire: "x",
  },
  notes: [
    "The limits are those of a user's token; an app's own token has others, and so has each endpoint.",
    "Nobody says where 15 minutes or a day begin: here, with the first call. No Retry-After is documented.",
    "Headers of 24 hours were seen with posts that are created, on some plans of 17 a day for a user, too.",
    "What `user_day` allows is such a plan's, and no operation uses it.",
    "Caps of posts in a month are left out.",
  ],
  sources: [
    { at: "docs.x.com/fundamentals/rate-limits", kind: "documented", seen: "2026-11-22" },
    { at: "docs.x.com/x-api/fundamentals/rate-limits", kind: "documented", seen: "2026-11-22" },
    { at: "plhery/node-twitter-api-v2#495", kind: "observed", seen: "2026-11-22" },
    { at: "plhery/node-twitter-api-v2#553", kind: "observed", seen: "2026-11-22" },
  ],
  answers: [
    {
      title: "A call with room left",
      seen: "2026-11-22",
      operation: "post",
      answer: {
        status: 200,
        headers: {
          "x-rate-limit-limit": "900",
          "x-rate-limit-remaining": "847",
          "x-rate-limit-reset": "1705420800",
        },
      },
      shows: {
        outcome: "admitted",
        readings: [
          {
            quota: "post",
            limit: 900,
            remaining: 847,
            reset: { atMs: 1_705_420_800_000, means: "window-end" },
          },
        ],
      },
    },
    {
      title: "A refusal by the endpoint's window",
      seen: "2026-11-22",
      operation: "post",
      answer: {
        status: 429,
        headers: {
          "x-rate-limit-limit": "900",
          "x-rate-limit-remaining": "0",
          "x-rate-limit-reset": "1705420800",
        },
        body: { errors: [{ code: 88, message: exceeded }] },
      },
      shows: {
        outcome: "refused",
        by: "post",
        retryAfter: null,
        readings: [{ quota: "post", remaining: 0 }],
      },
    },
    {
      title: "A refusal by the app's day, while the endpoint's window and the user's day have room",
      seen: "2026-11-22",
      operation: "create",
      answer: {
        status: 429,
        headers: {
          "x-rate-limit-limit": "1080000",
          "x-rate-limit-remaining": "1079999",
          "x-rate-limit-reset": "1705420800",
          "x-app-limit-24hour-limit": "17",
          "x-app-limit-24hour-remaining": "0",
          "x-app-limit-24hour-reset": "1705449600",
          "x-user-limit-24hour-limit": "17",
          "x-user-limit-24hour-remaining": "3",
          "x-user-limit-24hour-reset": "1705449600",
        },
        body: { title: "Too Many Requests", detail: "Too Many Requests", type: "about:blank", status: 429 },
      },
      shows: {
        outcome: "refused",
        by: "app_day",
        readings: [
          { quota: "create", remaining: 1_079_999 },
          { quota: "app_day", limit: 17, remaining: 0, reset: { atMs: 1_705_449_600_000 } },
          { quota: "user_day", remaining: 3 },
        ],
      },
    },
  ],
};
