// The kit's types fit those of the packages and runners that they are made for: what is here compiles, and runs.
import type { IncomingMessage, ServerResponse } from "node:http";
import { test as nodeTest } from "node:test";
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

describe("what fits", () => {
  test("the test functions of five runners", () => {
    const jest = null as unknown as JestIt;
    const mocha = null as unknown as MochaIt;
    const bun = null as unknown as BunTest;
    const runners: readonly RegisterTest[] = [nodeTest, test, jest, mocha, bun];
    expect(runners.slice(0, 2).map((runner) => typeof runner)).toEqual(["function", "function"]);
  });

  test("handlers, applications and middleware as their packages type them", () => {
    const handler = (_request: IncomingMessage, _response: ServerResponse, next: () => void): void => next();
    const factories: readonly LimiterFactory[] = [
      fetchLimiter({ name: "Hono", create: () => new Hono() }),
      fetchLimiter({ name: "app.fetch", create: () => new Hono().fetch }),
      fetchLimiter({ name: "Workers", create: async () => async (request) => new Response(request.url) }),
      injectLimiter({
        name: "Fastify",
        async create({ limit, windowMs }) {
          const app = fastify();
          await app.register(fastifyRateLimit, { max: limit, timeWindow: windowMs });
          return app;
        },
      }),
      middlewareLimiter({ name: "Connect", create: () => handler }),
      middlewareLimiter({ name: "express-rate-limit", create: ({ limit }) => expressRateLimit({ limit }) }),
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

describe("what does not fit is refused by the compiler", () => {
  test("a limiter without consume, an unknown law, a number for an answer", () => {
    // @ts-expect-error: `consume` is missing
    const empty: KeyedLimiter = {};
    // @ts-expect-error: no law has this name
    const unknown = keyedLimiter({ name: "x", claims: ["bouned"], create: () => ({ consume: () => true }) });
    // @ts-expect-error: a number is no answer
    const number: KeyedLimiter = { consume: () => 5 };
    expect([empty, unknown.name, number].length).toBe(3);
  });
});
