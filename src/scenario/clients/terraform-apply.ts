// `terraform apply` with Buildkite's provider.
import { queue } from "../behaviours/queue.ts";
import { pipelinesQuery, rest } from "../calls.ts";
import { waitReset } from "../retries/wait-reset.ts";
import { type ClientPreset, presetOptions, requireOneOf } from "./preset.ts";

export interface TerraformApplyOptions {
  /** Number of resources that it reads; 200 where it is left out. */
  readonly resources?: number;
  /** By which API; REST where it is left out. */
  readonly api?: "rest" | "graphql";
}

/**
 * Ten resources at a time; up to 10 retries each. Waits the organization's reset and 2 s, no less than 15 s and
 * no more than 180 s, 600 s by GraphQL (the 2 s come on top of these bounds here).
 * Source: github.com/buildkite/terraform-provider-buildkite, pull requests 901 and 932.
 */
export function terraformApply(options: TerraformApplyOptions = {}): ClientPreset {
  const { resources = 200, api = "rest" } = presetOptions("terraformApply", options, ["resources", "api"]);
  requireOneOf("terraformApply.api", api, ["rest", "graphql"]);
  const call = api === "rest" ? rest("/v2/organizations/:org/pipelines/web") : pipelinesQuery(1);
  return {
    behaviour: queue({ call, jobs: resources, workers: 10 }),
    onRefused: waitReset({
      of: "organization",
      attempts: 11,
      least: "13s",
      most: api === "rest" ? "178s" : "598s",
      jitter: "2s",
    }),
  };
}
