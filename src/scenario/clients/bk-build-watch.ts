// `bk build watch`, of Buildkite's command line.
import { poller } from "../behaviours/poller.ts";
import { rest } from "../calls.ts";
import { waitReset } from "../retries/wait-reset.ts";
import type { ClientPreset } from "./preset.ts";

/**
 * Makes one GET every second while a build runs: 60 a minute, more than a user's 50. It retries up to 3 times, and
 * waits `RateLimit-Reset` without jitter, or 10 s if that is not shown. Source: github.com/buildkite/cli.
 */
export function bkBuildWatch(): ClientPreset {
  return {
    behaviour: poller({ every: "1s", call: rest("/v2/organizations/:org/pipelines/web/builds/1", "build") }),
    onRefused: waitReset({ of: "organization", attempts: 4, fallback: "10s" }),
  };
}
