// The table's rows of overlapping calls, seen on the wire and without any law: one request more than the limit,
// in one packet, to a server that is set up as its documentation says. Node hands such requests out one after the
// other without a turn in between, so all are counted before the first has read its count; where that count is one
// object for all, every request reads the last count, and none is let through. What is let through never exceeds
// the limit.
// It takes long: the limiters of npm are installed first.
// @module-tag long
// @module-tag real-time
// @module-tag paced
import type { Server } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { afterEach, beforeAll, expect, test } from "vitest";
import { installStrangers, load } from "./strangers.ts";

const limit = 5;
const windowMs = 60_000;
let close: () => Promise<unknown> = async () => {};

beforeAll(() => installStrangers());
afterEach(() => close());

const portOf = (server: Server): number => (server.address() as AddressInfo).port;

async function listening(listen: (ready: () => void) => Server): Promise<number> {
  const server = await new Promise<Server>((resolve) => {
    const made = listen(() => resolve(made));
  });
  close = () => new Promise((resolve) => server.close(resolve));
  return portOf(server);
}

/** Counts those of so many requests in one packet that are answered 200. */
async function admitted(port: number): Promise<number> {
  const asked = limit + 1;
  const text = await new Promise<string>((resolve, reject) => {
    let heard = "";
    const socket = connect(port, "127.0.0.1", () =>
      socket.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n".repeat(asked)),
    );
    socket.setEncoding("latin1").on("error", reject);
    socket.on("data", (data: string) => {
      heard += data;
      if (heard.split("HTTP/1.1 ").length > asked) {
        socket.destroy();
        resolve(heard);
      }
    });
  });
  return text.split("HTTP/1.1 200").length - 1;
}

interface Express {
  use(handler: unknown): void;
  get(path: string, handler: (request: unknown, response: { send(body: string): void }) => void): void;
  listen(port: number, host: string, ready: () => void): Server;
}

function expressWith(middleware: unknown): Promise<number> {
  const application = load<() => Express>("express")();
  application.use(middleware);
  application.get("/", (_request, response) => response.send("done"));
  return listening((ready) => application.listen(0, "127.0.0.1", ready));
}

test("express-rate-limit lets none of 6 through where 5 are allowed", async () => {
  const { rateLimit } = load<{ rateLimit(options: object): unknown }>("express-rate-limit");
  expect(await admitted(await expressWith(rateLimit({ windowMs, limit })))).toBe(0);
});

test("@fastify/rate-limit lets none of 6 through where 5 are allowed", async () => {
  const application =
    load<
      () => {
        register(plugin: unknown, options: object): PromiseLike<unknown>;
        get(path: string, handler: () => Promise<string>): void;
        listen(options: object): Promise<string>;
        readonly server: Server;
        close(): Promise<void>;
      }
    >("fastify")();
  await application.register(load("@fastify/rate-limit"), { max: limit, timeWindow: windowMs });
  application.get("/", async () => "done");
  await application.listen({ port: 0, host: "127.0.0.1" });
  close = () => application.close();
  expect(await admitted(portOf(application.server))).toBe(0);
});

test("koa-ratelimit lets none of 6 through where 5 are allowed", async () => {
  const Koa = load<new () => { use(middleware: unknown): void; listen: Express["listen"] }>("koa");
  const ratelimit = load<(options: object) => unknown>("koa-ratelimit");
  const application = new Koa();
  application.use(ratelimit({ driver: "memory", db: new Map(), duration: windowMs, max: limit }));
  application.use((context: { body: string }) => {
    context.body = "done";
  });
  expect(await admitted(await listening((ready) => application.listen(0, "127.0.0.1", ready)))).toBe(0);
});

test("hono-rate-limiter lets none of 6 through where 5 are allowed", async () => {
  interface Hono {
    readonly fetch: unknown;
    use(middleware: unknown): void;
    get(path: string, handler: (context: { text(body: string): Response }) => Response): void;
  }
  const application = new (load<{ Hono: new () => Hono }>("hono").Hono)();
  const { rateLimiter } = load<{ rateLimiter(options: object): unknown }>("hono-rate-limiter");
  application.use(rateLimiter({ windowMs, limit, keyGenerator: () => "one caller" }));
  application.get("/", (context) => context.text("done"));
  const { serve } = load<{ serve(options: object, ready: () => void): Server }>("@hono/node-server");
  const { fetch } = application;
  const port = await listening((ready) => serve({ fetch, port: 0, hostname: "127.0.0.1" }, ready));
  expect(await admitted(port)).toBe(0);
});

test("rate-limiter-flexible, asked the same way, lets 5 through", async () => {
  const { RateLimiterMemory } = load<{
    RateLimiterMemory: new (options: object) => { consume(key: string): Promise<unknown> };
  }>("rate-limiter-flexible");
  const limiter = new RateLimiterMemory({ points: limit, duration: windowMs / 1000 });
  type Refusing = { status(code: number): { send(body: string): void } };
  const middleware = (_request: unknown, response: Refusing, next: () => void): void => {
    limiter.consume("one caller").then(
      () => next(),
      () => response.status(429).send("later"),
    );
  };
  expect(await admitted(await expressWith(middleware))).toBe(limit);
});
