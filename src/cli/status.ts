// `spillway status`: shows an organization's limits as bars, once or live. It only asks for the status, which is free.

import { setTimeout as sleep } from "node:timers/promises";
import type { Policy } from "../policy/policy.ts";
import type { PolicyStatus } from "../probe/policy-status.ts";
import type { StatusReading } from "../probe/status.ts";
import { displayWidth, padAfter } from "../rules/columns.ts";
import { duration } from "../rules/duration.ts";
import { quote, SpillwayError } from "../rules/errors.ts";
import { count } from "../rules/words.ts";
import { onInterrupt } from "../runs/interrupt.ts";
import { pc } from "./colors.ts";
import { readLimits } from "./files.ts";
import { policyTarget, probedTarget, targetOptions } from "./probed-target.ts";
import { requireDuration, rulesOption } from "./run-options.ts";
import { openTerminal, type Terminal } from "./terminal.ts";
import { type ArgsOf, defineVerb, option, type VerbOptions } from "./verb.ts";

/** Time between two pictures, ms: the countdown goes on between polls. */
const redrawEveryMs = 1000;
const everyLeastMs = 1000;
/** Most failures in a row while watching. */
const failuresMost = 10;

const options = {
  ...targetOptions,
  rules: rulesOption("read the status by", "the default API's"),
  watch: option.flag("repeat until Ctrl-C", { default: false }),
  every: option.text("TIME", "with --watch, ask every TIME, 1s or more", { default: "5s" }),
} as const satisfies VerbOptions;

type Args = ArgsOf<typeof options>;

export const verb = defineVerb({
  name: "status",
  summary: "show a caller's limits and their use, once or live, free of charge",
  options,
  examples: {
    "$0 status --target http://127.0.0.1:4100 --tokens tokens.json": "show the limits once",
    "SPILLWAY_TOKEN=... $0 status --target https://api.example.com --allow-host api.example.com --org acme --watch":
      "show those of a deployment elsewhere, live, with a token from the environment",
    "$0 status --policy github --target https://api.github.com --allow-host api.github.com --tokens tokens.json":
      "show the quotas of another API's caller, which its policy names",
    "$0 status --target http://127.0.0.1:4100 --tokens tokens.json --watch --json":
      "print one JSON object a line for each reading",
  },
  handler: async (args) => {
    const everyMs = requireEvery(args.every);
    const limits = args.rules === undefined ? null : await readLimits(args.rules);
    const policy = limits !== null && "policy" in limits ? limits.policy : null;
    const interrupt = onInterrupt();
    try {
      const reader = await readerOf(args, policy, interrupt.signal);
      const { json = false } = args;
      const terminal = openTerminal(json);
      if (args.watch) await watch(reader, { terminal, json }, everyMs, interrupt.signal);
      else await once(reader, terminal);
    } catch (error) {
      if (!interrupt.signal.aborted || error instanceof SpillwayError) throw error;
    } finally {
      interrupt.release();
    }
  },
});

function requireEvery(every: string): number {
  const everyMs = requireDuration("--every", every);
  if (everyMs >= everyLeastMs) return everyMs;
  throw new SpillwayError("USAGE", "that is too often", {
    problem: { path: "--every", got: quote(every), allowed: "1s or more" },
  });
}

type Reading = StatusReading | PolicyStatus;

interface Reader {
  read(): Promise<Reading>;
}

async function readerOf(args: Args, policy: Policy | null, signal: AbortSignal): Promise<Reader> {
  if (policy === null) {
    const probed = await probedTarget(args);
    const { StatusReader } = await import("../probe/status.ts");
    return new StatusReader({ ...probed, signal });
  }
  const { PolicyStatusReader } = await import("../probe/policy-status.ts");
  return new PolicyStatusReader({ ...(await policyTarget(args, policy)), policy, signal });
}

/** A line of the picture. */
interface Bar {
  readonly name: string;
  readonly limit: number;
  readonly used: number;
  readonly endsAtMs: number | null;
  readonly enforced: boolean | null;
}

const barsIn = (reading: Reading): readonly Bar[] =>
  "quotas" in reading
    ? reading.quotas.map(({ quota, ...numbers }) => ({ ...numbers, name: quota, enforced: null }))
    : reading.windows.map(({ scope, owner, ...numbers }) => ({
        ...numbers,
        name: `${scope}${owner === "user" ? " user" : ""}`,
      }));

const whoseOf = (reading: Reading): string =>
  "quotas" in reading ? [reading.policy, ...Object.values(reading.caller)].join(", ") : reading.organization;

export async function once(reader: Reader, terminal: Terminal): Promise<void> {
  const reading = await reader.read();
  for (const line of barsOf(reading, reading.atMs, process.stdout.columns ?? 100)) terminal.say(line);
  terminal.result(reading);
}

interface Clock {
  now(): number;
  /** Waits for a time. @throws if the signal is aborted */
  wait(ms: number, signal: AbortSignal): Promise<void>;
}

const realClock: Clock = { now: Date.now, wait: (ms, signal) => sleep(ms, undefined, { signal }) };

/**
 * Says readings until aborted: as a picture, as lines of JSON, or as lines of text.
 * @throws SpillwayError that the reader throws `failuresMost` times in a row
 */
export async function watch(
  reader: Reader,
  { terminal, json }: { readonly terminal: Terminal; readonly json: boolean },
  everyMs: number,
  signal: AbortSignal,
  { now, wait }: Clock = realClock,
): Promise<void> {
  const live = !json && process.stdout.isTTY;
  const picture = new Picture(terminal, now);
  let failures = 0;
  for (;;) {
    const startedMs = now();
    let failure: string | null = null;
    const reading = await reader.read().catch((error: unknown) => {
      failures += 1;
      if (signal.aborted || !(error instanceof SpillwayError) || failures >= failuresMost) throw error;
      failure = error.problems[0]?.got ?? error.message;
      return null;
    });
    if (reading !== null) failures = 0;
    if (live) picture.show(reading, failure);
    else if (json) terminal.resultLine(reading ?? { atMs: now(), failure });
    else terminal.say(plainLine(reading, failure, startedMs));
    const untilNext = (): number => startedMs + everyMs - now();
    for (let ms = untilNext(); ms > 0; ms = untilNext()) {
      await wait(Math.min(redrawEveryMs, ms), signal);
      if (live) picture.redraw();
    }
  }
}

/** Returns a reading as one line, for logs: `10:00:59 rest 37/200 resets in 43 s, rest user 2/50 ...`. */
function plainLine(reading: Reading | null, failure: string | null, atMs: number): string {
  const time = new Date(reading?.atMs ?? atMs).toISOString().slice(11, 19);
  if (reading === null) return `${time} no reading: ${failure}`;
  const parts = barsIn(reading).map((bar) => {
    const resets = bar.endsAtMs === null ? "" : ` resets in ${left(bar.endsAtMs, reading.atMs)}`;
    return `${bar.name} ${bar.used}/${bar.limit}${resets}${bar.enforced === false ? " (not enforced)" : ""}`;
  });
  return `${time} ${parts.join(", ")}`;
}

/** Draws the picture again in place. */
class Picture {
  readonly #terminal: Terminal;
  readonly #now: () => number;
  #reading: Reading | null = null;
  #failure: string | null = null;

  constructor(terminal: Terminal, now: () => number) {
    this.#terminal = terminal;
    this.#now = now;
  }

  show(reading: Reading | null, failure: string | null): void {
    this.#reading = reading ?? this.#reading;
    this.#failure = failure;
    this.redraw();
  }

  redraw(): void {
    const columns = process.stdout.columns ?? 80;
    const bars = this.#reading === null ? [] : barsOf(this.#reading, this.#now(), columns);
    const below =
      this.#failure === null
        ? "Ctrl-C ends"
        : pc.yellow(cut(`no answer: ${this.#failure}; trying again`, columns));
    this.#terminal.redraw([...bars, below]);
  }
}

const cut = (text: string, width: number): string => (text.length < width ? text : text.slice(0, width - 1));

const left = (endsAtMs: number, nowMs: number): string => {
  const seconds = Math.ceil((endsAtMs - nowMs) / 1000);
  return seconds > 0 ? duration(seconds * 1000) : "0 s";
};

const barMost = 40;

/**
 * Returns a line for each window, no wider than the terminal. A window that ended since its reading shows nothing used.
 * @param columns width of the terminal
 */
export function barsOf(reading: Reading, nowMs: number, columns: number): string[] {
  const bars = barsIn(reading);
  const nameWidth = Math.max(...bars.map(({ name }) => displayWidth(name)));
  const rows = bars.map((bar) => {
    const isOver = bar.endsAtMs !== null && nowMs >= bar.endsAtMs;
    const used = isOver ? 0 : bar.used;
    const numbers = `${count(used)} / ${count(bar.limit)}`;
    const time = isOver ? "ended" : bar.endsAtMs === null ? "" : `${left(bar.endsAtMs, nowMs)} left`;
    const enforced = bar.enforced === false ? ", not enforced" : "";
    return {
      name: padAfter(bar.name, nameWidth),
      share: used / bar.limit,
      numbers,
      time: time + enforced,
    };
  });
  const numberWidth = Math.max(...rows.map(({ numbers }) => numbers.length));
  const timeWidth = Math.max(...rows.map(({ time }) => time.length));
  const room = Math.min(barMost, columns - 1 - nameWidth - numberWidth - timeWidth - 6);
  const lines = rows.map(({ name, share, numbers, time }) => {
    const bar = room >= 5 ? `${barOf(share, room)} ` : "";
    const text = `${numbers.padStart(numberWidth)}  ${time}`;
    return room >= 5 ? `${name} ${bar}${text}` : cut(`${name} ${text}`, columns);
  });
  const head = cut(
    `${whoseOf(reading)} at ${new Date(nowMs).toISOString().slice(11, 19)} UTC${skewText(reading)}`,
    columns,
  );
  const note = cut("GraphQL's user window is on GraphQL's own answers alone: asking may cost", columns);
  const isMissing =
    "windows" in reading &&
    !reading.windows.some(({ scope, owner }) => scope === "graphql" && owner === "user");
  return [pc.bold(head), ...lines, ...(isMissing ? [pc.dim(note)] : [])];
}

function barOf(share: number, width: number): string {
  const filled = Math.min(width, Math.max(share > 0 ? 1 : 0, Math.floor(share * width)));
  const color = share >= 1 ? pc.red : share >= 0.8 ? pc.yellow : pc.green;
  return `[${color("#".repeat(filled))}${pc.dim(".".repeat(width - filled))}]`;
}

/** Least difference of the clocks that a user needs to know, ms. */
const skewToldMs = 1500;

/** Says how far the clocks differ. */
function skewText({ skewMs }: Reading): string {
  if (skewMs === null) return "";
  const off = `, the target's clock is ${duration(Math.abs(skewMs))}`;
  return skewMs >= skewToldMs ? `${off} ahead` : skewMs <= -skewToldMs ? `${off} behind` : "";
}
