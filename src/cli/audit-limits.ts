// The limits that `audit` holds a deployment to. The user names them, or the resumed audit has them, or probe or map
// infers them.
import type { Earlier } from "../audit/run.ts";
import { parseTarget } from "../connect/target.ts";
import { asRules, policyOf } from "../policy/shorthand.ts";
import type { PolicyToken } from "../policy/tokens.ts";
import { SpillwayError } from "../rules/errors.ts";
import { counted } from "../rules/words.ts";
import { type AuditLimits, type Given, mapped } from "./audit-map.ts";
import { requireYes } from "./consent.ts";
import { readLimits, readPolicy, readPolicyTokens } from "./files.ts";
import type { Terminal } from "./terminal.ts";

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
): Promise<AuditLimits> {
  const { target, tokensFile } = given;
  if (named !== undefined) {
    const policy = await readPolicy(named);
    const limits = await readLimits(named);
    const tokens = await readPolicyTokens(tokensFile, policy.auth.attributes);
    return { target, policy, rules: "rules" in limits ? limits.rules : null, tokens, assumptions: [] };
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
  if (isDefault)
    try {
      const found = await probed(terminal, given, tokens, signal);
      if (found !== null) return found;
    } catch (error) {
      if (!(error instanceof SpillwayError) || error.code !== "TARGET_UNREACHABLE") throw error;
      terminal.say(`probe: ${error.problems[0]?.got ?? error.message}. It is no API of the default's.`);
    }
  return mapped(terminal, given, tokens, signal);
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

/** Returns the limits that a probe infers; `null` if it sees none of the default API's limits. */
async function probed(
  terminal: Terminal,
  { target, tls, proxy }: Given,
  tokens: readonly PolicyToken[],
  signal: AbortSignal,
): Promise<AuditLimits | null> {
  const [{ probe }, { sayProbe }, { parseRules }] = await Promise.all([
    import("../probe/probe.ts"),
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
  });
  signal.throwIfAborted();
  sayProbe(terminal, report);
  if (limitPaths.every((path) => report.defaults.includes(path))) return null;
  const rules = parseRules(report.rules);
  const seen = `limits and switches are as a probe of ${counted(report.used.calls, "call")} saw them`;
  const assumed = report.defaults.map((path) => `${path} is the default: nothing was seen of it`);
  const early = typeof report.ended === "object" ? [`the probe stopped early: ${report.ended.stopped}`] : [];
  return { target, policy: policyOf(rules), rules, tokens, assumptions: [seen, ...early, ...assumed] };
}
