// `terraform apply` with Buildkite's provider.
import { queue } from "../behaviours/queue.ts";
import { pipelinesQuery, rest } from "../calls.ts";
import { waitReset } from "../retries/wait-reset.ts";
import { type ClientPreset, presetOptions, requireOneOf } from "./preset.ts";

export interface TerraformApplyOptions {
  /** Number of resources that it reads. Default: 200. */
  readonly resources?: number;
  /** API that it reads them by. Default: `rest`. */
  readonly api?: "rest" | "graphql";
}

/**
 * Reads ten resources at a time, with up to 10 retries each. It waits the organization's reset and 2 s, at least 15 s
 * and at most 180 s (600 s by GraphQL). Here the 2 s come on top of these bounds, which are therefore 2 s less. Source:
 * github.com/buildkite/terraform-provider-buildkite, pull requests 901 and 932.
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
