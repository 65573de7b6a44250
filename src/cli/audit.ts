// `spillway audit`: a conformance suite for a deployment's limits. It makes small experiments, each for one law.

import { isDeepStrictEqual } from "node:util";
import type { Earlier } from "../audit/run.ts";
import { parseTarget, requireAllowed, type Target } from "../connect/target.ts";
import { readText } from "../files/read-file.ts";
import { closest } from "../rules/closest.ts";
import { quote, SpillwayError } from "../rules/errors.ts";
import { INTERRUPTED, onInterrupt } from "../runs/interrupt.ts";
import { shellCommand } from "../runs/run-place.ts";
import type { AuditResult } from "../summary/audit-result.ts";
import type { QuotaCall } from "../trace/quota-record.ts";
import { pc } from "./colors.ts";
import { connectionOptions, readConnection } from "./connection-options.ts";
import { requireYes } from "./consent.ts";
import { readPolicy } from "./files.ts";
import { requireDuration, rulesOption, tokensFormat, whichVerb } from "./run-options.ts";
import { openTerminal } from "./terminal.ts";
import { type ArgsOf, defineVerb, option, type VerbOptions } from "./verb.ts";

const UNREACHED = 3;
const timeoutMs = 10_000;
const wholeSpend = "100%";

const options = {
  target: option.text("URL", "audit the deployment at URL"),
  "allow-host": option.text("HOST", "allow calls to HOST, the target's host, if it is not this machine"),
  tokens: option.text("FILE", `call with the tokens in FILE: ${tokensFormat}`),
  ...connectionOptions,
  rules: rulesOption("hold the deployment to", "what probe or map see there"),
  only: option.text("NAME", "make only the experiment NAME (separate several by commas)", { array: true }),
  list: option.flag("list the experiments with law, needs and spend; call nobody", { default: false }),
  "max-time": option.text("TIME", "take at most TIME", { default: "5m" }),
  spend: option.text("SHARE", "use at most SHARE of each window", { default: wholeSpend }),
  alone: option.flag("state that nobody else uses these tokens' quotas meanwhile", { default: false }),
  resume: option.flag("go on with the interrupted audit in the folder of --out", { default: false }),
  yes: option.flag("start without asking", { default: false, alias: "y" }),
  "dry-run": option.flag("say what would be called, and call nobody", { default: false }),
  junit: option.text("FILE", "write the findings as JUnit XML to FILE"),
  out: option.text(
    "DIR",
    "keep trace, audit.json, report and summary in DIR [default: a new folder in reports/]",
  ),
  force: option.flag("replace files in DIR that no command of spillway wrote", { default: false }),
} as const satisfies VerbOptions;

type Args = ArgsOf<typeof options>;

export const verb = defineVerb({
  name: "audit",
  summary: "hold a live deployment to its policy by small experiments, each with its law",
  notes: [
    whichVerb,
    "Kept means that an experiment saw no contradiction. What no audit sees, and why: src/audit/README.md of the project.",
  ],
  options,
  examples: {
    "$0 audit --target http://127.0.0.1:4100/v1/items --tokens tokens.json":
      "audit an API without a policy: probe and map look first, by answers of that URL",
    "$0 audit --target http://127.0.0.1:4100 --policy default --tokens tokens.json --alone":
      "audit the deployment of serve",
    "$0 audit --list": "list the experiments",
    "$0 audit --target https://api.example.com --allow-host api.example.com --policy api.json --tokens tokens.json --spend 50%":
      "audit another API, and use half of each window",
  },
  handler: async (args) => {
    const terminal = openTerminal(args.json);
    const { experiments: all } = await import("../audit/experiments.ts");
    const only = (args.only ?? []).flatMap((names) => names.split(","));
    requireNames(
      only,
      all.map(({ name }) => name),
    );
    const experiments = only.length === 0 ? all : all.filter(({ name }) => only.includes(name));
    if (args.list) return (await import("./say-audit.ts")).sayExperiments(terminal, experiments);
    const given = await readGiven(args);
    const earlier = await readEarlier(args, given.target);
    const interrupt = onInterrupt();
    try {
      const { limitsOf } = await import("./audit-limits.ts");
      const limits = await limitsOf(args, terminal, given, earlier, interrupt.signal).catch((error) => {
        if (interrupt.signal.aborted) return null;
        throw error;
      });
      if (limits === null) {
        process.exitCode = INTERRUPTED;
        return terminal.say("interrupted, before anything was audited");
      }
      const { base } = limits.target;
      const { audit, planned } = await import("../audit/run.ts");
      const { sayAudit, sayPlan } = await import("./say-audit.ts");
      const options = {
        ...given,
        ...limits,
        experiments,
        alone: args.alone,
        spend: shareOf(args.spend),
        maxMs: requireDuration("--max-time", args.maxTime),
        timeoutMs,
        earlier,
        again: againOf(args, base),
        signal: interrupt.signal,
        onProgress: (doing: string, done: number, tasks: number) =>
          terminal.progress(`${doing} (${done} of ${tasks})`),
      };
      const { plan, lab } = planned(options);
      for (const assumption of limits.assumptions) terminal.say(`${pc.yellow("assumed")} ${assumption}`);
      if (limits.unsettled !== undefined) terminal.say(`${pc.yellow("open")}    ${limits.unsettled}`);
      sayPlan(terminal, base, plan, lab, options.maxMs);
      if (args.dryRun)
        return terminal.result({ calls: plan.calls, windowsEmptied: plan.empties + plan.rests, ms: plan.ms });
      if (!args.yes) await requireYes(terminal);
      const { openPlace } = await import("../runs/open-place.ts");
      const writer = await openPlace({ out: args.out, name: "audit", force: args.force }, "audit");
      try {
        const { result, trace } = await audit({ ...options, traceFile: `${writer.folder}/trace.ndjson` });
        const { addAuditReport } = await import("../report/audit-documents.ts");
        const { placeResult } = await import("../report/result-writer.ts");
        const { version } = await import("../runs/version.ts");
        const junit = await addAuditReport(writer, result, trace, version);
        await placeResult(writer);
        if (args.junit !== undefined)
          await (await import("../files/whole-file.ts")).writeWhole(args.junit, junit);
        sayAudit(terminal, result, writer.folder);
        terminal.result({ ...result, folder: writer.folder });
        process.exitCode = exitOf(result);
      } finally {
        await writer.close();
      }
    } finally {
      interrupt.release();
    }
  },
});

/** Returns the exit status: 0 kept, 1 broken, 2 nothing exercised, 3 stopped by the target, 130 interrupted. */
export function exitOf({ rows, ended }: Pick<AuditResult, "rows" | "ended">): number {
  if (rows.some(({ state }) => state === "broken")) return 1;
  if (ended === "interrupted") return INTERRUPTED;
  if (ended !== "whole") return UNREACHED;
  return rows.some(({ state }) => state === "kept") ? 0 : 2;
}

/** Returns the command that repeats the audit, without the names of experiments. */
export function againOf(args: Args, base: string): string {
  const { allowHost, rules, tokens, alone, ca, cert, key, spend } = args;
  const pairs = Object.entries({
    target: base,
    "allow-host": allowHost,
    policy: rules,
    tokens,
    ca,
    cert,
    key,
    spend: spend === wholeSpend ? undefined : spend,
  });
  const words = pairs.flatMap(([name, value]) => (value === undefined ? [] : [`--${name}`, value]));
  return shellCommand(["npx", "spillway", "audit", ...words, ...(alone ? ["--alone"] : []), "-y"]);
}

/** @throws SpillwayError `USAGE` naming each word of `--only` that is no experiment */
export function requireNames(only: readonly string[], names: readonly string[]): void {
  const problems = only
    .filter((name) => !names.includes(name))
    .map((name) => ({ path: "--only", got: quote(name), allowed: "a name of --list" }));
  if (problems.length === 0) return;
  const near = closest(only.find((name) => !names.includes(name)) ?? "", names);
  throw new SpillwayError("USAGE", "there is no such experiment", {
    problems,
    hint: near === null ? undefined : `did you mean ${near}?`,
  });
}

/** Reads a share of windows: `50%`. @throws SpillwayError `USAGE` */
export function shareOf(text: string): number {
  const percent = /^(\d{1,3})%$/.exec(text)?.[1];
  const share = Number(percent ?? Number.NaN) / 100;
  if (share > 0 && share <= 1) return share;
  throw new SpillwayError("USAGE", "the share cannot be used", {
    problem: { path: "--spend", got: quote(text), allowed: '"1%" to "100%"' },
  });
}

/** @throws SpillwayError `USAGE`, `TARGET_NOT_ALLOWED`, those of files */
export async function readGiven(args: Args) {
  const { target: url, allowHost, tokens } = args;
  if (url === undefined || tokens === undefined)
    throw new SpillwayError("USAGE", "audit needs a target, and the tokens of those who call", {
      problem: {
        path: url === undefined ? "--target" : "--tokens",
        got: "nothing",
        allowed: url === undefined ? "a URL" : "a file",
      },
      hint: "tokens come from a file, never from a flag: process lists show flags",
    });
  const target = parseTarget("--target", url);
  requireAllowed("--target", target, allowHost ?? null);
  return { target, ...(await readConnection(args, url)), tokensFile: tokens };
}

/**
 * Reads the audit to resume, and its trace.
 * @throws SpillwayError `USAGE`, `RESUME_INVALID` if the target or the policy differs; those of files
 */
export async function readEarlier(
  { resume, out, rules: named }: Pick<Args, "resume" | "out" | "rules">,
  target: Target,
): Promise<Earlier | undefined> {
  if (!resume) return undefined;
  if (out === undefined)
    throw new SpillwayError("USAGE", "--resume needs --out, the folder of the audit that was interrupted");
  const path = `${out}/audit.json`;
  const [{ parseAudit }, { openTrace }, { openBytes }] = await Promise.all([
    import("../report/audit-documents.ts"),
    import("../trace/read.ts"),
    import("../files/byte-source.ts"),
  ]);
  const result = parseAudit(await readText(path, "audit"), path);
  const trace = await openTrace(await openBytes(`${out}/trace.ndjson`));
  const differs = (what: string, got: string, allowed: string): SpillwayError =>
    new SpillwayError("RESUME_INVALID", `the audit there is of another ${what}`, {
      problem: { path, got: quote(got), allowed: quote(allowed) },
    });
  // Map's proposal holds for a whole server, whatever URL it was made from.
  if (![target.base, named === undefined ? target.origin : null].includes(result.target))
    throw differs("target", result.target, target.base);
  if (trace.version !== 2) throw differs("kind", "a trace of version 1", "one of version 2");
  const policy = named === undefined ? trace.header.policy : await readPolicy(named);
  if (!isDeepStrictEqual(JSON.parse(JSON.stringify(trace.header.policy)), JSON.parse(JSON.stringify(policy))))
    throw differs("policy", result.policy, `${policy.name} as it is now`);
  const calls: QuotaCall[] = [];
  for await (const { call } of trace.calls) calls.push(call);
  return { result, header: trace.header, calls };
}
