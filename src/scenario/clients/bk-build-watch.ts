// `bk build watch`, of Buildkite's command line.
import { poller } from "../behaviours/poller.ts";
import { rest } from "../calls.ts";
import { waitReset } from "../retries/wait-reset.ts";
import type { ClientPreset } from "./preset.ts";

/**
 * One GET every second while a build runs: 60 a minute, more than a user's 50. Up to 3 retries; waits
 * `RateLimit-Reset` without jitter, 10 s where it is not shown.
 * Source: github.com/buildkite/cli.
 */
export function bkBuildWatch(): ClientPreset {
  return {
    behaviour: poller({ every: "1s", call: rest("/v2/organizations/:org/pipelines/web/builds/1", "build") }),
    onRefused: waitReset({ of: "organization", attempts: 4, fallback: "10s" }),
  };
}
