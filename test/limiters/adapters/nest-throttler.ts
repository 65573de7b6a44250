// @nestjs/throttler: its guard with its storage in memory, asked as Nest would before a handler.
import type { LimiterFactory, Seam } from "../../../src/engine/adapter.ts";
import type { LimiterLawName } from "../../../src/rules/laws.ts";
import { load } from "../strangers.ts";
import { type Asks, headersSay, keyOf, type Limit, restLimiter, type Said } from "./keyed.ts";

interface Guard {
  onModuleInit?(): Promise<void>;
  canActivate(context: unknown): Promise<boolean>;
}

interface Storage {
  increment(key: string, ttl: number, ...more: unknown[]): Promise<unknown>;
  onApplicationShutdown?(): void;
}

/** From version 5 a list of throttlers, with `ttl` in ms; before, one, with `ttl` in seconds. */
type Options =
  | { throttlers: { ttl: number; limit: number }[]; getTracker(request: { ip: string }): string }
  | { ttl: number; limit: number };

interface Package {
  readonly ThrottlerStorageService: new () => Storage;
  readonly ThrottlerException: new () => Error;
  readonly ThrottlerGuard: new (options: Options, storage: Storage, reflector: unknown) => Guard;
}

/** Makes a guard with one throttler, and asks it before a call of a key, as Nest would. Version 5 or later. */
export const guarding = (
  name: string,
  throttler: { readonly ttl: number; readonly limit: number },
  storage: Storage,
  read: Reads = shown,
): Promise<(key: string) => Promise<Said>> =>
  asking(name, { throttlers: [throttler], getTracker: ({ ip }) => ip }, storage, read);

/** Asks a guard before a call of a key, as Nest would. */
async function asking(
  name: string,
  options: Options,
  storage: Storage,
  read: Reads = shown,
): Promise<(key: string) => Promise<Said>> {
  load("reflect-metadata");
  const { Reflector } = load<{ Reflector: new () => unknown }>("@nestjs/core");
  const { ThrottlerException, ThrottlerGuard } = load<Package>(name);
  const guard = new ThrottlerGuard(options, storage, new Reflector());
  await guard.onModuleInit?.();
  return async (key) => {
    const headers = new Map<string, unknown>();
    const admitted = await guard.canActivate(contextOf(key, headers)).catch((error: unknown) => {
      if (error instanceof ThrottlerException) return false;
      throw error;
    });
    return { admitted, ...read(headers) };
  };
}

/**
 * The guard with the package's own storage in memory. That keeps a log: the laws that are claimed of it hold for logs and
 * windows alike, and are asked as of windows.
 * @param name the package as test/limiters/package.json names it, version 5 or later
 */
export function nestThrottler(name: string, claims: readonly LimiterLawName[]): LimiterFactory {
  return restLimiter(name, claims, async ({ limit, windowMs: ttl }) => {
    const storage = new (load<Package>(name).ThrottlerStorageService)();
    const ask = await guarding(name, { ttl, limit }, storage);
    return { decide: (call) => ask(keyOf(call)), close: () => storage.onApplicationShutdown?.() };
  });
}

/**
 * The same, of which the wait that a refusal tells is read.
 * @param name the package as test/limiters/package.json names it, version 5 or later
 */
export function nestThrottlerWaits(name: string, claims: readonly LimiterLawName[]): LimiterFactory {
  return restLimiter(name, claims, async ({ limit, windowMs: ttl }) => {
    const storage = new (load<Package>(name).ThrottlerStorageService)();
    const ask = await guarding(name, { ttl, limit }, storage, waitSaid);
    return { decide: (call) => ask(keyOf(call)), close: () => storage.onApplicationShutdown?.() };
  });
}

/**
 * The guard with a storage elsewhere, as one on Redis would be: others may come in before each of its methods.
 * @param name the package as test/limiters/package.json names it, version 3 or 4
 */
export function nestThrottlerElsewhere(name: string, claims: readonly LimiterLawName[]): LimiterFactory {
  const create = async ({ limit, windowMs }: Limit, seam: Seam): Promise<Asks> => {
    const ask = await asking(name, { ttl: windowMs / 1000, limit }, seam.over(new StorageElsewhere()));
    return { decide: (call) => ask(keyOf(call)) };
  };
  return restLimiter(`${name} with a storage elsewhere`, claims, create, { refused: "uncounted" });
}

/** One window a key: version 3 asks for its hits and then adds one, version 4 does both in one step. */
class StorageElsewhere implements Storage {
  readonly #windows = new Map<string, { untilMs: number; hits: number }>();

  #window(key: string, ttl: number): { untilMs: number; hits: number } {
    const known = this.#windows.get(key);
    if (known !== undefined && Date.now() < known.untilMs) return known;
    const opened = { untilMs: Date.now() + ttl * 1000, hits: 0 };
    this.#windows.set(key, opened);
    return opened;
  }

  async getRecord(key: string): Promise<number[]> {
    const known = this.#windows.get(key);
    if (known === undefined || Date.now() >= known.untilMs) return [];
    return Array.from({ length: known.hits }, () => known.untilMs);
  }

  async addRecord(key: string, ttl: number): Promise<void> {
    this.#window(key, ttl).hits += 1;
  }

  async increment(key: string, ttl: number): Promise<{ totalHits: number; timeToExpire: number }> {
    const window = this.#window(key, ttl);
    window.hits += 1;
    return { totalHits: window.hits, timeToExpire: Math.ceil((window.untilMs - Date.now()) / 1000) };
  }
}

/** Reads what the headers of an answer show. */
type Reads = (headers: ReadonlyMap<string, unknown>) => Partial<Said>;

const waitSaid: Reads = (headers) => {
  const seconds = headers.get("retry-after");
  return seconds === undefined ? {} : { retryAfterMs: Number(seconds) * 1000 };
};

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
  const { limit } = headersSay((field) => headers.get(`x-ratelimit-${field}`));
  return limit === undefined ? {} : { limit };
}
