// @adonisjs/limiter with its store in memory, asked as its documentation does: `attempt`, which counts calls, and
// `penalize`, which counts those that fail.
import { setImmediate } from "node:timers/promises";
import type { LimiterFactory } from "../../../src/engine/adapter.ts";
import type { LimiterLawName } from "../../../src/rules/laws.ts";
import { load } from "../strangers.ts";
import { answering, type Limit, restLimiter, type Said } from "./keyed.ts";

interface State {
  readonly limit: number;
  readonly remaining: number;
  /** Seconds, rounded up. */
  readonly availableIn: number;
}

interface Limiter {
  attempt(key: string, run: () => true): Promise<true | undefined>;
  penalize(key: string, run: () => Promise<never>): Promise<[Error & { response: State }, null]>;
  get(key: string): Promise<State>;
}

interface Package {
  readonly LimiterManager: new (options: {
    default: "memory";
    stores: { memory(options: object): unknown };
  }) => { use(options: { requests: number; duration: number }): Limiter };
}

const name = "@adonisjs/limiter";

function limiterOf({ limit: requests, windowMs }: Limit): Limiter {
  const { LimiterManager } = load<Package>(name);
  const { default: Store } = load<{ default: new (options: object) => unknown }>(`${name}/stores/memory`);
  const manager = new LimiterManager({
    default: "memory",
    stores: { memory: (options) => new Store(options) },
  });
  return manager.use({ requests, duration: windowMs / 1000 });
}

const stateSaid = ({ limit, remaining, availableIn }: State): Omit<Said, "admitted"> => ({
  limit,
  remaining,
  retryAfterMs: 1000 * availableIn,
});

/** `attempt`. */
export function adonisAttempt(claims: readonly LimiterLawName[]): LimiterFactory {
  return restLimiter(`${name}, attempt`, claims, (limit) => {
    const limiter = limiterOf(limit);
    return answering(async (key): Promise<Said> => {
      const admitted = (await limiter.attempt(key, () => true)) === true;
      return { admitted, ...stateSaid(await limiter.get(key)) };
    });
  });
}

/** `penalize`, each of whose calls fails a turn later, as a password that is wrong does. */
export function adonisPenalize(claims: readonly LimiterLawName[]): LimiterFactory {
  const create = (limit: Limit) => {
    const limiter = limiterOf(limit);
    return answering(async (key): Promise<Said> => {
      const wrong = new Error("wrong password");
      const outcome = await limiter
        .penalize(key, async () => {
          await setImmediate();
          throw wrong;
        })
        .catch((error: unknown) => error);
      if (outcome === wrong) return { admitted: true };
      const [{ response }] = outcome as Awaited<ReturnType<Limiter["penalize"]>>;
      return { admitted: false, ...stateSaid(response) };
    });
  };
  return restLimiter(`${name}, penalize`, claims, create, { refused: "uncounted" });
}
