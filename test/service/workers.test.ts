// The deployment as several processes: right with shared counters, wrong as each fault of several processes has
// it; its start, its end, and the end of its parts.
// @module-tag long
// @module-tag real-time
// @module-tag paced
import { Agent, type IncomingHttpHeaders, request } from "node:http";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { Limiter } from "../../src/engine/limiter.ts";
import { parseFault } from "../../src/faults/choice.ts";
import { parseRules } from "../../src/rules/parse.ts";
import type { RulesInput } from "../../src/rules/rules.ts";
import { type Deployment, type DeployOptions, deploy } from "../../src/service/deploy.ts";
import { forkWorker } from "../../src/service/team.ts";
import { serveWorkers } from "../../src/service/workers.ts";
import type { TraceCall, TraceHeader } from "../../src/trace/record.ts";
import { judge } from "../../src/verify/judge.ts";
import { until } from "../support/until.ts";
import { token } from "./deployment.ts";
import { workerFile } from "./worker-file.ts";

const users = ["alice@acme", "bob@acme", "carol@acme"];
const tokens = users.map(token);
const query = JSON.stringify({ query: "{ viewer { user { name } } }" });

let worker: Awaited<ReturnType<typeof workerFile>>;
beforeAll(async () => {
  worker = await workerFile();
});
afterAll(() => worker.remove());

const started: Deployment[] = [];
afterEach(() => Promise.all(started.splice(0).map((deployment) => deployment.close())));

async function start(input: RulesInput, options: Partial<DeployOptions>): Promise<Deployment> {
  const rules = parseRules(input);
  const made = await deploy({ rules, tokens, port: 0, fork: worker.fork, ...options });
  started.push(made);
  return made;
}

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly sent: number;
  readonly received: number;
}

/** A call on a connection of its own, so that it goes to the next process in turn. */
function call(url: string, path: string, as = "alice@acme", body?: string): Promise<Answer> {
  const method = body === undefined ? "GET" : "POST";
  const headers = {
    authorization: `Bearer ${token(as).token}`,
    ...(body === undefined ? {} : { "content-type": "application/json" }),
  };
  return new Promise((resolve, reject) => {
    const sent = Date.now();
    const asked = request(`${url}${path}`, { method, headers, agent: new Agent() }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk: string) => {
        text += chunk;
      });
      response.on("end", () => {
        const { statusCode: status = 0, headers: got } = response;
        resolve({ status, headers: got, body: text, sent, received: Date.now() });
      });
    });
    asked.on("error", reject).end(body);
  });
}

/** A year: no window rolls while a test looks. */
const wide = { rest: { windowSeconds: 31_536_000 } };
const steady: RulesInput = { organization: wide, user: wide };
const userPath = "/v2/user";
const statusPath = "/v2/organizations/acme/rate_limit";
const number = (value: string | string[] | undefined): number => Number(value);
const remaining = ({ headers }: Answer): number => number(headers["ratelimit-remaining"]);
const current = ({ body }: Answer): number =>
  (JSON.parse(body) as { scopes: { rest: { current: number } } }).scopes.rest.current;

describe("shared counters", () => {
  test("several processes count as one", async () => {
    const { url, workers } = await start(steady, { workers: 3 });
    expect(workers).toBe(3);
    const seen: number[] = [];
    for (let n = 0; n < 6; n++) seen.push(remaining(await call(url, userPath)));
    expect(seen).toEqual([199, 198, 197, 196, 195, 194]);
    expect(current(await call(url, statusPath))).toBe(6);
    const graphql = await call(url, "/v1/graphql", "alice@acme", query);
    expect([graphql.status, graphql.headers["ratelimit-complexity-actual"]]).toEqual([200, "2"]);
    expect((await call(url, userPath, "nobody@acme")).status).toBe(401);
  });

  test("with real concurrency, across windows and limits, the judge finds nothing", async () => {
    const input = {
      organization: { rest: { limit: 40, windowSeconds: 1 }, graphql: { limit: 30, windowSeconds: 2 } },
      user: { rest: { limit: 25, windowSeconds: 1 }, graphql: { limit: 24, windowSeconds: 2 } },
    };
    const { url } = await start(input, { workers: 3, executionDelayMs: 5 });
    const startedAt = Date.now();
    const calls = await concurrently(url, startedAt + 2_500);
    const header: TraceHeader = {
      format: "spillway-trace",
      version: 1,
      source: "other",
      scenario: null,
      seed: null,
      target: url,
      startedAt,
      clock: { kind: "wall", resolutionMs: 1, errorMs: 0 },
      rules: parseRules(input),
      complete: true,
      lost: 0,
    };
    const lines = calls
      .sort((a, b) => a.received - b.received)
      .map((one, index) => ({ line: index + 2, call: one }));
    const verdict = await judge(header, lines);
    expect(verdict.violations).toEqual([]);
    expect(verdict.verdict).toBe("ok");
    const statuses = new Set(calls.map(({ status }) => status));
    expect(statuses).toEqual(new Set([200, 429]));
  });
});

/** Nine clients, three a user, each calling as fast as it is answered. */
async function concurrently(url: string, untilMs: number): Promise<TraceCall[]> {
  const all: TraceCall[] = [];
  const client = async (name: string, as: string): Promise<void> => {
    for (let index = 0; Date.now() < untilMs; index++) all.push(await oneOf(url, name, as, index));
  };
  const clients = users.flatMap((as) => [0, 1, 2].map((n) => client(`${token(as).user}/${n}`, as)));
  await Promise.all(clients);
  return all;
}

async function oneOf(url: string, client: string, as: string, index: number): Promise<TraceCall> {
  const isQuery = index % 3 === 1;
  const isStatus = index % 7 === 3 && !isQuery;
  const path = isQuery ? "/v1/graphql" : isStatus ? statusPath : userPath;
  const { status, headers, body, sent, received } = await call(url, path, as, isQuery ? query : undefined);
  const header = (name: string): number => number(headers[`ratelimit-${name}`]);
  const { user, organization } = token(as);
  return {
    sent,
    received,
    client,
    call: index,
    org: organization,
    user,
    scope: isQuery ? "graphql" : "rest",
    kind: isStatus ? "status" : "call",
    cost: isStatus ? null : isQuery ? header("complexity-requested") : 1,
    status,
    scopeName: String(headers["ratelimit-scope"]),
    limit: header("limit"),
    remaining: header("remaining"),
    reset: header("reset"),
    userScopeName: String(headers["ratelimit-user-scope"]),
    userLimit: header("user-limit"),
    userRemaining: header("user-remaining"),
    userReset: header("user-reset"),
    ...(isQuery && status === 200 ? { actual: header("complexity-actual") } : {}),
    ...(isStatus ? { body: (JSON.parse(body) as { scopes: unknown }).scopes } : {}),
    ...(status === 429 ? { refusal: JSON.parse(body), retryAfter: number(headers["retry-after"]) } : {}),
  };
}

test("a worker that ends by itself is replaced, and the counters go on", async () => {
  const rules = parseRules(steady);
  const told: string[] = [];
  const onUnexpected = ({ message }: Error): void => void told.push(message);
  const options = { rules, tokens, port: 0, workers: 2, stores: [new Limiter(rules)], fork: worker.fork };
  const serving = await serveWorkers({ ...options, onUnexpected });
  try {
    const { url } = serving;
    expect(remaining(await call(url, userPath))).toBe(199);
    const [first = 0, second = 0] = serving.pids;
    process.kill(first, "SIGKILL");
    await until(async () => serving.pids.length === 2 && !serving.pids.includes(first));
    expect(serving.pids).toContain(second);
    expect(told).toEqual([`worker ${first} ended with SIGKILL; another is started in 100 ms; 1 is left`]);
    for (const left of [198, 197, 196]) expect(remaining(await call(url, userPath))).toBe(left);
  } finally {
    await serving.close();
  }
});

describe("faults of several processes, for real", () => {
  test("per-instance-counters: every process counts alone", async () => {
    const { url, workers } = await start(steady, { fault: parseFault("per-instance-counters=2") });
    expect(workers).toBe(2);
    const seen: number[] = [];
    for (let n = 0; n < 4; n++) seen.push(remaining(await call(url, userPath)));
    expect(seen).toEqual([199, 199, 198, 198]);
  });

  test("stale-replica-read: the status is of before", async () => {
    const { url } = await start(steady, { fault: parseFault("stale-replica-read=300") });
    expect(remaining(await call(url, userPath))).toBe(199);
    const status = await call(url, statusPath);
    expect([current(status), remaining(status)]).toEqual([0, 200]);
    expect(remaining(await call(url, userPath))).toBe(198);
  });

  test("skewed-nodes: every other process is ahead", async () => {
    const { url } = await start({}, { fault: parseFault("skewed-nodes=20") });
    const first = await call(url, userPath);
    const second = await call(url, userPath);
    const apart =
      (number(first.headers["ratelimit-reset"]) - number(second.headers["ratelimit-reset"]) + 60) % 60;
    expect([19, 20, 21]).toContain(apart);
  });

  test("limit-changes-mid-window: half of the processes know another limit", async () => {
    const { url } = await start(steady, { fault: parseFault("limit-changes-mid-window=0.1") });
    const limits = [await call(url, userPath), await call(url, userPath)].map(
      ({ headers }) => headers["ratelimit-limit"],
    );
    expect(limits).toEqual(["200", "220"]);
  });
});

describe("what a deployment refuses", () => {
  test("a worker that cannot start", async () => {
    const fork = () => forkWorker("/none.mjs");
    await expect(start({}, { workers: 2, fork })).rejects.toMatchObject({
      code: "WORKER_FAILED",
      exitCode: 3,
    });
  });

  test("a port in use, and no worker is left behind", async () => {
    const { url } = await start({}, { workers: 1 });
    const port = Number(new URL(url).port);
    await expect(start({}, { workers: 2, port })).rejects.toMatchObject({ code: "PORT_IN_USE" });
  });

  test.each([
    ["double-count", 2],
    ["per-instance-counters", 1],
  ])("%s by %i processes", async (name, workers) => {
    await expect(start({}, { fault: parseFault(name), workers })).rejects.toMatchObject({
      code: "USAGE",
      problems: [{ path: "workers" }],
    });
  });

  test("a fault that is none under these rules", async () => {
    const rules = { semantics: { refused: "counted" } } as const;
    await expect(start(rules, { fault: parseFault("refused-counted") })).rejects.toMatchObject({
      code: "FAULT_INVALID",
    });
  });
});
