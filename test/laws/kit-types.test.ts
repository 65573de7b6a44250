// The kit's types fit those of the packages and runners that they are made for: what is here compiles, and runs.
import { execFile } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { test as nodeTest } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import fastifyRateLimit from "@fastify/rate-limit";
import expressRateLimit, { MemoryStore } from "express-rate-limit";
import fastify from "fastify";
import { Hono } from "hono";
import { describe, expect, test } from "vitest";
import {
  type CountingStore,
  fetchLimiter,
  injectLimiter,
  type KeyedLimiter,
  keyedLimiter,
  type LimiterFactory,
  middlewareLimiter,
  type RegisterTest,
  storeLimiter,
} from "../../src/laws/index.ts";

/** Jest's and Bun's `test`, and Mocha's `it`, as their types have them. */
type JestDone = (reason?: string | Error) => void;
type JestIt = {
  (
    name: string | number,
    fn?: ((cb: JestDone) => unknown) | (() => Promise<unknown>),
    timeout?: number,
  ): void;
  skip: JestIt;
};
type MochaIt = {
  (fn: (this: object, done: () => void) => void): object;
  (title: string, fn?: (this: object, done: () => void) => void): object;
  (title: string, fn?: (this: object) => PromiseLike<unknown>): object;
  skip(title: string, fn?: (this: object) => PromiseLike<unknown>): object;
};
type BunTest = (label: string, fn: () => unknown, options?: number | { timeout?: number }) => void;

test("this file compiles: the test functions of five runners fit, and what does not fit is refused", async () => {
  const others = [] as unknown as [JestIt, MochaIt, BunTest];
  [nodeTest, test, ...others] satisfies readonly RegisterTest[];
  // @ts-expect-error: `consume` is missing
  ({}) satisfies KeyedLimiter;
  const algorithm = "fixed-window";
  // @ts-expect-error: no law has this name
  () => keyedLimiter({ name: "x", algorithm, claims: ["bouned"], create: () => ({ consume: () => true }) });
  // @ts-expect-error: the algorithm is missing
  () => keyedLimiter({ name: "x", create: () => ({ consume: () => true }) });
  // @ts-expect-error: a number is no answer
  ({ consume: () => 5 }) satisfies KeyedLimiter;
  const root = fileURLToPath(new URL("../..", import.meta.url));
  const folder = `${root}node_modules/.cache/spillway-kit-types`;
  await mkdir(folder, { recursive: true });
  const settings = { extends: `${root}tsconfig.json`, files: [fileURLToPath(import.meta.url)] };
  await writeFile(`${folder}/tsconfig.json`, JSON.stringify({ ...settings, include: [] }));
  const words = [`${root}node_modules/typescript/bin/tsc`, "--noEmit", "-p", folder];
  const said = await promisify(execFile)(process.execPath, words).catch((error: { stdout: string }) => error);
  expect(said.stdout).toBe("");
});

describe("what fits", () => {
  test("handlers, applications and middleware as their packages type them", () => {
    const handler = (_request: IncomingMessage, _response: ServerResponse, next: () => void): void => next();
    const factories: readonly LimiterFactory[] = [
      fetchLimiter({ name: "Hono", algorithm: "fixed-window", create: () => new Hono() }),
      fetchLimiter({ name: "app.fetch", algorithm: "fixed-window", create: () => new Hono().fetch }),
      fetchLimiter({
        name: "Workers",
        algorithm: "fixed-window",
        create: async () => async (request) => new Response(request.url),
      }),
      injectLimiter({
        name: "Fastify",
        algorithm: "fixed-window",
        async create({ limit, windowMs }) {
          const app = fastify();
          await app.register(fastifyRateLimit, { max: limit, timeWindow: windowMs });
          return app;
        },
      }),
      middlewareLimiter({ name: "Connect", algorithm: "fixed-window", create: () => handler }),
      middlewareLimiter({
        name: "express-rate-limit",
        algorithm: "fixed-window",
        create: ({ limit }) => expressRateLimit({ limit }),
      }),
    ];
    expect(factories.map(({ keyed }) => keyed)).toEqual(factories.map(() => true));
  });

  test("a store of express-rate-limit", async () => {
    const factory = storeLimiter({
      name: "MemoryStore",
      create({ windowMs }) {
        const store = new MemoryStore();
        store.init({ windowMs } as never);
        const counting: CountingStore = {
          increment: (key) => store.increment(key),
          get: (key) => store.get(key),
          close: () => store.shutdown(),
        };
        return counting;
      },
    });
    const limiter = await factory.create({
      user: { rest: { limit: 1, windowSeconds: 60 } },
    } as Parameters<LimiterFactory["create"]>[0]);
    const call = { organization: "acme", user: "ann", scope: "rest", cost: 1 } as const;
    expect((await limiter.decide(call, 0)).admitted).toBe(true);
    expect((await limiter.decide(call, 0)).admitted).toBe(false);
    await limiter.close?.();
  });
});
