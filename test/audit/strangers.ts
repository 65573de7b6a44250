// Limiters that others wrote, as servers to be audited: libraries in this process, and programs beside it.
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { promisify } from "node:util";
import fastifyRateLimit from "@fastify/rate-limit";
// @ts-expect-error express has no types of its own
import express from "express";
import { rateLimit } from "express-rate-limit";
import fastify from "fastify";
import { parsePolicy } from "../../src/policy/parse.ts";
import type { Policy, Quota } from "../../src/policy/policy.ts";
import { presets } from "../../src/policy/presets.ts";

/** A server that is running. */
export interface Started {
  readonly url: string;
  close(): Promise<void>;
}

/** Starts an HTTP server on a free port. */
export async function listening(listener: RequestListener): Promise<Started> {
  const server: Server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return { url: `http://127.0.0.1:${port}`, close };
}

const strangerPolicy = (headers: Record<string, string>): Policy =>
  parsePolicy({
    version: 2,
    name: "stranger",
    quotas: {
      requests: {
        algorithm: { kind: "fixed-window", limit: 40, windowSeconds: 20, anchor: "first-request" },
        key: ["client"],
        charge: { refused: "counted" },
      },
    },
    operations: { call: { uses: { requests: 1 }, samples: [{ path: "/" }] } },
    routes: [{ path: "/**", operation: "call" }],
    auth: { header: "Authorization", form: "Bearer {token}", attributes: ["client"] },
    wire: {
      revision: "2026",
      readings: [
        { quotas: ["requests"], headers, reset: { form: "delta-s", means: "window-end", round: "ceil" } },
      ],
      retryAfter: [{ header: "Retry-After", form: "delta-s" }],
    },
  });

/** By token, in whatever letters its scheme is sent. */
const keyOf = ({ headers }: { headers: { authorization?: string | undefined } }): string =>
  String(headers.authorization).replace(/^bearer /i, "");

/** A free port, for a program that cannot choose one. */
async function freePort(): Promise<number> {
  const { url, close } = await listening(() => undefined);
  await close();
  return Number(new URL(url).port);
}

/** Starts a program, and waits until it answers HTTP. */
async function program(
  path: string,
  words: readonly string[],
  url: string,
  env: Readonly<Record<string, string>> = {},
): Promise<ChildProcess> {
  const child = spawn(path, words, { stdio: ["ignore", "ignore", "pipe"], env: { ...process.env, ...env } });
  let said = "";
  child.stderr?.on("data", (chunk: Buffer) => {
    said += chunk.toString();
  });
  for (let attempt = 0; attempt < 100; attempt++) {
    if (child.exitCode !== null) throw new Error(`${path} ended: ${said.slice(-500)}`);
    const isThere = await fetch(url).then(
      () => true,
      () => false,
    );
    if (isThere) return child;
    await wait(100);
  }
  child.kill();
  throw new Error(`${path} does not answer: ${said.slice(-500)}`);
}

const ended = (child: ChildProcess): Promise<void> =>
  new Promise((resolve) => {
    if (child.exitCode !== null) return resolve();
    child.once("exit", () => resolve());
    child.kill("SIGTERM");
  });

/** nginx, whose key is the token by a mapping. */
async function nginx(): Promise<Started & { readonly policy: Policy }> {
  const folder = await mkdtemp(join(tmpdir(), "spillway-nginx-"));
  // Its workers are another user's where it is started by root.
  await chmod(folder, 0o755);
  const port = await freePort();
  await writeFile(join(folder, "index.html"), "ok");
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  );
  await writeFile(
    join(folder, "nginx.conf"),
    `daemon off; worker_processes 1; pid ${folder}/nginx.pid; error_log ${folder}/error.log;
events { worker_connections 256; }
http {
  ${temporary.join(" ")}
  access_log off;
  map $http_authorization $client { default ""; "~*^bearer +(?<token>.+)$" $token; }
  limit_req_zone $client zone=clients:1m rate=2r/s;
  server {
    listen 127.0.0.1:${port};
    root ${folder};
    location / { limit_req zone=clients burst=20 nodelay; }
  }
}
`,
  );
  const url = `http://127.0.0.1:${port}`;
  const child = await program("nginx", ["-c", join(folder, "nginx.conf"), "-p", folder], url);
  const policy = parsePolicy(presets["nginx"]?.policy);
  const bucket = { kind: "token-bucket", capacity: 21, refill: { amount: 2, everyMs: 1000 } } as const;
  const requests = { ...(policy.quotas["requests"] as Quota), algorithm: bucket };
  return {
    url,
    policy: { ...policy, quotas: { requests } },
    close: async () => {
      await ended(child);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

const ratelimitConfig = `domain: spillway
descriptors:
  - key: client
    rate_limit:
      name: per-client
      unit: minute
      requests_per_unit: 40
`;

/** Path of envoyproxy/ratelimit: \`RATELIMIT_PATH\`, or one that Go builds here. */
async function ratelimitPath(): Promise<string> {
  const given = process.env["RATELIMIT_PATH"];
  if (given !== undefined) return given;
  const folder = await mkdtemp(join(tmpdir(), "spillway-ratelimit-build-"));
  const run = promisify(execFile);
  const go = (...words: readonly string[]) => run("go", words, { cwd: folder });
  await go("mod", "init", "build");
  await go("get", "github.com/envoyproxy/ratelimit@latest");
  await go("build", "-mod=mod", "-o", "ratelimit", "github.com/envoyproxy/ratelimit/src/service_cmd");
  return join(folder, "ratelimit");
}

/** envoyproxy/ratelimit in front of Redis, by its endpoint /json. */
async function envoy(): Promise<Started & { readonly policy: Policy }> {
  const path = await ratelimitPath();
  const folder = await mkdtemp(join(tmpdir(), "spillway-ratelimit-"));
  const [port, grpc, debug, redisPort] = await Promise.all([freePort(), freePort(), freePort(), freePort()]);
  await mkdir(join(folder, "ratelimit", "config"), { recursive: true });
  await writeFile(join(folder, "ratelimit", "config", "config.yaml"), ratelimitConfig);
  const redis = spawn("redis-server", ["--port", String(redisPort), "--save", "", "--dir", folder], {
    stdio: "ignore",
  });
  await wait(500);
  const url = `http://127.0.0.1:${port}`;
  const child = await program(path, [], `${url}/healthcheck`, {
    USE_STATSD: "false",
    LOG_LEVEL: "error",
    REDIS_SOCKET_TYPE: "tcp",
    REDIS_URL: `127.0.0.1:${redisPort}`,
    RUNTIME_ROOT: folder,
    RUNTIME_SUBDIRECTORY: "ratelimit",
    RUNTIME_WATCH_ROOT: "false",
    PORT: String(port),
    GRPC_PORT: String(grpc),
    DEBUG_PORT: String(debug),
  });
  return {
    url,
    policy: envoyPolicy,
    close: async () => {
      await ended(child);
      await ended(redis);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

const envoyPolicy: Policy = parsePolicy({
  version: 2,
  name: "ratelimit",
  quotas: {
    "per-client": {
      algorithm: { kind: "fixed-window", limit: 40, windowSeconds: 60 },
      key: ["client"],
      charge: { refused: "counted" },
      shown: { retryAfter: false },
    },
  },
  operations: {
    check: {
      uses: { "per-client": 1 },
      samples: [
        {
          method: "POST",
          path: "/json",
          headers: { "Content-Type": "application/json" },
          body: { domain: "spillway", descriptors: [{ entries: [{ key: "client", value: "{client}" }] }] },
        },
      ],
    },
  },
  routes: [{ methods: ["POST"], path: "/json", operation: "check" }],
  auth: { header: "Authorization", form: "Bearer {token}", attributes: ["client"] },
  wire: "envoy-json",
});

/** Limiters that others wrote, by name. */
export const strangers: Readonly<Record<string, () => Promise<Started & { readonly policy: Policy }>>> = {
  nginx,
  "envoyproxy/ratelimit": envoy,
  "express-rate-limit": async () => {
    const app = express();
    app.use(
      rateLimit({
        limit: 40,
        windowMs: 20_000,
        standardHeaders: "draft-6",
        legacyHeaders: false,
        keyGenerator: keyOf,
      }),
    );
    app.use((_request: unknown, response: { send(text: string): void }) => response.send("ok"));
    const headers = {
      "RateLimit-Limit": "{limit}",
      "RateLimit-Remaining": "{remaining}",
      "RateLimit-Reset": "{reset}",
    };
    return { ...(await listening(app)), policy: strangerPolicy(headers) };
  },
  "@fastify/rate-limit": async () => {
    const app = fastify();
    await app.register(fastifyRateLimit, { max: 40, timeWindow: 20_000, keyGenerator: keyOf });
    app.get("/", async () => "ok");
    await app.listen({ port: 0, host: "127.0.0.1" });
    const { port } = app.server.address() as AddressInfo;
    const headers = {
      "X-RateLimit-Limit": "{limit}",
      "X-RateLimit-Remaining": "{remaining}",
      "X-RateLimit-Reset": "{reset}",
    };
    return { url: `http://127.0.0.1:${port}`, close: () => app.close(), policy: strangerPolicy(headers) };
  },
};
