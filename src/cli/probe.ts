// `spillway probe`: infers from outside which rules a live deployment follows, within a stated number of calls.

import { parseTarget, requireAllowed } from "../connect/target.ts";
import type { Policy } from "../policy/policy.ts";
import type { Allowance } from "../probe/hand.ts";
import type { ProbeProgress, ProbeReport } from "../probe/probe.ts";
import { duration } from "../report/format.ts";
import { SpillwayError } from "../rules/errors.ts";
import { count, counted } from "../rules/words.ts";
import { INTERRUPTED } from "../runs/interrupt.ts";
import { shellCommand } from "../runs/run-place.ts";
import { pc } from "./colors.ts";
import { requireYes } from "./consent.ts";
import { readLimits } from "./files.ts";
import { type ProbedTarget, probedTarget, targetOptions } from "./probed-target.ts";
import { requireDuration, requireWhole, rulesOption, whichVerb } from "./run-options.ts";
import { openTerminal, type Terminal } from "./terminal.ts";
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
    const terminal = openTerminal(args.json === true);
    const timeoutMs = requireDuration("--timeout", args.timeout);
    const allowance = {
      calls: requireWhole("--budget", args.budget, 0, Number.MAX_SAFE_INTEGER),
      waitMs: args.maxWait === "0" ? 0 : requireDuration("--max-wait", args.maxWait ?? "90s"),
    };
    const limits = args.rules === undefined ? null : await readLimits(args.rules);
    if (limits !== null && "policy" in limits)
      return byPolicy(limits.policy, args, { allowance, timeoutMs }, terminal);
    const probed = await probedTarget(args);
    const graphqlUrl = graphqlUrlOf(args);
    const { defaultAllowance, probe } = await import("../probe/probe.ts");
    const whole = {
      ...defaultAllowance,
      ...allowance,
      points: requireWhole("--points", args.points, 0, Number.MAX_SAFE_INTEGER),
    };
    announce(terminal, probed, whole);
    if (!args.yes) await requireYes(terminal);
    await untilInterrupted(terminal, async (signal) => {
      const report = await probe({
        ...probed,
        graphqlUrl,
        allowance: whole,
        timeoutMs,
        signal,
        onProgress: (progress) => terminal.progress(() => progressText(progress)),
      });
      terminal.progress(null);
      await keep(args, report);
      const { sayProbe } = await import("./say-probe.ts");
      sayProbe(terminal, report);
      sayNext(terminal, args, report);
      const { trace, ...result } = report;
      terminal.result(result);
      process.exitCode = exitOf(report.ended);
    });
  },
});

const exitOf = (ended: ProbeReport["ended"]): number =>
  ended === "whole" ? 0 : ended === "interrupted" ? INTERRUPTED : UNREACHED;

/** Probes by a policy. @throws SpillwayError `USAGE` if an option is about the default API alone */
async function byPolicy(
  policy: Policy,
  args: Args,
  { allowance, timeoutMs }: { allowance: Pick<Allowance, "calls" | "waitMs">; timeoutMs: number },
  terminal: Terminal,
): Promise<void> {
  for (const [option, value] of Object.entries({
    org: args.org,
    "graphql-url": args.graphqlUrl,
    points: args.points === pointsDefault ? undefined : args.points,
  }))
    if (value !== undefined)
      throw new SpillwayError("USAGE", `--${option} goes with the default API, and not with ${policy.name}`, {
        hint: "the policy's samples, routes and auth say what is called, and by whom",
      });
  const { probeByPolicy } = await import("./probe-policy.ts");
  const { policyAllowance } = await import("../probe/policy-probe.ts");
  await untilInterrupted(terminal, async (signal) => {
    const report = await probeByPolicy(
      policy,
      {
        ...args,
        ...{ allowance: { ...policyAllowance, ...allowance }, timeoutMs, signal },
        onProgress: (progress) => terminal.progress(() => progressText(progress)),
      },
      terminal,
      async () => (args.yes ? undefined : requireYes(terminal)),
    );
    process.exitCode = exitOf(report.ended);
  });
}

/** Returns GraphQL's own URL. It may be on another host, which must be allowed as well. */
function graphqlUrlOf({ graphqlUrl, allowHost }: Args): string | undefined {
  if (graphqlUrl === undefined) return undefined;
  const target = parseTarget("--graphql-url", graphqlUrl);
  requireAllowed("--graphql-url", target, allowHost ?? null);
  return target.base;
}

function announce(
  terminal: Terminal,
  { target, organization, user }: ProbedTarget,
  { calls, points, statusCalls, waitMs }: ProbeReport["allowance"],
): void {
  const who = user === null ? "the token's user" : user;
  terminal.say(`This will call ${pc.bold(target)} as ${who} of ${organization}:`);
  terminal.say(
    `  at most ${counted(calls, "call")} that may count, asking for ${counted(points, "GraphQL point")} at most`,
  );
  terminal.say(`  at most ${counted(statusCalls, "call")} of the status, which should be free`);
  terminal.say(
    `  at most ${duration(waitMs)} of waiting for windows to end, and about ${duration(lookMs)} and the calls' own time beside it`,
  );
  terminal.say(
    "  Nothing there is changed. To see refusals, the user's windows (the organization's, where its",
  );
  terminal.say(
    "  limit is the smaller one) may be used up until they reset: other calls are refused meanwhile.",
  );
}

/** Says what the probe does; a wait counts down. */
function progressText({ doing, untilMs, calls, statusCalls, waitLeftMs }: ProbeProgress): string {
  const wait =
    untilMs === null
      ? ""
      : `, ${duration(Math.max(0, Math.ceil((untilMs - Date.now()) / 1000)) * 1000)} more`;
  const left = waitLeftMs > 0 && untilMs === null ? `, then at most ${duration(waitLeftMs)} of waiting` : "";
  return `${doing}${wait} (${counted(calls, "call")}, ${count(statusCalls)} free${left})`;
}

async function keep({ out, trace }: Args, report: ProbeReport): Promise<void> {
  const { writeWhole } = await import("../files/whole-file.ts");
  if (trace !== undefined) await writeWhole(trace, `${report.trace.join("\n")}\n`);
  if (out !== undefined && sawLimits(report))
    await writeWhole(out, `${JSON.stringify(report.rules, null, 2)}\n`);
}

const sawLimits = ({ rules }: ProbeReport): boolean => Object.keys(rules).length > 0;

function sayNext(terminal: Terminal, { out, trace }: Args, report: ProbeReport): void {
  if (out !== undefined)
    terminal.say(
      sawLimits(report)
        ? `rules   ${out}`
        : `${pc.yellow("rules")}   ${out} was not written: no rule was seen`,
    );
  if (trace !== undefined) terminal.say(`trace   ${trace}`);
  if (out !== undefined && sawLimits(report))
    terminal.say(`next    ${shellCommand(["npx", "spillway", "simulate", "herd", "--rules", out])}`);
}
