// A deployment of parcels: one policy of a window and a bucket, drawn, and probed in virtual time.
import type { Got, Send } from "../../src/connect/send.ts";
import { PolicyLimiter } from "../../src/engine/policy-limiter.ts";
import { parsePolicy } from "../../src/policy/parse.ts";
import type { Anchor, Policy } from "../../src/policy/policy.ts";
import {
  type PolicyProbeOptions,
  type PolicyProbeReport,
  probePolicy,
} from "../../src/probe/policy-probe.ts";
import { buildPolicyApp } from "../../src/service/policy-app.ts";

export interface Drawn {
  readonly limit?: number;
  readonly windowSeconds?: number;
  readonly anchor?: Anchor;
  readonly refused?: "nothing" | "counted";
  readonly writes?: number;
  readonly form?: "delta-s" | "epoch-s" | "delta-ms";
}

export const policyOf = (drawn: Drawn): Policy => {
  const { limit = 12, windowSeconds = 20, anchor = "epoch", refused = "nothing", writes = 3 } = drawn;
  return parsePolicy({
    version: 2,
    name: "parcels",
    quotas: {
      short: {
        algorithm: { kind: "fixed-window", limit, windowSeconds, anchor },
        key: ["client"],
        charge: { refused },
      },
      bursts: {
        algorithm: { kind: "token-bucket", capacity: 900, refill: { amount: 1, everyMs: 1000 } },
        key: ["client"],
      },
    },
    operations: {
      look: { uses: { short: 1, bursts: 1 }, samples: [{ path: "/a" }] },
      write: {
        uses: { short: writes, bursts: 1 },
        samples: [{ method: "POST", path: "/w", body: { x: 1 } }],
      },
    },
    routes: [
      { path: "/limits", operation: "status" },
      { methods: ["POST"], path: "/**", operation: "write" },
      { path: "/**", operation: "look" },
    ],
    auth: { attributes: ["client"] },
    wire: {
      revision: "1",
      readings: [
        {
          quotas: ["short"],
          on: ["admitted", "refused", "status"],
          headers: { "X-Limit": "{limit}", "X-Used": "{used}", "X-Reset": "{reset}" },
          reset: { form: drawn.form ?? "delta-s", means: "window-end" },
        },
        { quotas: ["bursts"], headers: { "X-Burst": "*/{limit}" } },
      ],
      retryAfter: [{ header: "Retry-After", form: "delta-s" }],
    },
  });
};

export const caller = { token: "secret-of-ann", attributes: { client: "ann" } };

/**
 * Probes a deployment of a policy in virtual time.
 * @param rewritten changes a header's value on its way
 * @param sent changes an answer on its way, or throws
 */
export async function probed(
  real: Policy,
  claimed: Policy,
  options: Partial<PolicyProbeOptions> = {},
  rewritten = (_name: string, value: string): string => value,
  sent: (got: Got, call: number) => Got = (got) => got,
): Promise<PolicyProbeReport> {
  let nowMs = Date.UTC(2026, 0, 2, 3, 2, 17, 300);
  let calls = 0;
  const now = (): number => Math.floor(nowMs);
  const app = buildPolicyApp({
    policy: real,
    tokens: [options.caller ?? caller],
    limiter: new PolicyLimiter(real),
    now,
    onUnexpected: (error) => {
      throw error;
    },
  });
  const send: Send = async ({ method, url, headers = {}, body }) => {
    nowMs += 4;
    const answer = await app.inject({
      method,
      url: new URL(url).pathname,
      headers: headers as Record<string, string>,
      ...(body !== undefined && { payload: body }),
    });
    nowMs += 4;
    const shown = Object.entries(answer.headers).map(([name, value]) => [
      name,
      rewritten(name, String(value)),
    ]);
    const date = new Date(nowMs).toUTCString();
    const headersShown = { ...Object.fromEntries(shown), date };
    return sent({ status: answer.statusCode, headers: headersShown, body: answer.body }, ++calls);
  };
  const sleep = async (ms: number): Promise<void> => {
    nowMs += ms;
  };
  return probePolicy({
    ...{ policy: claimed, target: "http://127.0.0.1:1", caller, send, now, sleep },
    ...options,
  });
}
