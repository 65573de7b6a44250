// Programs on GitHub's JavaScript client, with its plugins for throttling and retries.
import { queue } from "../behaviours/queue.ts";
import { rest } from "../calls.ts";
import { type ClientEvent, GIVE_UP, type RefusalPolicy } from "../client.ts";
import { Mistakes } from "../mistakes.ts";
import { bounded } from "../retries/bounds.ts";
import { type ClientPreset, presetOptions, requireOneOf, requireWhole } from "./preset.ts";

export interface OctokitOptions {
  /** Kind of calls. Default: `read`. */
  readonly calls?: "read" | "write" | "search";
  /** Number of calls. Default: 500. */
  readonly jobs?: number;
  /** Number of retries of a refused call that its two handlers allow. Default: 1, as in the plugin's README. */
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

/** Wait after a secondary limit that shows no `Retry-After`, ms. */
const fallbackMs = 60_000;

/**
 * Makes ten reads at a time, a write a second, or a search every two seconds; the plugin's other groups are left out.
 * After a primary limit, which shows 0 remaining, it waits for the reset and 1 s. After a secondary limit it waits
 * `Retry-After`, or 60 s. Without an answer, or after a 5xx, the plugin for retries waits 1, 4 and 9 s. That plugin
 * does not retry a 403, which is GitHub's refusal. Both plugins' attempts count together here. Source:
 * github.com/octokit/plugin-throttling.js v9.6 and octokit/plugin-retry.js v8.1, `src/index.ts` of both.
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

/** Greatest number of retries of a call without an answer, or with a 5xx. */
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
