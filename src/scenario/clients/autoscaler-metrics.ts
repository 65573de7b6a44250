// The metrics that scale a fleet of agents.
import { poller } from "../behaviours/poller.ts";
import { rest } from "../calls.ts";
import type { Duration } from "../mistakes.ts";
import { none } from "../retries/none.ts";
import { type ClientPreset, presetOptions } from "./preset.ts";

export interface AutoscalerMetricsOptions {
  /** Time between calls, as the server tells it. Default: 10 s. Once it was 15 s, then 60 s. */
  readonly every?: Duration;
}

/**
 * Asks for metrics every 10 s or more slowly. Source: github.com/buildkite/buildkite-agent-metrics, pull request 83,
 * and elastic-ci-stack-for-aws, issue 169.
 */
export function autoscalerMetrics(options: AutoscalerMetricsOptions = {}): ClientPreset {
  const { every = "10s" } = presetOptions("autoscalerMetrics", options, ["every"]);
  return {
    behaviour: poller({ every, call: rest("/v2/organizations/:org/pipelines", "metrics") }),
    onRefused: none(),
  };
}
