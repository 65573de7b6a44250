// Programs on GitHub's JavaScript client, with its plugins for throttling and retries.
import { queue } from "../behaviours/queue.ts";
import { rest } from "../calls.ts";
import { type ClientEvent, GIVE_UP, type RefusalPolicy } from "../client.ts";
import { Mistakes } from "../mistakes.ts";
import { bounded } from "../retries/bounds.ts";
import { type ClientPreset, presetOptions, requireOneOf, requireWhole } from "./preset.ts";

export interface OctokitOptions {
  /** Kind of its calls; `read` where it is left out. */
  readonly calls?: "read" | "write" | "search";
  /** Number of calls; 500 where it is left out. */
  readonly jobs?: number;
  /** Retries that its two handlers allow of a refused call; 1, as in the plugin's README, where it is left out. */
  readonly retries?: number;
}

const groups = {
  read: { call: rest("/repos/acme/app/pulls"), workers: 10 },
  write: {
    call: rest("/repos/acme/app/issues/1/reactions", { method: "POST" }),
    workers: 1,
    every: "1s",
  },
  search: { call: rest("/search/issues", "search"), workers: 1, every: "2s" },
} as const;

/** Waited where a secondary limit tells no `Retry-After`. */
const fallbackMs = 60_000;

/**
 * Ten reads at a time, a write a second, a search each two seconds; its other groups are left out. A call that a
 * primary limit refused, which shows 0 remaining, waits for the reset and 1 s; of a secondary limit, `Retry-After`, or
 * 60 s. Without an answer, or after a 5xx, the plugin for retries waits 1, 4 and 9 s; both plugins' attempts count
 * together here. That plugin leaves a 403 alone, as GitHub refuses.
 * Source: github.com/octokit/plugin-throttling.js v9.6 and octokit/plugin-retry.js v8.1, `src/index.ts` of both.
 */
export function octokit(options: OctokitOptions = {}): ClientPreset {
  const {
    calls = "read",
    jobs = 500,
    retries = 1,
  } = presetOptions("octokit", options, ["calls", "jobs", "retries"]);
  requireOneOf("octokit.calls", calls, Object.keys(groups));
  return {
    behaviour: queue({ ...groups[calls], jobs }),
    onRefused: throttled(requireWhole("octokit.retries", retries, 0, 1_000)),
  };
}

/** Retries of calls that were not answered, or by a 5xx. */
const failuresMost = 3;

function throttled(retries: number): RefusalPolicy {
  const most = Math.max(retries, failuresMost);
  return bounded(
    "octokit",
    "octokit",
    { attempts: most + 1, unanswered: true },
    new Mistakes(),
    (_, event) => {
      if (event.status === 0 || event.status >= 500) return failed(event);
      if (event.attempt >= retries) return GIVE_UP;
      if (event.remaining === 0 || event.userRemaining === 0)
        return (
          Math.max(event.remaining === 0 ? event.reset : 0, event.userRemaining === 0 ? event.userReset : 0) *
            1000 +
          1_000
        );
      return event.retryAfter > 0 ? event.retryAfter * 1000 : fallbackMs;
    },
  );
}

const failed = ({ attempt }: ClientEvent): number =>
  attempt < failuresMost ? 1_000 * (attempt + 1) * (attempt + 1) : GIVE_UP;
