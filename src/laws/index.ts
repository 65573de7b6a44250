// The entry `spillway/laws`: the laws as properties over any limiter (SPEC.md §7).
export type {
  Asked,
  Call,
  LimiterAdapter,
  LimiterFactory,
  PartialDecision,
  PartialReadings,
  Seam,
  WindowReading,
} from "../engine/adapter.ts";
export { stillSeam } from "../engine/adapter.ts";
export type { PlaceOf } from "../engine/limiter-failure.ts";
export type {
  PartialQuotaReading,
  QuotaDecision as QuotaVerdict,
  QuotaLimiter,
  QuotaLimiterFactory,
  QuotaSaid,
} from "../engine/quota-limiter.ts";
export { type Algorithm, algorithmStatements, algorithms, lawsOf } from "../rules/algorithms.ts";
export { type LimiterLawName, limiterLawNames, limiterLawStatements } from "../rules/laws.ts";
export { parseRules } from "../rules/parse.ts";
export { presets } from "../rules/presets.ts";
export {
  type OrganizationLimit,
  type Owner,
  organizationLimit,
  type Rules,
  type RulesInput,
  type Scope,
  userLimit,
  type WindowLimit,
} from "../rules/rules.ts";
export type { HttpAnswer } from "../wire/answer.ts";
export { readRateLimitHeaders } from "../wire/dialects.ts";
export { judgeScript } from "./causes.ts";
export { checkLaws } from "./check.ts";
export type { CheckOptions, CheckProgress } from "./check-options.ts";
export { type DescribeOptions, describeLimiter, type RegisterTest } from "./describe-limiter.ts";
export { engineAdapter, engineFactory, quotaEngine } from "./engine-factory.ts";
export type { RunEvidence } from "./evidence.ts";
export type { History, HistoryEvent } from "./history.ts";
export {
  type FetchHandler,
  type FetchOptions,
  fetchLimiter,
  type HttpKind,
  type Injectable,
  type InjectOptions,
  type InjectRequest,
  injectLimiter,
  type MiddlewareOptions,
  middlewareLimiter,
} from "./http-limiter.ts";
export {
  checkInterleavings,
  type InterleavingOptions,
} from "./interleavings.ts";
export {
  type KeyedAnswer,
  type KeyedKind,
  type KeyedLimiter,
  type KeyedOptions,
  type KeyedReading,
  type KeyedSettings,
  keyedLaws,
  keyedLimiter,
} from "./keyed.ts";
export { type KnownCounterexample, type KnownState, parseKnown, type ScriptLimits } from "./known.ts";
export type { Compared, Judgement, LawViolation as Violation, RulesKind } from "./law.ts";
export type { Middleware, MiddlewareRequest } from "./middleware.ts";
export type { Round, UnexplainedScript as Unexplained } from "./orders.ts";
export type { InterleavingReport, OverlapOptions } from "./overlaps.ts";
export type { Timers } from "./patience.ts";
export { checkQuotaInterleavings } from "./quotas/interleavings.ts";
export { checkQuotaLaws } from "./quotas/kit.ts";
export { renderQuotaCounterexample, renderQuotaInterleaving } from "./quotas/timeline.ts";
export type { CheckReport, Counterexample, Failure, LawOutcome as Outcome, LawReport } from "./report.ts";
export type { Op, Script } from "./script.ts";
export type { QuotasKind } from "./sight.ts";
export { type CountingStore, type StoreCount, type StoreOptions, storeLimiter } from "./store-limiter.ts";
export { renderCounterexample, renderInterleaving } from "./timeline.ts";
