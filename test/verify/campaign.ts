// False alarms, counted: random correct deployments over all switches. The unit is a run: one deployment,
// judged with its rules as the trace tells them and once more without any.
//   node test/support/run.mjs test/verify/campaign.ts --runs 3000 --seed 1 --calls 3000
// One run in three is judged from bytes, too, as `spillway verify` does, and alike.
// `--calls` is the most calls of a run, `--from` the run to begin with: a failure prints the command that repeats it.
import { parseArgs } from "node:util";
import fc from "fast-check";
import { Limiter } from "../../src/engine/limiter.ts";
import type { Rules, Scope } from "../../src/rules/rules.ts";
import { between, type RandomState, seedRandom } from "../../src/scenario/random.ts";
import { encodeCall, encodeHeader } from "../../src/trace/write.ts";
import { judge } from "../../src/verify/judge.ts";
import type { Verdict } from "../../src/verify/verdict.ts";
import { verify } from "../../src/verify/verify.ts";
import { ChangingLimits, changeable } from "./changing-limits.ts";
import { type History, type Plan, play, type World } from "./history.ts";
import { allFates, honestFates, worlds } from "./worlds.ts";

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

/** What a run is made of, by its number. */
type Shape = "as drawn" | "windows of 1 and 2 s" | "limits change" | "woven" | "woven, busy";
const shapes: readonly Shape[] = [
  "as drawn",
  "woven",
  "windows of 1 and 2 s",
  "woven, busy",
  "limits change",
];

interface Tally {
  runs: number;
  records: number;
  windows: number;
  accused: number;
  differing: number;
}

export async function run(args: string[]): Promise<number> {
  const { values } = parseArgs({
    args,
    options: {
      runs: { type: "string", default: "300" },
      seed: { type: "string", default: "1" },
      calls: { type: "string", default: "1500" },
      from: { type: "string", default: "0" },
    },
  });
  const [runs, seed, calls, from] = [values.runs, values.seed, values.calls, values.from].map(Number);
  if (runs === undefined || seed === undefined || calls === undefined || from === undefined) return 2;
  const tally: Tally = { runs: 0, records: 0, windows: 0, accused: 0, differing: 0 };
  for (let index = from; index < from + runs; index++) {
    const problem = await one(index, seed, calls, tally);
    if (tally.runs % runsBetweenReports === 0) console.error(said(tally));
    if (problem !== null)
      console.log(
        `run ${index}: ${problem}\n  node test/support/run.mjs test/verify/campaign.ts --runs 1 --seed ${seed} --calls ${calls} --from ${index}`,
      );
  }
  console.log(said(tally));
  return tally.accused + tally.differing === 0 ? 0 : 1;
}

const said = ({ runs, records, windows, accused, differing }: Tally): string =>
  `${runs} runs of correct deployments, ${records} records, ${windows} windows judged with rules as told and ` +
  `without: ${accused} runs accused, ${differing} judged otherwise from bytes`;

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
  const history = played(worldOf(index, seed), shape, calls, random);
  const callsBetweenClosings = [1, 7, 500, 4096][between(random, 0, 3)] ?? 4096;
  const silent = { ...history, header: { ...history.header, rules: null } };
  tally.runs += 1;
  tally.records += history.lines.length;
  let problem: string | null = null;
  for (const each of history.header.rules === null ? [history] : [history, silent]) {
    const verdict = await judge(each.header, each.lines, { callsBetweenClosings });
    tally.windows += verdict.windows;
    if (verdict.verdict === "violated") problem ??= `${shape}: ${JSON.stringify(verdict.violations[0])}`;
    const isRead = problem === null && index % runsPerReading === 0;
    if (isRead && !(await isSameFromBytes(each, callsBetweenClosings, verdict))) {
      tally.differing += 1;
      return `${shape}: judged otherwise from bytes`;
    }
  }
  if (problem !== null) tally.accused += 1;
  return problem;
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

/** The same rules over windows of 1 and 2 s. */
function short({ organization, user, ...rules }: Rules, random: RandomState): Rules {
  const of = <T extends { readonly windowSeconds: number }>(limits: Readonly<Record<Scope, T>>) => ({
    rest: { ...limits.rest, windowSeconds: between(random, 1, 2) },
    graphql: { ...limits.graphql, windowSeconds: between(random, 1, 2) },
  });
  return { ...rules, organization: of(organization), user: of(user) };
}

/**
 * A longer history of the same kind: each call takes its members from drawn ones, each member from another.
 * @param hurry by how much the pauses are shorter than the drawn ones
 */
function woven(drawn: readonly Plan[], most: number, hurry: number, random: RandomState): Plan[] {
  const pick = (): Plan => {
    const plan = drawn[between(random, 0, drawn.length - 1)];
    if (plan === undefined) throw new RangeError("no calls to weave");
    return plan;
  };
  const gaps = drawn.map(({ sentMs }, index) => sentMs - (drawn[index - 1]?.sentMs ?? 0));
  const plans: Plan[] = [];
  let sentMs = drawn[0]?.sentMs ?? 0;
  const count = between(random, Math.ceil(most / 2), most);
  for (let index = 0; index < count; index++) {
    const { toDecisionMs } = pick();
    const { workMs } = pick();
    const { backMs, lateMs } = pick();
    const { client, instance } = pick();
    plans.push({ ...pick(), sentMs, toDecisionMs, workMs, backMs, lateMs, client, instance });
    sentMs += Math.floor((gaps[between(random, 0, gaps.length - 1)] ?? 0) / hurry);
  }
  return plans;
}

/** What `spillway verify` says of the trace as a file. */
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
