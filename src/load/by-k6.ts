// A run by k6: the bundle and its files, k6 itself, and the trace made of k6's output.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ConnectionOptions } from "../connect/connection.ts";
import { unwritable } from "../files/unwritable.ts";
import { makeFolder } from "../files/whole-file.ts";
import type { Policy } from "../policy/policy.ts";
import { SpillwayError } from "../rules/errors.ts";
import type { LoadAccount } from "./account.ts";
import { bundleScenario } from "./bundle.ts";
import type { Driven, DriverRun } from "./driver.ts";
import type { K6Binary } from "./k6-binary.ts";
import { accountNotes, crossedThresholds, failedChecks, failureOf, k6Notes } from "./outcome.ts";
import type { LoadPlan } from "./plan.ts";
import { type K6Outcome, k6Exit, k6Files, runK6 } from "./run-k6.ts";
import { TraceFile } from "./trace-file.ts";
import { traceFromK6 } from "./trace-from-k6.ts";
import type { Variable } from "./variables.ts";

export interface DrivenByK6 extends Driven {
  readonly driver: "k6";
  readonly k6: K6Binary;
  readonly outcome: K6Outcome;
}

/**
 * Makes a scenario ready for k6.
 * @param path the scenario's file
 * @param policy the limits that the target claims. Default: rules
 * @returns a function that runs the scenario
 * @throws SpillwayError `SCENARIO_INVALID` if it cannot be bundled
 */
export async function readyForK6(
  k6: K6Binary,
  path: string,
  name: string,
  policy: Policy | undefined,
): Promise<(run: DriverRun) => Promise<DrivenByK6>> {
  const bundle = await bundleScenario({ path, name, limits: { policy }, summaryFile: true });
  return async (run) => {
    const workshop = await mkdtemp(join(tmpdir(), "spillway-load-"));
    try {
      return await runBundle(run, k6, bundle, workshop);
    } finally {
      await rm(workshop, { recursive: true, force: true });
    }
  };
}

async function runBundle(
  run: DriverRun,
  k6: K6Binary,
  bundle: string,
  workshop: string,
): Promise<DrivenByK6> {
  const folder = join(run.folder, "k6");
  const { script, variables } = await furnish(workshop, run, bundle);
  const connection = await connectionVariables(workshop, run);
  const trace = await begunTrace(run);
  const outcome = await runK6({
    k6: k6.path,
    script,
    folder,
    variables: { ...variables, ...connection, SUMMARY: join(folder, k6Files.summary) },
    signal: run.signal,
    onProgress: run.onProgress,
  }).catch(async (error: unknown) => {
    await trace.discard();
    throw error;
  });
  const endedAt = Date.now();
  const raw = join(folder, k6Files.raw);
  const { scenario } = run.plan;
  const account = await traceFromK6({
    raw,
    trace,
    head: run.head,
    inFlightMost: new Map(scenario.populations.map(({ name, behaviour }) => [name, behaviour.inFlightMost])),
    linesFailed: outcome.linesFailed,
    requests: outcome.summary?.metrics["http_reqs"]?.values["count"] ?? null,
  });
  await rm(raw, { force: true });
  throwIfNotBegun(account, outcome);
  const checks = failedChecks(outcome);
  return {
    driver: "k6",
    k6,
    outcome,
    account,
    complete: run.head.complete,
    endedAt,
    checks,
    crossed: crossedThresholds(outcome),
    interrupted: outcome.interrupted || outcome.exitCode === k6Exit.interrupted,
    failure: failureOf(account, outcome),
    notes: [...accountNotes(account, checks), ...k6Notes(account, outcome)],
  };
}

/** Begins the trace before k6 starts: after a kill, its header explains what is left of the run. */
async function begunTrace({ folder, trace, head }: DriverRun): Promise<TraceFile> {
  await makeFolder(folder);
  return TraceFile.create(trace, head).catch((cause: unknown) => {
    throw unwritable("the trace", trace, cause);
  });
}

/** Returns the entries of a tokens file, as `readSettings` reads them. */
const tokensFile = ({ tokens, policy }: LoadPlan): unknown =>
  policy === null ? tokens : policy.tokens.map(({ token, attributes }) => ({ token, ...attributes }));

/** Writes the files that k6 needs into a folder that only this user can read. Tokens reach k6 in no other way. */
async function furnish(
  workshop: string,
  { plan, isOwn, isShared, keepAlive, base, timeoutMs }: DriverRun,
  bundle: string,
): Promise<{ readonly script: string; readonly variables: Record<string, string> }> {
  const script = join(workshop, `${plan.scenario.name}.js`);
  const tokens = join(workshop, "tokens.json");
  const rules = join(workshop, "rules.json");
  await writeFile(script, bundle, { mode: 0o600 });
  await writeFile(tokens, JSON.stringify(tokensFile(plan)), { mode: 0o600 });
  if (plan.rules !== null) await writeFile(rules, JSON.stringify(plan.rules), { mode: 0o600 });
  const flag = (value: boolean): string => (value ? "1" : "");
  // Each variable is set, to an empty text if need be: the user's shell may have a TARGET of its own.
  const variables: Record<Exclude<Variable, "SUMMARY" | "CERT" | "KEY">, string> = {
    TARGET: base,
    TOKENS: tokens,
    ALLOW_HOST: plan.allowHost ?? "",
    GRAPHQL_URL: plan.graphql?.url ?? "",
    RULES: plan.rules === null ? "" : rules,
    SEED: String(plan.scenario.seed),
    START_AT_MS: String(plan.scenario.startAtMs),
    DURATION_MS: String(plan.scenario.durationMs),
    TIMEOUT_MS: String(timeoutMs),
    KEEP_ALIVE: flag(isOwn || keepAlive),
    SHARED: flag(isShared),
    TRACE: "1",
  };
  return { script, variables };
}

/**
 * Writes the files for TLS beside the bundle, for this user alone, and names them to k6. Go takes authorities from the
 * environment (crypto/x509, root_unix.go): a missing folder keeps out those of the system. Go takes the proxy from the
 * environment, too, except for loopback (x/net/http/httpproxy).
 * @throws SpillwayError `USAGE` on platforms where Go trusts the system's authorities only
 */
export async function connectionVariables(
  workshop: string,
  { tls: { ca, cert, key } = {}, proxy }: ConnectionOptions,
  platform: NodeJS.Platform = process.platform,
): Promise<Record<string, string>> {
  if (ca !== undefined && (platform === "darwin" || platform === "win32"))
    throw new SpillwayError("USAGE", "k6 trusts the authorities of the system alone on this platform", {
      problem: { path: "--ca", got: "a file, with k6", allowed: "--driver node, which takes it everywhere" },
      hint: "or add the authority to those of the system, and leave --ca out",
    });
  const file = async (name: string, text: string | undefined): Promise<string> => {
    if (text === undefined) return "";
    const path = join(workshop, name);
    await writeFile(path, text, { mode: 0o600 });
    return path;
  };
  return {
    CERT: await file("cert.pem", cert),
    KEY: await file("key.pem", key),
    ...(ca === undefined
      ? {}
      : { SSL_CERT_FILE: await file("ca.pem", ca), SSL_CERT_DIR: join(workshop, "no-other-authorities") }),
    ...(proxy === undefined ? {} : { HTTPS_PROXY: proxy.url, NO_PROXY: proxy.except }),
  };
}

/** @throws SpillwayError `K6_FAILED` if there was no run */
function throwIfNotBegun(account: LoadAccount, outcome: K6Outcome): void {
  if (account.clients > 0 || outcome.interrupted || outcome.exitCode === 0) return;
  const said = outcome.complaints.slice(0, 3).join("; ");
  throw new SpillwayError("K6_FAILED", `k6 ended before any client began${said && `: ${said}`}`, {
    hint: outcome.exitCode === null ? "was it killed?" : `k6's exit status was ${outcome.exitCode}`,
  });
}
