// `npm run overlap`: how much calls that overlap go wrong, over real HTTP and a real
// Redis, in real time. It depends on the machine, so it is measured and published, and no test asks for the figures.
import { once } from "node:events";
import type { Server } from "node:http";
import { type AddressInfo, connect, createServer, type Server as Listener, type Socket } from "node:net";
import { join } from "node:path";
import { RealRedis } from "./redis.ts";
import { keep, reportFolder } from "./report.ts";
import { installStrangers, load, versionOf } from "./strangers.ts";

const limit = 5;
const windowMs = 60_000;

/** Before the limiter, something that asks Redis once for each request, as a session does. */
type Before = () => Promise<unknown>;
type Start = (before: Before) => Promise<Server>;

interface Express {
  use(handler: unknown): void;
  get(path: string, handler: (request: unknown, response: { send(body: string): void }) => void): void;
  listen(port: number, host: string): Server;
}

/** The caller is told by a header: one machine stands for many callers. */
const caller = ({ headers }: { headers: Record<string, string> }): string => headers["x-caller"] ?? "";

const express: Start = async (before) => {
  const { rateLimit } = load<{ rateLimit(options: object): unknown }>("express-rate-limit");
  const application = load<() => Express>("express")();
  application.use((_request: unknown, _response: unknown, next: () => void) => before().then(() => next()));
  application.use(rateLimit({ windowMs, limit, keyGenerator: caller, validate: false }));
  application.get("/", (_request, response) => response.send("done"));
  return application.listen(0, "127.0.0.1");
};

const fastify: Start = async (before) => {
  const application =
    load<
      () => {
        addHook(name: "onRequest", hook: () => Promise<unknown>): void;
        register(plugin: unknown, options: object): PromiseLike<unknown>;
        get(path: string, handler: () => Promise<string>): void;
        listen(options: object): Promise<string>;
        readonly server: Server;
      }
    >("fastify")();
  application.addHook("onRequest", () => before());
  const options = { max: limit, timeWindow: windowMs, keyGenerator: caller };
  await application.register(load("@fastify/rate-limit"), options);
  application.get("/", async () => "done");
  await application.listen({ port: 0, host: "127.0.0.1" });
  return application.server;
};

const hono: Start = async (before) => {
  interface Context {
    readonly req: { header(name: string): string };
    text(body: string): Response;
  }
  interface Hono {
    readonly fetch: unknown;
    use(middleware: unknown): void;
    get(path: string, handler: (context: Context) => Response): void;
  }
  const application = new (load<{ Hono: new () => Hono }>("hono").Hono)();
  const { rateLimiter } = load<{ rateLimiter(options: object): unknown }>("hono-rate-limiter");
  application.use((_context: Context, next: () => Promise<void>) => before().then(() => next()));
  const keyGenerator = ({ req }: Context): string => req.header("x-caller");
  application.use(rateLimiter({ windowMs, limit, keyGenerator }));
  application.get("/", (context) => context.text("done"));
  const { serve } = load<{ serve(options: object): Server }>("@hono/node-server");
  return serve({ fetch: application.fetch, port: 0, hostname: "127.0.0.1" });
};

interface Koa {
  use(middleware: unknown): void;
  listen(port: number, host: string): Server;
}

/** A Koa application with a limiter in it. */
async function koaWith(before: Before, limiter: unknown): Promise<Server> {
  const application = new (load<new () => Koa>("koa"))();
  application.use((_context: unknown, next: () => Promise<void>) => before().then(() => next()));
  application.use(limiter);
  application.use((context: { body: string }) => {
    context.body = "done";
  });
  return application.listen(0, "127.0.0.1");
}

const koa: Start = async (before) => {
  const id = ({ headers }: { headers: Record<string, string> }): string => headers["x-caller"] ?? "";
  const ratelimit = load<(options: object) => unknown>("koa-ratelimit");
  return koaWith(before, ratelimit({ driver: "memory", db: new Map(), duration: windowMs, max: limit, id }));
};

interface Koa2 {
  readonly RateLimit: { middleware(options: object): unknown };
  readonly Stores: { readonly Redis: new (options: object) => { client: { disconnect(): Promise<void> } } };
}

/** Sends a request of a caller by each socket, all in one turn. @returns how many are answered 200 */
async function admitted(sockets: readonly Socket[], name: string): Promise<number> {
  const request = `GET / HTTP/1.1\r\nHost: a\r\nx-caller: ${name}\r\n\r\n`;
  const answers = sockets.map((socket) => once(socket, "data"));
  for (const socket of sockets) socket.write(request);
  const heads = await Promise.all(answers);
  return heads.filter(([data]) => String(data).startsWith("HTTP/1.1 200")).length;
}

/** Asks a server by so many sockets, so many callers one after the other. @returns how many it let through, by caller */
async function ask(server: Server, sockets: number, callers: number): Promise<number[]> {
  if (!server.listening) await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const open = Array.from({ length: sockets }, () => connect(port, "127.0.0.1").setNoDelay(true));
  await Promise.all(open.map((socket) => once(socket, "connect")));
  const counts: number[] = [];
  for (let of = 0; of < callers; of += 1) counts.push(await admitted(open, `caller ${of}`));
  for (const socket of open) socket.destroy();
  server.close();
  return counts;
}

/** A port that leads to another one, so many ms away there and back. */
async function distant(port: number, ms: number): Promise<Listener> {
  const later = (from: Socket, to: Socket): void => {
    from.on("data", (data) => setTimeout(() => to.write(data), ms / 2)).on("error", () => to.destroy());
    from.on("close", () => to.destroy());
  };
  const server = createServer((near) => {
    const far = connect(port, "127.0.0.1");
    later(near, far);
    later(far, near);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return server;
}

/** Counts those of 100 calls at once that koa2-ratelimit lets through, round by round. */
async function koa2Rounds(port: number, awayMs: number): Promise<number[]> {
  const { RateLimit, Stores } = load<Koa2>("koa2-ratelimit");
  const way = await distant(port, awayMs);
  const store = new Stores.Redis({
    socket: { host: "127.0.0.1", port: (way.address() as AddressInfo).port },
  });
  const counts: number[] = [];
  for (let round = 0; round < 20; round += 1) {
    const options = { interval: windowMs, max: limit, store, prefixKey: `${awayMs} ms, round ${round}` };
    const server = await koaWith(async () => {}, RateLimit.middleware(options));
    counts.push(...(await ask(server, 100, 1)));
  }
  await store.client.disconnect();
  way.close();
  return counts;
}

const callers = 300;
const sum = (counts: readonly number[]): number => counts.reduce((total, count) => total + count, 0);
const figure = (count: number): string => count.toLocaleString("en");

export async function run(): Promise<void> {
  await installStrangers(console.log);
  const redis = await RealRedis.start();
  const rows: string[] = [];
  try {
    const before = (): Promise<unknown> => redis.client.call("GET", "session");
    const stores = {
      "express-rate-limit": express,
      "@fastify/rate-limit": fastify,
      "hono-rate-limiter": hono,
      "koa-ratelimit": koa,
    };
    for (const [name, start] of Object.entries(stores)) {
      const refused = limit * callers - sum(await ask(await start(before), 6, callers));
      rows.push(
        `| ${name} ${versionOf(name)} | 6 at once | ${figure(refused)} of ${figure(limit * callers)} allowed calls refused |`,
      );
    }
    for (const awayMs of [0, 10]) {
      const counts = await koa2Rounds(redis.port, awayMs);
      const [least, most] = [Math.min(...counts), Math.max(...counts)];
      const where = awayMs === 0 ? "on Redis" : `on a Redis ${awayMs} ms away`;
      rows.push(
        `| koa2-ratelimit ${versionOf("koa2-ratelimit")} ${where} | 100 at once, ${counts.length} times | ${least} to ${most} let through, of ${limit} allowed |`,
      );
    }
  } finally {
    await redis.stop();
  }
  console.log(rows.join("\n"));
  keep(join(reportFolder, "overlap.md"), page(rows));
}

const page = (rows: readonly string[]): string =>
  `${[
    "# Calls that overlap, over HTTP",
    "",
    "Written by `npm run overlap`. How much goes wrong depends on the machine and the round trip to Redis. Each limiter allows 5 calls a minute of each caller, and is set up by its documentation. The stores in memory have one `GET` of Redis before them, as a session is; six sockets send one request each in one turn, for 300 callers one after the other. Why: [one count for all](issues/shared-count.md), [koa2-ratelimit](issues/koa2-ratelimit.md).",
    "",
    "| limiter | calls | what goes wrong |",
    "|---|---|---|",
    ...rows,
  ].join("\n")}\n`;
