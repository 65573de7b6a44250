// Ten million rows of a log, as CSV and as NDJSON, to counts of each user in each minute: our reader, beside plain
// DuckDB's aggregation on one thread and a readline loop; then a whole replay; and what each takes in memory.
// All of it on one core, in processor time.
//   ROWS=1000000 ROUNDS=1 npm run bench replay    fewer, for a look
import { execFile } from "node:child_process";
import { closeSync, createReadStream, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { DuckDBInstance } from "@duckdb/node-api";
import { replay } from "../../sim/replay/replay.ts";
import { parseRules } from "../../src/rules/parse.ts";
import { openLogs } from "../../src/runs/log-input.ts";
import { below, type RandomState, seedRandom } from "../../src/scenario/random.ts";
import { type BenchRow, median, sized } from "./row.ts";

const run_ = promisify(execFile);
const rows = Number(process.env["ROWS"] ?? sized(10_000_000, 100_000));
const rounds = Number(process.env["ROUNDS"] ?? sized(3, 1));
const users = 1000;
const minuteMs = 60_000;
const startMs = Date.UTC(2026, 0, 2);

type Form = "csv" | "ndjson";
const forms: readonly Form[] = ["csv", "ndjson"];

/** Some hundred rows a second, of a thousand users; the same bytes each time. */
function writeLog(path: string, form: Form): number {
  const random: RandomState = { random0: 0, random1: 0, random2: 0, random3: 0 };
  seedRandom(random, 1, 0, 0);
  const file = openSync(path, "w");
  let bytes = form === "csv" ? writeSync(file, "ts,user,path,status\n") : 0;
  let atMs = startMs;
  let text = "";
  for (let row = 0; row < rows; row++) {
    atMs += below(random, 16);
    const user = below(random, users);
    const status = below(random, 20) === 0 ? 429 : 200;
    text +=
      form === "csv"
        ? `${atMs},u${user},/v2/organizations/acme,${status}\n`
        : `{"ts":${atMs},"user":"u${user}","path":"/v2/organizations/acme","status":${status}}\n`;
    if (text.length < 1 << 20 && row + 1 < rows) continue;
    bytes += writeSync(file, text);
    text = "";
  }
  closeSync(file);
  return bytes;
}

/** Numbers of users, of minutes, and of calls in all. */
interface Counts {
  readonly groups: number;
  readonly rows: number;
}

type Contender = (path: string, form: Form) => Promise<Counts>;

const reader: Contender = async (path) => {
  const logs = await openLogs([path]);
  const counts = new Int32Array(users);
  const found = { groups: 0, rows: 0 };
  let minute = -1;
  const close = (): void => {
    for (const count of counts) {
      if (count > 0) found.groups += 1;
      found.rows += count;
    }
    counts.fill(0);
  };
  for await (const { count, atMs, caller } of logs.batches)
    for (let row = 0; row < count; row++) {
      const now = Math.floor((atMs[row] ?? 0) / minuteMs);
      if (now !== minute) {
        close();
        minute = now;
      }
      const who = caller[row] ?? 0;
      counts[who] = (counts[who] ?? 0) + 1;
    }
  close();
  return found;
};

const duckDb: Contender = async (path, form) => {
  const instance = await DuckDBInstance.create(":memory:", { threads: "1" });
  const connection = await instance.connect();
  const source =
    form === "csv" ? `read_csv('${path}')` : `read_json('${path}', format = 'newline_delimited')`;
  const result = await connection.runAndReadAll(
    `SELECT count(*)::INTEGER, sum(n)::INTEGER FROM
       (SELECT user, ts // ${minuteMs} AS minute, count(*) AS n FROM ${source} GROUP BY ALL)`,
  );
  const [[groups, all] = []] = result.getRows();
  connection.closeSync();
  instance.closeSync();
  return { groups: Number(groups), rows: Number(all) };
};

const readline: Contender = async (path, form) => {
  const counts = new Map<string, number>();
  let all = 0;
  for await (const line of createInterface({ input: createReadStream(path), crlfDelay: Infinity })) {
    if (line.startsWith("ts,")) continue;
    const { ts, user } = form === "csv" ? fieldsOf(line) : (JSON.parse(line) as { ts: number; user: string });
    const key = `${user} ${Math.floor(ts / minuteMs)}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
    all += 1;
  }
  return { groups: counts.size, rows: all };
};

function fieldsOf(line: string): { ts: number; user: string } {
  const [ts, user = ""] = line.split(",");
  return { ts: Number(ts), user };
}

const whole: Contender = async (path, form) => {
  const logs = await openLogs([path]);
  await replay(logs, parseRules({}), { files: [path] });
  return { groups: (await expected(path, form)).groups, rows: logs.read };
};

const contenders = {
  "our reader, counts": reader,
  "DuckDB on one thread, counts": duckDb,
  "readline, counts": readline,
  "a whole replay": whole,
} satisfies Record<string, Contender>;
type Name = keyof typeof contenders;
const names = Object.keys(contenders) as Name[];
const peer: Name = "DuckDB on one thread, counts";

/** All must count what our reader counts. */
const known = new Map<string, Promise<Counts>>();
function expected(path: string, form: Form): Promise<Counts> {
  const found = known.get(path) ?? reader(path, form);
  known.set(path, found);
  return found;
}

/** Seconds of processor time, medians of interleaved rounds: what else the machine does is not counted. */
async function measure(path: string, form: Form): Promise<ReadonlyMap<Name, number>> {
  const right = await expected(path, form);
  const samples = new Map(names.map((name) => [name, [] as number[]]));
  for (let round = 0; round < rounds; round++)
    for (const name of names) {
      const before = process.cpuUsage();
      const counts = await contenders[name](path, form);
      const { user, system } = process.cpuUsage(before);
      samples.get(name)?.push((user + system) / 1e6);
      if (counts.groups !== right.groups || counts.rows !== rows)
        throw new Error(`${name} counts ${JSON.stringify(counts)}, not ${JSON.stringify(right)}`);
    }
  return new Map([...samples].map(([name, each]) => [name, median(each)]));
}

/** Tells the most memory that this process ever had, in MiB. Run in a process of its own. */
export async function peakMemory(name: Name, path: string, form: Form): Promise<void> {
  await contenders[name](path, form);
  console.log(process.resourceUsage().maxRSS / 1024);
}

async function peakMemoryOf(name: Name, path: string, form: Form): Promise<number> {
  const call = [name, path, form].map((word) => JSON.stringify(word)).join(", ");
  const program = `import(${JSON.stringify(import.meta.url)}).then((bench) => bench.peakMemory(${call}))`;
  const { stdout } = await run_(process.execPath, ["--input-type=module", "-e", program], {
    env: { ...process.env, ROWS: String(rows) },
  });
  return Number(stdout);
}

export async function run(): Promise<BenchRow[]> {
  const folder = mkdtempSync(join(tmpdir(), "spillway-bench-"));
  try {
    const found: BenchRow[] = [];
    for (const form of forms) {
      const path = join(folder, `log.${form}`);
      const bytes = writeLog(path, form);
      const times = await measure(path, form);
      const title = `${(rows / 1e6).toLocaleString("en")} M rows of ${form}, ${Math.round(bytes / 1e6)} MB`;
      found.push(...timeRows(title, times), ...(await memoryRows(title, path, form)));
      rmSync(path);
    }
    return found;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function timeRows(title: string, times: ReadonlyMap<Name, number>): BenchRow[] {
  return names.map((name) => {
    const seconds = times.get(name) ?? Number.NaN;
    const row = {
      name: `${title}: ${name}`,
      value: rows / seconds,
      unit: "rows/core s",
      ratio: seconds / (times.get(peer) ?? Number.NaN),
      against: "DuckDB's time",
    };
    return name === "our reader, counts" || name === "a whole replay" ? { ...row, bar: "<= 2" } : row;
  });
}

async function memoryRows(title: string, path: string, form: Form): Promise<BenchRow[]> {
  const found: BenchRow[] = [];
  for (const name of names)
    found.push({
      name: `${title}: ${name}, peak memory`,
      value: await peakMemoryOf(name, path, form),
      unit: "MiB",
    });
  return found;
}
