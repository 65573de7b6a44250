// The Kubernetes controller agent-stack-k8s, when it asked for jobs by GraphQL.
import { poller } from "../behaviours/poller.ts";
import { pipelinesQuery } from "../calls.ts";
import { none } from "../retries/none.ts";
import { type ClientPreset, presetOptions } from "./preset.ts";

export interface AgentStackK8sOptions {
  /** Number of pipelines asked for. Default: 4, which cost 7 points: ten controllers ask for 21,000 in 300 s. */
  readonly first?: number;
}

/**
 * Makes a GraphQL query every second. Ten such controllers exceed an organization's 20,000 points. Source:
 * github.com/buildkite/agent-stack-k8s, pull request 279. The query's own cost is not known: see `first`.
 */
export function agentStackK8s(options: AgentStackK8sOptions = {}): ClientPreset {
  const { first = 4 } = presetOptions("agentStackK8s", options, ["first"]);
  return { behaviour: poller({ every: "1s", call: pipelinesQuery(first) }), onRefused: none() };
}
