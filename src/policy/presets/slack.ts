// Slack's limits of methods, which no answer shows: the documentation says how many calls a minute are sure to pass.
import type { Preset } from "../preset.ts";

const tier = (limit: number) =>
  ({
    key: ["app", "workspace", "method"],
    algorithm: { kind: "fixed-window", limit, windowSeconds: 60, anchor: "first-request" },
    enforced: "unknown",
  }) as const;
const method = (name: string, operation: string) => ({
  path: `/api/${name}`,
  operation,
  attributes: { method: { text: name } },
});

export const slack: Preset = {
  title: "Slack's Web API, for an app in a workspace",
  wire: {
    revision: "2026-11",
    retryAfter: [{ header: "Retry-After", form: "delta-s" }],
    outcomes: [
      { outcome: "refused", status: [429], body: { "/ok": "false", "/error": ["ratelimited", "*"] } },
    ],
  },
  policy: {
    version: 2,
    name: "slack",
    quotas: {
      tier_2: tier(20),
      tier_3: tier(50),
      tier_4: tier(100),
      posting: {
        key: ["app", "workspace", "channel"],
        algorithm: { kind: "fixed-window", limit: 1, windowSeconds: 1, anchor: "first-request" },
        enforced: "unknown",
      },
    },
    operations: {
      list: { uses: { tier_2: 1 }, samples: [{ path: "/api/conversations.list" }] },
      look: { uses: { tier_3: 1 }, samples: [{ path: "/api/conversations.info?channel=C1" }] },
      tell: { uses: { tier_4: 1 }, samples: [{ path: "/api/users.info?user=U1" }] },
      post: {
        uses: { posting: 1 },
        samples: [
          {
            method: "POST",
            path: "/api/chat.postMessage",
            headers: { "Content-Type": "application/json" },
            body: { channel: "C1", text: "Hello" },
          },
        ],
      },
    },
    routes: [
      method("conversations.list", "list"),
      method("users.list", "list"),
      method("conversations.info", "look"),
      method("conversations.history", "look"),
      method("users.info", "tell"),
      method("conversations.members", "tell"),
      {
        methods: ["POST"],
        path: "/api/chat.postMessage",
        operation: "post",
        attributes: { channel: { pointer: "/channel" } },
      },
    ],
    auth: { attributes: ["app", "workspace"] },
    wire: "slack",
  },
  notes: [
    "A tier says at least so many calls a minute, and bursts pass: who judges accuses nobody, and who decides refuses beyond it.",
    "No answer shows a limit; a refusal has Retry-After alone. A window stands in for whatever counts there.",
    "Seven methods stand for the others, each by its own tier; tier 1 and methods with terms of their own are left out.",
    "Some apps outside the Marketplace have lower limits of conversations.history.",
    "The limit of posting in a whole workspace is not published, and left out. A channel is read from a JSON body alone.",
  ],
  sources: [
    { at: "docs.slack.dev/apis/web-api/rate-limits", kind: "documented", seen: "2026-11-22" },
    { at: "docs.slack.dev/reference/methods", kind: "documented", seen: "2026-11-22" },
    { at: "slackapi/python-slack-sdk#805", kind: "observed", seen: "2026-11-22" },
  ],
  answers: [
    {
      title: "A call that passes: nothing is told",
      seen: "2026-11-22",
      operation: "list",
      answer: { status: 200, headers: {}, body: { ok: true, channels: [] } },
      shows: { outcome: "admitted", by: null, retryAfter: null, readings: [] },
    },
    {
      title: "A refusal, with seconds to wait",
      seen: "2026-11-22",
      operation: "list",
      answer: {
        status: 429,
        headers: { "Retry-After": "30" },
        body: { ok: false, error: "ratelimited" },
      },
      shows: { outcome: "refused", by: "tier_2", retryAfter: { afterMs: 30_000 }, readings: [] },
    },
  ],
};
