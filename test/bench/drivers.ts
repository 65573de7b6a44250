// Costs of our clients, checks and trace for each driver: a bare loop of the same HTTP client beside a scenario whose
// clients do the same, 20 at a time against one bare Node server, in turn: k6's `http.get`, undici's `request`.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Pool } from "undici";
import type { DriverChoice } from "../../src/load/driver.ts";
import type { NodeDrive } from "../../src/load/node/run.ts";
import { type BenchRow, median, sized } from "./row.ts";

const ROUNDS = sized(5, 1);
const SECONDS = sized(5, 1);
const CLIENTS = 20;

/** `run.mjs` bundles this file into the cache; the package itself runs as it is built, with its own k6 entry. */
const built = async <T>(path: string): Promise<T> =>
  (await import(new URL(`../../../dist/src/${path}`, import.meta.url).href)) as T;

/** Answers everything with the eight headers, as fast as Node can; a process of its own. */
const server = `
const headers = {
  "RateLimit-Scope": "rest", "RateLimit-Limit": "200", "RateLimit-Remaining": "150", "RateLimit-Reset": "33",
  "RateLimit-User-Scope": "rest_user", "RateLimit-User-Limit": "50", "RateLimit-User-Remaining": "40",
  "RateLimit-User-Reset": "33", "Content-Type": "application/json",
};
const status = '{"scopes":{"rest":{},"graphql":{}}}';
require("node:http")
  .createServer((request, response) => {
    response.writeHead(200, headers);
    response.end(request.url.endsWith("/rate_limit") ? status : "{}");
  })
  .listen(0, "127.0.0.1", function () { console.log(this.address().port); });
`;

const bare = (url: string): string => `
import http from "k6/http";
export const options = { vus: ${CLIENTS}, duration: "${SECONDS}s" };
export default function () { http.get("${url}/v2/user"); }
export function handleSummary(data) { return { [__ENV.SUMMARY]: JSON.stringify(data) }; }
`;

const scenario = `
import { defineScenario, rest, worker } from "spillway/scenario";
export default defineScenario({
  name: "loop",
  duration: "${SECONDS}s",
  populations: { loop: { clients: ${CLIENTS}, behaviour: worker({ calls: [{ call: rest("/v2/user") }] }) } },
});
`;

export async function run(): Promise<BenchRow[]> {
  const folder = await mkdtemp(join(tmpdir(), "spillway-bench-"));
  const child = spawn(process.execPath, ["-e", server], { stdio: ["ignore", "pipe", "inherit"] });
  try {
    return await measure(folder, `http://127.0.0.1:${await portOf(child)}`);
  } finally {
    child.kill();
    await rm(folder, { recursive: true, force: true });
  }
}

async function portOf({ stdout }: ChildProcess): Promise<number> {
  if (stdout === null) throw new Error("the server says nothing");
  return Number(String(await once(stdout, "data")));
}

/** Calls a second of a bare loop and of ours, round by round, and how many requests have no line. */
interface Measured {
  readonly bare: readonly number[];
  readonly ours: readonly number[];
  readonly lost: number;
}

async function measure(folder: string, url: string): Promise<BenchRow[]> {
  const { lookUpK6 } = await built<typeof import("../../src/load/k6-binary.ts")>("load/k6-binary.js");
  const k6 = await lookUpK6();
  await writeFile(join(folder, "loop.ts"), scenario);
  const byNode = await measureNode(folder, url);
  const rows = rowsOf(`Node ${process.versions.node}`, "bare undici loop", byNode);
  if (k6 === null) return rows;
  const byK6 = await measureK6(folder, url, { driver: "k6", k6 });
  return [...rows, ...rowsOf(`k6 ${k6.version}`, "bare http.get loop", byK6)];
}

function rowsOf(driver: string, loop: string, { bare: peers, ours, lost }: Measured): BenchRow[] {
  return [
    { name: `${driver}, ${CLIENTS} clients: ${loop}`, value: median(peers), unit: "requests/s" },
    {
      name: `${driver}, a scenario: state machines, checks, trace`,
      value: median(ours),
      unit: "requests/s",
      // Round by round: what disturbs the machine disturbs both of a pair.
      ratio: median(ours.map((rate, round) => rate / (peers[round] ?? Number.NaN))),
      against: `a ${loop}`,
      bar: ">= 0.5",
    },
    { name: "requests without a line in the trace", value: lost, unit: "requests" },
  ];
}

/** One run of ours, as the command does it; both keep their connections: what is compared is the work on each answer. */
async function loadOnce(folder: string, url: string, by: DriverChoice) {
  const { load } = await built<typeof import("../../src/load/load.ts")>("load/load.js");
  const { startJobs } = await built<typeof import("../../src/runs/job-thread.ts")>("runs/job-thread.js");
  const { tokenScopes } = await built<typeof import("../../src/rules/tokens.ts")>("rules/tokens.js");
  const tokens = Array.from({ length: CLIENTS }, (_, index) => ({
    token: `token-${index}`,
    user: `user-${index}`,
    organization: "acme",
    scopes: tokenScopes,
  }));
  const { signal } = new AbortController();
  const threads = await startJobs({ scenario: join(folder, "..", "loop.ts") }, { importMs: 30_000, signal });
  const { scenario, thread } = threads;
  const drive: NodeDrive = (task, stop) => thread.run("load", task, stop);
  const run = load({ scenario, target: { url, tokens }, keepAlive: true, folder, by, drive });
  return run.finally(() => threads.close());
}

async function measureNode(folder: string, url: string): Promise<Measured> {
  const [peers, ours]: [number[], number[]] = [[], []];
  let lost = 0;
  for (let round = 0; round < ROUNDS; round++) {
    peers.push((await bareUndici(url)) / SECONDS);
    const { account } = await loadOnce(join(folder, `node-${round}`), url, { driver: "node", because: null });
    ours.push(account.calls / SECONDS);
    lost += account.lost;
  }
  return { bare: peers, ours, lost };
}

/** As undici's documents do it: a request, and its body dropped. @returns how many were answered in time */
async function bareUndici(url: string): Promise<number> {
  const pool = new Pool(url, { connections: CLIENTS, pipelining: 1 });
  const endMs = Date.now() + SECONDS * 1000;
  let answered = 0;
  const client = async (): Promise<void> => {
    while (Date.now() < endMs) {
      const { body } = await pool.request({ path: "/v2/user", method: "GET" });
      await body.dump();
      answered += 1;
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
  await pool.destroy();
  return answered;
}

async function measureK6(
  folder: string,
  url: string,
  by: Extract<DriverChoice, { driver: "k6" }>,
): Promise<Measured> {
  const { runK6 } = await built<typeof import("../../src/load/run-k6.ts")>("load/run-k6.js");
  const script = join(folder, "bare.js");
  await writeFile(script, bare(url));
  const [peers, ours]: [number[], number[]] = [[], []];
  let lost = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const place = join(folder, `bare-${round}`);
    const variables = { SUMMARY: join(place, "summary.json") };
    const { summary } = await runK6({ k6: by.k6.path, script, folder: place, variables });
    peers.push(requests(summary) / SECONDS);
    const result = await loadOnce(join(folder, `k6-${round}`), url, by);
    if (result.driver !== "k6") throw new Error(`driven by ${result.driver}`);
    const { account, outcome } = result;
    ours.push(requests(outcome.summary) / SECONDS);
    lost += requests(outcome.summary) - account.calls + account.lost;
  }
  return { bare: peers, ours, lost };
}

function requests(
  summary: {
    readonly metrics: Readonly<Record<string, { readonly values: Readonly<Record<string, number>> }>>;
  } | null,
): number {
  return summary?.metrics["http_reqs"]?.values["count"] ?? Number.NaN;
}
