// False alarms: right deployments in random worlds, simulated and judged. Rules over all switches, clients of all
// kinds, traces with and without rules, whole, cut at the start, with calls that time out or have no line.
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import { simulate } from "../../sim/simulate.ts";
import { parseRules } from "../../src/rules/parse.ts";
import { type Rules, type RulesInput, scopes } from "../../src/rules/rules.ts";
import { type SwitchName, switchValues } from "../../src/rules/switches.ts";
import * as clients from "../../src/scenario/index.ts";
import {
  type Behaviour,
  type CallTemplate,
  defineScenario,
  type RefusalPolicy,
  type Scenario,
} from "../../src/scenario/index.ts";
import { below, between, type RandomState, seedRandom } from "../../src/scenario/random.ts";
import type { TraceCall, TraceHeader } from "../../src/trace/record.ts";
import { judge } from "../../src/verify/judge.ts";
import { numbered, takeTurn } from "./matrix-nets.ts";

export interface Alarms {
  readonly runs: number;
  readonly records: number;
  /** Runs of which nothing could be judged. */
  readonly unknown: number;
  /** Runs that were accused; each repeats by its seed. */
  readonly alarms: readonly { readonly seed: number; readonly law: string; readonly explanation: string }[];
  /** Number of runs that had each value of each switch in a scope. */
  readonly switches: Readonly<Record<string, number>>;
  readonly withoutRules: number;
  /** Commit of the judge, in a count that is published: rows that are made later keep the count. */
  readonly commit?: string;
}

class Dice {
  readonly #state: RandomState = { random0: 0, random1: 0, random2: 0, random3: 0 };

  constructor(seed: number) {
    seedRandom(this.#state, seed, 0, 0);
  }

  of<T>(values: readonly [T, ...T[]]): T {
    return values[below(this.#state, values.length)] ?? values[0];
  }

  whole(least: number, most: number): number {
    return between(this.#state, least, most);
  }

  /** True once in so many times. */
  once(times: number): boolean {
    return below(this.#state, times) === 0;
  }
}

function drawRules(dice: Dice): Rules {
  const perScope = (name: SwitchName) => {
    const values = switchValues[name] as readonly [string | boolean, ...(string | boolean)[]];
    return { rest: dice.of(values), graphql: dice.of(values) };
  };
  const seconds = (): number => dice.of([2, 3, 5, 7, 10, 15, 60]);
  const window = (least: number, most: number) => ({
    limit: dice.whole(least, most),
    windowSeconds: seconds(),
  });
  const names = Object.keys(switchValues) as SwitchName[];
  const input = {
    organization: {
      rest: { ...window(5, 120), enforced: !dice.once(6) },
      graphql: { ...window(60, 1_500), enforced: !dice.once(6) },
    },
    user: { rest: window(2, 60), graphql: window(30, 700) },
    semantics: Object.fromEntries(names.map((name) => [name, perScope(name)])),
    ...(dice.once(3) ? { users: { "acme/workers-0": { rest: { limit: dice.whole(1, 9) } } } } : {}),
  };
  return parseRules(input as RulesInput);
}

function drawScenario(dice: Dice, seed: number): Scenario {
  const { burst, graphql, none, pager, pipelinesQuery, poller, rest, status, waitReset, worker } = clients;
  const call = rest("/v2/user");
  const query = (): CallTemplate => {
    const cost = dice.whole(1, 90);
    return dice.once(2)
      ? pipelinesQuery(dice.whole(1, 60))
      : graphql("{ a }", { cost, actual: dice.whole(0, cost) });
  };
  const policy = (): RefusalPolicy =>
    dice.of([none(), waitReset({ of: "both" }), waitReset({ of: "organization" })]);
  const span = (most: number) => ({ least: dice.whole(1, most), most: most + dice.whole(0, most) });
  const one = (behaviour: Behaviour) => ({
    clients: dice.whole(1, 6),
    user: dice.of<"each" | "shared" | number>(["each", "shared", 2]),
    startWithin: dice.of([0, 1_000, 7_000]),
    behaviour,
    onRefused: policy(),
    ...(dice.once(4) ? { organization: "globex" } : {}),
  });
  const mixed = () =>
    worker({
      calls: [
        { call, weight: dice.whole(1, 4) },
        { call: query(), weight: dice.whole(1, 3) },
        { call: status() },
      ],
      think: span(dice.of([20, 150, 900])),
    });
  return defineScenario({
    name: "clean",
    seed,
    duration: dice.whole(12_000, 55_000),
    network: { latency: span(dice.of([1, 20, 400])), execution: span(dice.of([1, 30, 1_500])) },
    populations: {
      workers: one(mixed()),
      others: one(mixed()),
      bursts: one(
        burst({
          call: dice.once(2) ? call : query(),
          size: dice.whole(2, 12),
          every: dice.whole(800, 6_000),
        }),
      ),
      pollers: one(poller({ call: dice.of([status(), call, query()]), every: dice.whole(60, 2_000) })),
      pagers: one(
        pager({
          call: rest("/v2/things?page=:page"),
          pages: 5,
          perPage: 30,
          parallel: 2,
          every: dice.whole(500, 5_000),
          entries: 140,
        }),
      ),
    },
  });
}

/** A trace of a right deployment: what was simulated, seen as well or as badly as a real run may see it. */
function cleanTrace(seed: number): {
  readonly rules: Rules;
  readonly header: TraceHeader;
  readonly calls: Iterable<TraceCall>;
} {
  const dice = new Dice(seed);
  const rules = drawRules(dice);
  const { header, calls } = simulate(drawScenario(dice, seed), { rules });
  const lost = dice.once(4) ? dice.whole(1, 30) : 0;
  const complete = !dice.once(6);
  const startedAt = header.startedAt + (dice.once(4) ? dice.whole(1, 12_000) : 0);
  const timesOut = dice.once(3);
  return {
    rules,
    header: { ...header, startedAt, rules: dice.once(3) ? null : rules, complete, lost: complete ? lost : 0 },
    calls: seen(calls, { dice, lost, complete, startedAt, timesOut }),
  };
}

interface Sight {
  readonly dice: Dice;
  readonly lost: number;
  readonly complete: boolean;
  readonly startedAt: number;
  readonly timesOut: boolean;
}

function* seen(
  calls: Iterable<TraceCall>,
  { dice, lost, complete, startedAt, timesOut }: Sight,
): Generator<TraceCall> {
  let left = lost;
  for (const call of calls) {
    // Decided before the trace began: no line of it.
    if (call.received < startedAt) continue;
    if (left > 0 && dice.once(40)) {
      left -= 1;
      continue;
    }
    if (!complete && dice.once(5)) continue;
    yield timesOut && dice.once(150) ? unanswered(call) : call;
  }
}

function unanswered({ sent, received, client, call, org, user, scope, kind, cost }: TraceCall): TraceCall {
  const none = null;
  return {
    sent,
    received,
    client,
    call,
    org,
    user,
    scope,
    kind,
    cost,
    status: 0,
    scopeName: none,
    limit: none,
    remaining: none,
    reset: none,
    userScopeName: none,
    userLimit: none,
    userRemaining: none,
    userReset: none,
    error: "timeout",
  };
}

export interface AlarmOptions {
  readonly seed: number;
  readonly runs: number;
  /** Goes on after `runs` until so many records were judged. */
  readonly records: number;
  readonly signal: AbortSignal;
  readonly onProgress: (runs: number, records: number) => void;
}

/** Counts false alarms; what was done until an abort counts. */
export async function falseAlarms(options: AlarmOptions): Promise<Alarms> {
  const { seed, signal, onProgress } = options;
  let alarms: Alarms = { runs: 0, records: 0, unknown: 0, alarms: [], switches: {}, withoutRules: 0 };
  while ((alarms.runs < options.runs || alarms.records < options.records) && !signal.aborted) {
    alarms = sum(alarms, await oneWorld(seed + alarms.runs));
    if (alarms.runs % 20 !== 0) continue;
    onProgress(alarms.runs, alarms.records);
    await takeTurn();
  }
  return alarms;
}

async function oneWorld(seed: number): Promise<Alarms> {
  const { rules, header, calls } = cleanTrace(seed);
  const { verdict, records, violations } = await judge(header, numbered(calls));
  const [worst] = violations;
  const names = Object.keys(switchValues) as SwitchName[];
  const drawn = names.flatMap((name) =>
    scopes.map((scope) => `${name}.${scope} ${rules.semantics[name][scope]}`),
  );
  return {
    runs: 1,
    records,
    unknown: verdict === "unknown" ? 1 : 0,
    alarms: worst === undefined ? [] : [{ seed, law: worst.law, explanation: worst.explanation }],
    switches: Object.fromEntries(drawn.map((value) => [value, 1])),
    withoutRules: header.rules === null ? 1 : 0,
  };
}

function sum(a: Alarms, b: Alarms): Alarms {
  const switches: Record<string, number> = { ...a.switches };
  for (const [value, count] of Object.entries(b.switches)) switches[value] = (switches[value] ?? 0) + count;
  return {
    runs: a.runs + b.runs,
    records: a.records + b.records,
    unknown: a.unknown + b.unknown,
    alarms: [...a.alarms, ...b.alarms],
    switches,
    withoutRules: a.withoutRules + b.withoutRules,
  };
}

/** Messages to a thread and from it: its progress, then its findings. */
interface Share {
  readonly spillwayAlarms: Pick<AlarmOptions, "seed" | "runs" | "records">;
}
type Told = { readonly runs: number; readonly records: number } | { readonly found: Alarms };

/** Worlds of one thread begin so far from the next one's. */
const seedsApart = 1_000_000_000;

/**
 * The same by as many threads as there are cores, each with its share of runs and records. This module must be the
 * program, as it is in `npm run faults`.
 */
export async function falseAlarmsByThreads({
  seed,
  runs,
  records,
  signal,
  onProgress,
}: AlarmOptions): Promise<Alarms> {
  const threads = availableParallelism();
  const far = Array.from({ length: threads }, () => ({ runs: 0, records: 0 }));
  const found = await Promise.all(
    far.map((_, thread) => {
      const share = {
        seed: seed + thread * seedsApart,
        runs: Math.ceil(runs / threads),
        records: Math.ceil(records / threads),
      };
      return inThread({ spillwayAlarms: share }, signal, (told) => {
        far[thread] = told;
        const all = far.reduce((a, b) => ({ runs: a.runs + b.runs, records: a.records + b.records }));
        onProgress(all.runs, all.records);
      });
    }),
  );
  return found.reduce(sum);
}

function inThread(
  share: Share,
  signal: AbortSignal,
  onProgress: (told: { readonly runs: number; readonly records: number }) => void,
): Promise<Alarms> {
  const thread = new Worker(fileURLToPath(import.meta.url), { workerData: share });
  const stop = (): void => thread.postMessage("stop");
  signal.addEventListener("abort", stop);
  return new Promise<Alarms>((resolve, reject) => {
    thread.on("message", (told: Told) => ("found" in told ? resolve(told.found) : onProgress(told)));
    thread.once("error", reject);
    thread.once("exit", () => reject(new Error("a thread ended before it had counted")));
  }).finally(() => signal.removeEventListener("abort", stop));
}

const share: Partial<Share> | null = isMainThread ? null : workerData;
if (share?.spillwayAlarms !== undefined && parentPort !== null) {
  const port = parentPort;
  const stop = new AbortController();
  port.on("message", () => stop.abort());
  const tell = (told: Told): void => port.postMessage(told);
  const onProgress = (runs: number, records: number): void => tell({ runs, records });
  tell({ found: await falseAlarms({ ...share.spillwayAlarms, signal: stop.signal, onProgress }) });
  port.close();
}
