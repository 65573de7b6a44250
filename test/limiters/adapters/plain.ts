// Limiters as a newcomer writes their adapters: by `keyedLimiter` and `middlewareLimiter` of the kit itself, under our clock.
import { setImmediate } from "node:timers/promises";
import type { LimiterFactory } from "../../../src/engine/adapter.ts";
import { type KeyedAnswer, keyedLimiter, middlewareLimiter } from "../../../src/laws/index.ts";
import type { LimiterLawName } from "../../../src/rules/laws.ts";
import { clockedFactory } from "../../../src/runs/clocked-limiter.ts";
import { load } from "../strangers.ts";
import { byKey, clock } from "./keyed.ts";

type Claims = readonly LimiterLawName[];

type RateLimit = (options: object) => (request: never, response: never, next: () => void) => unknown;

/** express-rate-limit of versions that know `max`, with a caller's name for a key. */
export function namedExpressRateLimit(name: string, claims: Claims): LimiterFactory {
  const { rateLimit } = load<{ rateLimit: RateLimit }>(name);
  const factory = middlewareLimiter({
    name,
    algorithm: "fixed-window",
    refused: "counted",
    claims,
    create: ({ limit: max, windowMs }) =>
      rateLimit({
        ...{ max, windowMs, validate: false },
        keyGenerator: ({ headers }: { headers: Readonly<Record<string, string>> }) => headers["x-key"],
      }),
  });
  return clockedFactory({ factory, clock });
}

/** express-slow-down, with a caller's name for a key: calls after `delayAfter` wait for a second. */
export function namedExpressSlowDown(name: string, claims: Claims): LimiterFactory {
  const slowDown = load<RateLimit & { slowDown?: RateLimit; default?: RateLimit }>(name);
  const factory = keyedLimiter({
    name,
    algorithm: "fixed-window",
    refused: "counted",
    claims,
    create({ limit: delayAfter, windowMs }) {
      const keyGenerator = ({ key }: { key: string }): string => key;
      const options = { windowMs, delayAfter, delayMs: 1000, validate: false, keyGenerator };
      const middleware = (slowDown.slowDown ?? slowDown.default ?? slowDown)(options);
      return {
        async consume(key) {
          let allowed = false;
          const request = { key, ip: key, headers: {}, app: { get: () => undefined } };
          const response = { on: () => {}, setHeader: () => {} };
          middleware(request as never, response as never, () => {
            allowed = true;
          });
          await setImmediate();
          return allowed;
        },
      };
    },
  });
  return clockedFactory({ factory, clock });
}

interface Brute {
  new (
    store: unknown,
    options: object,
  ): { prevent(request: object, response: object, next: () => void): void };
  readonly MemoryStore: new () => unknown;
}

/** express-brute behind one proxy, which tells callers apart by `X-Forwarded-For`. */
export function proxiedExpressBrute(name: string, claims: Claims): LimiterFactory {
  const ExpressBrute = load<Brute>(name);
  const factory = keyedLimiter({
    name,
    algorithm: "unknown",
    claims,
    create({ limit, windowMs }) {
      const brute = new ExpressBrute(new ExpressBrute.MemoryStore(), {
        ...{ freeRetries: limit - 1, proxyDepth: 1 },
        ...{ minWait: windowMs, maxWait: windowMs, lifetime: windowMs / 500 },
        failCallback: (_: object, response: { refused(): void }) => response.refused(),
      });
      return {
        consume: (ip) =>
          new Promise<KeyedAnswer>((answer) => {
            const request = { ip, get: () => ip, connection: { remoteAddress: "192.0.2.1" } };
            brute.prevent(request, { refused: () => answer({ allowed: false }) }, () =>
              answer({ allowed: true }),
            );
          }),
      };
    },
  });
  return clockedFactory({ factory, clock });
}

type Limited = (limit: number, interval: number, run: (call: { begun: boolean }) => void) => typeof run;

/** function-rate-limit: a queue. A call that begins at once is let through. */
export function functionRateLimit(name: string, claims: Claims): LimiterFactory {
  const limited = load<Limited>(name);
  const factory = keyedLimiter({
    name,
    algorithm: "sliding-log",
    refused: "counted",
    claims,
    create({ limit, windowMs }) {
      const queueOf = byKey(() =>
        limited(limit, windowMs, (call) => {
          call.begun = true;
        }),
      );
      return {
        async consume(key) {
          const call = { begun: false };
          queueOf(key)(call);
          await setImmediate();
          return call.begun;
        },
      };
    },
  });
  return clockedFactory({ factory, clock });
}
