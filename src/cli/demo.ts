// `spillway demo` (= `npm start`): the whole pipe on loopback, with windows of a few seconds, so that several
// resets pass in under a minute. Each stage is the same code as its verb.

import { join } from "node:path";
import type { CheckReport } from "../laws/report.ts";
import type { DriverName } from "../load/driver.ts";
import type { LoadedScenario } from "../load/scenario-file.ts";
import { runFiles } from "../report/run.ts";
import { ownerWords, verdictWords } from "../report/source.ts";
import { counted } from "../rules/words.ts";
import { INTERRUPTED, onInterrupt } from "../runs/interrupt.ts";
import type { JobThread, JobThreads } from "../runs/job-thread.ts";
import { shellCommand } from "../runs/run-place.ts";
import type { Verdict } from "../verify/verdict.ts";
import { showCheckProgress } from "./check-progress.ts";
import { pc } from "./colors.ts";
import { openOption, reportOpener } from "./open-report.ts";
import {
  codeNote,
  driverOption,
  importMsOf,
  importTimeout,
  requireDuration,
  requireSeed,
  requireWhole,
  runOptions,
} from "./run-options.ts";
import { openTerminal, type Terminal } from "./terminal.ts";
import { defineVerb } from "./verb.ts";

interface Args {
  readonly scenario: string;
  readonly duration: string;
  readonly driver?: DriverName | undefined;
  readonly runs: number;
  readonly seed: number;
  readonly out?: string | undefined;
  readonly open?: boolean | undefined;
  readonly force?: boolean | undefined;
  readonly importTimeout?: string | undefined;
  readonly json?: boolean | undefined;
}

/** The options, checked. */
interface Asked extends Args {
  readonly durationMs: number;
  readonly signal: AbortSignal;
}

/** Limits that the clients of `ci-fleet` come near, on windows of seconds: half a minute sees several resets. */
const shortWindows = {
  organization: {
    rest: { limit: 90, windowSeconds: 5 },
    graphql: { limit: 2_000, windowSeconds: 8 },
  },
  user: { rest: { limit: 50, windowSeconds: 5 }, graphql: { limit: 1_000, windowSeconds: 8 } },
};

export const verb = defineVerb<Args>({
  name: "demo",
  summary: "show every part on this machine: check, serve, load, verify, simulate, break, report",
  notes: [codeNote],
  options: {
    scenario: {
      argument: "SCENARIO",
      type: "string",
      default: "ci-fleet",
      describe: "load with the clients of SCENARIO",
    },
    duration: { argument: "TIME", type: "string", default: "25s", describe: "load for TIME" },
    driver: driverOption,
    runs: { argument: "N", type: "number", default: 50, describe: "run each law N times" },
    seed: { argument: "N", type: "number", default: 7, describe: "draw everything from seed N" },
    out: { argument: "DIR", type: "string", describe: "write the run to DIR [default: reports/demo-TIME]" },
    open: openOption,
    force: runOptions.force,
    "import-timeout": importTimeout,
  },
  examples: [
    ["$0 demo", "see every part in under a minute"],
    ["$0 demo --scenario herd --duration 40s", "load with other clients, for longer"],
  ],
  handler: async (args) => {
    const terminal = openTerminal(args.json === true);
    requireSeed(args.seed);
    requireWhole("--runs", args.runs, 1, 10_000_000);
    const durationMs = requireDuration("--duration", args.duration);
    const importMs = importMsOf(args);
    const { startJobs } = await import("../runs/job-thread.ts");
    const interrupt = onInterrupt();
    const { signal } = interrupt;
    try {
      const threads = await startJobs({ scenario: args.scenario }, { importMs, signal });
      const asked = { ...args, durationMs, signal };
      await demonstrate(terminal, asked, threads).finally(() => threads.close());
    } catch (error) {
      if (!interrupt.signal.aborted) throw error;
    } finally {
      terminal.progress(null);
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
  const { organization, user } = shortWindows;
  terminal.say(
    `Windows of ${organization.rest.windowSeconds} s (REST) and ${organization.graphql.windowSeconds} s (GraphQL); ` +
      `${organization.rest.limit} requests an organization, ${user.rest.limit} a user. Nothing leaves this machine.`,
  );
  const checked = await check(terminal, asked);
  const loaded = await loadForReal(terminal, asked, threads);
  const { folder } = loaded;
  if (signal.aborted) return;
  const simulated = await simulateAlike(terminal, asked, folder, thread);
  const broken = await simulateBroken(terminal, asked, folder, thread);
  await report(terminal, folder, simulated.folder);
  const { summary, verdict, expectations } = loaded;
  terminal.result({
    folder,
    check: checked,
    summary,
    verdict,
    expectations,
    predicted: simulated.summary.figures,
    broken: { fault: shownFault, verdict: broken.verdict.verdict },
  });
  await open(join(folder, runFiles.html));
  const found = signal.aborted || broken.verdict.verdict === "violated";
  process.exitCode = checked.ok && loaded.held && found ? 0 : 1;
}

const stage = (terminal: Terminal, name: string, what: string): void =>
  terminal.say("", `${pc.bold(pc.cyan(name))} ${what}`);

async function check(terminal: Terminal, { runs, seed, signal }: Asked): Promise<CheckReport> {
  stage(terminal, "check", "looks for the shortest way to break each law of the limiter");
  const { checkLaws } = await import("../laws/check.ts");
  const { engineFactory } = await import("../laws/engine-factory.ts");
  const { renderCounterexample } = await import("../laws/timeline.ts");
  const onProgress = showCheckProgress(terminal);
  const report = await checkLaws(engineFactory, { runs, seed, signal, onProgress });
  terminal.progress(null);
  const judged = report.laws.reduce((sum, law) => sum + law.judged, 0);
  const found = report.ok ? pc.green("no counterexample") : pc.red("violated");
  terminal.say(
    `  ${counted(report.laws.length, "law")}, ${counted(runs, "run")} each, ${counted(judged, "answer")} judged: ${found}`,
  );
  for (const law of report.laws) if (law.outcome === "violated") terminal.say(...renderCounterexample(law));
  return report;
}

async function loadForReal(
  terminal: Terminal,
  asked: Asked,
  { scenario, thread }: JobThreads<LoadedScenario>,
) {
  const { seed, durationMs, out, force, signal } = asked;
  stage(
    terminal,
    "serve, load, verify",
    `${asked.scenario} loads the reference deployment for ${asked.duration}; the oracle judges the trace`,
  );
  const { chooseDriver } = await import("../load/driver.ts");
  const { serve } = await import("../service/serve.ts");
  const { parseRules } = await import("../rules/parse.ts");
  const { driverLine, loadInto } = await import("../runs/load-into.ts");
  const { sayLoad } = await import("./say-run.ts");
  const by = await chooseDriver(asked.driver, { signal });
  terminal.say(`  ${driverLine(by)}`);
  const place = { out, name: "demo", force };
  const run = await loadInto(place, {
    scenario,
    file: asked.scenario,
    command: repeatDemo(asked),
    by,
    drive: (task, stop) => thread.run("load", task, stop),
    adjustments: { seed, durationMs, rules: parseRules(shortWindows) },
    target: { start: ({ rules, tokens }) => serve({ rules, tokens, port: 0 }) },
    signal,
    onProgress: terminal.progress,
  });
  terminal.progress(null);
  sayLoad(terminal, run);
  return run;
}

async function simulateAlike(
  terminal: Terminal,
  { scenario: file, signal }: Asked,
  folder: string,
  thread: JobThread,
) {
  stage(
    terminal,
    "simulate",
    "the same clients in virtual time, from the same instant: what it would have predicted",
  );
  const { factsOf, simulateInto } = await import("../runs/simulate-into.ts");
  const { saySimulation } = await import("./say-run.ts");
  const parts = thread.run("simulate", { changes: { like: folder } });
  const facts = await factsOf(parts);
  const run = await simulateInto({ out: `${folder}/simulated`, name: facts.scenario.name }, facts, {
    parts,
    signal,
    file,
    command: `npx spillway simulate ${file} --like ${folder}`,
    notes: facts.notes,
    onProgress: terminal.progress,
  });
  terminal.progress(null);
  saySimulation(terminal, run, facts.scenario.seed, run.notes);
  return run;
}

/** A bug that several limiters have shipped. */
const shownFault = "race-read-then-write";

async function simulateBroken(
  terminal: Terminal,
  { scenario: file, signal }: Asked,
  folder: string,
  thread: JobThread,
) {
  const { faultNamed } = await import("../faults/choice.ts");
  stage(
    terminal,
    `simulate --fault ${shownFault}`,
    `the same once more, by a limiter that is wrong: ${faultNamed(shownFault).wrong}`,
  );
  const { factsOf, simulateInto } = await import("../runs/simulate-into.ts");
  const parts = thread.run("simulate", { changes: { like: folder }, fault: shownFault });
  const facts = await factsOf(parts);
  const run = await simulateInto({ out: `${folder}/broken`, name: facts.scenario.name }, facts, {
    parts,
    signal,
    file,
    command: `npx spillway simulate ${file} --like ${folder} --fault ${shownFault}`,
    notes: [`the fault ${shownFault} is injected`],
    onProgress: terminal.progress,
  });
  terminal.progress(null);
  sayFound(terminal, run.verdict);
  terminal.say(`  ${run.folder}/${runFiles.html}`);
  return run;
}

/** The first thing that the oracle found. */
function sayFound(terminal: Terminal, verdict: Verdict): void {
  const [first] = verdict.violations;
  if (first === undefined) {
    terminal.say(`  ${pc.red("nothing was found")}`);
    return;
  }
  const { law, explanation, suspects } = first;
  terminal.say(`  ${pc.red(verdictWords(verdict))}`);
  terminal.say(`  ${pc.bold(law)}, ${ownerWords(first)}: ${explanation}`);
  terminal.say(`  ${pc.dim(`it looks like ${suspects.slice(0, 3).join(", or ")}`)}`);
}

async function report(terminal: Terminal, folder: string, compare: string): Promise<void> {
  stage(
    terminal,
    "report",
    "what was refused and whom it hit, every window, waits, prediction beside measurement",
  );
  const { writeReport } = await import("../report/report.ts");
  const { html } = await writeReport(folder, { compare });
  terminal.say(`  open ${html}`);
}

/** The scenario is an option here: the demo is about the pipe. */
function repeatDemo({ scenario, duration, driver, runs, seed }: Args): string {
  return shellCommand([
    "npx",
    "spillway",
    "demo",
    "--scenario",
    scenario,
    "--duration",
    duration,
    ...(driver === undefined ? [] : ["--driver", driver]),
    "--runs",
    String(runs),
    "--seed",
    String(seed),
  ]);
}
