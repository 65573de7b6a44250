// `npm run clean-traces`: false alarms, counted over random correct deployments with all switches. The unit is a run:
// one deployment, judged with its rules as the trace tells them, once more without any, and once more with less of it
// recorded; by version 1 of the trace, and by version 2 where the rules are told.
//   npm run clean-traces                                  3,000 runs, some ten million records, most of an hour of a core
//   npm run clean-traces -- --runs 60 --minutes 1         ends after a minute at most
//   npm run clean-traces -- --out reports/clean-traces.md keeps the figures
// One run in three is judged from bytes, too, as `spillway verify` does, and alike.
// `--calls` is the most calls of a run, `--from` the run to begin with: a failure prints the command that repeats it.
import { writeFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import fc from "fast-check";
import { Limiter } from "../../src/engine/limiter.ts";
import { type Rules, scopes } from "../../src/rules/rules.ts";
import { type SwitchName, switchValues } from "../../src/rules/switches.ts";
import { count } from "../../src/rules/words.ts";
import { between, type RandomState, seedRandom } from "../../src/scenario/random.ts";
import type { TraceLine } from "../../src/trace/read.ts";
import { encodeCall, encodeHeader } from "../../src/trace/write.ts";
import { judge } from "../../src/verify/judge.ts";
import { judgeQuotas } from "../../src/verify/policy-judge.ts";
import type { QuotaVerdict, Verdict } from "../../src/verify/verdict.ts";
import { verify } from "../../src/verify/verify.ts";
import { isAnswered } from "../../src/wire/outcome.ts";
import { callByQuotas, headerByQuotas } from "./as-quotas.ts";
import { ChangingLimits, changeable } from "./changing-limits.ts";
import { allFates, honestFates, worlds } from "./drawn-worlds.ts";
import { type History, play, type World } from "./history.ts";
import { short, woven } from "./woven.ts";

/** So many calls are drawn one by one; longer histories are woven of them. */
const drawnMost = 90;
const worldsPerDraw = 60;
/** One run of so many is also read from bytes, which takes as long as the rest of it. */
const runsPerReading = 3;
const runsBetweenReports = 100;

const arbitraries = [
  worlds({ fates: ["answered"], anonymous: false, plansMost: drawnMost }),
  worlds({ fates: honestFates, anonymous: false, plansMost: drawnMost }),
  worlds({ fates: allFates, anonymous: true, plansMost: drawnMost }),
] as const;

/** The parts of a run, by its number. */
type Shape = "as drawn" | "windows of 1 and 2 s" | "limits change" | "woven" | "woven, busy";
const shapes: readonly Shape[] = [
  "as drawn",
  "woven",
  "windows of 1 and 2 s",
  "woven, busy",
  "limits change",
];

/** The part of a run that is recorded, by its number: all; what was sent after a part of it; its calls without some. */
type Recorded = "whole" | "its beginning cut off" | "some lines left out";
const recordings: readonly Recorded[] = ["whole", "its beginning cut off", "some lines left out"];

interface Tally {
  runs: number;
  records: number;
  windows: number;
  /** Judgements of version 2, and of traces that are not whole. */
  byQuotas: number;
  cut: number;
  accused: number;
  differing: number;
  /** Runs of each switch's value in a scope: `anchor.rest epoch`. */
  readonly switches: Map<string, number>;
}

interface Settings {
  readonly runs: number;
  readonly seed: number;
  readonly calls: number;
  readonly from: number;
  readonly minutes: number;
}

/** @returns the exit status: 1 where a run was accused, or judged otherwise from bytes */
export async function run(args: string[]): Promise<number> {
  const { values } = parseArgs({
    args,
    options: {
      runs: { type: "string", default: "3000" },
      seed: { type: "string", default: "1" },
      calls: { type: "string", default: "12000" },
      from: { type: "string", default: "0" },
      minutes: { type: "string", default: "90" },
      out: { type: "string" },
    },
  });
  const whole = (name: keyof Settings): number => {
    const number = Number(values[name]);
    if (Number.isSafeInteger(number) && number >= 0) return number;
    throw new TypeError(`--${name}: got ${values[name]}, allowed: a whole number from 0`);
  };
  const settings: Settings = {
    runs: whole("runs"),
    seed: whole("seed"),
    calls: whole("calls"),
    from: whole("from"),
    minutes: whole("minutes"),
  };
  const tally: Tally = {
    runs: 0,
    records: 0,
    windows: 0,
    byQuotas: 0,
    cut: 0,
    accused: 0,
    differing: 0,
    switches: new Map(),
  };
  const startedMs = performance.now();
  await all(settings, tally, startedMs + settings.minutes * 60_000);
  console.log(said(tally));
  if (values.out !== undefined)
    await writeFile(values.out, report(settings, tally, performance.now() - startedMs));
  return tally.accused + tally.differing === 0 && tally.runs === settings.runs ? 0 : 1;
}

async function all({ runs, seed, calls, from }: Settings, tally: Tally, untilMs: number): Promise<void> {
  for (let index = from; index < from + runs; index++) {
    if (performance.now() > untilMs) {
      console.log(`out of time before run ${index}`);
      return;
    }
    const problem = await one(index, seed, calls, tally);
    if (tally.runs % runsBetweenReports === 0) console.error(said(tally));
    if (problem === null) continue;
    console.log(`run ${index}: ${problem}\n  ${commandOf({ runs: 1, seed, calls, from: index })}`);
  }
}

const commandOf = ({ runs, seed, calls, from }: Omit<Settings, "minutes">): string =>
  `npm run clean-traces -- --runs ${runs} --seed ${seed} --calls ${calls} --from ${from}`;

const said = ({ runs, records, windows, accused, differing }: Tally): string =>
  `${count(runs)} runs of correct deployments, ${count(records)} records, ${count(windows)} windows ` +
  `judged with rules as told and without: ${accused} runs accused, ${differing} judged otherwise from bytes`;

function report(settings: Settings, tally: Tally, ms: number): string {
  const rarest = [...tally.switches].toSorted(([, a], [, b]) => a - b)[0];
  const names = Object.keys(switchValues) as SwitchName[];
  const values = names.reduce((sum, name) => sum + switchValues[name].length * scopes.length, 0);
  return `# False alarms over correct traces

${said(tally)}.

Each run is a deployment of its own, drawn with its rules, its callers and what their traces do not show: answers that
are slow or missing, calls without a line, clocks that are off, windows that were open at the start. Some change their
limits, some have windows of 1 and 2 s. ${count(tally.cut)} runs were judged once more with their beginning cut off, or with lines
left out; ${count(tally.byQuotas)} judgements are of version 2, by quotas. All runs are correct, so that each accusation is a false
alarm. ${tally.switches.size} of the ${values} values of a switch in a scope were drawn; the rarest one, \`${rarest?.[0]}\`, in
${count(rarest?.[1] ?? 0)} runs. Repeat it with

    ${commandOf({ ...settings, runs: tally.runs })}

It took ${Math.round(ms / 60_000)} minutes of one core, with node ${process.versions.node}.
`;
}

let drawn: { readonly key: string; readonly worlds: readonly World[] } = { key: "", worlds: [] };

/** The world of a run: the same for the same number and seed, wherever a campaign begins. */
function worldOf(index: number, seed: number): World {
  const draw = Math.floor(index / worldsPerDraw);
  const kind = draw % arbitraries.length;
  const key = `${seed} ${draw}`;
  const arbitrary = arbitraries[kind] ?? arbitraries[0];
  if (drawn.key !== key)
    drawn = { key, worlds: fc.sample(arbitrary, { numRuns: worldsPerDraw, seed: seed * 100_003 + draw }) };
  const world = drawn.worlds[index % worldsPerDraw];
  if (world === undefined) throw new RangeError(`no world for run ${index}`);
  return world;
}

async function one(index: number, seed: number, calls: number, tally: Tally): Promise<string | null> {
  const shape = shapes[index % shapes.length] ?? "as drawn";
  const random: RandomState = { random0: 0, random1: 0, random2: 0, random3: 0 };
  seedRandom(random, seed, 0, index);
  const world = worldOf(index, seed);
  const history = played(world, shape, calls, random);
  const callsBetweenClosings = [1, 7, 500, 4096][between(random, 0, 3)] ?? 4096;
  const { rules } = history.header;
  const silent = { ...history, header: { ...history.header, rules: null } };
  // Changes of enforcement are told by the status bodies around them: those traces stay whole.
  const recording = world.flips.length > 0 ? "whole" : (recordings[index % recordings.length] ?? "whole");
  const less = recorded(history, recording, random);
  tally.runs += 1;
  tally.records += history.lines.length;
  countSwitches(world.rules, tally.switches);
  let problem: string | null = null;
  const accuse = ({ windows, verdict, violations }: Verdict | QuotaVerdict, of: string): void => {
    tally.windows += windows;
    if (verdict === "violated") problem ??= `${shape}, ${of}: ${JSON.stringify(violations[0])}`;
  };
  for (const each of rules === null ? [history] : [history, silent]) {
    const verdict = await judge(each.header, each.lines, { callsBetweenClosings });
    accuse(verdict, "whole");
    const isRead = problem === null && index % runsPerReading === 0;
    if (isRead && !(await isSameFromBytes(each, callsBetweenClosings, verdict))) {
      tally.differing += 1;
      return `${shape}: judged otherwise from bytes`;
    }
  }
  if (recording !== "whole") {
    tally.cut += 1;
    const header = index % 2 === 0 ? less.header : { ...less.header, rules: null };
    accuse(await judge(header, less.lines, { callsBetweenClosings }), recording);
  }
  // By quotas nothing tells that limits are not enforced for a while.
  if (rules !== null && world.flips.length === 0) {
    tally.byQuotas += 1;
    const lines = less.lines.map(({ line, call }) => ({ line, call: callByQuotas(call) }));
    const header = headerByQuotas(less.header, rules);
    accuse(await judgeQuotas(header, lines, { callsBetweenClosings }), `${recording}, by quotas`);
  }
  if (problem !== null) tally.accused += 1;
  return problem;
}

function countSwitches({ semantics }: Rules, switches: Map<string, number>): void {
  for (const name of Object.keys(switchValues) as SwitchName[])
    for (const scope of scopes) {
      const value = `${name}.${scope} ${semantics[name][scope]}`;
      switches.set(value, (switches.get(value) ?? 0) + 1);
    }
}

/** A history as a trace of less than all of it tells it. */
function recorded(history: History, recording: Recorded, random: RandomState): History {
  const { header, lines } = history;
  if (recording === "whole") return history;
  if (recording === "some lines left out")
    return {
      header: { ...header, complete: false },
      lines: lines.filter(() => between(random, 0, 2) > 0),
    };
  const last = lines.reduce((most, { call }) => Math.max(most, call.sent), header.startedAt);
  const startedAt = between(random, header.startedAt, last);
  // Calls that may have been decided since then stay.
  const since = ({ call }: TraceLine): boolean => call.received >= startedAt || !isAnswered(call);
  return { header: { ...header, startedAt }, lines: lines.filter(since) };
}

function played(world: World, shape: Shape, calls: number, random: RandomState): History {
  if (shape === "limits change") {
    const rules = changeable(world.rules);
    return play({ ...world, rules, showsRules: false }, new ChangingLimits(rules));
  }
  let played = world;
  if (shape === "windows of 1 and 2 s") played = { ...world, rules: short(world.rules, random) };
  if (shape === "woven") played = { ...world, plans: woven(world.plans, calls, 1, random) };
  if (shape === "woven, busy") played = { ...world, plans: woven(world.plans, calls, 20, random) };
  return play(played, new Limiter(played.rules));
}

/** Output of `spillway verify` about the trace as a file. */
async function isSameFromBytes(
  { header, lines }: History,
  callsBetweenClosings: number,
  verdict: Verdict,
): Promise<boolean> {
  const text = [encodeHeader(header), ...lines.map(({ call }) => encodeCall(call))].join("\n");
  const bytes = new TextEncoder().encode(`${text}\n`);
  const fromBytes = await verify(chunks(bytes), { callsBetweenClosings });
  return JSON.stringify(fromBytes) === JSON.stringify(verdict);
}

async function* chunks(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += 65_536) yield bytes.subarray(at, at + 65_536);
}
