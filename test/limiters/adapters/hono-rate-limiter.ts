// hono-rate-limiter with its MemoryStore, in a Hono application.
import type { LimiterFactory } from "../../../src/engine/adapter.ts";
import type { LawName } from "../../../src/rules/laws.ts";
import { load } from "../strangers.ts";
import { integer, keyedFactory, keyOf, limitOf, type Said } from "./keyed.ts";

interface Context {
  readonly req: { header(name: string): string | undefined };
  text(body: string): Response;
}

interface Application {
  use(middleware: unknown): unknown;
  get(path: string, handler: (context: Context) => Response): unknown;
  request(path: string, init: RequestInit): Promise<Response>;
}

interface Package {
  rateLimiter(options: {
    windowMs: number;
    limit: number;
    standardHeaders: "draft-6";
    keyGenerator(context: Context): string;
  }): unknown;
}

/** @param name the package as test/limiters/package.json names it */
export function honoRateLimiter(name: string, claims: readonly LawName[]): LimiterFactory {
  const { rateLimiter } = load<Package>(name);
  const { Hono } = load<{ Hono: new () => Application }>("hono");
  return keyedFactory({
    name,
    algorithm: "fixed-window",
    claims,
    scopes: ["rest"],
    semantics: { anchor: ["first-request"], refused: ["counted"] },
    create: (rules) => {
      const { limit, windowMs } = limitOf(rules, "rest");
      const keyGenerator = ({ req }: Context): string => req.header("x-caller") ?? "";
      const application = new Hono();
      application.use(rateLimiter({ windowMs, limit, standardHeaders: "draft-6", keyGenerator }));
      application.get("/", (context) => context.text("done"));
      return { decide: (call) => ask(application, keyOf(call)) };
    },
  });
}

async function ask(application: Application, caller: string): Promise<Said> {
  const { status, headers } = await application.request("/", { headers: { "x-caller": caller } });
  const limit = integer(headers.get("ratelimit-limit"));
  const remaining = integer(headers.get("ratelimit-remaining"));
  const reset = integer(headers.get("ratelimit-reset"));
  return {
    admitted: status === 200,
    ...(limit === undefined ? {} : { limit }),
    ...(remaining === undefined ? {} : { remaining }),
    ...(reset === undefined ? {} : { reset }),
  };
}
