// Policies for tests: one of three dimensions and five quotas, as people write it.
import type { PolicyInput } from "../../src/policy/schema.ts";

/** A tenant's requests and tokens, a user's requests, a day's tokens of a model, and a bucket of a user and model. */
export const inference = {
  version: 2,
  name: "inference",
  quotas: {
    tenant: {
      algorithm: { kind: "fixed-window", limit: 40, windowSeconds: 60 },
      key: ["tenant"],
    },
    tenant_tokens: {
      algorithm: { kind: "token-bucket", capacity: 4_000, refill: { amount: 2_000, everyMs: 60_000 } },
      key: ["tenant"],
      unit: "tokens",
      charge: { when: "reserve-settle" },
    },
    user: {
      algorithm: { kind: "fixed-window", limit: 15, windowSeconds: 10, anchor: "first-request" },
      key: ["tenant", "user"],
      charge: { refused: "counted" },
    },
    model_day: {
      algorithm: {
        kind: "fixed-window",
        limit: 90_000,
        anchor: { calendar: "day", zone: "America/New_York" },
      },
      key: ["tenant", "model"],
      unit: "tokens",
      charge: { when: "completion", fits: "any-left" },
    },
    burst: {
      algorithm: { kind: "token-bucket", capacity: 5, refill: { amount: 1, everyMs: 700 } },
      key: ["user", "model"],
      enforced: { with: "anybody" },
    },
    anybody: { algorithm: { kind: "token-bucket", capacity: 100, refill: { amount: 50, everyMs: 1_000 } } },
  },
  operations: {
    complete: {
      uses: { tenant: 1, tenant_tokens: "declared", user: 1, model_day: { atMost: 900 }, burst: 1 },
    },
    list: { uses: { anybody: 1, user: 2, model_day: 3 }, relation: "each-alone" },
    look: { uses: { user: 1, tenant: 1, anybody: 3 }, relation: "first-refusal-stops" },
  },
  routes: [
    {
      methods: ["POST"],
      path: "/v1/complete",
      operation: "complete",
      attributes: { model: { pointer: "/model" } },
    },
    { path: "/v1/models/{model}/**", operation: "list" },
    { path: "/v1/status", operation: "status" },
  ],
  auth: { attributes: ["tenant", "user"] },
  overrides: [
    { match: { tenant: "big" }, quotas: { tenant: { limit: 400 }, tenant_tokens: { capacity: 8_000 } } },
  ],
} as const satisfies PolicyInput;
