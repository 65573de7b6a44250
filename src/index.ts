// The package's public entry: the functions behind the verbs, typed, without printing or exiting.
// `spillway/engine`, `spillway/laws` and `spillway/scenario` are entries of their own.
export { type SimulateOptions, type Simulation, simulate } from "../sim/simulate.ts";
export { type ChosenFault, faultNames, parseFault } from "./faults/choice.ts";
export { faultFactory } from "./faults/factory.ts";
export { type CheckOptions, type CheckReport, checkLaws } from "./laws/index.ts";
export { type LoadOptions, type LoadResult, load } from "./load/load.ts";
export { type LoadedScenario, loadScenarioFile } from "./load/scenario-file.ts";
export { type Report, type ReportOptions, writeReport } from "./report/report.ts";
export { type Run, type RunRecord, runFiles } from "./report/run.ts";
export { readRun, traceOf, writeRun } from "./report/run-folder.ts";
export { type ErrorCode, errorCodes, type Problem, SpillwayError } from "./rules/errors.ts";
export { adviseRules, parseRules } from "./rules/parse.ts";
export { type PresetName, presets } from "./rules/presets.ts";
export type { Rules, RulesInput } from "./rules/rules.ts";
export { parseTokens, type Token } from "./rules/tokens.ts";
export { adjustScenario } from "./scenario/adjust.ts";
export type { Scenario } from "./scenario/scenario.ts";
export { type AppOptions, buildApp } from "./service/app.ts";
export { type ServeOptions, type Serving, serve } from "./service/serve.ts";
export { figure, judgeExpectations } from "./summary/expectations.ts";
export { Summarizer, summarize } from "./summary/summarizer.ts";
export type { ExpectationResult, Summary } from "./summary/summary.ts";
export { readTrace, type TraceLine, type TraceReading } from "./trace/read.ts";
export type { TraceCall, TraceHeader } from "./trace/record.ts";
export { encodeCall, encodeHeader } from "./trace/write.ts";
export { judge } from "./verify/judge.ts";
export type { LawVerdict, Verdict, Violation } from "./verify/verdict.ts";
export { verify } from "./verify/verify.ts";
