// `load`: runs a scenario against a deployment, by k6 or by Node. It leaves a trace and the driver's files.
import { join } from "node:path";
import type { ConnectionOptions } from "../connect/connection.ts";
import { parseTarget } from "../connect/target.ts";
import type { Policy } from "../policy/policy.ts";
import type { PolicyToken } from "../policy/tokens.ts";
import { SpillwayError } from "../rules/errors.ts";
import { parseRules } from "../rules/parse.ts";
import type { Rules } from "../rules/rules.ts";
import type { Token } from "../rules/tokens.ts";
import type { Scenario } from "../scenario/scenario.ts";
import type { LoadAccount } from "./account.ts";
import { type DrivenByK6, readyForK6 } from "./by-k6.ts";
import type { DrivenByNode } from "./by-node.ts";
import { chooseDriver, type DriverChoice, type DriverRun } from "./driver.ts";
import type { NodeDrive } from "./node/run.ts";
import { type DeployedTarget, type LoadAdjustments, type LoadPlan, planLoad } from "./plan.ts";
import { preflight } from "./preflight.ts";
import type { RunProgress } from "./raw-progress.ts";
import type { LoadedScenario } from "./scenario-file.ts";
import type { TraceHead } from "./trace-file.ts";

/** Starts a deployment of the run's own on a free port of this machine; `spillway load` passes the reference one. */
export type StartService = (options: {
  readonly rules: Rules;
  readonly tokens: readonly Token[];
  /** Policy of a stand-in, in place of `rules` and `tokens`. */
  readonly policy?: { readonly policy: Policy; readonly tokens: readonly PolicyToken[] } | undefined;
}) => Promise<{ readonly url: string; close(): Promise<void> }>;

export interface LoadOptions extends ConnectionOptions {
  readonly scenario: LoadedScenario;
  readonly adjustments?: LoadAdjustments | undefined;
  readonly target: DeployedTarget | { readonly start: StartService };
  /** Folder of the trace (`trace.ndjson`) and of k6's files (`k6/`); made if need be. */
  readonly folder: string;
  /** True if k6 reuses connections, as Node does. The trace is then not complete: k6 may repeat a call by itself. */
  readonly keepAlive?: boolean | undefined;
  /** True if others use the same quotas meanwhile. The trace is then not complete. */
  readonly shared?: boolean | undefined;
  /** Longest wait for an answer, ms. Default: the scenario's `network.timeout`. */
  readonly timeoutMs?: number | undefined;
  /** Driver: `{ driver: "node", because: null }`, or a k6. Default: k6 if it is found, else Node. */
  readonly by?: DriverChoice | undefined;
  /** Runs the clients under Node. Default: in this thread. */
  readonly drive?: NodeDrive | undefined;
  /** Signal that ends the run soon; its results are kept. `load` rejects if nothing was sent yet. */
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: LoadProgress) => void) | undefined;
}

/** Step that is being done, in words; or the progress of the run. */
export type LoadProgress = { readonly doing: string } | (RunProgress & { readonly durationMs: number });

export type LoadResult = (DrivenByK6 | DrivenByNode) & {
  /** Scenario as it was run. */
  readonly scenario: Scenario;
  readonly header: TraceHead;
  /** Path of the trace. */
  readonly trace: string;
};

/**
 * Runs a scenario for real.
 * @throws SpillwayError `TARGET_NOT_ALLOWED`, `TARGET_UNREACHABLE`, `TOKENS_INVALID`, `K6_MISSING`, `SCENARIO_INVALID`
 *   before anything is sent; `SCENARIO_FAILED` if a behaviour threw, `K6_FAILED` if k6 did not begin,
 *   `FILE_UNWRITABLE`. The folder keeps what was written until then.
 */
export async function load(options: LoadOptions): Promise<LoadResult> {
  const { scenario, target, adjustments = {}, signal } = options;
  // Arrivals by the clock follow the real clock.
  const changes = { ...adjustments, startAtMs: Date.now() };
  const plan = planLoad(scenario.scenario, changes, "start" in target ? null : target);
  const choice = options.by ?? (await chooseDriver(undefined, { signal }));
  const drive = await driverOf(choice, scenario.path, plan.scenario);
  const service = "start" in target ? await target.start(serviceOptions(plan)) : null;
  try {
    if (plan.target !== null && plan.policy === null) {
      options.onProgress?.({ doing: `asking ${plan.target.origin} for its status` });
      const { tls, proxy, timeoutMs } = options;
      await preflight(plan.target, plan.tokens, { signal, tls, proxy, timeoutMs });
    }
    signal?.throwIfAborted();
    const run = runOf(options, plan, choice, service?.url ?? null);
    const driven = await drive(run);
    throwIfBroken(driven.account);
    const { account, complete } = driven;
    return {
      ...driven,
      scenario: plan.scenario,
      header: { ...run.head, startedAt: account.startedAt, complete },
      trace: run.trace,
      notes: [...virtualOnly(plan.scenario), ...driven.notes],
    };
  } finally {
    await service?.close();
  }
}

/** @throws SpillwayError if k6 cannot take the scenario */
async function driverOf(
  choice: DriverChoice,
  path: string,
  { name, policy }: Scenario,
): Promise<(run: DriverRun) => Promise<DrivenByK6 | DrivenByNode>> {
  if (choice.driver === "k6") return readyForK6(choice.k6, path, name, policy);
  return (await import("./by-node.ts")).runInNode;
}

const serviceOptions = ({ rules, tokens, policy, scenario }: LoadPlan) => ({
  rules: rules ?? parseRules({}),
  tokens,
  policy:
    scenario.policy === undefined || policy === null
      ? undefined
      : { policy: scenario.policy, tokens: policy.tokens },
});

/** @param ownUrl URL of the service that was started for this run; `null` for a target that was there */
function runOf(
  options: LoadOptions,
  plan: LoadPlan,
  { driver }: DriverChoice,
  ownUrl: string | null,
): DriverRun {
  const { tls, proxy, folder, drive, signal, onProgress, timeoutMs, shared = false } = options;
  const { durationMs, network, name, seed } = plan.scenario;
  const base = ownUrl ?? plan.target?.base ?? "";
  const isOwn = ownUrl !== null;
  const keepAlive = options.keepAlive === true;
  // k6 may repeat a call by itself on a kept connection, which looks like another user of the quota.
  const isShared = !isOwn && (shared || (keepAlive && driver === "k6"));
  const { policy } = plan.scenario;
  const head: TraceHead = {
    format: "spillway-trace",
    source: driver,
    scenario: name,
    seed,
    target: parseTarget("--target", base).origin,
    startedAt: Date.now(),
    clock: { kind: "wall", resolutionMs: 1, errorMs: 0 },
    ...(policy === undefined ? { version: 1, rules: plan.rules } : { version: 2, policy }),
    // All calls that used these quotas are in the trace, or counted as lost (FORMAT.md).
    complete: !isShared,
  };
  return {
    tls,
    proxy,
    plan,
    base,
    isOwn,
    isShared,
    keepAlive,
    timeoutMs: timeoutMs ?? network.timeoutMs,
    folder,
    trace: join(folder, "trace.ndjson"),
    head,
    drive,
    signal,
    onProgress: onProgress && ((progress) => onProgress({ ...progress, durationMs })),
  };
}

/** Notes the parts of a scenario that a real run ignores, unless the target happens to have them. */
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

/** @throws SpillwayError if a client of the scenario is broken */
function throwIfBroken({ errors: [error] }: LoadAccount): void {
  if (error === undefined) return;
  throw new SpillwayError("SCENARIO_FAILED", "a client of this scenario failed, and the run was ended", {
    problem: {
      path: error.client,
      got: error.message.split("\n")[0] ?? "",
      allowed: "no exception, calls that can be sent",
    },
    hint: "look at this population's behaviour and onRefused; what was sent until then is kept",
    cause: new Error(error.message),
  });
}
