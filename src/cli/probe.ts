// `spillway probe`: infers from outside which rules a live deployment follows, within a stated number of calls.

import { parseTarget, requireAllowed } from "../connect/target.ts";
import type { Policy } from "../policy/policy.ts";
import type { Allowance } from "../probe/hand.ts";
import type { PolicyProbeReport } from "../probe/policy-probe.ts";
import type { ProbeOptions, ProbeProgress, ProbeReport } from "../probe/probe.ts";
import { duration } from "../rules/duration.ts";
import { SpillwayError } from "../rules/errors.ts";
import { count, counted } from "../rules/words.ts";
import { INTERRUPTED } from "../runs/interrupt.ts";
import { shellCommand } from "../runs/run-place.ts";
import { pc } from "./colors.ts";
import { requireYes } from "./consent.ts";
import { readLimits } from "./files.ts";
import { type ProbedTarget, policyTarget, probedTarget, targetOptions } from "./probed-target.ts";
import { requireDuration, requireWhole, rulesOption, whichVerb } from "./run-options.ts";
import { openTerminal } from "./terminal.ts";
import { untilInterrupted } from "./until-interrupted.ts";
import { type ArgsOf, defineVerb, option, type VerbOptions } from "./verb.ts";

const UNREACHED = 3;
const pointsDefault = 30_000;
/** Time for looking on, ms, besides waits for windows and the calls themselves. */
const lookMs = 10_000;

const options = {
  ...targetOptions,
  rules: rulesOption("send the samples, and read the answers, of", "the default API's"),
  "graphql-url": option.text("URL", "send GraphQL calls to URL [default: TARGET/v1/graphql]"),
  budget: option.number("N", "make at most N calls that may count (calls of the status are free)", {
    default: 80,
  }),
  points: option.number("N", "ask for at most N GraphQL points, all queries together", {
    default: pointsDefault,
  }),
  "max-wait": option.text(
    "TIME",
    "wait at most TIME in all for windows to end; 0 waits for none [default: 90s]",
  ),
  timeout: option.text("TIME", "wait at most TIME for an answer", { default: "10s" }),
  yes: option.flag("start without asking", { default: false, alias: "y" }),
  out: option.text(
    "FILE",
    "write to FILE what the probe saw, as rules or a policy that simulate, load and serve take as --policy",
  ),
  trace: option.text("FILE", "write all calls to FILE, a trace that verify judges"),
} as const satisfies VerbOptions;

type Args = ArgsOf<typeof options>;

export const verb = defineVerb({
  name: "probe",
  summary: "infer from outside, by a few calls, which rules a live deployment follows",
  notes: [whichVerb],
  options,
  examples: {
    "$0 probe --target http://127.0.0.1:4100 --tokens tokens.json --out rules.json":
      "probe a deployment on this machine; then: npx spillway simulate herd --rules rules.json",
    "SPILLWAY_TOKEN=... $0 probe --target https://api.example.com --allow-host api.example.com --org acme --budget 20":
      "probe one elsewhere, gently: too few calls to see a refusal of REST",
    "$0 probe --target http://127.0.0.1:3000 --policy my-api.json --tokens tokens.json --out seen.json":
      "probe another API: limits, windows, costs and refusals of its quotas",
    "$0 probe --target http://127.0.0.1:4100 --tokens tokens.json --max-wait 6m --yes --json":
      "wait long enough to see GraphQL's window end; ask nothing, for a program",
  },
  handler: async (args) => {
    const terminal = openTerminal(args.json);
    const timeoutMs = requireDuration("--timeout", args.timeout);
    const allowance = {
      calls: requireWhole("--budget", args.budget, 0, Number.MAX_SAFE_INTEGER),
      waitMs: /^0s?$/.test(args.maxWait ?? "") ? 0 : requireDuration("--max-wait", args.maxWait ?? "90s"),
    };
    const limits = args.rules === undefined ? null : await readLimits(args.rules);
    const probing =
      limits !== null && "policy" in limits
        ? await byPolicy(limits.policy, args, allowance)
        : await byRules(args, allowance);
    terminal.say(...probing.announcement);
    if (!args.yes) await requireYes(terminal);
    await untilInterrupted(terminal, async (signal) => {
      const onProgress = (progress: ProbeProgress) =>
        terminal.progress(() => progressText(progress, Date.now()));
      const report = await probing.run({ timeoutMs, signal, onProgress });
      await keep(args, report);
      const { sayProbe } = await import("./say-probe.ts");
      sayProbe(terminal, report);
      terminal.say(...nextLines(args, report));
      const { trace, ...result } = report;
      terminal.result(result);
      process.exitCode = exitOf(report.ended);
    });
  },
});

export const exitOf = (ended: ProbeReport["ended"]): number =>
  ended === "whole" ? 0 : ended === "interrupted" ? INTERRUPTED : UNREACHED;

type AnyReport = ProbeReport | PolicyProbeReport;

/** A probe that is ready to start. */
interface Probing {
  /** Says what will be called, and what that may use up. */
  readonly announcement: readonly string[];
  run(hooks: Required<Pick<ProbeOptions, "timeoutMs" | "signal" | "onProgress">>): Promise<AnyReport>;
}

type Given = Pick<Allowance, "calls" | "waitMs">;

export async function byRules(args: Args, given: Given): Promise<Probing> {
  const probed = await probedTarget(args);
  const graphqlUrl = graphqlUrlOf(args);
  const { defaultAllowance, probe } = await import("../probe/probe.ts");
  const points = requireWhole("--points", args.points, 0, Number.MAX_SAFE_INTEGER);
  const allowance = { ...defaultAllowance, ...given, points };
  return {
    announcement: announcement(probed, allowance),
    run: (hooks) => probe({ ...probed, graphqlUrl, allowance, ...hooks }),
  };
}

function requireNoDefault(policy: Policy, { org, graphqlUrl, points }: Args): void {
  const ofDefault = { org, "graphql-url": graphqlUrl, points: points === pointsDefault ? undefined : points };
  for (const [option, value] of Object.entries(ofDefault))
    if (value !== undefined)
      throw new SpillwayError("USAGE", `--${option} goes with the default API, and not with ${policy.name}`, {
        hint: "the policy's samples, routes and auth say what is called, and by whom",
      });
}

/** @throws SpillwayError `USAGE` if an option is about the default API alone */
export async function byPolicy(policy: Policy, args: Args, given: Given): Promise<Probing> {
  requireNoDefault(policy, args);
  const probed = await policyTarget(args, policy);
  const { policyAllowance, probePolicy } = await import("../probe/policy-probe.ts");
  const allowance = { ...policyAllowance, ...given };
  const who = Object.values(probed.caller.attributes).join("/") || "the token's owner";
  return {
    announcement: [
      `This will call ${pc.bold(probed.target)} as ${who}, by the samples of the policy ${policy.name}:`,
      `  at most ${counted(allowance.calls, "call")} that may count, ${counted(allowance.statusCalls, "call")} of a status, ` +
        `and ${duration(allowance.waitMs)} of waiting for windows to end`,
      "  Quotas that so few calls use up are used up, until they reset: other calls are refused meanwhile.",
    ],
    run: (hooks) => probePolicy({ policy, ...probed, allowance, ...hooks }),
  };
}

/** Returns GraphQL's own URL. It may be on another host, which must be allowed as well. */
export function graphqlUrlOf({
  graphqlUrl,
  allowHost,
}: Pick<Args, "graphqlUrl" | "allowHost">): string | undefined {
  if (graphqlUrl === undefined) return undefined;
  const target = parseTarget("--graphql-url", graphqlUrl);
  requireAllowed("--graphql-url", target, allowHost ?? null);
  return target.url;
}

/** Says what a probe of the default API will call, and what that may use up. */
export function announcement(
  { target, organization, user }: Pick<ProbedTarget, "target" | "organization" | "user">,
  { calls, points, statusCalls, waitMs }: Allowance,
): string[] {
  const who = user === null ? "the token's user" : user;
  return [
    `This will call ${pc.bold(target)} as ${who} of ${organization}:`,
    `  at most ${counted(calls, "call")} that may count, asking for ${counted(points, "GraphQL point")} at most`,
    `  at most ${counted(statusCalls, "call")} of the status, which should be free`,
    `  at most ${duration(waitMs)} of waiting for windows to end, and about ${duration(lookMs)} and the calls' own time beside it`,
    "  Nothing there is changed. To see refusals, the user's windows (the organization's, where its",
    "  limit is the smaller one) may be used up until they reset: other calls are refused meanwhile.",
  ];
}

/** Says what the probe does; a wait counts down. */
export function progressText(
  { doing, untilMs, calls, statusCalls, waitLeftMs }: ProbeProgress,
  nowMs: number,
): string {
  const wait =
    untilMs === null ? "" : `, ${duration(Math.max(0, Math.ceil((untilMs - nowMs) / 1000)) * 1000)} more`;
  const left = waitLeftMs > 0 && untilMs === null ? `, then at most ${duration(waitLeftMs)} of waiting` : "";
  return `${doing}${wait} (${counted(calls, "call")}, ${count(statusCalls)} free${left})`;
}

type Places = Pick<Args, "out" | "trace">;

/** Returns the limits that a probe saw, as `--out` has them; `null` if it saw none. */
const seenIn = (report: AnyReport): object | null =>
  "policy" in report ? report.seen : Object.keys(report.rules).length > 0 ? report.rules : null;

/** Writes the trace, and the limits that were seen. */
export async function keep({ out, trace }: Places, report: AnyReport): Promise<void> {
  const { writeWhole } = await import("../files/whole-file.ts");
  const seen = seenIn(report);
  if (trace !== undefined) await writeWhole(trace, `${report.trace.join("\n")}\n`);
  if (out !== undefined && seen !== null) await writeWhole(out, `${JSON.stringify(seen, null, 2)}\n`);
}

/** Names the files that were written, and what to do with them. */
export function nextLines({ out, trace }: Places, report: AnyReport): string[] {
  const traced = trace === undefined ? [] : [`trace   ${trace}`];
  if ("policy" in report)
    return [
      ...(out === undefined
        ? []
        : [`policy  ${out}, with what was seen in place of what ${report.policy} says`]),
      ...traced.map((line) => `${line}; next: ${shellCommand(["npx", "spillway", "verify", trace ?? ""])}`),
    ];
  if (out === undefined) return traced;
  if (seenIn(report) === null)
    return [`${pc.yellow("rules")}   ${out} was not written: no rule was seen`, ...traced];
  const next = shellCommand(["npx", "spillway", "simulate", "herd", "--rules", out]);
  return [`rules   ${out}`, ...traced, `next    ${next}`];
}
