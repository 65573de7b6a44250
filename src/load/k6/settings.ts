// The settings of a run, from `__ENV` and files, read in k6's init. Every VU runs this. Long settings (tokens) are read
// once, into memory that all VUs share.
import { SharedArray } from "k6/data";
import { parseTarget, requireAllowed } from "../../connect/target.ts";
import { parseLimitsFile } from "../../policy/limits-file.ts";
import { parsePolicyTokens } from "../../policy/tokens.ts";
import { parseTokensFile } from "../../rules/tokens.ts";
import { adjustScenario } from "../../scenario/adjust.ts";
import type { Stay } from "../../scenario/fleet.ts";
import type { Population, Scenario } from "../../scenario/scenario.ts";
import { type Caller, seatCallers } from "../callers.ts";
import type { LedgerSettings } from "../ledger.ts";
import { dealtCallers } from "../policy-callers.ts";
import { PolicyBook } from "../policy-ledger.ts";
import { type Addresses, graphqlUrlAt } from "../request.ts";
import { plannedStays } from "../stays.ts";
import { measuredBy } from "../thresholds.ts";
import type { Variable } from "../variables.ts";
import { isKnownToK6 } from "./known-arrivals.ts";

/** Settings of a run. `scenario` has this run's changes. */
export interface Settings extends LedgerSettings, Addresses {
  /** `null` under rules. */
  readonly book: PolicyBook | null;
  readonly timeoutMs: number;
  readonly keepAlive: boolean;
  /** PEM texts by which a target of https knows its caller. */
  readonly certificate: { readonly cert: string; readonly key: string } | null;
  /** Our own metrics that the thresholds need; `null` for none. Each sample takes k6 as long as reading a header. */
  readonly measured: { readonly refused: boolean; readonly wait: boolean } | null;
  /** True if each answer gets a line. */
  readonly trace: boolean;
  /** Planned stays of each population that k6 cannot schedule; `null` for one that it can. */
  readonly stays: readonly (readonly Stay[] | null)[];
}

function variable(name: Variable): string | undefined {
  const value = __ENV[name];
  return value === "" ? undefined : value;
}

function flag(name: Variable): boolean {
  const text = variable(name);
  if (text === undefined || text === "0" || text === "1") return text === "1";
  throw new Error(`${name} is ${text}: it must be 1 or 0`);
}

function certificate(): Settings["certificate"] {
  const [cert, key] = [variable("CERT"), variable("KEY")];
  if (cert === undefined && key === undefined) return null;
  if (cert === undefined || key === undefined) throw new Error("CERT and KEY go together");
  return { cert: open(cert), key: open(key) };
}

function wholeNumber(name: Variable): number | undefined {
  const text = variable(name);
  if (text === undefined) return undefined;
  const number = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isSafeInteger(number)) return number;
  throw new Error(`${name} is ${text}: it must be a whole number`);
}

/**
 * Reads the settings. Paths of files are relative to the bundle.
 * @throws Error or SpillwayError saying what is missing or wrong; k6 then ends with status 107
 */
export function readSettings(written: Scenario): Settings {
  if (written?.format !== "spillway-scenario")
    throw new Error("the scenario's default export is not what defineScenario returns");
  const targetText = variable("TARGET");
  if (targetText === undefined)
    throw new Error(
      "name the target: k6 run -e TARGET=http://127.0.0.1:4100 -e TOKENS=$PWD/tokens.json FILE",
    );
  const target = parseTarget("TARGET", targetText);
  const allowHost = variable("ALLOW_HOST") ?? null;
  requireAllowed("TARGET", target, allowHost, "-e ALLOW_HOST=");
  const graphql = variable("GRAPHQL_URL");
  const graphqlTarget = graphql === undefined ? null : parseTarget("GRAPHQL_URL", graphql);
  if (graphqlTarget !== null) requireAllowed("GRAPHQL_URL", graphqlTarget, allowHost, "-e ALLOW_HOST=");
  const rulesPath = variable("RULES");
  const scenario = adjustScenario(written, {
    seed: wholeNumber("SEED"),
    startAtMs: wholeNumber("START_AT_MS") ?? Date.now(),
    durationMs: wholeNumber("DURATION_MS"),
    rules: rulesPath === undefined ? undefined : parseLimitsFile(open(rulesPath), rulesPath),
  });
  return {
    scenario,
    book: scenario.policy === undefined ? null : new PolicyBook(scenario.policy),
    base: target.base,
    graphqlUrl: graphqlTarget?.url ?? graphqlUrlAt(target.base, scenario.policy),
    timeoutMs: wholeNumber("TIMEOUT_MS") ?? scenario.network.timeoutMs,
    keepAlive: flag("KEEP_ALIVE"),
    certificate: certificate(),
    measured: measuredBy(scenario.expect),
    trace: flag("TRACE"),
    shared: flag("SHARED"),
    stays: scenario.populations.map((population, place) => sharedStays(scenario, population, place)),
    callers: callersOf(scenario, variable("TOKENS") ?? "tokens.json"),
  };
}

function sharedStays(
  scenario: Scenario,
  { name, arrivals }: Population,
  place: number,
): readonly Stay[] | null {
  if (arrivals === null || isKnownToK6(arrivals)) return null;
  return new SharedArray<Stay>(`stays of ${name}`, () => [...plannedStays(scenario, place)]);
}

function readCallers(scenario: Scenario, path: string): readonly (readonly Caller[])[] {
  const { policy } = scenario;
  if (policy === undefined) return seatCallers(scenario, parseTokensFile(open(path), path));
  return dealtCallers(scenario, policy, parsePolicyTokens(open(path), path, policy.auth.attributes)).callers;
}

function callersOf(scenario: Scenario, path: string): Caller[][] {
  let read: readonly (readonly Caller[])[] | null = null;
  const all = (): readonly (readonly Caller[])[] => {
    read ??= readCallers(scenario, path);
    return read;
  };
  return scenario.populations.map(
    ({ name }, index) => new SharedArray<Caller>(`callers of ${name}`, () => [...(all()[index] ?? [])]),
  );
}
