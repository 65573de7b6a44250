// The entry `spillway/scenario`: everything that a scenario file needs. It runs in Node and in k6.
export type { RulesInput } from "../rules/rules.ts";
export { type Adjustments, adjustScenario } from "./adjust.ts";
export { adviseScenario } from "./advice.ts";
export type {
  Arrivals,
  ConstantArrivals,
  CronArrivals,
  DayArrivals,
  FleetArrivals,
  PoissonArrivals,
  RampingArrivals,
} from "./arrival-input.ts";
export { type AimdOptions, aimd } from "./behaviours/aimd.ts";
export { type BurstOptions, burst } from "./behaviours/burst.ts";
export { type LookerOptions, looker } from "./behaviours/looker.ts";
export { type PacedOptions, paced } from "./behaviours/paced.ts";
export type { PaceInput, PacesInput } from "./behaviours/paces.ts";
export { type PagerOptions, pager } from "./behaviours/pager.ts";
export { type PollerOptions, poller } from "./behaviours/poller.ts";
export { type QueueOptions, queue } from "./behaviours/queue.ts";
export {
  type AwayOptions,
  type SessionsOptions,
  sessions,
  type TimetableOptions,
  type WokenOptions,
} from "./behaviours/sessions.ts";
export { type TogetherOptions, together } from "./behaviours/together.ts";
export type { Calls, WeightedCall } from "./behaviours/weighted-calls.ts";
export { type WorkerOptions, worker } from "./behaviours/worker.ts";
export {
  type GraphqlOptions,
  graphql,
  pipelinesQuery,
  type RestOptions,
  rest,
  status,
  withHeaders,
} from "./calls.ts";
export {
  ABSENT,
  ANSWERED,
  type Behaviour,
  type CallTemplate,
  type ClientEvent,
  type ClientOut,
  type ClientRecord,
  GIVE_UP,
  type RefusalPolicy,
  STARTED,
} from "./client.ts";
export { type AgentStackK8sOptions, agentStackK8s } from "./clients/agent-stack-k8s.ts";
export { type AutoscalerMetricsOptions, autoscalerMetrics } from "./clients/autoscaler-metrics.ts";
export { bkBuildWatch } from "./clients/bk-build-watch.ts";
export { type BkJobListOptions, bkJobList } from "./clients/bk-job-list.ts";
export { bkPreflight } from "./clients/bk-preflight.ts";
export { type CiCommentBotOptions, ciCommentBot } from "./clients/ci-comment-bot.ts";
export { type DashboardPerViewerOptions, dashboardPerViewer } from "./clients/dashboard-per-viewer.ts";
export { type GhApiPaginateOptions, ghApiPaginate } from "./clients/gh-api-paginate.ts";
export { goBuildkiteNext } from "./clients/go-buildkite-next.ts";
export { goBuildkiteV423 } from "./clients/go-buildkite-v4-23.ts";
export { herd } from "./clients/herd.ts";
export { type LogFetcherOptions, logFetcher } from "./clients/log-fetcher.ts";
export { mcpBuildWait } from "./clients/mcp-build-wait.ts";
export { type OctokitOptions, octokit } from "./clients/octokit.ts";
export { type OpenaiNodeOptions, openaiNode } from "./clients/openai-node.ts";
export type { ClientPreset } from "./clients/preset.ts";
export { type TerraformApplyOptions, terraformApply } from "./clients/terraform-apply.ts";
export { type VscodeExtensionOptions, vscodeExtension } from "./clients/vscode-extension.ts";
export { defineScenario } from "./define.ts";
export type { Duration, DurationSpan } from "./mistakes.ts";
export type {
  ClocksInput,
  NetworkInput,
  OutageInput,
  ServiceInput,
} from "./network.ts";
export { below, between, type RandomState } from "./random.ts";
export { type ExponentialOptions, exponential } from "./retries/exponential.ts";
export { type FixedOptions, fixed } from "./retries/fixed.ts";
export { none } from "./retries/none.ts";
export { type RetryAfterOptions, retryAfter } from "./retries/retry-after.ts";
export { type WaitResetOptions, waitReset } from "./retries/wait-reset.ts";
export type { RhythmInput } from "./rhythm.ts";
export type { Expectations, PopulationInput, Scenario, ScenarioInput } from "./scenario.ts";
export type { LognormalInput, QuantilesInput, SpreadInput } from "./spread.ts";
export type { WakesInput } from "./wakes.ts";
