// The package's public entry: the functions behind the verbs, typed, without printing or exiting.
// `spillway/engine`, `spillway/laws` and `spillway/scenario` are entries of their own.

export type { LimiterClock } from "../sim/adapter/asker.ts";
export {
  type LimiterSimulation,
  type SimulateLimiterOptions,
  simulateLimiter,
} from "../sim/adapter/simulate-limiter.ts";
export type { AnsweredCall } from "../sim/answered-call.ts";
export { type BacktestOptions, backtest } from "../sim/fit/backtest.ts";
export type { BacktestResult, FitResult } from "../sim/fit/backtest-result.ts";
export { type FitOptions, fitScenario } from "../sim/fit/fit.ts";
export type { FittedModel } from "../sim/fit/model.ts";
export { Recorder, type Recording } from "../sim/fit/recording.ts";
export { fitMarkdown } from "../sim/fit/report.ts";
export { fittedScenario, fittedSource } from "../sim/fit/source.ts";
export { type Measurement, measure } from "../sim/measure.ts";
export type { Reaction } from "../sim/replay/reaction.ts";
export { type ReplayOptions, replay, replayQuotas } from "../sim/replay/replay.ts";
export {
  type RunLength,
  type SimulateOptions,
  type Simulation,
  simulate,
  simulateNumbers,
} from "../sim/simulate.ts";
export { type QuotaSimulation, simulateQuotas } from "../sim/simulate-quotas.ts";
export {
  type FailingWorld,
  type SwarmOptions,
  type SwarmResult,
  type SwarmTarget,
  swarm,
  worldNamed,
} from "../sim/swarm/swarm.ts";
export type { WorldRecipe } from "../sim/swarm/world-recipe.ts";
export { type ChosenFault, faultNames, parseFault } from "./faults/choice.ts";
export { faultFactory } from "./faults/factory.ts";
export { type CheckOptions, type CheckReport, checkLaws } from "./laws/index.ts";
export type { RulesKind } from "./laws/law.ts";
export { type LoadOptions, type LoadResult, load } from "./load/load.ts";
export { type LoadedScenario, loadScenarioFile } from "./load/scenario-file.ts";
export type { LogOptions } from "./logs/choices.ts";
export type { LogRows, RoutedRows } from "./logs/rows.ts";
export { type PlanOptions, plan } from "./plan/plan.ts";
export { parsePolicy } from "./policy/parse.ts";
export type { Policy } from "./policy/policy.ts";
export type { PolicyInput } from "./policy/schema.ts";
export { policyOf, rulesOf } from "./policy/shorthand.ts";
export { type PolicyToken, parsePolicyTokens } from "./policy/tokens.ts";
export type { Confidence, Finding, FindingName } from "./probe/finding.ts";
export { type Allowance, type ProbeOptions, type ProbeReport, probe } from "./probe/probe.ts";
export { readStatus, type StatusOptions, type StatusReading } from "./probe/status.ts";
export type { AnyReplay } from "./report/replay-view.ts";
export { type Report, type ReportOptions, writeReport } from "./report/report.ts";
export {
  type KeptResult,
  type ResultReport,
  readResult,
  writePlanReport,
  writeReplayReport,
} from "./report/result-report.ts";
export { type PageOptions, type RunParts, writeRun } from "./report/result-writer.ts";
export { type Run, type RunRecord, runFiles } from "./report/run.ts";
export { readRun, traceOf } from "./report/run-folder.ts";
export { type ErrorCode, errorCodes, type Problem, SpillwayError } from "./rules/errors.ts";
export { adviseRules, parseRules } from "./rules/parse.ts";
export { type PresetName, presets } from "./rules/presets.ts";
export type { Rules, RulesInput } from "./rules/rules.ts";
export { parseTokens, type Token } from "./rules/tokens.ts";
export { type LogHooks, type OpenedLogs, openLogs, type PolicyOf } from "./runs/log-input.ts";
export { adjustScenario } from "./scenario/adjust.ts";
export type { FitError, Scenario } from "./scenario/scenario.ts";
export { type AppOptions, buildApp } from "./service/app.ts";
export { type Deployment, type DeployOptions, deploy } from "./service/deploy.ts";
export {
  type ServeOptions,
  type ServePolicyOptions,
  type Serving,
  serve,
  servePolicy,
} from "./service/serve.ts";
export { figure, judgeExpectations } from "./summary/expectations.ts";
export type { PlanResult } from "./summary/plan-result.ts";
export type { QuotaReplayResult } from "./summary/quota-replay-result.ts";
export type { ReplayResult } from "./summary/replay-result.ts";
export { Summarizer, summarize } from "./summary/summarizer.ts";
export type { ExpectationResult, Summary } from "./summary/summary.ts";
export { type Teller, tellerOf } from "./summary/told.ts";
export { encodeQuotaCall } from "./trace/quota-lines.ts";
export type { QuotaCall, QuotaTraceHeader } from "./trace/quota-record.ts";
export type { QuotaLine } from "./trace/quota-stream.ts";
export {
  type AnyTraceReading,
  openTrace,
  type ReadTraceOptions,
  readTrace,
  type TraceLine,
  type TraceReading,
} from "./trace/read.ts";
export type { TraceCall, TraceHeader } from "./trace/record.ts";
export type { Whose } from "./trace/whose.ts";
export { encodeCall, encodeHeader } from "./trace/write.ts";
export { claimedVerdict } from "./verify/claims.ts";
export { judge } from "./verify/judge.ts";
export type { JudgeOptions } from "./verify/judging.ts";
export { judgeQuotas } from "./verify/policy-judge.ts";
export type { LawVerdict, QuotaVerdict, RulesVerdict, Verdict, Violation } from "./verify/verdict.ts";
export { type VerifyOptions, verify } from "./verify/verify.ts";
