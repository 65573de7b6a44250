// `bk preflight`, of Buildkite's command line.
import { poller } from "../behaviours/poller.ts";
import { rest } from "../calls.ts";
import { waitReset } from "../retries/wait-reset.ts";
import type { ClientPreset } from "./preset.ts";

/**
 * Makes one GET every 2 s. It retries like the rest of that command line: up to 3 times, by `RateLimit-Reset`. Source:
 * github.com/buildkite/cli.
 */
export function bkPreflight(): ClientPreset {
  return {
    behaviour: poller({ every: "2s", call: rest("/v2/organizations/:org/pipelines/web/builds/1", "build") }),
    onRefused: waitReset({ of: "organization", attempts: 4, fallback: "10s" }),
  };
}
