// @nestjs/throttler: its guard with its storage in memory, asked as Nest would before a handler.
import type { LimiterFactory } from "../../../src/engine/adapter.ts";
import type { LawName } from "../../../src/rules/laws.ts";
import { load } from "../strangers.ts";
import { integer, keyedFactory, keyOf, limitOf, type Said } from "./keyed.ts";

interface Guard {
  onModuleInit(): Promise<void>;
  canActivate(context: unknown): Promise<boolean>;
}

interface Storage {
  onApplicationShutdown(): void;
}

interface Package {
  readonly ThrottlerStorageService: new () => Storage;
  readonly ThrottlerException: new () => Error;
  readonly ThrottlerGuard: new (
    options: { throttlers: { ttl: number; limit: number }[]; getTracker(request: { ip: string }): string },
    storage: Storage,
    reflector: unknown,
  ) => Guard;
}

/** @param name the package as test/limiters/package.json names it */
export function nestThrottler(name: string, claims: readonly LawName[]): LimiterFactory {
  load("reflect-metadata");
  const { Reflector } = load<{ Reflector: new () => unknown }>("@nestjs/core");
  const { ThrottlerException, ThrottlerGuard, ThrottlerStorageService } = load<Package>(name);
  return keyedFactory({
    name,
    claims,
    scopes: ["rest"],
    semantics: { anchor: ["first-request"], refused: ["counted"] },
    create: async (rules) => {
      const { limit, windowMs: ttl } = limitOf(rules, "rest");
      const storage = new ThrottlerStorageService();
      const getTracker = ({ ip }: { ip: string }): string => ip;
      const guard = new ThrottlerGuard(
        { throttlers: [{ ttl, limit }], getTracker },
        storage,
        new Reflector(),
      );
      await guard.onModuleInit();
      const ask = async (ip: string): Promise<Said> => {
        const headers = new Map<string, unknown>();
        const answer = await guard.canActivate(contextOf(ip, headers)).catch((error: unknown) => {
          if (error instanceof ThrottlerException) return false;
          throw error;
        });
        return { admitted: answer, ...shown(headers) };
      };
      return { decide: (call) => ask(keyOf(call)), close: () => storage.onApplicationShutdown() };
    },
  });
}

class Controller {}

function contextOf(ip: string, headers: Map<string, unknown>): object {
  const response = { header: (name: string, value: unknown) => headers.set(name.toLowerCase(), value) };
  return {
    getClass: () => Controller,
    getHandler: () => contextOf,
    switchToHttp: () => ({ getRequest: () => ({ ip, headers: {} }), getResponse: () => response }),
  };
}

/** `X-RateLimit-Reset` is not shown to the laws: hits end one by one, so it is no window's end. */
function shown(headers: ReadonlyMap<string, unknown>): Partial<Said> {
  const limit = integer(headers.get("x-ratelimit-limit"));
  return limit === undefined ? {} : { limit };
}
