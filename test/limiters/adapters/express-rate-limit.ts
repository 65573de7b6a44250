// express-rate-limit with its MemoryStore, asked through its middleware as Express would.
import type { LimiterFactory } from "../../../src/engine/adapter.ts";
import type { LimiterLawName } from "../../../src/rules/laws.ts";
import { load } from "../strangers.ts";
import { headersSay, keyOf, type Limit, restLimiter, type Said } from "./keyed.ts";

interface Request {
  readonly ip: string;
  readonly app: { get(): undefined };
  readonly headers: object;
}

interface Response {
  readonly headersSent: boolean;
  setHeader(name: string, value: string): void;
  status(code: number): Response;
  send(body: unknown): void;
}

export const draft6 = { standardHeaders: "draft-6", legacyHeaders: false, validate: false };

/** `store` and `keyGenerator`: not its own store in memory, and not a mapped address a key. */
export type RateLimit = (
  options: Limit & typeof draft6 & { store?: unknown; keyGenerator?: (request: Request) => string },
) => (request: Request, response: Response, next: (error?: unknown) => void) => Promise<void>;

/** An address a key: mapped IPv4, as a server on a dual-stack socket sees IPv4 clients. */
function addressBook(): (key: string) => string {
  const addresses = new Map<string, string>();
  return (key) => {
    const known = addresses.get(key) ?? `::ffff:192.0.2.${addresses.size + 1}`;
    addresses.set(key, known);
    return known;
  };
}

/** @param name the package as test/limiters/package.json names it */
export function expressRateLimit(name: string, claims: readonly LimiterLawName[]): LimiterFactory {
  const { rateLimit } = load<{ rateLimit: RateLimit }>(name);
  return restLimiter(name, claims, (limit) => {
    const middleware = rateLimit({ ...limit, ...draft6 });
    const addressOf = addressBook();
    return { decide: (call) => askExpress(middleware, addressOf(keyOf(call))) };
  });
}

/** Asks the middleware as Express would. */
export async function askExpress(middleware: ReturnType<RateLimit>, ip: string): Promise<Said> {
  const headers = new Map<string, string>();
  let admitted = false;
  const response: Response = {
    headersSent: false,
    setHeader: (name, value) => void headers.set(name.toLowerCase(), value),
    status: () => response,
    send: () => undefined,
  };
  const request = { ip, app: { get: () => undefined }, headers: {} };
  await middleware(request, response, (error) => {
    if (error !== undefined) throw error;
    admitted = true;
  });
  const { rateLimit } = request as { rateLimit?: { used: number; resetTime?: Date } };
  return {
    admitted,
    ...headersSay((field) => headers.get(`ratelimit-${field}`)),
    ...(rateLimit === undefined ? {} : { current: rateLimit.used }),
    ...(rateLimit?.resetTime === undefined ? {} : { resetAtMs: rateLimit.resetTime.getTime() }),
  };
}
