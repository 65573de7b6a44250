// The limits that `audit` holds a deployment to: those that are named, those of the audit that is gone on with, or those that
// probe and map see.
import { setTimeout as sleep } from "node:timers/promises";
import type { Earlier } from "../audit/run.ts";
import type { ConnectionOptions } from "../connect/connection.ts";
import { inWords, NoAnswer } from "../connect/no-answer.ts";
import { parseTarget, type Target } from "../connect/target.ts";
import type { Proposal } from "../map/propose.ts";
import { routeOf } from "../policy/match.ts";
import { parsePolicy } from "../policy/parse.ts";
import type { Policy } from "../policy/policy.ts";
import { asRules, policyOf } from "../policy/shorthand.ts";
import type { PolicyToken } from "../policy/tokens.ts";
import { SpillwayError } from "../rules/errors.ts";
import type { Rules } from "../rules/rules.ts";
import { counted } from "../rules/words.ts";
import { requireYes } from "./consent.ts";
import { readLimits, readPolicy, readPolicyTokens } from "./files.ts";
import type { Terminal } from "./terminal.ts";

interface Given extends ConnectionOptions {
  readonly target: Target;
  readonly tokensFile: string;
}

export interface AuditLimits {
  readonly target: Target;
  readonly policy: Policy;
  readonly rules: Rules | null;
  readonly tokens: readonly PolicyToken[];
  readonly assumptions: readonly string[];
}

/** Answers that map reads, so far apart that resets move. */
const answersMost = 3;
const apartMs = 2200;
/** Part of a window that lies between its end and the next call. */
const offGrid = 0.37;
const pauseMostMs = 90_000;
const name = "my-api";
const ownPolicy =
  "give the URL of a call that shows its limits, or a policy: spillway map --from answers.txt -o my-api.json";

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
    const { assumptions, target: url } = earlier.result;
    return { target: parseTarget("--target", url), policy, rules: asRules(policy), tokens, assumptions };
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

/** Numbers of the default API's limits, in its rules. */
const limitPaths = ["organization.rest", "organization.graphql", "user.rest", "user.graphql"].map(
  (at) => `${at}.limit`,
);

/** Entries of the default API, with an organization each, or of users alone, as map proposes them. */
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

/** Returns `null` where none of the default API's limits is seen. */
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
  terminal.progress(null);
  signal.throwIfAborted();
  sayProbe(terminal, report);
  if (limitPaths.every((path) => report.defaults.includes(path))) return null;
  const rules = parseRules(report.rules);
  const seen = `limits and switches are as a probe of ${counted(report.used.calls, "call")} saw them`;
  const assumed = report.defaults.map((path) => `${path} is the default: nothing was seen of it`);
  const early = typeof report.ended === "object" ? [`the probe stopped early: ${report.ended.stopped}`] : [];
  return { target, policy: policyOf(rules), rules, tokens, assumptions: [seen, ...early, ...assumed] };
}

/**
 * Proposes a policy by answers of the target's own URL.
 * @throws SpillwayError `TARGET_UNREACHABLE` saying what was seen where no limit is shown
 */
async function mapped(
  terminal: Terminal,
  { target, tls, proxy }: Given,
  tokens: readonly PolicyToken[],
  signal: AbortSignal,
): Promise<AuditLimits> {
  const [{ openSender }, { seenOf }, { propose }, { sayProposal }] = await Promise.all([
    import("../connect/send.ts"),
    import("../map/seen.ts"),
    import("../map/propose.ts"),
    import("./map.ts"),
  ]);
  const url = target.base;
  const path = url.slice(target.origin.length) || "/";
  const token = tokens[0]?.token ?? "";
  const secrets = new Set([token]);
  const sender = openSender({ tls, proxy });
  const seen: ReturnType<typeof seenOf>[] = [];
  const call = async (): Promise<void> => {
    terminal.progress(`map: call ${seen.length + 1} of ${answersMost + 1}`);
    const { status, headers, body } = await sender.send(
      { method: "GET", url: target.origin + path, token },
      signal,
    );
    const fields = Object.entries(headers).map(([name, value]) => [name, value ?? ""] as const);
    const requestHeaders = [["Authorization", `Bearer ${token}`]] as const;
    const raw = { method: "GET", url, requestHeaders, requestBody: "", status, headers: fields, body };
    seen.push(seenOf({ ...raw, atMs: Date.now() }, secrets));
  };
  let proposal: Proposal;
  try {
    for (let at = 0; at < answersMost; at++) {
      if (at > 0) await sleep(apartMs, undefined, { signal });
      await call();
    }
    proposal = propose(seen, secrets, name);
    // A window that opens with its first call ends elsewhere, the next time.
    const pauseMs = (1 + offGrid) * windowMsOf(proposal);
    if (pauseMs > 0 && pauseMs <= pauseMostMs) {
      terminal.progress(`map: waits ${Math.ceil(pauseMs / 1000)} s for the next window`);
      await sleep(pauseMs, undefined, { signal });
      await call();
      proposal = propose(seen, secrets, name);
    }
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof NoAnswer)
      throw unreachable(url, inWords(error.reason), "is it running, and is this its address?");
    if (!(error instanceof SpillwayError)) throw error;
    throw unreachable(url, `${seen.at(-1)?.status} without a header or member of a limit`, ownPolicy);
  } finally {
    terminal.progress(null);
    await sender.close();
  }
  await sayProposal(proposal, undefined, terminal);
  const draft = parsePolicy(proposal.policy);
  const asked = { method: "GET", target: path, host: "", graphql: null };
  const called = routeOf(draft, asked)?.route.operation ?? "";
  if (Object.keys(draft.operations[called]?.uses ?? {}).length === 0)
    throw unreachable(
      url,
      `an answer that no quota of map's proposal counts (${called || "no operation"})`,
      ownPolicy,
    );
  const operations = Object.entries(proposal.policy.operations).map(
    ([each, operation]) => [each, { ...operation, samples: each === called ? [{ path }] : [] }] as const,
  );
  const policy = parsePolicy({ ...proposal.policy, operations: Object.fromEntries(operations) });
  const names = policy.auth.attributes;
  const lacking = names.filter((each) => tokens.some(({ attributes }) => attributes[each] === undefined));
  if (lacking.length > 0)
    throw new SpillwayError(
      "TOKENS_INVALID",
      "the proposed policy tells callers apart by what these tokens do not say",
      {
        problems: [
          {
            path: "tokens",
            got: Object.keys(tokens[0]?.attributes ?? {}).join(", "),
            allowed: names.join(", "),
          },
        ],
        hint: "spillway map --from answers.txt -o my-api.json, then --policy my-api.json and a tokens file of its attributes",
      },
    );
  return {
    target: parseTarget("--target", target.origin),
    policy,
    rules: null,
    tokens: tokens.map(({ token: own, attributes }) => ({
      token: own,
      attributes: Object.fromEntries(names.map((each) => [each, attributes[each] ?? ""])),
    })),
    assumptions: [
      `limits are as map proposes them by ${counted(seen.length, "answer")} of ${path}`,
      ...proposal.questions.map(({ path: at, seen: what }) => `${at}: ${what.replace(/\.$/, "")}`),
    ],
  };
}

/** Length of the longest window that is proposed, ms. */
function windowMsOf({ policy }: Proposal): number {
  const quotas = Object.values(parsePolicy(policy).quotas);
  return Math.max(
    0,
    ...quotas.map(({ algorithm }) =>
      "windowSeconds" in algorithm ? (algorithm.windowSeconds ?? 0) * 1000 : 0,
    ),
  );
}

const unreachable = (url: string, got: string, hint: string): SpillwayError =>
  new SpillwayError("TARGET_UNREACHABLE", "neither probe nor map sees a limit there", {
    problems: [{ path: `GET ${url}`, got, allowed: "an answer that shows limits" }],
    hint,
  });
