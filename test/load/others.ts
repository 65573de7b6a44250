// `npm run others`: limiters of others, each described by a policy alone, loaded for real and judged: a right one 20 times,
// with a limit one higher 20 times, and 20 times behind a proxy that shows the described limit. It writes
// reports/others/README.md.
//   npm run others                                        the limiters of npm
//   PYTHON=venv/bin/python npm run others                 Flask-Limiter, too (pip install flask flask-limiter)
//   RATELIMIT=bin/service_cmd npm run others              envoyproxy/ratelimit, too (go install; redis-server)
//   npm run others -- --only flask-limiter,fastify        some of them; nothing is written, unless by --publish: others keep
//                                                         the rows that they have
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join, resolve } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { parseArgs } from "node:util";
import { writeWhole } from "../../src/files/whole-file.ts";
import { parsePolicy } from "../../src/policy/parse.ts";
import type { Policy } from "../../src/policy/policy.ts";
import { presets } from "../../src/policy/presets.ts";
import type { QuotaVerdict } from "../../src/verify/verdict.ts";
import {
  clients,
  described,
  disguised,
  limit,
  type Start,
  type Started,
  tokensOf,
  windowMs,
  withExpress,
  withFastify,
} from "./strangers.ts";
import { newFolder, removed, scenarioFile } from "./support.ts";

interface Stranger {
  readonly policy: Policy;
  readonly start: Start;
  /** Times that its windows are longer than those of the others. */
  readonly times?: number;
  readonly method?: string;
  readonly path?: string;
  readonly about: string;
}

/** A port that is free. */
async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address() as { port: number };
  await new Promise<void>((done) => server.close(() => done()));
  return port;
}

/** Starts a program, and waits until it answers. */
async function started(
  words: readonly string[],
  url: string,
  env: NodeJS.ProcessEnv = {},
  beside: readonly { kill(): unknown }[] = [],
): Promise<Started> {
  const [program = "", ...rest] = words;
  const child = spawn(program, rest, { env: { ...process.env, ...env }, stdio: "ignore" });
  const close = async (): Promise<void> => {
    child.kill("SIGKILL");
    for (const other of beside) other.kill();
  };
  for (let attempt = 0; attempt < 100; attempt += 1) {
    if (child.exitCode !== null) break;
    const isThere = await fetch(url).then(
      () => true,
      () => false,
    );
    if (isThere) return { url, close };
    await wait(100);
  }
  await close();
  throw new Error(`${words.join(" ")} does not answer`);
}

const flaskApp = `
import sys
from flask import Flask, request
from flask_limiter import Limiter
from werkzeug.serving import make_server, WSGIRequestHandler
WSGIRequestHandler.protocol_version = "HTTP/1.1"
app = Flask(__name__)
limiter = Limiter(lambda: request.headers.get("Authorization", ""), app=app, strategy="fixed-window",
                  storage_uri="memory://", headers_enabled=True)
@app.route("/", defaults={"path": ""})
@app.route("/<path:path>")
@limiter.shared_limit(sys.argv[2], scope="all")
def answer(path):
    return "ok"
make_server("127.0.0.1", int(sys.argv[1]), app, threaded=True).serve_forever()
`;

/** Flask-Limiter, whose windows open with a call, and whose refused calls count. */
const flaskPolicy = parsePolicy({
  version: 2,
  name: "flask-limiter",
  quotas: {
    requests: {
      algorithm: { kind: "fixed-window", limit, windowSeconds: windowMs / 1000, anchor: "first-request" },
      key: ["client"],
      charge: { refused: "counted" },
    },
  },
  operations: { call: { uses: { requests: 1 }, samples: [{ path: "/" }] } },
  routes: [{ path: "/**", operation: "call" }],
  auth: { header: "Authorization", form: "Bearer {token}", attributes: ["client"] },
  wire: {
    revision: "flask-limiter 4.1, limits 5.8",
    readings: [
      {
        quotas: ["requests"],
        headers: {
          "X-RateLimit-Limit": "{limit}",
          "X-RateLimit-Remaining": "{remaining}",
          "X-RateLimit-Reset": "{reset}",
        },
        reset: { form: "epoch-s", means: "window-end", round: "ceil" },
      },
    ],
    retryAfter: [{ header: "Retry-After", form: "delta-s" }],
  },
});

const envoyWindow = 60;

/** Its descriptors name the client; the windows are minutes of the clock. */
function envoyPolicy(): Policy {
  const { wire, policy } = presets["envoy-json"] ?? {};
  const body = { domain: "judged", descriptors: [{ entries: [{ key: "client", value: "{client}" }] }] };
  const { quotas } = parsePolicy(policy);
  return parsePolicy({
    version: 2,
    name: "envoyproxy-ratelimit",
    quotas: {
      calls: {
        ...quotas["one"],
        algorithm: { kind: "fixed-window", limit, windowSeconds: envoyWindow },
        key: ["client"],
      },
    },
    operations: { check: { uses: { calls: 1 }, samples: [{ method: "POST", path: "/json", body }] } },
    routes: [{ methods: ["POST"], path: "/json", operation: "check" }],
    auth: { attributes: ["client"] },
    wire,
  });
}

const withFlask =
  (python: string, folder: string): Start =>
  async (most) => {
    const port = await freePort();
    const file = join(folder, "flask_app.py");
    await writeFile(file, flaskApp);
    return started([python, file, String(port), `${most} per 5 second`], `http://127.0.0.1:${port}`);
  };

const withEnvoy =
  (program: string, folder: string): Start =>
  async (most) => {
    const [redisPort, port, grpc, debug] = await Promise.all([
      freePort(),
      freePort(),
      freePort(),
      freePort(),
    ]);
    const config = join(folder, `envoy-${port}`, "ratelimit", "config");
    await mkdir(config, { recursive: true });
    const rate = `{ name: calls, unit: minute, requests_per_unit: ${most} }`;
    await writeFile(
      join(config, "judged.yaml"),
      `domain: judged\ndescriptors:\n  - key: client\n    rate_limit: ${rate}\n`,
    );
    const redis = spawn("redis-server", ["--port", String(redisPort), "--save", "", "--dir", folder], {
      stdio: "ignore",
    });
    await wait(500);
    const env = {
      ...{ USE_STATSD: "false", LOG_LEVEL: "error", REDIS_SOCKET_TYPE: "tcp", RUNTIME_WATCH_ROOT: "false" },
      ...{ REDIS_URL: `127.0.0.1:${redisPort}`, RUNTIME_ROOT: join(folder, `envoy-${port}`) },
      ...{ RUNTIME_SUBDIRECTORY: "ratelimit", HOST: "127.0.0.1", PORT: String(port) },
      ...{
        GRPC_HOST: "127.0.0.1",
        GRPC_PORT: String(grpc),
        DEBUG_HOST: "127.0.0.1",
        DEBUG_PORT: String(debug),
      },
    };
    return started([resolve(program)], `http://127.0.0.1:${port}`, env, [redis]);
  };

function strangers(folder: string): Record<string, Stranger> {
  const { PYTHON: python, RATELIMIT: ratelimit } = process.env;
  return {
    "express-rate-limit, legacy headers": {
      policy: described("express-rate-limit"),
      start: withExpress(false),
      about: "express-rate-limit 8",
    },
    ...Object.fromEntries(
      (["6", "7", "8"] as const).map((draft) => [
        `express-rate-limit, draft ${draft}`,
        {
          policy: described(`express-rate-limit-${draft}`),
          start: withExpress(`draft-${draft}`),
          about: "express-rate-limit 8",
        },
      ]),
    ),
    "@fastify/rate-limit": {
      policy: described("fastify"),
      start: withFastify,
      about: "@fastify/rate-limit 11",
    },
    ...(python && {
      "flask-limiter": {
        policy: flaskPolicy,
        start: withFlask(python, folder),
        about: "Flask-Limiter 4.1 with limits 5.8, fixed window, in memory, threads of Werkzeug",
      },
    }),
    ...(ratelimit && {
      "envoyproxy/ratelimit, /json": {
        policy: envoyPolicy(),
        start: withEnvoy(ratelimit, folder),
        times: envoyWindow / (windowMs / 1000),
        method: "POST",
        path: "/json",
        about: "its service with Redis, limits a minute, readings in JSON bodies",
      },
    }),
  };
}

interface Row {
  readonly name: string;
  readonly about: string;
  readonly windows: number;
  readonly calls: number;
  /** Runs by what was found: `ok`, or the laws that were broken. */
  readonly right: readonly string[];
  readonly higher: readonly string[];
  readonly hidden: readonly string[];
}

let places = 0;
/** Runs at a time: each is a process. */
const lanes = 10;

interface Judged {
  readonly found: string;
  readonly windows: number;
  readonly calls: number;
}

/** One run as a user types it: a policy file, a tokens file, and a scenario. */
async function judged(folder: string, one: Stranger, start: () => Promise<Started>): Promise<Judged> {
  places += 1;
  const place = join(folder, `run-${places}`);
  await mkdir(place);
  const file = (name: string): string => join(place, name);
  await writeFile(file("policy.json"), JSON.stringify(one.policy));
  const tokens = tokensOf(`c${places}`).map(({ token, attributes }) => ({ token, ...attributes }));
  await writeFile(file("tokens.json"), JSON.stringify(tokens), { mode: 0o600 });
  const scenario = await scenarioFile(place, "others", clients(one.times, one.method, one.path));
  // A port that was free may be taken before the program has it: then another one.
  const server = await start().catch(start);
  const words = ["load", scenario, "--policy", file("policy.json"), "--target", server.url];
  const more = ["--tokens", file("tokens.json"), "--driver", "node", "--out", file("run")];
  const child = spawn(process.execPath, ["dist/src/cli/main.js", ...words, ...more], { stdio: "ignore" });
  await once(child, "exit").finally(() => server.close());
  const verdict = JSON.parse(await readFile(join(place, "run", "verdict.json"), "utf8")) as QuotaVerdict;
  const broken = [...new Set(verdict.violations.map(({ law }) => law))].toSorted();
  const { admitted = 0, refused = 0 } = verdict.amounts ?? {};
  return {
    found: broken.length > 0 ? broken.join(", ") : verdict.verdict,
    windows: verdict.windows,
    calls: admitted + refused,
  };
}

async function judgeStranger(folder: string, name: string, one: Stranger, runs: number): Promise<Row> {
  const each = async (start: () => Promise<Started>): Promise<Judged[]> => {
    const done: Judged[] = [];
    let begun = 0;
    const lane = async (): Promise<void> => {
      while (begun < runs) {
        begun += 1;
        done.push(await judged(folder, one, start));
      }
    };
    // Long windows mostly wait.
    const width = one.times === undefined ? lanes : runs;
    // All end before one failure is told: none is to write into a folder that is being removed.
    const ended = await Promise.allSettled(Array.from({ length: width }, lane));
    for (const one of ended) if (one.status === "rejected") throw one.reason;
    return done;
  };
  const foundIn = (all: readonly Judged[]): string[] => all.map(({ found }) => found);
  const right = await each(() => one.start(limit));
  const [higher, hidden] = [
    await each(() => one.start(limit + 1)),
    await each(() => disguised(one.start, limit + 1)),
  ];
  const sum = (of: "windows" | "calls"): number => right.reduce((all, run) => all + run[of], 0);
  return {
    ...{ name, about: one.about, windows: sum("windows"), calls: sum("calls") },
    ...{ right: foundIn(right), higher: foundIn(higher), hidden: foundIn(hidden) },
  };
}

/** @returns the exit status: 1 where a right one was accused, or a wrong one was not */
export async function run(args: string[]): Promise<number> {
  const { values } = parseArgs({
    args,
    options: {
      only: { type: "string" },
      runs: { type: "string", default: "20" },
      publish: { type: "boolean", default: false },
    },
  });
  const folder = await newFolder();
  try {
    const wanted = Object.entries(strangers(folder)).filter(([name]) =>
      (values.only ?? "").split(",").some((part) => name.includes(part)),
    );
    const rows: Row[] = [];
    for (const [name, one] of wanted) {
      const row = await judgeStranger(folder, name, one, Number(values.runs));
      rows.push(row);
      console.log(
        `${name}: ${countsOf(row.right)}; one higher: ${countsOf(row.higher)}; hidden: ${countsOf(row.hidden)}`,
      );
      // Each row as soon as it is there: the whole takes an hour.
      if (values.only === undefined || values.publish) {
        const before = await readFile(report, "utf8").catch(() => "");
        await writeWhole(report, page([row], Number(values.runs), before));
      }
    }
    const isAsItShould = ({ right, higher, hidden }: Row): boolean =>
      right.every((found) => found === "ok") &&
      [...higher, ...hidden].every((found) => found !== "ok" && found !== "unknown");
    return rows.every(isAsItShould) ? 0 : 1;
  } finally {
    await removed(folder);
  }
}

/** `20 ok`, `19 limit-agrees, 1 conserved`. */
function countsOf(found: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const one of found) counts.set(one, (counts.get(one) ?? 0) + 1);
  return [...counts].map(([what, times]) => `${times} ${what}`).join("; ");
}

const report = "reports/others/README.md";

const rowText = ({ name, about, windows, calls, right, higher, hidden }: Row): string =>
  `| **${name}**: ${about} | ${windows}, ${calls} | ${countsOf(right)} | ${countsOf(higher)} | ${countsOf(hidden)} |`;

/** @param before the page as it is, whose rows of other limiters are kept */
function page(rows: readonly Row[], runs: number, before: string): string {
  const names = rows.map(({ name }) => `| **${name}**`);
  const kept = before
    .split("\n")
    .filter((line) => line.startsWith("| **") && !names.some((name) => line.startsWith(name)));
  return `# Limiters of others, judged by a policy alone

Each limiter is described by a policy file and nothing else: ${limit} calls in a window of ${windowMs / 1000} s (of a minute for
envoyproxy/ratelimit). Two dozen clients load it for three windows, side by side and in bursts, and the oracle judges the
trace. ${runs} runs each: as it is described; with a limit of ${limit + 1}; and with a limit of ${limit + 1} behind a proxy that
writes ${limit} wherever an answer says ${limit + 1}. A cell counts runs by what was found: \`ok\`, or the laws that were broken.

| limiter | windows, calls of the right one | right | limit one higher | one higher, hidden by a proxy |
|---|---|---|---|---|
${[...kept, ...rows.map(rowText)].toSorted().join("\n")}

\`npm run others\` makes this page; test/load/others.ts says what Flask-Limiter and envoyproxy/ratelimit need.
`;
}
