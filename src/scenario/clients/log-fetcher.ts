// A tool that fetches the logs of all failed jobs at once.
import { burst } from "../behaviours/burst.ts";
import { rest } from "../calls.ts";
import { retryAfter } from "../retries/retry-after.ts";
import { type ClientPreset, presetOptions } from "./preset.ts";

export interface LogFetcherOptions {
  /** Number of logs at once. Default: 160. */
  readonly logs?: number;
}

/**
 * Starts about 160 downloads at once, of which 33 got a 429. It waits as `Retry-After` says. Without that header it
 * gives up (SPEC.md §8 `retryAfter`). Source: github.com/oven-sh/bun, pull request 42712.
 */
export function logFetcher(options: LogFetcherOptions = {}): ClientPreset {
  const { logs = 160 } = presetOptions("logFetcher", options, ["logs"]);
  return {
    behaviour: burst({
      call: rest("/v2/organizations/:org/pipelines/web/builds/1", "log"),
      size: logs,
    }),
    onRefused: retryAfter(),
  };
}
