// `spillway check --target`: checks a live deployment by the laws, within a budget of calls and time that it says
// first. If the target takes its time from a header, scripts that move the clock check all laws. Otherwise scripts run
// in real time, and the oracle judges their traces.

import { parseTarget, requireAllowed } from "../connect/target.ts";
import type { CheckOptions } from "../laws/check-options.ts";
import type { CheckReport } from "../laws/report.ts";
import { problemOf } from "../probe/contact.ts";
import { LiveCaller, type LiveOptions, resourceOf } from "../probe/live.ts";
import type { LiveReport } from "../probe/live-check.ts";
import { isLimiters } from "../probe/seen.ts";
import { evidenceGaps, evidenceWords } from "../report/verdict-words.ts";
import { quote, SpillwayError } from "../rules/errors.ts";
import { type LawName, lawNames } from "../rules/laws.ts";
import { parseRules } from "../rules/parse.ts";
import { shortName } from "../rules/printable.ts";
import type { Token } from "../rules/tokens.ts";
import { counted } from "../rules/words.ts";
import { INTERRUPTED } from "../runs/interrupt.ts";
import type { Evidence, Verdict } from "../verify/verdict.ts";
import type { TargetArgs } from "./check-target-options.ts";
import { pc } from "./colors.ts";
import { readConnection } from "./connection-options.ts";
import { readTokens } from "./files.ts";
import { requireWhole, unusable } from "./run-options.ts";
import type { Terminal } from "./terminal.ts";
import { program } from "./verb.ts";

/** A target that may be called, and the caller. */
interface Opened {
  readonly live: LiveCaller;
  readonly origin: string;
  readonly base: string;
}

/** Way to the target and its time, in place of HTTP and the wall clock. */
type Around = Pick<LiveOptions, "send" | "now" | "sleep">;

/** Says what the check will use, and asks for the status once. */
async function openTarget(
  args: TargetArgs,
  terminal: Terminal,
  signal: AbortSignal,
  around: Around,
): Promise<Opened> {
  const { target = "", allowHost = null, tokens: file, calls = 500, seconds = 120 } = args;
  const { base, origin, ...rest } = parseTarget("--target", target);
  requireAllowed("--target", { base, origin, ...rest }, allowHost);
  requireWhole("--calls", calls, 1, Number.MAX_SAFE_INTEGER);
  requireWhole("--seconds", seconds, 1, Number.MAX_SAFE_INTEGER);
  if (file === undefined)
    throw new SpillwayError("USAGE", "--target needs --tokens, the file of those who call", {
      hint: "tokens come from a file, never from a flag: process lists show flags",
    });
  const connection = await readConnection(args, target);
  const callers = await callersOf(file);
  const budget = { calls, ms: seconds * 1000 };
  const live = new LiveCaller({ ...connection, ...around, base, callers, budget, signal });
  const who = counted(callers.length, "caller");
  terminal.say(`up to ${counted(calls, "call")} in up to ${seconds} s to ${base}, as ${who} of ${file}`);
  const [first] = callers;
  if (first !== undefined) await contact(live, first, base);
  return { live, base, origin };
}

async function callersOf(file: string): Promise<Token[]> {
  const all = await readTokens(file);
  const callers = all.filter((token) => resourceOf(token) !== null && token.scopes.includes("read_accounts"));
  if (callers.length > 0) return callers;
  throw new SpillwayError("TOKENS_INVALID", "the tokens file has no token that can be checked with", {
    problem: {
      path: file,
      got: counted(all.length, "entry"),
      allowed: "one with read_accounts and one of read_organizations, read_pipelines, read_user",
    },
  });
}

/**
 * Requires that the target answers with a status.
 * @throws SpillwayError `TARGET_UNREACHABLE`, with what came in place of a status, and its URL
 */
async function contact(live: LiveCaller, caller: Token, base: string): Promise<void> {
  const seen = await live.status(caller);
  const isStatus = seen.status === 200 && (seen.statusScopes !== null || isLimiters(seen));
  if (isStatus) return;
  const { got, hint } = problemOf(seen) ?? {
    got: `200 and ${quote(seen.body)}`,
    hint: "is this the API's address?",
  };
  throw new SpillwayError("TARGET_UNREACHABLE", "the target does not answer as a rate-limited API", {
    problem: {
      path: `GET ${base}/v2/organizations/${encodeURIComponent(caller.organization)}/rate_limit`,
      got,
      allowed: '200 and the status of the organization\'s limits: {"scopes": {"rest": ..., "graphql": ...}}',
    },
    hint: `${hint} ${program} probe looks closer`,
  });
}

/** Checks the laws by scripts that move the target's clock. */
export async function checkAhead(
  { clockHeader: header = "", ...args }: TargetArgs,
  options: CheckOptions,
  terminal: Terminal,
  signal: AbortSignal,
  around: Around = {},
): Promise<CheckReport> {
  const { live, base } = await openTarget(args, terminal, signal, around);
  if (options.rules === undefined)
    throw new SpillwayError("USAGE", "--clock-header needs --rules, those that the target follows", {
      hint: "`npx spillway probe` writes them, or a preset: --rules default",
    });
  if (!/^[\w-]+$/.test(header)) throw unusable("--clock-header", header, "a header's name");
  const { clockedLimiter, notSeenFromOutside } = await import("../probe/live-adapter.ts");
  const { checkLaws } = await import("../laws/check.ts");
  const clockHeader = header.toLowerCase();
  const rules = parseRules(options.rules);
  const limiter = clockedLimiter(live, { name: base, rules, clockHeader, nowMs: live.now() });
  const claims = lawNames.filter((law) => !(notSeenFromOutside as readonly LawName[]).includes(law));
  const report = await checkLaws({ ...limiter, claims }, { ...options, rules, evidence: true });
  if (live.ended !== null) terminal.say(`ended early: ${live.ended.message}`);
  // A used-up budget is no interruption: the command said it beforehand.
  return live.ended?.why === "budget" ? { ...report, interrupted: false } : report;
}

/** Runs scripts in real time, and lets the oracle judge their traces. */
export async function checkRealTime(
  args: TargetArgs & { readonly [Option in "law" | "path" | "known" | "runs"]?: unknown },
  { runs = 100, seed = 0, rules }: CheckOptions,
  terminal: Terminal,
  signal: AbortSignal,
  around: Around = {},
): Promise<void> {
  for (const option of ["law", "path", "known"] as const)
    if (args[option] !== undefined)
      throw new SpillwayError("USAGE", `--${option} cannot be used with --target in real time`, {
        hint: "every law that a trace shows is judged; with --clock-header laws are checked one by one",
      });
  const { live, origin } = await openTarget(args, terminal, signal, around);
  const { checkLive } = await import("../probe/live-check.ts");
  const { judge } = await import("../verify/judge.ts");
  const report = await checkLive<Verdict>({
    live,
    target: origin,
    rules: rules === undefined ? null : parseRules(rules),
    alone: args.alone === true,
    runs: args.runs === undefined ? 20 : runs,
    seed,
    judge,
    onProgress: (text) => terminal.progress(text),
  });
  sayLive(report, terminal);
  terminal.result(report);
  process.exitCode = exitOf(report);
}

const restingOn = (tested: Evidence | undefined): string =>
  tested === undefined ? "" : pc.dim(` in ${evidenceWords(tested)}`);

const widest = Math.max(...lawNames.map((law) => law.length));

/** Says the findings of a check in real time. */
export function sayLive(
  { target, seed, runs, calls, laws, evidence, ended, counterexample, ok }: LiveReport<Verdict>,
  terminal: Terminal,
): void {
  const unjudged = lawNames.filter((law) => laws[law] !== "held" && laws[law] !== "violated");
  const judged = lawNames.length - unjudged.length;
  const missed = unjudged.length === 0 ? "" : `; could not judge ${unjudged.join(", ")}`;
  const gaps = evidenceGaps({ verdict: ok && judged > 0 ? "ok" : "unknown", evidence });
  const little = gaps.length === 0 ? "" : `, on little evidence: ${gaps.join("; ")}`;
  terminal.say(
    `${pc.bold(target)} in real time, seed ${seed}, ${counted(runs, "run")}, ${counted(calls, "call")}: ${judged} of ${lawNames.length} laws judged${little}${missed}`,
  );
  for (const law of lawNames) {
    const state = laws[law] ?? { skipped: "no run was judged" };
    const text =
      state === "violated"
        ? pc.red("violated")
        : state === "held"
          ? `${pc.green("no counterexample")}${restingOn(evidence[law])}`
          : `${pc.yellow("skipped")}: ${state.skipped}`;
    terminal.say(`  ${law.padEnd(widest)}  ${text}`);
  }
  if (counterexample !== null) {
    const [violation] = counterexample.verdict.violations;
    terminal.say("", `${violation?.law} is violated: ${violation?.explanation}`);
    const shown = new Set(violation?.lines);
    for (const { line, call } of counterexample.lines) {
      const mark = shown.has(line) ? ">" : " ";
      const at = `+${((call.sent - counterexample.header.startedAt) / 1000).toFixed(3)} s`.padStart(12);
      const left = `remaining ${call.remaining} of ${call.limit}, user ${call.userRemaining} of ${call.userLimit}`;
      terminal.say(
        `${mark}${at}  line ${line}: ${shortName(call.user ?? "nobody")} ${call.kind} ${call.status}, ${left}`,
      );
    }
    terminal.say("", "real time is not repeated exactly: run it again, or keep the trace with --json");
  }
  if (laws["headers-present"] === "violated")
    terminal.say(
      `${pc.cyan("note")} answers are read as those of the default API; where yours show limits otherwise, hold them to what they show: ${program} audit --target ${target} --tokens FILE`,
    );
  if (ended !== null) terminal.say("", `ended early: ${ended.reason}`);
  const outcome = !ok
    ? pc.red("a law is violated")
    : judged === 0
      ? pc.yellow("no law could be judged: allow more --calls and --seconds")
      : pc.green(`none of the ${judged} laws that could be judged is violated`);
  terminal.say("", outcome);
}

/** Returns the exit status: 0 held, 1 violated, 2 nothing judged, 3 the target refused to go on, 130 interrupted. */
export function exitOf({ ok, ended, laws }: LiveReport<Verdict>): number {
  if (!ok) return 1;
  if (ended?.why === "interrupted") return INTERRUPTED;
  if (ended?.why === "unwelcome") return 3;
  return Object.values(laws).includes("held") ? 0 : 2;
}
