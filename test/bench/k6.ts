// What our clients, checks and trace cost k6: a bare `http.get` loop beside the bundle of a scenario whose
// clients do the same, 20 at a time against one bare Node server, in turn.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type BenchRow, median } from "./row.ts";

const ROUNDS = 5;
const SECONDS = 5;
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

async function measure(folder: string, url: string): Promise<BenchRow[]> {
  const { requireK6 } = await built<typeof import("../../src/load/k6-binary.ts")>("load/k6-binary.js");
  const { runK6 } = await built<typeof import("../../src/load/run-k6.ts")>("load/run-k6.js");
  const { load } = await built<typeof import("../../src/load/load.ts")>("load/load.js");
  const { loadScenarioFile } =
    await built<typeof import("../../src/load/scenario-file.ts")>("load/scenario-file.js");
  const { tokenScopes } = await built<typeof import("../../src/rules/tokens.ts")>("rules/tokens.js");
  const k6 = await requireK6();
  const script = join(folder, "bare.js");
  await writeFile(script, bare(url));
  await writeFile(join(folder, "loop.ts"), scenario);
  const loop = await loadScenarioFile(join(folder, "loop.ts"));
  const tokens = Array.from({ length: CLIENTS }, (_, index) => ({
    token: `token-${index}`,
    user: `user-${index}`,
    organization: "acme",
    scopes: tokenScopes,
  }));
  const [bareRates, ourRates]: [number[], number[]] = [[], []];
  let lost = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const place = join(folder, `bare-${round}`);
    const variables = { SUMMARY: join(place, "summary.json") };
    const { summary } = await runK6({ k6: k6.path, script, folder: place, variables });
    bareRates.push(requests(summary) / SECONDS);
    const result = await load({
      scenario: loop,
      // Both keep their connections: what is compared is the work on each answer.
      target: { url, tokens },
      keepAlive: true,
      folder: join(folder, `ours-${round}`),
      by: { driver: "k6", k6 },
    });
    if (result.driver !== "k6") throw new Error(`driven by ${result.driver}`);
    const { account, outcome } = result;
    ourRates.push(requests(outcome.summary) / SECONDS);
    lost += requests(outcome.summary) - account.calls + account.lost;
  }
  const [ours, peer] = [median(ourRates), median(bareRates)];
  // Round by round: what disturbs the machine disturbs both of a pair.
  const ratio = median(ourRates.map((rate, round) => rate / (bareRates[round] ?? Number.NaN)));
  const against = "a bare http.get loop";
  const clients = `${CLIENTS} clients`;
  return [
    { name: `k6 ${k6.version}, ${clients}: bare http.get loop`, value: peer, unit: "requests/s" },
    {
      name: `${clients}, a scenario: state machines, checks, trace`,
      value: ours,
      unit: "requests/s",
      ratio,
      against,
      bar: ">= 0.5",
    },
    { name: "requests without a line in the trace", value: lost, unit: "requests" },
  ];
}

function requests(
  summary: {
    readonly metrics: Readonly<Record<string, { readonly values: Readonly<Record<string, number>> }>>;
  } | null,
): number {
  return summary?.metrics["http_reqs"]?.values["count"] ?? Number.NaN;
}
