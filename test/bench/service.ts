// The deployment over HTTP beside bare Fastify and @fastify/rate-limit: each a process of its own, loaded in
// turn by wrk on loopback. Figures are requests a second of the server's own CPU time, which is what one core
// answers: requests a second of the wall clock would count whatever else the machine does, wrk included.
import { type ChildProcess, execFile, fork } from "node:child_process";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import rateLimit from "@fastify/rate-limit";
import fastify, { type FastifyInstance } from "fastify";
import { parseRules } from "../../src/rules/parse.ts";
import type { RulesInput } from "../../src/rules/rules.ts";
import { buildApp } from "../../src/service/app.ts";
import { pipelineView } from "../../src/service/rest-views.ts";
import { samplePipelines } from "../../src/service/sample-data.ts";
import { sampleTokens } from "../../src/service/sample-tokens.ts";
import { type BenchRow, median, sized } from "./row.ts";

/** Processes of one program differ from start to start by a fifth, by what the compiler made of it: each is started anew. */
const STARTS = sized(5, 1);
const ROUNDS = sized(2, 1);
const ROUND_SECONDS = sized(2, 1);
const CONNECTIONS = 64;
/** Set in the children: which contender this process is. */
const ROLE = "SPILLWAY_BENCH_SERVER";
const TOKEN = "SPILLWAY_BENCH_TOKEN";
const userPath = "/v2/user";
const listPath = "/v2/organizations/acme/pipelines";
const plenty = 100_000_000;

/** As many bytes as the deployment's own answer has. */
const body = {
  id: "3f0c5b9e-8a55-5d0f-a2a1-3b9d9a3f7f11",
  graphql_id: "VXNlci0tLTNmMGM1YjllLThhNTUtNWQwZi1hMmExLTNiOWQ5YTNmN2YxMQ==",
  name: "user-0",
  email: "user-0@example.com",
  created_at: "2025-01-01T00:00:00Z",
};

function bare(): FastifyInstance {
  const app = fastify();
  app.get(userPath, () => body);
  return app;
}

/** The list that the deployment answers, byte for byte, made for each request. */
function bareList(): FastifyInstance {
  const app = fastify();
  app.get(listPath, ({ host }) => samplePipelines("acme").map((one) => pipelineView(one, `http://${host}`)));
  return app;
}

async function withPlugin(max: number): Promise<FastifyInstance> {
  const app = fastify();
  await app.register(rateLimit, { max, timeWindow: 3_600_000 });
  app.get(userPath, () => body);
  return app;
}

function ours(input: RulesInput): FastifyInstance {
  const rules = parseRules(input);
  const [token] = sampleTokens(1);
  if (token === undefined) throw new Error("no token was made");
  return buildApp({ rules, tokens: [{ ...token, token: process.env[TOKEN] ?? "" }], now: Date.now });
}

const noLimits = { organization: { rest: { limit: plenty } }, user: { rest: { limit: plenty } } };

const contenders = {
  bare,
  ours: () => ours(noLimits),
  plugin: () => withPlugin(plenty),
  oursRefusing: () => ours({ user: { rest: { limit: 1, windowSeconds: 3600 } } }),
  pluginRefusing: () => withPlugin(1),
  list: bareList,
  oursList: () => ours(noLimits),
} satisfies Record<string, () => FastifyInstance | Promise<FastifyInstance>>;
type Role = keyof typeof contenders;
const roles = Object.keys(contenders) as Role[];
const pathOf = (role: Role): string => (role.toLowerCase().endsWith("list") ? listPath : userPath);

interface Contender {
  readonly role: Role;
  readonly child: ChildProcess;
  readonly url: string;
}

/** Messages of a child: its port once, then its CPU time in microseconds whenever it is asked. */
async function answerOf(child: ChildProcess): Promise<number> {
  const [value] = (await once(child, "message")) as [number];
  return value;
}

async function start(role: Role, token: string): Promise<Contender> {
  const env = { ...process.env, [ROLE]: role, [TOKEN]: token };
  const child = fork(fileURLToPath(import.meta.url), { env });
  return { role, child, url: `http://127.0.0.1:${await answerOf(child)}${pathOf(role)}` };
}

async function cpuMicros({ child }: Contender): Promise<number> {
  const answer = answerOf(child);
  child.send("cpu");
  return answer;
}

/** One round; requests a second of the server's CPU time. All of them are refused, or none. */
async function load(contender: Contender, token: string, warmUp = false): Promise<number> {
  const { role, url } = contender;
  const seconds = warmUp ? 1 : ROUND_SECONDS;
  const options = ["-t1", `-c${CONNECTIONS}`, `-d${seconds}s`, "-H", `Authorization: Bearer ${token}`, url];
  const before = await cpuMicros(contender);
  const { stdout } = await promisify(execFile)("wrk", options).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT")
      throw new Error("the service's bench needs wrk: apt-get install wrk, brew install wrk");
    throw error;
  });
  const cpuSeconds = ((await cpuMicros(contender)) - before) / 1e6;
  const total = Number(/(\d+) requests in/.exec(stdout)?.[1]);
  const refused = Number(/Non-2xx or 3xx responses: (\d+)/.exec(stdout)?.[1] ?? 0);
  // The warm-up has the one call that is admitted; another one is where an hour ends meanwhile.
  const isAsMeant = role.endsWith("Refusing") ? total - refused <= 1 : refused === 0;
  if (!warmUp && !isAsMeant) throw new Error(`${role}: ${refused} of ${total} calls were refused`);
  return total / cpuSeconds;
}

export async function run(): Promise<BenchRow[]> {
  const token = "bench-token-that-guards-nothing-at-all";
  const perSecond = new Map<Role, number[]>(roles.map((role) => [role, []]));
  for (let start = 0; start < STARTS; start++) await measure(token, perSecond);
  return rows(perSecond);
}

/** Starts all contenders, and loads them by turns. */
async function measure(token: string, perSecond: ReadonlyMap<Role, number[]>): Promise<void> {
  const started: Contender[] = [];
  try {
    for (const role of roles) started.push(await start(role, token));
    await mustAnswerAlike(started, token);
    for (const contender of started) await load(contender, token, true);
    for (let round = 0; round < ROUNDS; round++)
      for (const contender of started) perSecond.get(contender.role)?.push(await load(contender, token));
  } finally {
    for (const { child } of started) child.kill();
  }
}

/** Both lists have as many bytes: they differ in the ports of their URLs. */
async function mustAnswerAlike(started: readonly Contender[], token: string): Promise<void> {
  const lists = started.filter(({ url }) => url.endsWith(listPath));
  const bodies = lists.map(async ({ url }) => {
    const answer = await fetch(url, { headers: { Authorization: `Bearer ${token}` } });
    return (await answer.text()).replaceAll(new URL(url).host, "host");
  });
  const [one, other] = await Promise.all(bodies);
  if (one !== other) throw new Error("the lists differ");
}

function rows(perSecond: ReadonlyMap<Role, readonly number[]>): BenchRow[] {
  const of = (role: Role): readonly number[] => perSecond.get(role) ?? [];
  const row = (name: string, role: Role): BenchRow => ({ name, value: median(of(role)), unit: "req/CPU s" });
  // Round by round: what a busy machine takes, it takes from both.
  const ratio = (role: Role, peer: Role): number =>
    median(of(role).map((value, round) => value / (of(peer)[round] ?? Number.NaN)));
  return [
    row("Fastify, bare", "bare"),
    {
      ...row("the deployment: auth, two windows, eight headers", "ours"),
      ratio: ratio("ours", "bare"),
      against: "Fastify, bare",
      bar: ">= 0.85",
    },
    {
      ...row("Fastify + @fastify/rate-limit: one window", "plugin"),
      ratio: ratio("plugin", "bare"),
      against: "Fastify, bare",
    },
    {
      ...row("the deployment: auth, two windows, eight headers", "ours"),
      ratio: ratio("ours", "plugin"),
      against: "@fastify/rate-limit",
      bar: ">= 1",
    },
    {
      ...row("refusals of the deployment", "oursRefusing"),
      ratio: ratio("oursRefusing", "pluginRefusing"),
      against: "@fastify/rate-limit's",
      bar: ">= 1.5",
    },
    row("refusals of @fastify/rate-limit", "pluginRefusing"),
    {
      ...row("the deployment's list of pipelines, 8 KB", "oursList"),
      ratio: ratio("oursList", "list"),
      against: "Fastify, made anew",
      // Three times what it was when it was made anew for each request.
      bar: ">= 21,900 req/CPU s",
    },
    row("Fastify, bare, the list made for each request", "list"),
  ];
}

async function listen(role: string): Promise<void> {
  const build = (contenders as Record<string, (typeof contenders)[Role]>)[role];
  if (build === undefined) throw new Error(`no contender ${role}`);
  const app = await build();
  await app.listen({ port: 0, host: "127.0.0.1" });
  process.on("message", () => {
    const { user, system } = process.cpuUsage();
    process.send?.(user + system);
  });
  process.send?.((app.server.address() as AddressInfo).port);
}

const role = process.env[ROLE];
if (role !== undefined) await listen(role);
