// Parts that tests with a real k6 share: a folder, a k6, scenarios in files, deployments that count what reaches them.
import { chmod, mkdtemp, readdir, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type K6Binary, requireK6 } from "../../src/load/k6-binary.ts";
import { type LoadOptions, type LoadResult, load, type StartService } from "../../src/load/load.ts";
import { loadScenarioFile } from "../../src/load/scenario-file.ts";
import type { TraceHead } from "../../src/load/trace-file.ts";
import { parseRules } from "../../src/rules/parse.ts";
import type { Rules } from "../../src/rules/rules.ts";
import { type Token, tokenScopes } from "../../src/rules/tokens.ts";
import { buildApp } from "../../src/service/app.ts";
import type { TraceCall, TraceHeader } from "../../src/trace/record.ts";

export const newFolder = async (): Promise<string> =>
  realpath(await mkdtemp(join(tmpdir(), "spillway-load-test-")));

let found: Promise<K6Binary> | null = null;
/** The k6 of this machine. */
export function k6(): Promise<K6Binary> {
  found ??= requireK6();
  return found;
}

/** Limits that some clients reach within a second or two. */
export const shortRules: Rules = parseRules({
  organization: { rest: { limit: 60, windowSeconds: 1 }, graphql: { limit: 20_000, windowSeconds: 2 } },
  user: { rest: { limit: 25, windowSeconds: 1 }, graphql: { limit: 5_000, windowSeconds: 2 } },
});

/** Rules that nothing reaches. */
export const wideRules: Rules = parseRules({
  organization: { rest: { limit: 1_000_000, windowSeconds: 60 } },
  user: { rest: { limit: 1_000_000, windowSeconds: 60 } },
});

export const tokensOf = (users: number): Token[] =>
  Array.from({ length: users }, (_, index) => ({
    token: `secret-token-${index}-of-the-test`,
    user: `user-${index}`,
    organization: "acme",
    scopes: tokenScopes,
  }));

/** Writes a scenario's file; `body` is what stands in the braces after name and duration. */
export async function scenarioFile(folder: string, name: string, body: string): Promise<string> {
  const path = join(folder, `${name}.ts`);
  const names =
    "burst, defineScenario, graphql, none, pager, pipelinesQuery, poller, rest, status, waitReset, worker";
  await writeFile(
    path,
    `import { ${names} } from "spillway/scenario";\nconst user = rest("/v2/user");\n` +
      `export default defineScenario({ name: "${name}", ${body} });\n`,
  );
  return path;
}

/** The reference deployment with a count of every request that reached it. */
export async function countingService(rules: Rules, tokens: readonly Token[]) {
  const app = buildApp({ rules, tokens, now: Date.now });
  let requests = 0;
  app.addHook("onRequest", async () => {
    requests += 1;
  });
  await app.listen({ port: 0, host: "127.0.0.1" });
  const { port } = app.server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, requests: () => requests, close: () => app.close() };
}

/** A target of the test's own. */
export async function fakeTarget(
  answer: RequestListener,
): Promise<{ url: string; server: Server; close(): Promise<void> }> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    server,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Returns an admitted call's line by a policy, answered after 5 ms. */
export const lineByPolicy = (call: number, sent: number): string =>
  JSON.stringify({
    sent,
    received: sent + 5,
    client: "agents/0",
    call,
    caller: { user: "ann" },
    operation: "read",
    cost: 1,
    status: 200,
    outcome: "admitted",
    readings: [],
  });

/** The headers of a plain answer. */
export const plainHeaders = {
  "RateLimit-Scope": "rest",
  "RateLimit-Limit": "200",
  "RateLimit-Remaining": "150",
  "RateLimit-Reset": "33",
  "RateLimit-User-Scope": "rest_user",
  "RateLimit-User-Limit": "50",
  "RateLimit-User-Remaining": "40",
  "RateLimit-User-Reset": "33",
  "Content-Type": "application/json",
};

export type Runs = Omit<LoadOptions, "scenario" | "folder" | "by"> & { readonly k6Path?: string };

type K6Result = Extract<LoadResult, { driver: "k6" }>;
type NodeResult = Extract<LoadResult, { driver: "node" }>;

/** Loads a scenario's file into `folder`, by k6. */
export async function run(path: string, folder: string, { k6Path, ...options }: Runs): Promise<K6Result> {
  const real = await k6();
  const program = k6Path === undefined ? real : { ...real, path: k6Path };
  const by = { driver: "k6", k6: program } as const;
  const result = await load({ scenario: await loadScenarioFile(path), folder, by, ...options });
  if (result.driver !== "k6") throw new Error(`driven by ${result.driver}`);
  return result;
}

/** Loads a scenario's file into `folder`, by Node. */
export async function runNode(
  path: string,
  folder: string,
  options: Omit<Runs, "k6Path">,
): Promise<NodeResult> {
  const by = { driver: "node", because: null } as const;
  const result = await load({ scenario: await loadScenarioFile(path), folder, by, ...options });
  if (result.driver !== "node") throw new Error(`driven by ${result.driver}`);
  return result;
}

interface TestedDriver {
  readonly driver: "k6" | "node";
  /** Tags of its tests. */
  readonly needs: { readonly tags: string[] };
  readonly run: (path: string, folder: string, options: Omit<Runs, "k6Path">) => Promise<LoadResult>;
}

/** Both drivers, for what must hold whoever drives. */
export const drivers: readonly TestedDriver[] = [
  { driver: "k6", needs: { tags: ["k6"] }, run },
  { driver: "node", needs: { tags: [] }, run: runNode },
];

/** A deployment of the test's own that counts, for one run. */
export function counted(): { start: StartService; requests(): number } {
  let requests = () => 0;
  return {
    requests: () => requests(),
    start: async ({ rules, tokens }) => {
      const service = await countingService(rules, tokens);
      requests = service.requests;
      return service;
    },
  };
}

export async function readTraceFile(
  path: string,
): Promise<{ header: TraceHeader; calls: TraceCall[]; text: string }> {
  const text = await readFile(path, "utf8");
  const [header, ...calls] = text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as unknown);
  return { header: header as TraceHeader, calls: calls as TraceCall[], text };
}

/** A program that stands in for k6: a shell script, told the real one as `$REAL`. */
export async function wrapper(folder: string, name: string, script: string): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, `#!/bin/sh\nREAL='${(await k6()).path}'\n${script}\n`);
  await chmod(path, 0o755);
  return path;
}

/** Every file below a folder, with its text. */
export async function textsBelow(folder: string): Promise<Map<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return new Map(await Promise.all(files.map(async (file) => [file, await readFile(file, "utf8")] as const)));
}

export const removed = (folder: string): Promise<void> => rm(folder, { recursive: true, force: true });

/** Head of a trace of k6. */
export const head: TraceHead = {
  format: "spillway-trace",
  version: 1,
  source: "k6",
  scenario: "test",
  seed: 1,
  target: "http://127.0.0.1:1",
  startedAt: 1_000,
  clock: { kind: "wall", resolutionMs: 1, errorMs: 0 },
  rules: null,
  complete: true,
};
