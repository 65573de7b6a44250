// `spillway demo` (= `npm start`): runs every stage on loopback. Windows last a few seconds, so that several resets
// pass in under a minute. Each stage runs the same code as its verb.

import type { LoadedScenario } from "../load/scenario-file.ts";
import { runFiles } from "../report/run.ts";
import { ownerWords, verdictWords } from "../report/source.ts";
import { notJudgedWords } from "../report/verdict-words.ts";
import { count, counted } from "../rules/words.ts";
import type { AnyCheckReport } from "../runs/check-job.ts";
import { INTERRUPTED, onInterrupt } from "../runs/interrupt.ts";
import { resultOf } from "../runs/job-events.ts";
import type { JobThread, JobThreads } from "../runs/job-thread.ts";
import type { Verdict } from "../verify/verdict.ts";
import { asWindowOption, limitsOf } from "./as-window.ts";
import { sayCheckProgress } from "./check-progress.ts";
import { rendererOf } from "./check-text.ts";
import { pc } from "./colors.ts";
import { openOption, reportOpener } from "./open-report.ts";
import {
  codeNote,
  driverOption,
  importMsOf,
  importTimeout,
  repeatCommand,
  requireDuration,
  requireSeed,
  requireWhole,
  rulesOption,
  runOptions,
} from "./run-options.ts";
import { openTerminal, type Terminal } from "./terminal.ts";
import { type ArgsOf, defineVerb, option, type VerbOptions } from "./verb.ts";

/** Options of the demo, checked. */
interface Asked extends Args {
  readonly scenario: string;
  /** True if the demo made the scenario from the policy; its file does not outlive the demo. */
  readonly isMade: boolean;
  /** The command that repeats the demo. */
  readonly repeat: string;
  readonly limits: Awaited<ReturnType<typeof limitsOf>>;
  readonly durationMs: number;
  readonly signal: AbortSignal;
}

/** Limits that the clients of `ci-fleet` come near. Half a minute sees several resets. */
const shortWindows = {
  organization: {
    rest: { limit: 90, windowSeconds: 5 },
    graphql: { limit: 2_000, windowSeconds: 8 },
  },
  user: { rest: { limit: 50, windowSeconds: 5 }, graphql: { limit: 1_000, windowSeconds: 8 } },
};

const options = {
  scenario: option.text(
    "SCENARIO",
    "load with the clients of SCENARIO [default: ci-fleet; under --policy, clients of each of its calls]",
  ),
  rules: rulesOption("show every part under", "those of Buildkite's kind, in windows of seconds"),
  "as-window": asWindowOption,
  duration: option.text("TIME", "load for TIME", { default: "25s" }),
  driver: driverOption,
  runs: option.number("N", "run each law N times", { default: 50 }),
  seed: option.number("N", "draw everything from seed N", { default: 7 }),
  out: option.text("DIR", "write the run to DIR [default: reports/demo-TIME]"),
  open: openOption,
  force: runOptions.force,
  "import-timeout": importTimeout,
} as const satisfies VerbOptions;

type Args = ArgsOf<typeof options>;

export const verb = defineVerb({
  name: "demo",
  summary: "show every part on this machine: check, serve, load, verify, simulate, break, report",
  notes: [codeNote],
  options,
  examples: {
    "$0 demo": "see every part in under a minute",
    "$0 demo --scenario herd --duration 40s": "load with other clients, for longer",
    "$0 demo --policy github": "see every part under another API's limits",
  },
  handler: async (args) => {
    const terminal = openTerminal(args.json);
    requireSeed(args.seed);
    requireWhole("--runs", args.runs, 1, 10_000_000);
    const durationMs = requireDuration("--duration", args.duration);
    const importMs = importMsOf(args);
    const { startJobs } = await import("../runs/job-thread.ts");
    const interrupt = onInterrupt();
    const { signal } = interrupt;
    try {
      const limits = await limitsOf(args, "demo");
      const made =
        args.scenario === undefined && limits.policy
          ? await (await import("./init-policy.ts")).clientsOf(limits.policy)
          : null;
      const scenario = made?.file ?? args.scenario ?? "ci-fleet";
      const threads = await startJobs({ scenario }, { importMs, signal }).finally(made?.remove);
      const found = { scenario, isMade: made !== null, repeat: repeatDemo(args), limits, durationMs, signal };
      await demonstrate(terminal, { ...args, ...found }, threads).finally(() => threads.close());
    } catch (error) {
      if (!interrupt.signal.aborted) throw error;
    } finally {
      interrupt.release();
    }
    if (!interrupt.signal.aborted) return;
    terminal.say("Interrupted: what was done is kept.");
    process.exitCode = INTERRUPTED;
  },
});

async function demonstrate(
  terminal: Terminal,
  asked: Asked,
  threads: JobThreads<LoadedScenario>,
): Promise<void> {
  const { thread } = threads;
  const { signal } = asked;
  const open = await reportOpener(asked.open);
  terminal.say(introduction(asked.rules));
  const checked = await check(terminal, asked, thread);
  const loaded = await loadForReal(terminal, asked, threads);
  const { folder } = loaded;
  if (signal.aborted) return;
  const simulated = await simulateAlike(terminal, asked, folder, thread);
  const broken = await simulateBroken(terminal, asked, folder, thread);
  stage(
    terminal,
    "report",
    "what was refused and whom it hit, every window, waits, prediction beside measurement",
  );
  const { writeReport } = await import("../report/report.ts");
  const { html } = await writeReport(folder, { compare: simulated.folder });
  terminal.say(`  open ${html}`);
  const { summary, verdict, expectations } = loaded;
  terminal.result({
    folder,
    check: checked,
    summary,
    verdict,
    expectations,
    predicted: simulated.summary.figures,
    broken: { fault: faultFor(asked), verdict: broken.verdict.verdict },
  });
  await open(html);
  process.exitCode = exitOf(checked, loaded, broken.verdict);
}

/** Says which limits are shown. @param rules value of `--rules` */
export function introduction(rules: string | undefined): string {
  if (rules !== undefined) return `The limits of ${rules}. Nothing leaves this machine.`;
  const { organization, user } = shortWindows;
  return (
    `Windows of ${organization.rest.windowSeconds} s (REST) and ${organization.graphql.windowSeconds} s (GraphQL); ` +
    `${organization.rest.limit} requests and ${count(organization.graphql.limit)} points an organization, ` +
    `${user.rest.limit} and ${count(user.graphql.limit)} a user. Nothing leaves this machine.`
  );
}

/**
 * Returns the exit status: 0 if everything held, and the broken limiter was found.
 * @param broken verdict on it; it need not be found by a trace that was not judged whole
 */
export const exitOf = (
  checked: { readonly ok: boolean },
  loaded: { readonly held: boolean },
  { verdict, notJudged = [] }: Verdict,
): number => (checked.ok && loaded.held && (notJudged.length > 0 || verdict === "violated") ? 0 : 1);

const stage = (terminal: Terminal, name: string, what: string): void =>
  terminal.say("", `${pc.bold(pc.cyan(name))} ${what}`);

/** Checks the engine under the limits of the demo. */
export async function check(
  terminal: Terminal,
  { runs, seed, limits }: Pick<Asked, "runs" | "seed" | "limits">,
  thread: Pick<JobThread, "run">,
): Promise<AnyCheckReport> {
  stage(terminal, "check", "looks for the shortest way to break each law of the limiter");
  const { policy, rules } = limits;
  const options = { runs, seed, ...(rules && { rules }) };
  const report = await resultOf(thread.run("check", { options, policy }), (event) => {
    if (!("outcome" in event)) sayCheckProgress(event, terminal);
  });
  const judged = report.laws.reduce((sum, law) => sum + law.judged, 0);
  const found = report.ok ? pc.green("no counterexample") : pc.red("violated");
  terminal.say(
    `  ${counted(report.laws.length, "law")}, ${counted(runs, "run")} each, ${counted(judged, "answer")} judged: ${found}`,
  );
  const render = await rendererOf({ byPolicy: policy !== undefined });
  for (const law of report.laws) if (law.outcome === "violated") terminal.say(...render(law));
  return report;
}

async function loadForReal(
  terminal: Terminal,
  asked: Asked,
  { scenario, thread }: JobThreads<LoadedScenario>,
) {
  const { seed, durationMs, out, force, signal, limits } = asked;
  stage(
    terminal,
    "serve, load, verify",
    `${scenario.scenario.name} loads the reference deployment for ${asked.duration}; the oracle judges the trace`,
  );
  const { chooseDriver } = await import("../load/driver.ts");
  const { serve, servePolicy } = await import("../service/serve.ts");
  const { parseRules } = await import("../rules/parse.ts");
  const { driverLine, loadInto } = await import("../runs/load-into.ts");
  const { sayLoad } = await import("./say-run.ts");
  const by = await chooseDriver(asked.driver, { signal });
  terminal.say(`  ${driverLine(by)}`);
  const place = { out, name: "demo", force };
  const run = await loadInto(place, {
    scenario,
    file: asked.scenario,
    command: asked.repeat,
    by,
    drive: (task, stop) => thread.run("load", task, stop),
    adjustments: {
      seed,
      durationMs,
      ...(asked.rules === undefined ? { rules: parseRules(shortWindows) } : limits),
    },
    target: {
      start: ({ rules, tokens, policy }) =>
        policy === undefined ? serve({ rules, tokens, port: 0 }) : servePolicy({ ...policy, port: 0 }),
    },
    signal,
    onProgress: terminal.progress,
  });
  sayLoad(terminal, run);
  return run;
}

async function simulateAlike(terminal: Terminal, asked: Asked, folder: string, thread: JobThread) {
  stage(
    terminal,
    "simulate",
    "the same clients in virtual time, from the same instant: what it would have predicted",
  );
  const { run, facts } = await simulated(terminal, asked, { folder, name: "simulated" }, thread);
  const { saySimulation } = await import("./say-run.ts");
  saySimulation(terminal, run, facts.scenario.seed, run.notes);
  return run;
}

async function simulateBroken(terminal: Terminal, asked: Asked, folder: string, thread: JobThread) {
  const fault = faultFor(asked);
  const { faultNamed } = await import("../faults/choice.ts");
  stage(
    terminal,
    `simulate --fault ${fault}`,
    `the same once more, by a limiter that is wrong: ${faultNamed(fault).wrong}`,
  );
  const { run } = await simulated(terminal, asked, { folder, name: "broken", fault }, thread);
  sayFound(terminal, run.verdict);
  terminal.say(`  ${run.folder}/${runFiles.html}`);
  return run;
}

/** Returns a bug that several limiters have shipped; for a policy, one that shows long before a limit is met. */
export const faultFor = ({ limits }: Pick<Asked, "limits">): string =>
  limits.policy === undefined ? "race-read-then-write" : "double-count";

/** Simulates the run in `folder` once more, and keeps it as `name` beside it. */
async function simulated(
  terminal: Terminal,
  { scenario: file, isMade, repeat, signal }: Asked,
  { folder, name, fault }: { readonly folder: string; readonly name: string; readonly fault?: string },
  thread: JobThread,
) {
  const { factsOf, simulateInto } = await import("../runs/simulate-into.ts");
  const parts = thread.run("simulate", { changes: { like: folder }, fault });
  const facts = await factsOf(parts);
  const injected = fault === undefined ? "" : ` --fault ${fault}`;
  const run = await simulateInto({ out: `${folder}/${name}`, name: facts.scenario.name }, facts, {
    parts,
    signal,
    file,
    command: isMade ? repeat : `npx spillway simulate ${file} --like ${folder}${injected}`,
    notes: fault === undefined ? facts.notes : [`the fault ${fault} is injected`],
    onProgress: terminal.progress,
  });
  return { run, facts };
}

/** Says the first violation that the oracle found. */
export function sayFound(terminal: Terminal, verdict: Verdict): void {
  const [first] = verdict.violations;
  if (first === undefined) {
    const why = notJudgedWords(verdict);
    terminal.say(`  ${why.length > 0 ? `nothing was found: ${why.join(" ")}` : pc.red("nothing was found")}`);
    return;
  }
  const { law, explanation, suspects } = first;
  terminal.say(`  ${pc.red(verdictWords(verdict))}`);
  terminal.say(`  ${pc.bold(law)}, ${ownerWords(first)}: ${explanation}`);
  terminal.say(`  ${pc.dim(`it looks like ${suspects.slice(0, 3).join(", or ")}`)}`);
}

/** Returns the command that repeats the demo. The scenario is an option here, because the demo has a default one. */
export const repeatDemo = ({ scenario, rules, asWindow, duration, driver, runs, seed }: Args): string =>
  repeatCommand("demo", [], { scenario, rules, "as-window": asWindow, duration, driver, runs, seed });
