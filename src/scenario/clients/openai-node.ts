// Programs on OpenAI's library for Node.
import { queue } from "../behaviours/queue.ts";
import { rest } from "../calls.ts";
import type { RefusalPolicy } from "../client.ts";
import { Mistakes } from "../mistakes.ts";
import { between } from "../random.ts";
import { bounded } from "../retries/bounds.ts";
import { type ClientPreset, presetOptions, requireWhole } from "./preset.ts";

export interface OpenaiNodeOptions {
  /** Number of calls. Default: 200. */
  readonly jobs?: number;
  /** Number of calls at a time. Default: 8. */
  readonly parallel?: number;
  /** Tokens that a call asks for, and tokens that it is charged in the end. Defaults: 2,000 and 800. */
  readonly tokens?: number;
  readonly used?: number;
  /** The library's own option. Default: 2. */
  readonly maxRetries?: number;
}

/**
 * Retries a refusal, a call without an answer or a 5xx twice. It waits `retry-after-ms`, else `Retry-After`, if that is
 * at most 60 s: it ignores advice of more than a minute. Otherwise it waits 0.5 s, then 1 s, up to 8 s, each less up to
 * a quarter at random. Source: npm's openai 7.57.0, `client.js`, `retryRequest` and
 * `calculateDefaultRetryTimeoutMillis`.
 */
export function openaiNode(options: OpenaiNodeOptions = {}): ClientPreset {
  const names = ["jobs", "parallel", "tokens", "used", "maxRetries"] as const;
  const given = presetOptions("openaiNode", options, names);
  const { jobs = 200, parallel = 8 } = given;
  const tokens = requireWhole("openaiNode.tokens", given.tokens ?? 2_000, 0, Number.MAX_SAFE_INTEGER);
  const used = requireWhole("openaiNode.used", given.used ?? Math.min(800, tokens), 0, tokens);
  const maxRetries = requireWhole("openaiNode.maxRetries", given.maxRetries ?? 2, 0, 1_000);
  const call = rest("/v1/chat/completions", { method: "POST", cost: tokens, actual: used });
  return { behaviour: queue({ call, jobs, workers: parallel }), onRefused: backedOff(maxRetries) };
}

const heededMostMs = 60_000;

function backedOff(maxRetries: number): RefusalPolicy {
  const bounds = { attempts: maxRetries + 1, unanswered: true };
  return bounded("openai-node", "openaiNode", bounds, new Mistakes(), (record, event) => {
    const advisedMs = event.retryAfter < 0 ? Number.NaN : event.retryAfter * 1000;
    if (advisedMs <= heededMostMs) return advisedMs;
    const waitMs = Math.min(500 * (1 << Math.min(event.attempt, 4)), 8_000);
    return between(record, waitMs * 0.75, waitMs);
  });
}
