// Plugins of hapi, in a server that is asked without a socket: hapi-rate-limit with hapi's cache in memory, and
// hapi-rate-limitor on Redis.
import type { LimiterFactory } from "../../../src/engine/adapter.ts";
import type { LimiterLawName } from "../../../src/rules/laws.ts";
import type { RealRedis } from "../redis.ts";
import { load } from "../strangers.ts";
import { type Asks, headersSay, keyOf, restLimiter, type Said, underClock } from "./keyed.ts";

interface Server {
  register(plugin: { plugin: unknown; options: object }): Promise<void>;
  route(route: { method: "GET"; path: string; handler: () => string }): void;
  initialize(): Promise<void>;
  stop(): Promise<void>;
  inject(request: { url: string; headers: Record<string, string> }): Promise<{
    readonly statusCode: number;
    readonly headers: Readonly<Record<string, string | number | undefined>>;
  }>;
}

/** A server with the plugin. @param read what the plugin's headers say of a window, by a header's name */
async function serving(
  plugin: unknown,
  options: object,
  read: (header: (name: string) => unknown, nowMs: number) => Omit<Said, "admitted">,
): Promise<Asks> {
  const { server } = load<{ server(): Server }>("@hapi/hapi");
  const application = server();
  await application.register({ plugin, options });
  application.route({ method: "GET", path: "/", handler: () => "done" });
  await application.initialize();
  return {
    decide: async (call, nowMs) => {
      const asked = { url: "/", headers: { "x-forwarded-for": keyOf(call) } };
      const { statusCode, headers } = await application.inject(asked);
      if (statusCode !== 200 && statusCode !== 429) throw new Error(`the answer has status ${statusCode}`);
      return { admitted: statusCode === 200, ...read((name) => headers[name], nowMs) };
    },
    close: () => application.stop(),
  };
}

/** @param name the package as test/limiters/package.json names it */
export function hapiRateLimit(name: string, claims: readonly LimiterLawName[]): LimiterFactory {
  const plugin = load<unknown>(name);
  return restLimiter(name, claims, ({ limit, windowMs }) => {
    const options = {
      userLimit: limit,
      userCache: { expiresIn: windowMs },
      pathLimit: false,
      authLimit: false,
      trustProxy: true,
    };
    return serving(plugin, options, (header, nowMs) => {
      const { limit, remaining, reset } = headersSay((field) => header(`x-ratelimit-user${field}`));
      return {
        ...(limit === undefined ? {} : { limit }),
        // A refusal shows -1, whatever the count is.
        ...(remaining === undefined ? {} : { remaining: Math.max(0, remaining) }),
        ...(reset === undefined || reset < nowMs ? {} : { resetAtMs: reset }),
      };
    });
  });
}

/** hapi-rate-limitor: a log of calls on Redis, refused ones with them. */
export function hapiRateLimitor(claims: readonly LimiterLawName[], redis: RealRedis): LimiterFactory {
  const name = "hapi-rate-limitor";
  // Its log takes the time when it is loaded, and from then on counts by the monotonic clock.
  const plugin = underClock(() => load<unknown>(name));
  return restLimiter(
    name,
    claims,
    ({ limit: max, windowMs: duration }) => {
      const getIp = ({ headers }: { headers: Record<string, string> }) => headers["x-forwarded-for"];
      const options = { max, duration, getIp, redis: { host: "127.0.0.1", port: redis.port } };
      return serving(plugin, options, (header) => {
        const { limit, remaining, reset } = headersSay((field) => header(`x-rate-limit-${field}`));
        return {
          ...(limit === undefined ? {} : { limit }),
          ...(remaining === undefined ? {} : { remaining }),
          // Whole seconds, rounded down: meant to be over at the next one.
          ...(reset === undefined ? {} : { resetAtMs: (reset + 1) * 1000 }),
        };
      });
    },
    { algorithm: "sliding-log", redis },
  );
}

type OldHapi = new () => {
  connection(): void;
  register(plugin: { register: unknown; options: object }, done: (error?: Error) => void): void;
  route(route: {
    method: "GET";
    path: string;
    handler(request: unknown, reply: (body: string) => void): void;
  }): void;
  initialize(): Promise<void>;
  stop(): Promise<void>;
  inject: Server["inject"];
};

/** hapi-rate-limit of version 1, in a server of hapi 16. @param name as test/limiters/package.json names it */
export function oldHapiRateLimit(name: string, claims: readonly LimiterLawName[]): LimiterFactory {
  const plugin = load<unknown>(name);
  const { Server: Old } = load<{ Server: OldHapi }>("hapi-16");
  return restLimiter(name, claims, async ({ limit, windowMs }) => {
    const server = new Old();
    server.connection();
    const options = {
      userLimit: limit,
      userCache: { expiresIn: windowMs },
      pathLimit: false,
      trustProxy: true,
    };
    await new Promise<void>((resolve, reject) => {
      server.register({ register: plugin, options }, (error) =>
        error === undefined ? resolve() : reject(error),
      );
    });
    server.route({ method: "GET", path: "/", handler: (_, reply) => reply("done") });
    await server.initialize();
    return {
      decide: async (call) => {
        const asked = { url: "/", headers: { "x-forwarded-for": keyOf(call) } };
        const { statusCode, headers } = await server.inject(asked);
        if (statusCode !== 200 && statusCode !== 429) throw new Error(`the answer has status ${statusCode}`);
        const { limit, remaining } = headersSay((field) => headers[`x-ratelimit-user${field}`]);
        return {
          admitted: statusCode === 200,
          ...(limit === undefined ? {} : { limit }),
          ...(remaining === undefined ? {} : { remaining: Math.max(0, remaining) }),
        };
      },
      close: () => server.stop(),
    };
  });
}
