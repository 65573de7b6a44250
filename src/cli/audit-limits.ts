// The limits that `audit` holds a deployment to. The user names them, or the resumed audit has them, or probe or map
// infers them.
import type { Earlier } from "../audit/run.ts";
import { parseTarget } from "../connect/target.ts";
import { asRules, policyOf } from "../policy/shorthand.ts";
import type { PolicyToken } from "../policy/tokens.ts";
import type { ProbeOptions, ProbeReport } from "../probe/probe.ts";
import { SpillwayError } from "../rules/errors.ts";
import { counted } from "../rules/words.ts";
import { type AuditLimits, type Given, mapped } from "./audit-map.ts";
import { requireYes } from "./consent.ts";
import { readPolicy, readPolicyTokens } from "./files.ts";
import type { Terminal } from "./terminal.ts";

/** Ways to limits that nobody named. */
export interface WaysToLimits {
  /** Probes a deployment of the default API. */
  readonly probe: (options: ProbeOptions) => Promise<ProbeReport>;
  readonly mapped: typeof mapped;
}

const calling: WaysToLimits = {
  probe: async (options) => (await import("../probe/probe.ts")).probe(options),
  mapped,
};

export async function limitsOf(
  {
    rules: named,
    dryRun,
    yes,
  }: { readonly rules?: string | undefined; readonly dryRun: boolean; readonly yes: boolean },
  terminal: Terminal,
  given: Given,
  earlier: Earlier | undefined,
  signal: AbortSignal,
  ways: WaysToLimits = calling,
): Promise<AuditLimits> {
  const { target, tokensFile } = given;
  if (named !== undefined) {
    const policy = await readPolicy(named);
    const tokens = await readPolicyTokens(tokensFile, policy.auth.attributes);
    return { target, policy, rules: asRules(policy), tokens, assumptions: [] };
  }
  if (earlier !== undefined) {
    const { policy } = earlier.header;
    const tokens = await readPolicyTokens(tokensFile, policy.auth.attributes);
    const { assumptions, target: url, unsettled } = earlier.result;
    const rules = asRules(policy);
    return { target: parseTarget("--target", url), policy, rules, tokens, assumptions, unsettled };
  }
  if (dryRun)
    throw new SpillwayError("USAGE", "--dry-run needs --policy: without one, probe or map calls first");
  const { tokens, isDefault } = await tokensOfAny(tokensFile);
  terminal.say(
    "No --policy: a probe looks first which limits there are (80 calls at most); where it sees none, map does.",
  );
  if (!yes) await requireYes(terminal);
  const found = isDefault ? await probed(terminal, given, tokens, signal, ways) : null;
  return found ?? ways.mapped(terminal, given, tokens, signal);
}

/** Paths of the default API's limits in its rules. */
const limitPaths = ["organization.rest", "organization.graphql", "user.rest", "user.graphql"].map(
  (at) => `${at}.limit`,
);

/** Reads tokens of the default API, each with an organization, or of users alone, as map proposes them. */
async function tokensOfAny(
  file: string,
): Promise<{ readonly tokens: PolicyToken[]; readonly isDefault: boolean }> {
  try {
    return { tokens: await readPolicyTokens(file, ["organization", "user"]), isDefault: true };
  } catch (error) {
    const tokens = await readPolicyTokens(file, ["user"]).catch(() => null);
    if (tokens === null) throw error;
    return { tokens, isDefault: false };
  }
}

/** Returns the limits that a probe infers; `null` if it sees none of the default API's limits, or no such API. */
async function probed(
  terminal: Terminal,
  { target, tls, proxy }: Given,
  tokens: readonly PolicyToken[],
  signal: AbortSignal,
  { probe }: WaysToLimits,
): Promise<AuditLimits | null> {
  const [{ sayProbe }, { parseRules }] = await Promise.all([
    import("./say-probe.ts"),
    import("../rules/parse.ts"),
  ]);
  const [{ token = "", attributes = {} } = {}] = tokens;
  const { organization = "", user = null } = attributes;
  const onProgress = ({ doing }: { readonly doing: string }) => terminal.progress(doing);
  const report = await probe({
    target: target.base,
    tls,
    proxy,
    token,
    organization,
    user,
    signal,
    onProgress,
  }).catch((error: unknown) => {
    if (!(error instanceof SpillwayError) || error.code !== "TARGET_UNREACHABLE") throw error;
    terminal.say(`probe: ${error.problems[0]?.got ?? error.message}. It is no API of the default's.`);
    return null;
  });
  if (report === null) return null;
  signal.throwIfAborted();
  sayProbe(terminal, report);
  if (limitPaths.every((path) => report.defaults.includes(path))) return null;
  const rules = parseRules(report.rules);
  const seen = `limits and switches are as a probe of ${counted(report.used.calls, "call")} saw them`;
  const assumed = report.defaults.map((path) => `${path} is the default: nothing was seen of it`);
  const early = typeof report.ended === "object" ? [`the probe stopped early: ${report.ended.stopped}`] : [];
  return { target, policy: policyOf(rules), rules, tokens, assumptions: [seen, ...early, ...assumed] };
}
