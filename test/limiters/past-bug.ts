// A bug that a limiter of npm has shipped, as the track record knows it.
import type { LimiterFactory } from "../../src/engine/adapter.ts";
import type { LimiterLawName } from "../../src/rules/laws.ts";
import type { RulesInput } from "../../src/rules/rules.ts";
import type { RealRedis } from "./redis.ts";

export interface PastBug {
  readonly name: string;
  readonly package: string;
  /** The bug, in a sentence. */
  readonly wrong: string;
  readonly source: string;
  readonly law: LimiterLawName;
  /** Rules to check under; without them they are drawn. */
  readonly rules?: RulesInput;
  readonly runs: number;
  /** Seed of the track record. Default: 1. */
  readonly seed?: number;
  /** Versions as test/limiters/package.json names them. */
  readonly bad: readonly string[];
  /** Empty where every later version has it, too. */
  readonly good: readonly string[];
  /** Calls overlap, and the law must hold for some order of them. */
  readonly overlapping?: true;
  /** One call at a time, and the clock moves while it is under way. */
  readonly clockMoves?: true;
  /** True if `limiter` needs a Redis; without it, it is not given one. */
  readonly onRedis?: true;
  readonly limiter: (alias: string, law: LimiterLawName, redis: RealRedis | null) => LimiterFactory;
}

/** Address of a page of a repository. */
export const github = (repository: string, path: string): string =>
  `https://github.com/${repository}/${path}`;

/** The Redis of a bug that is `onRedis`. */
export function needed(redis: RealRedis | null): RealRedis {
  if (redis === null) throw new TypeError("this limiter needs a Redis");
  return redis;
}
