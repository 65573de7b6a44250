// The oracle on a million records, as the simulator writes them: reading alone, against JSON.parse a line and readline;
// from bytes to verdict, against Porcupine on the same history in the same run; and what it takes in memory for one
// million records and for ten.
//   RECORDS=200000 npm run bench oracle    fewer, for a look
import { execFile } from "node:child_process";
import { closeSync, createReadStream, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { simulate } from "../../sim/simulate.ts";
import { pipelinesQuery } from "../../src/scenario/calls.ts";
import { defineScenario, poller, rest, status, waitReset, worker } from "../../src/scenario/index.ts";
import type { PopulationInput, Scenario } from "../../src/scenario/scenario.ts";
import { readTrace } from "../../src/trace/read.ts";
import { encodeCall, encodeHeader } from "../../src/trace/write.ts";
import type { Verdict } from "../../src/verify/verdict.ts";
import { verify, verifyReading } from "../../src/verify/verify.ts";
import { type BenchRow, median, sized } from "./row.ts";

const run_ = promisify(execFile);
const records = Number(process.env["RECORDS"] ?? sized(1_000_000, 20_000));
const ROUNDS = sized(3, 1);
const organizations = 20;
/** Calls of this scenario in a second of its time; a little less, so that there are enough. */
const callsPerSecond = 90;

/** Twenty organizations of forty users, one of whom is refused most of the time, and a status poller each. */
function scenarioOf(count: number): Scenario {
  const populations: Record<string, PopulationInput> = {};
  const call = rest("/v2/organizations/:org/pipelines");
  for (let index = 0; index < organizations; index++) {
    const organization = `org-${index}`;
    populations[`agents-${index}`] = {
      clients: 40,
      organization,
      startWithin: "6s",
      behaviour: worker({
        calls: [
          { call, weight: 8 },
          { call: pipelinesQuery(20), weight: 2 },
        ],
        think: { least: "4s", most: "16s" },
      }),
      onRefused: waitReset({ of: "both", jitter: { least: 0, most: "2s" } }),
    };
    populations[`noisy-${index}`] = {
      clients: 1,
      organization,
      behaviour: worker({ calls: [{ call }], think: { least: "500ms", most: "1s" } }),
    };
    populations[`board-${index}`] = {
      clients: 1,
      organization,
      behaviour: poller({ every: "10s", call: status() }),
    };
  }
  return defineScenario({
    name: "oracle-bench",
    description: "Many organizations, most calls admitted, a fifth refused",
    seed: 1,
    duration: `${Math.ceil(count / callsPerSecond)}s`,
    populations,
  });
}

/** Fifty organizations of forty users, of whom each makes three calls or four in a window: a window to three calls. */
function manyWindows(count: number): Scenario {
  const call = rest("/v2/organizations/:org/pipelines");
  const behaviour = worker({
    calls: [
      { call, weight: 19 },
      { call: pipelinesQuery(20), weight: 1 },
    ],
    think: { least: "8s", most: "26s" },
  });
  const populations = Object.fromEntries(
    Array.from({ length: 50 }, (_, at): [string, PopulationInput] => [
      `a${at}`,
      { clients: 40, organization: `o${at}`, startWithin: "20s", behaviour },
    ]),
  );
  const duration = `${Math.ceil(count / 108)}s`;
  return defineScenario({
    name: "many-windows",
    description: "A window to three calls",
    seed: 1,
    duration,
    populations,
  });
}

/**
 * The first `count` calls of a scenario, as a trace's text, some lines at a time. Ten times as many lines are a large
 * object of V8, which outlives young garbage: such texts would be most of the memory that is measured.
 */
function* linesOf(count: number, scenario = scenarioOf(count)): Generator<string> {
  const { header, calls } = simulate(scenario);
  let lines = [encodeHeader(header)];
  let made = 0;
  for (const call of calls) {
    if (made === count) break;
    lines.push(encodeCall(call));
    made += 1;
    if (lines.length < 100) continue;
    yield `${lines.join("\n")}\n`;
    lines = [];
  }
  if (made < count) throw new Error(`the scenario makes only ${made} of ${count} calls`);
  if (lines.length > 0) yield `${lines.join("\n")}\n`;
}

function writeTrace(path: string, scenario?: Scenario): number {
  const file = openSync(path, "w");
  let bytes = 0;
  for (const text of linesOf(records, scenario)) bytes += writeSync(file, text);
  closeSync(file);
  return bytes;
}

const bytesOf = (path: string): AsyncIterable<Uint8Array> =>
  createReadStream(path, { highWaterMark: 1 << 18 });

const readers: Readonly<Record<string, (path: string) => Promise<number>>> = {
  "byte scanner into columns": async (path) => {
    let count = 0;
    for await (const batch of (await readTrace(bytesOf(path))).batches) count += batch.size;
    return count;
  },
  "byte scanner, an object a call": async (path) => {
    let count = 0;
    for await (const _ of (await readTrace(bytesOf(path))).calls) count += 1;
    return count;
  },
  "JSON.parse a line, nothing checked": async (path) => {
    let count = -1;
    let rest_ = "";
    for await (const chunk of createReadStream(path, { encoding: "utf8", highWaterMark: 1 << 18 })) {
      const lines = (rest_ + chunk).split("\n");
      rest_ = lines.pop() ?? "";
      for (const line of lines) if ((JSON.parse(line) as { sent?: number }).sent !== 0) count += 1;
    }
    return count;
  },
  "readline and JSON.parse, nothing checked": async (path) => {
    let count = -1;
    for await (const line of createInterface({ input: createReadStream(path), crlfDelay: Infinity }))
      if ((JSON.parse(line) as { sent?: number }).sent !== 0) count += 1;
    return count;
  },
};
const peer = "JSON.parse a line, nothing checked";
const judging = "bytes to verdict";
const inThreads = "bytes to verdict, read in a thread of its own";

/** As the verb does, by the built package, whose thread it is. */
async function judgedInThreads(path: string): Promise<number> {
  const url = new URL("../../../dist/src/runs/trace-thread.js", import.meta.url);
  const { openTraceFile } = (await import(url.href)) as typeof import("../../src/runs/trace-thread.ts");
  const { signal } = new AbortController();
  return judgedRight(await verifyReading(await openTraceFile(path, { sort: false, signal })));
}

function judgedRight({ verdict, records: judged }: Verdict): number {
  if (verdict !== "ok") throw new Error(`a right deployment was judged ${verdict}`);
  return judged;
}

const contenders: Readonly<Record<string, (path: string) => Promise<number>>> = {
  ...readers,
  [judging]: async (path) => judgedRight(await verify(bytesOf(path))),
  [inThreads]: judgedInThreads,
};

/** Records a second, medians of interleaved rounds. */
async function measure(path: string): Promise<ReadonlyMap<string, number>> {
  const samples = new Map(Object.keys(contenders).map((name) => [name, [] as number[]]));
  for (let round = 0; round <= ROUNDS; round++)
    for (const [name, contender] of Object.entries(contenders)) {
      const begin = process.hrtime.bigint();
      const count = await contender(path);
      const seconds = Number(process.hrtime.bigint() - begin) / 1e9;
      if (count !== records) throw new Error(`${name} found ${count} of ${records} records`);
      if (round > 0) samples.get(name)?.push(count / seconds);
    }
  return new Map([...samples].map(([name, each]) => [name, median(each)]));
}

/** Calls a second that Porcupine checks, built for this run; `null` without Go. */
async function porcupine(folder: string, path: string): Promise<number | null> {
  const source = fileURLToPath(new URL("../../../test/bench/porcupine/", import.meta.url));
  const program = join(folder, "porcupine");
  try {
    await run_("go", ["build", "-o", program, "."], { cwd: source });
  } catch (error) {
    console.error(`no Porcupine to compare with: ${(error as Error).message.split("\n")[0]}`);
    return null;
  }
  const rates: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const { stdout } = await run_(program, [path]);
    const { calls, ms, result } = JSON.parse(stdout) as { calls: number; ms: number; result: string };
    if (result !== "Ok") throw new Error(`Porcupine says ${result} of a right deployment`);
    rates.push((1000 * calls) / ms);
  }
  return median(rates);
}

/** Simulates and judges in one go, and tells the most memory that this process ever had. Run in a process of its own. */
export async function peakMemory(count: number): Promise<void> {
  const encoder = new TextEncoder();
  const bytes = async function* (): AsyncGenerator<Uint8Array> {
    for (const text of linesOf(count)) yield encoder.encode(text);
  };
  const { records: judged } = await verify(bytes());
  if (judged !== count) throw new Error(`judged ${judged} of ${count} records`);
  console.log(process.resourceUsage().maxRSS / 1024);
}

async function peakMemoryOf(count: number): Promise<number> {
  const program = `import(${JSON.stringify(import.meta.url)}).then((bench) => bench.peakMemory(${count}))`;
  const { stdout } = await run_(process.execPath, ["--input-type=module", "-e", program]);
  return Number(stdout);
}

export async function run(): Promise<BenchRow[]> {
  const folder = mkdtempSync(join(tmpdir(), "spillway-bench-"));
  const path = join(folder, "trace.ndjson");
  try {
    const bytes = writeTrace(path);
    const rates = await measure(path);
    const rows = rowsOf(rates, bytes);
    const checked = await porcupine(folder, path);
    if (checked !== null) rows.push(...against(checked, rates.get(inThreads) ?? Number.NaN));
    return [...rows, ...(await manyWindowsRows(path)), ...(await memoryRows())];
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function rowsOf(rates: ReadonlyMap<string, number>, bytes: number): BenchRow[] {
  const bars: Readonly<Record<string, string>> = {
    "byte scanner into columns": ">= 4, and >= 2,000,000 records/s",
    [inThreads]: ">= 1,000,000 records/s",
  };
  return [...rates].map(([name, value]) => {
    const row = {
      name: `${Math.round(bytes / records)} bytes a record: ${name}`,
      value,
      unit: "records/s",
      ratio: value / (rates.get(peer) ?? Number.NaN),
      against: peer,
    };
    const bar = bars[name];
    return bar === undefined ? row : { ...row, bar };
  });
}

function against(checked: number, judged: number): BenchRow[] {
  return [
    { name: "Porcupine by windows, in memory, on all cores", value: checked, unit: "calls/s" },
    {
      name: `oracle, ${inThreads}`,
      value: judged,
      unit: "records/s",
      ratio: judged / checked,
      against: "Porcupine",
      bar: ">= 1",
    },
  ];
}

/** Seconds for a trace of many windows; medians of interleaved rounds. */
async function manyWindowsRows(path: string): Promise<BenchRow[]> {
  const bytes = writeTrace(path, manyWindows(records));
  const seconds = { one: [] as number[], two: [] as number[] };
  for (let round = 0; round <= ROUNDS; round++)
    for (const [threads, judge] of [
      ["one", contenders[judging]],
      ["two", judgedInThreads],
    ] as const) {
      const begin = process.hrtime.bigint();
      await judge?.(path);
      if (round > 0) seconds[threads].push(Number(process.hrtime.bigint() - begin) / 1e9);
    }
  const [one, two] = [median(seconds.one), median(seconds.two)];
  const name = `many windows, ${Math.round(bytes / records)} bytes a record`;
  return [
    { name: `${name}: ${judging}`, value: one, unit: "s" },
    {
      name: `${name}: read in a thread`,
      value: two,
      unit: "s",
      ratio: two / one,
      against: "one thread",
      bar: "<= 1.0 s for 1 M records",
    },
  ];
}

async function memoryRows(): Promise<BenchRow[]> {
  const one = await peakMemoryOf(records);
  const ten = await peakMemoryOf(10 * records);
  const name = (count: number): string =>
    `peak memory, simulator and oracle, ${count.toLocaleString("en")} records`;
  return [
    { name: name(records), value: one, unit: "MiB" },
    {
      name: name(10 * records),
      value: ten,
      unit: "MiB",
      ratio: ten / one,
      against: "a tenth of them",
      bar: "<= 1.2",
    },
  ];
}
