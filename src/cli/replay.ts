// `spillway replay FILES...`: replays logs under rules.

import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import type { ReplayProgress } from "../../sim/replay/way.ts";
import { share } from "../report/format.ts";
import type { AnyReplay } from "../report/replay-view.ts";
import { runFiles } from "../report/run.ts";
import { SpillwayError } from "../rules/errors.ts";
import { parseRules } from "../rules/parse.ts";
import type { Rules } from "../rules/rules.ts";
import { counted } from "../rules/words.ts";
import { INTERRUPTED } from "../runs/interrupt.ts";
import type { OpenedLogs } from "../runs/log-input.ts";
import { Pace, paceText } from "../runs/pace.ts";
import { version } from "../runs/version.ts";
import { asWindowOption, limitsOf } from "./as-window.ts";
import { logOptions } from "./log-options.ts";
import { policyOfLogs } from "./log-policy.ts";
import { openOption, reportOpener } from "./open-report.ts";
import { requireSeed, rulesOption } from "./run-options.ts";
import { openTerminal, type Terminal } from "./terminal.ts";
import { untilInterrupted } from "./until-interrupted.ts";
import { type ArgsOf, defineVerb, type Operand, option, program, type VerbOptions } from "./verb.ts";

const operands = [
  {
    name: "files",
    many: true,
    required: true,
    describe: "logs or traces: files, globs, a run's folder, or - for standard input",
  },
] as const satisfies readonly Operand[];

const options = {
  rules: rulesOption("use", "a trace's own, else default"),
  "as-window": asWindowOption,
  set: option.text("PATH=VALUE", "set the rules' member PATH to VALUE: organization.rest.limit=400", {
    array: true,
  }),
  "on-refused": option.text(
    "POLICY",
    "replay again with callers that react by POLICY: waitReset, waitReset+0..5s, retryAfter, exponential, fixed+2s, none",
  ),
  independent: option.flag(
    "send each call at its time in the log, even if the caller's calls before it still wait",
    { default: false },
  ),
  "keep-refused": option.flag(
    "count each refused call of the log as a call of its own, not as a try of the call that came after it",
    { default: false },
  ),
  seed: option.number("N", "draw for --on-refused from seed N", { default: 1 }),
  expect: option.text("BOUND", "end with exit code 1 unless BOUND holds: 'refusedShare<1%'", { array: true }),
  out: option.text("DIR", "write the result, tables and page to DIR"),
  open: { ...openOption, describe: "with --out, open the report in the browser once it is written" },
  force: option.flag("replace files in DIR that no replay of spillway wrote"),
  "dry-run": option.flag("show how the files were understood and their first rows, and end", {
    default: false,
  }),
  ...logOptions,
} as const satisfies VerbOptions;

type Args = ArgsOf<typeof options, typeof operands>;

export const verb = defineVerb({
  name: "replay",
  summary: "say who would have been refused: access logs, traces, HAR, CSV, JSON lines under rules",
  notes: [`${program} figures lists the figures that --expect takes, with their units.`],
  operands,
  options,
  examples: {
    "$0 replay access.log": "replay an nginx or Apache log under the default rules",
    "$0 replay 'logs/*.gz' --dry-run": "show how the columns were understood",
    "$0 replay calls.csv --set user.rest.limit=100 --expect 'refused==0'":
      "see whether a limit of 100 would do",
    "$0 replay access.log --path '/v2/**' --path /graphql": "see what limits on some paths would do",
    "$0 replay access.log --traffic 2x": "see who would be refused with twice as many callers",
    "$0 replay access.log --policy github": "see who would have been refused by GitHub's limits",
    "$0 replay access.log --on-refused waitReset+0..5s": "see what waiting would have done",
  },
  handler: async (args) => {
    const terminal = openTerminal(args.json);
    const { expect, reaction, given, changes: set } = await optionsOf(args);
    const open = await reportOpener(args.open);
    const { "as-window": asWindow } = args;
    const { openLogs } = await import("../runs/log-input.ts");
    const progress = new Progress(terminal);
    const replayed = async (signal: AbortSignal): Promise<void> => {
      const logs = await openLogs(
        args.files,
        args,
        { onProgress: progress.read, pipeSignal: signal },
        (files) => policyOfLogs(files, given, { asWindow, verb: "replay" }),
      );
      if (args["dry-run"]) {
        const { describeLogs, understandLogs } = await import("./log-text.ts");
        const understood = await understandLogs(logs);
        terminal.say(...describeLogs(understood));
        return terminal.result(understood);
      }
      const changes = logs.changes.length === 0 ? "" : ` (${logs.changes.join("; ")})`;
      const files = logs.files.map(({ name }) => `${name}${changes}`);
      const options = { files, expect, reaction, signal, onProgress: progress.replayed };
      const { replay, replayQuotas } = await import("../../sim/replay/replay.ts");
      if (logs.policy !== undefined) requireNone(set);
      const { changedRules } = await import("./replay-options.ts");
      const result: AnyReplay =
        logs.policy === undefined
          ? await replay(logs, changedRules(given.rules ?? (await rulesOf(logs)), set), options)
          : await replayQuotas(logs, logs.policy, options);
      const { sayReplay } = await import("./say-replay.ts");
      sayReplay(terminal, result);
      if (isByDefault(logs, args))
        terminal.say("  note the limits are the defaults: --policy names others, --set changes one");
      await keep(args, result, terminal);
      terminal.result(result);
      if (args.out !== undefined) await open(join(args.out, runFiles.html));
      process.exitCode = exitOf(result);
    };
    const said = "Interrupted before the end of the logs: nothing was replayed.";
    await untilInterrupted(terminal, replayed, said);
  },
});

/** Returns the exit status: 1 if an expectation was missed, 130 interrupted. */
export function exitOf({
  interrupted,
  expectations,
}: Pick<AnyReplay, "interrupted" | "expectations">): number {
  if (interrupted) return INTERRUPTED;
  return expectations.every(({ held }) => held) ? 0 : 1;
}

/** Reads the options of a replay. @throws SpillwayError `USAGE`, those of files */
export async function optionsOf(args: Args) {
  const { open = false, out, "on-refused": word, independent, "keep-refused": keepRefused } = args;
  if (open && out === undefined)
    throw new SpillwayError("USAGE", "--open needs --out, where the report is written");
  const { expectedOf, reactionOf } = await import("./replay-options.ts");
  const expect = expectedOf(args.expect ?? []);
  if (word === undefined && (independent || keepRefused))
    throw new SpillwayError("USAGE", "--independent and --keep-refused are about callers that react", {
      hint: "add --on-refused waitReset, or another policy",
    });
  const seed = requireSeed(args.seed);
  const reaction = word === undefined ? undefined : { ...reactionOf(word, seed), independent, keepRefused };
  const given = await limitsOf({ asWindow: args["as-window"], rules: args.rules }, "replay LOG");
  const changes = args.set ?? [];
  if (given.policy !== undefined) requireNone(changes);
  return { expect, reaction, given, changes };
}

/** @param changes values of `--set` */
function requireNone(changes: readonly string[]): void {
  if (changes.length === 0) return;
  throw new SpillwayError("USAGE", "--set changes rules, and no policy", {
    hint: 'write what differs as a policy: {"version": 2, "base": "github", "quotas": {...}}',
  });
}

const isTrace = ({ files }: Pick<OpenedLogs, "files">): boolean =>
  files.length === 1 && files[0]?.sample.format === "trace";

/** Tells whether nothing says which limits a log was under: neither an option nor a trace. */
export const isByDefault = (
  logs: Pick<OpenedLogs, "files" | "policy">,
  { rules, set = [] }: Pick<Args, "rules" | "set">,
): boolean => logs.policy === undefined && rules === undefined && set.length === 0 && !isTrace(logs);

/** Returns the rules that a single trace claims; otherwise the default rules. */
export async function rulesOf(logs: Pick<OpenedLogs, "files">): Promise<Rules> {
  const [file] = logs.files;
  if (file === undefined || !isTrace(logs)) return parseRules({});
  const { readTrace } = await import("../trace/read.ts");
  const { header, calls } = await readTrace(file.open());
  // Leaving the stream after its first call closes its file.
  for await (const _ of calls) break;
  return header.rules ?? parseRules({});
}

async function keep({ out, force }: Args, result: AnyReplay, terminal: Terminal): Promise<void> {
  if (out === undefined) return;
  const { json, openResult, placeResult, resultFiles } = await import("../report/result-writer.ts");
  const { renderCsv } = await import("../report/csv.ts");
  const { usersTable, windowsTable } = await import("./replay-table.ts");
  const { addReplayReport } = await import("../report/result-report.ts");
  const writer = await openResult(out, "replay", { force: force === true });
  try {
    const { html } = await addReplayReport(writer, result, version);
    await writer.write("users.csv", renderCsv(usersTable(result)));
    await writer.write("windows.csv", renderCsv(windowsTable(result)));
    await writer.write(resultFiles.replay, json(result));
    await placeResult(writer);
    terminal.say(`  ${html}`);
  } finally {
    await writer.close();
  }
}

/** Shows the progress: rows, rows a second, and the time left if it can be known. */
export class Progress {
  readonly #terminal: Terminal;
  readonly #nowMs: () => number;
  #pace: Pace;
  #isReading = true;
  #share: number | null = null;

  constructor(terminal: Terminal, nowMs: () => number = Date.now) {
    this.#terminal = terminal;
    this.#nowMs = nowMs;
    this.#pace = new Pace(nowMs);
  }

  readonly read = (_text: string, done: number | null): void => {
    this.#share = done;
  };

  /** Shows the progress between two batches of rows, and lets signals have their turn. */
  readonly replayed = async ({ rows, of }: ReplayProgress): Promise<void> => {
    if (this.#isReading && of !== null) this.#pace = new Pace(this.#nowMs);
    this.#isReading = of === null;
    const done = of === null ? this.#share : rows / of;
    const words = this.#isReading
      ? `replaying: ${counted(rows, "row")}`
      : `callers react: ${share(done ?? 0)} of the calls`;
    this.#terminal.progress(
      `${words}${paceText(this.#pace.at(done, rows), this.#isReading ? "row" : "call")}`,
    );
    await setImmediate();
  };
}
