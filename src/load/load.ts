// `load`: a scenario against a deployment, by k6; what is left is a trace and what k6 said of itself.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SpillwayError } from "../rules/errors.ts";
import { parseRules } from "../rules/parse.ts";
import type { Rules } from "../rules/rules.ts";
import type { Token } from "../rules/tokens.ts";
import type { Scenario } from "../scenario/scenario.ts";
import type { TraceHeader } from "../trace/record.ts";
import { bundleScenario } from "./bundle.ts";
import { type K6Binary, requireK6 } from "./k6-binary.ts";
import { crossedThresholds, failureOf, notesOf } from "./outcome.ts";
import { type DeployedTarget, type LoadAdjustments, type LoadPlan, planLoad } from "./plan.ts";
import { preflight } from "./preflight.ts";
import { type K6Outcome, type K6Progress, k6Exit, k6Files, runK6 } from "./run-k6.ts";
import type { LoadedScenario } from "./scenario-file.ts";
import { parseTarget } from "./target.ts";
import { type RawAccount, traceFromK6 } from "./trace-from-k6.ts";
import type { Variable } from "./variables.ts";

/** Starts a deployment of one's own on a free port of this machine; `spillway load` passes the reference one. */
export type StartService = (options: {
  readonly rules: Rules;
  readonly tokens: readonly Token[];
}) => Promise<{ readonly url: string; close(): Promise<void> }>;

export interface LoadOptions {
  readonly scenario: LoadedScenario;
  readonly adjustments?: LoadAdjustments | undefined;
  readonly target: DeployedTarget | { readonly start: StartService };
  /** Where the trace goes (`trace.ndjson`), and what k6 leaves (`k6/`); made if need be. */
  readonly folder: string;
  /** Reuses connections; the trace is not complete then (k6 may repeat a call by itself). */
  readonly keepAlive?: boolean | undefined;
  /** Others use the same quotas meanwhile; the trace is not complete then. */
  readonly shared?: boolean | undefined;
  /** How long to wait for an answer; the scenario's `network.timeout` where it is left out. */
  readonly timeoutMs?: number | undefined;
  /** Looked up where it is left out. */
  readonly k6?: K6Binary | undefined;
  /** Aborted: the run ends soon, and all that was done is kept. Before anything is sent, `load` rejects. */
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: LoadProgress) => void) | undefined;
}

/** What is being done, in words; or how far the run is. */
export type LoadProgress = { readonly doing: string } | (K6Progress & { readonly durationMs: number });

export interface LoadResult {
  /** As it was run. */
  readonly scenario: Scenario;
  readonly header: Omit<TraceHeader, "lost">;
  /** The trace's file. */
  readonly trace: string;
  readonly endedAt: number;
  readonly account: RawAccount;
  readonly k6: K6Binary;
  readonly outcome: K6Outcome;
  /** Thresholds of k6's that were crossed: `spillway_refused rate<0.05`. */
  readonly crossed: readonly string[];
  readonly interrupted: boolean;
  /** Why the run is not what was asked for; `null` where it is, or was interrupted. */
  readonly failure: string | null;
  /** What a reader must know. */
  readonly notes: readonly string[];
}

/**
 * Runs a scenario by k6.
 * @throws SpillwayError `TARGET_NOT_ALLOWED`, `TARGET_UNREACHABLE`, `TOKENS_INVALID`, `K6_MISSING`,
 *   `SCENARIO_INVALID` before anything is sent; `SCENARIO_FAILED` where a behaviour threw, `K6_FAILED` where k6
 *   did not begin, `FILE_UNWRITABLE`. What was written until then stays in the folder.
 */
export async function load(options: LoadOptions): Promise<LoadResult> {
  const { scenario, target, adjustments = {}, signal } = options;
  // Arrivals by the clock go by the real one.
  const changes = { ...adjustments, startAtMs: Date.now() };
  const plan = planLoad(scenario.scenario, changes, "start" in target ? null : target);
  const doing = (text: string): void => options.onProgress?.({ doing: text });
  const k6 = options.k6 ?? (await requireK6({ signal }));
  const { name } = plan.scenario;
  const bundle = await bundleScenario({ path: scenario.path, name, summaryFile: true });
  const service = "start" in target ? await target.start(serviceOptions(plan)) : null;
  try {
    if (plan.target !== null) {
      doing(`asking ${plan.target.origin} for its status`);
      await preflight(plan.target, plan.tokens, { signal });
    }
    signal?.throwIfAborted();
    return await runPlan(options, plan, k6, bundle, service?.url ?? null);
  } finally {
    await service?.close();
  }
}

const serviceOptions = ({ rules, tokens }: LoadPlan) => ({ rules: rules ?? parseRules({}), tokens });

/** @param ownUrl of the service that was started for this run, `null` for a target that was there */
async function runPlan(
  options: LoadOptions,
  plan: LoadPlan,
  k6: K6Binary,
  bundle: string,
  ownUrl: string | null,
): Promise<LoadResult> {
  const folder = join(options.folder, "k6");
  const workshop = await mkdtemp(join(tmpdir(), "spillway-load-"));
  const { durationMs } = plan.scenario;
  try {
    const base = ownUrl ?? plan.target?.base ?? "";
    const { script, variables } = await furnish(workshop, options, plan, bundle, base);
    const header = headerOf(options, plan, parseTarget("--target", base).origin);
    const outcome = await runK6({
      k6: k6.path,
      script,
      folder,
      variables: { ...variables, SUMMARY: join(folder, k6Files.summary) },
      signal: options.signal,
      onProgress: (progress) => options.onProgress?.({ ...progress, durationMs }),
    });
    return await finish(options, plan, k6, outcome, header);
  } finally {
    await rm(workshop, { recursive: true, force: true });
  }
}

/** Complete: all that used these quotas is in the trace, or counted as lost (FORMAT.md). */
function headerOf(options: LoadOptions, plan: LoadPlan, target: string): Omit<TraceHeader, "lost"> {
  const isOwn = plan.target === null;
  const { name, seed } = plan.scenario;
  return {
    format: "spillway-trace",
    version: 1,
    source: "k6",
    scenario: name,
    seed,
    target,
    startedAt: Date.now(),
    clock: { kind: "wall", resolutionMs: 1, errorMs: 0 },
    rules: plan.rules,
    complete: isOwn || (options.keepAlive !== true && options.shared !== true),
  };
}

/** What k6 needs, in a folder that only this user can read: the tokens reach it by no other way. */
async function furnish(
  workshop: string,
  options: LoadOptions,
  plan: LoadPlan,
  bundle: string,
  base: string,
): Promise<{ readonly script: string; readonly variables: Record<string, string> }> {
  const script = join(workshop, `${plan.scenario.name}.js`);
  const tokens = join(workshop, "tokens.json");
  const rules = join(workshop, "rules.json");
  await writeFile(script, bundle, { mode: 0o600 });
  await writeFile(tokens, JSON.stringify(plan.tokens), { mode: 0o600 });
  if (plan.rules !== null) await writeFile(rules, JSON.stringify(plan.rules), { mode: 0o600 });
  const flag = (value: boolean | undefined): string => (value === true ? "1" : "");
  const isOwn = plan.target === null;
  // Each is set, empty if need be: the user's shell may have a TARGET of its own.
  const variables: Record<Exclude<Variable, "SUMMARY">, string> = {
    TARGET: base,
    TOKENS: tokens,
    ALLOW_HOST: plan.allowHost ?? "",
    GRAPHQL_URL: plan.graphql?.base ?? "",
    RULES: plan.rules === null ? "" : rules,
    SEED: String(plan.scenario.seed),
    START_AT_MS: String(plan.scenario.startAtMs),
    DURATION_MS: String(plan.scenario.durationMs),
    TIMEOUT_MS: String(options.timeoutMs ?? plan.scenario.network.timeoutMs),
    KEEP_ALIVE: flag(isOwn || options.keepAlive),
    // k6 may repeat a call by itself on a kept connection: as if another used the quota, too.
    SHARED: flag(!isOwn && (options.shared === true || options.keepAlive === true)),
    TRACE: "1",
  };
  return { script, variables };
}

/** The trace first, whatever happened; then what happened. */
async function finish(
  options: LoadOptions,
  plan: LoadPlan,
  k6: K6Binary,
  outcome: K6Outcome,
  header: Omit<TraceHeader, "lost">,
): Promise<LoadResult> {
  const endedAt = Date.now();
  const raw = join(options.folder, "k6", k6Files.raw);
  const trace = join(options.folder, "trace.ndjson");
  const account = await traceFromK6({
    raw,
    trace,
    header,
    inFlightMost: new Map(
      plan.scenario.populations.map(({ name, behaviour }) => [name, behaviour.inFlightMost]),
    ),
    linesFailed: outcome.linesFailed,
    requests: outcome.summary?.metrics["http_reqs"]?.values["count"] ?? null,
  });
  await rm(raw, { force: true });
  throwIfBroken(account, outcome, trace);
  const failure = failureOf(account, outcome);
  return {
    scenario: plan.scenario,
    header: { ...header, startedAt: account.startedAt },
    trace,
    endedAt,
    account,
    k6,
    outcome,
    crossed: crossedThresholds(outcome),
    interrupted: outcome.interrupted || outcome.exitCode === k6Exit.interrupted,
    failure,
    notes: [...virtualOnly(plan.scenario), ...notesOf(account, outcome)],
  };
}

/** What a scenario has and a real run has not, unless the target happens to have it. */
function virtualOnly({ network, service, outages, clocks }: Scenario): string[] {
  const parts = [
    ...(network.loss > 0 ? ["loss"] : []),
    ...(service === null ? [] : ["service"]),
    ...(outages.length === 0 ? [] : ["outages"]),
    ...(clocks.apartMs === 0 ? [] : ["clocks"]),
  ];
  return parts.length === 0
    ? []
    : [`the scenario's ${parts.join(", ")}: in virtual time only, the target is as it is`];
}

/** @throws SpillwayError where there was no run, or one of a scenario that is broken */
function throwIfBroken(account: RawAccount, outcome: K6Outcome, trace: string): void {
  const [error] = account.errors;
  if (error !== undefined)
    throw new SpillwayError("SCENARIO_FAILED", "a client of this scenario failed, and the run was ended", {
      problems: [
        {
          path: error.client,
          got: error.message.split("\n")[0] ?? "",
          allowed: "no exception, calls that can be sent",
        },
      ],
      hint: `look at this population's behaviour and onRefused; what was sent until then is in ${trace}`,
      cause: new Error(error.message),
    });
  if (account.clients > 0 || outcome.interrupted || outcome.exitCode === 0) return;
  const said = outcome.complaints.slice(0, 3).map((line) => `\n  ${line}`);
  throw new SpillwayError("K6_FAILED", `k6 ended before any client began${said.join("")}`, {
    hint: outcome.exitCode === null ? "was it killed?" : `k6's exit status was ${outcome.exitCode}`,
  });
}
