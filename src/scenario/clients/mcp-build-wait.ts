// The tool that waits for a build in Buildkite's MCP server.
import { poller } from "../behaviours/poller.ts";
import { rest } from "../calls.ts";
import { none } from "../retries/none.ts";
import type { ClientPreset } from "./preset.ts";

/** Makes a GET every 5 s until the build is over. Source: github.com/buildkite/buildkite-mcp-server. */
export function mcpBuildWait(): ClientPreset {
  return {
    behaviour: poller({ every: "5s", call: rest("/v2/organizations/:org/pipelines/web/builds/1", "build") }),
    onRefused: none(),
  };
}
