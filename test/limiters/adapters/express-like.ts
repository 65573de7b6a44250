// Middleware of Express beside express-rate-limit: express-slow-down, which delays, express-throttle, and express-brute.
import { setImmediate } from "node:timers/promises";
import type { LimiterFactory } from "../../../src/engine/adapter.ts";
import type { LimiterLawName } from "../../../src/rules/laws.ts";
import { load } from "../strangers.ts";
import { type Asks, answering, type Limit, restLimiter, type Said } from "./keyed.ts";

interface Request {
  readonly ip: string;
  readonly app: { get(): undefined };
  readonly headers: object;
  slowDown?: { used: number; remaining: number; resetTime: Date };
}

interface Response {
  on(event: "close", listener: () => void): void;
  status(code: number): Response;
  end(): void;
}

type Middleware = (request: Request, response: Response, next: (error?: unknown) => void) => unknown;

/** Asks the middleware as Express would. A call that goes on at once is let through. */
async function ask(middleware: Middleware, ip: string): Promise<Said> {
  let admitted = false;
  const response: Response = { on: () => {}, status: () => response, end: () => {} };
  const request: Request = { ip, app: { get: () => undefined }, headers: {} };
  middleware(request, response, (error) => {
    if (error !== undefined) throw error;
    admitted = true;
  });
  await setImmediate();
  const { slowDown } = request;
  if (slowDown === undefined) return { admitted };
  const { used: current, remaining, resetTime } = slowDown;
  return { admitted, current, remaining, resetAtMs: resetTime.getTime() };
}

/** express-slow-down with its store in memory: calls after `delayAfter` wait for a second. */
export function expressSlowDown(claims: readonly LimiterLawName[]): LimiterFactory {
  const name = "express-slow-down";
  const { slowDown } = load<{ slowDown(options: object): Middleware }>(name);
  return restLimiter(name, claims, ({ limit: delayAfter, windowMs }) => {
    const middleware = slowDown({ windowMs, delayAfter, delayMs: () => 1000, validate: false });
    return answering((key) => ask(middleware, key));
  });
}

/** express-throttle with its store in memory: `rate`, a bucket that is refilled all the time. */
export function expressThrottle(claims: readonly LimiterLawName[]): LimiterFactory {
  const name = "express-throttle";
  const throttle = load<(options: { rate: string }) => Middleware>(name);
  return restLimiter(
    name,
    claims,
    ({ limit, windowMs }) => {
      const middleware = throttle({ rate: `${limit}/${windowMs}ms` });
      return answering((key) => ask(middleware, key));
    },
    { algorithm: "token-bucket", refused: "uncounted" },
  );
}

interface Brute {
  readonly MemoryStore: new () => unknown;
  new (
    store: unknown,
    options: {
      freeRetries: number;
      refreshTimeoutOnRequest: false;
      minWait: number;
      maxWait: number;
      lifetime: number;
      failCallback(request: Request, response: Response, next: unknown, validFrom: Date): void;
    },
  ): { readonly prevent: Middleware };
}

/**
 * express-brute with its store in memory, as its documentation limits attempts "per day": the first one and the free
 * retries, and then none until the lifetime is over.
 */
export function expressBrute(claims: readonly LimiterLawName[]): LimiterFactory {
  const name = "express-brute";
  const ExpressBrute = load<Brute>(name);
  const create = ({ limit, windowMs }: Limit): Asks => {
    const refusals = new Map<Request, number>();
    const brute = new ExpressBrute(new ExpressBrute.MemoryStore(), {
      freeRetries: limit - 1,
      refreshTimeoutOnRequest: false,
      minWait: windowMs,
      maxWait: windowMs,
      lifetime: windowMs / 1000,
      failCallback: (request, _response, _next, validFrom) => void refusals.set(request, validFrom.getTime()),
    });
    return answering(async (key, nowMs): Promise<Said> => {
      const request: Request = { ip: key, app: { get: () => undefined }, headers: {} };
      const response: Response = { on: () => {}, status: () => response, end: () => {} };
      let admitted = false;
      brute.prevent(request, response, () => {
        admitted = true;
      });
      await setImmediate();
      const validFromMs = refusals.get(request);
      return { admitted, ...(validFromMs !== undefined && { retryAfterMs: validFromMs - nowMs }) };
    });
  };
  return restLimiter(name, claims, create, { refused: "uncounted" });
}
