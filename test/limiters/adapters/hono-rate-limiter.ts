// hono-rate-limiter with its MemoryStore, in a Hono application.
import type { LimiterFactory } from "../../../src/engine/adapter.ts";
import type { LimiterLawName } from "../../../src/rules/laws.ts";
import { load } from "../strangers.ts";
import { headersSay, keyOf, type Limit, restLimiter, type Said } from "./keyed.ts";

interface Context {
  readonly req: { header(name: string): string | undefined };
  text(body: string): Response;
}

interface Application {
  use(middleware: unknown): unknown;
  get(path: string, handler: (context: Context) => Response): unknown;
  request(path: string, init: RequestInit): Promise<Response>;
}

/** `store`: not its own store in memory. */
interface Settings extends Limit {
  readonly store?: unknown;
}

interface Package {
  rateLimiter(
    options: Settings & { standardHeaders: "draft-6"; keyGenerator(context: Context): string },
  ): unknown;
}

/** An application of Hono with the middleware in it. */
export function honoWith(name: string, settings: Settings): Application {
  const { rateLimiter } = load<Package>(name);
  const { Hono } = load<{ Hono: new () => Application }>("hono");
  const keyGenerator = ({ req }: Context): string => req.header("x-caller") ?? "";
  const application = new Hono();
  application.use(rateLimiter({ ...settings, standardHeaders: "draft-6", keyGenerator }));
  application.get("/", (context) => context.text("done"));
  return application;
}

/** @param name the package as test/limiters/package.json names it */
export function honoRateLimiter(name: string, claims: readonly LimiterLawName[]): LimiterFactory {
  return restLimiter(name, claims, (limit) => {
    const application = honoWith(name, limit);
    return { decide: (call) => askHono(application, keyOf(call)) };
  });
}

/** Asks the application as a client would. */
export async function askHono(application: Application, caller: string): Promise<Said> {
  const { status, headers } = await application.request("/", { headers: { "x-caller": caller } });
  return { admitted: status === 200, ...headersSay((field) => headers.get(`ratelimit-${field}`)) };
}
