// koa2-ratelimit, asked through its middleware as Koa would: with its store in memory, or with its store on Redis.
import type { LimiterFactory, Seam } from "../../../src/engine/adapter.ts";
import type { LimiterLawName } from "../../../src/rules/laws.ts";
import type { RealRedis } from "../redis.ts";
import { load } from "../strangers.ts";
import { type Asks, headersSay, keyOf, type Limit, restLimiter, type Said } from "./keyed.ts";

interface Context {
  readonly request: { readonly ip: string };
  readonly state: object;
  status: number;
  body: unknown;
  set(name: string, value: unknown): void;
}

type Middleware = (context: Context, next: () => Promise<void>) => Promise<void>;

/** The part that is used of node-redis, which its store makes for itself. */
interface NodeRedis {
  disconnect(): Promise<void>;
}

interface Package {
  readonly RateLimit: {
    middleware(options: { interval: number; max: number; store: unknown }): Middleware;
  };
  readonly Stores: {
    /** It keeps one count a key for the whole process. */
    readonly Memory: { new (): unknown; cleanAll(): void };
    readonly Redis: new (options: { socket: { host: string; port: number } }) => { client: NodeRedis };
  };
}

/**
 * @param name the package as test/limiters/package.json names it
 * @param redis `null`: its store in memory
 */
export function koa2Ratelimit(
  name: string,
  claims: readonly LimiterLawName[],
  redis: RealRedis | null,
): LimiterFactory {
  const { RateLimit, Stores } = load<Package>(name);
  const create = ({ limit: max, windowMs: interval }: Limit, seam: Seam): Asks => {
    Stores.Memory.cleanAll();
    const store = redis === null ? new Stores.Memory() : redisStore(Stores.Redis, redis.port);
    const own = store as { client?: NodeRedis };
    const { client } = own;
    if (client !== undefined) own.client = seam.over(client);
    const middleware = RateLimit.middleware({ interval, max, store });
    return { decide: (call) => ask(middleware, keyOf(call)), close: () => client?.disconnect() };
  };
  const where = redis === null ? name : `${name} on Redis`;
  return restLimiter(where, claims, create, { redis, endsLate: redis !== null });
}

const redisStore = (Store: Package["Stores"]["Redis"], port: number): unknown =>
  new Store({ socket: { host: "127.0.0.1", port } });

async function ask(middleware: Middleware, ip: string): Promise<Said> {
  const headers = new Map<string, unknown>();
  let admitted = false;
  const context: Context = {
    request: { ip },
    state: {},
    status: 200,
    body: undefined,
    set: (name, value) => void headers.set(name.toLowerCase(), value),
  };
  await middleware(context, async () => {
    admitted = true;
  });
  const { reset: _, ...said } = headersSay((field) => headers.get(`x-ratelimit-${field}`));
  return { admitted, ...said };
}
