// hapi-rate-limit with hapi's cache in memory, in a hapi server, asked without a socket.
import type { LimiterFactory } from "../../../src/engine/adapter.ts";
import type { LimiterLawName } from "../../../src/rules/laws.ts";
import { load } from "../strangers.ts";
import { headersSay, keyOf, restLimiter, type Said } from "./keyed.ts";

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

/** @param name the package as test/limiters/package.json names it */
export function hapiRateLimit(name: string, claims: readonly LimiterLawName[]): LimiterFactory {
  const plugin = load<unknown>(name);
  const { server } = load<{ server(): Server }>("@hapi/hapi");
  return restLimiter(name, claims, async ({ limit, windowMs }) => {
    const application = server();
    const options = {
      userLimit: limit,
      userCache: { expiresIn: windowMs },
      pathLimit: false,
      authLimit: false,
      trustProxy: true,
    };
    await application.register({ plugin, options });
    application.route({ method: "GET", path: "/", handler: () => "done" });
    await application.initialize();
    return {
      decide: (call, nowMs) => ask(application, keyOf(call), nowMs),
      close: () => application.stop(),
    };
  });
}

async function ask(application: Server, caller: string, nowMs: number): Promise<Said> {
  const { statusCode, headers } = await application.inject({
    url: "/",
    headers: { "x-forwarded-for": caller },
  });
  if (statusCode !== 200 && statusCode !== 429) throw new Error(`the answer has status ${statusCode}`);
  const { limit, remaining, reset } = headersSay((field) => headers[`x-ratelimit-user${field}`]);
  return {
    admitted: statusCode === 200,
    ...(limit === undefined ? {} : { limit }),
    // A refusal shows -1, whatever the count is.
    ...(remaining === undefined ? {} : { remaining: Math.max(0, remaining) }),
    ...(reset === undefined || reset < nowMs ? {} : { resetAtMs: reset }),
  };
}
