// bottleneck: a limiter a key with a reservoir that is refreshed, no queue, and jobs that do nothing. A job that
// cannot start at once is dropped, which is the refusal.
import { setImmediate } from "node:timers/promises";
import type { LimiterFactory } from "../../../src/engine/adapter.ts";
import type { LimiterLawName } from "../../../src/rules/laws.ts";
import { scopes } from "../../../src/rules/rules.ts";
import { load } from "../strangers.ts";
import { clock, keyedFactory, keyOf, limitOf } from "./keyed.ts";

interface Limiter {
  schedule(options: { weight: number }, job: () => Promise<void>): Promise<void>;
}

interface Package {
  new (options: {
    reservoir: number;
    reservoirRefreshAmount: number;
    reservoirRefreshInterval: number;
    highWater: 0;
    strategy: unknown;
  }): Limiter;
  readonly strategy: { readonly OVERFLOW: unknown };
  readonly BottleneckError: new () => Error;
}

/**
 * @param name the package as test/limiters/package.json names it
 * @param anchorUnsaid true to let the check find out where its windows begin
 */
export function bottleneck(
  name: string,
  claims: readonly LimiterLawName[],
  anchorUnsaid = false,
): LimiterFactory {
  const Bottleneck = load<Package>(name);
  return keyedFactory({
    name,
    algorithm: "fixed-window",
    anchorUnsaid,
    claims,
    scopes,
    semantics: { anchor: ["first-request"], refused: ["uncounted"] },
    create: (rules) => {
      const limiters = new Map<string, Limiter>();
      return {
        decide: (call) => {
          const key = `${call.scope} ${keyOf(call)}`;
          const { limit, windowMs } = limitOf(rules, call.scope);
          const known = limiters.get(key) ?? limiterOf(Bottleneck, limit, windowMs);
          limiters.set(key, known);
          return ask(Bottleneck, known, call.cost);
        },
      };
    },
  });
}

const limiterOf = (Bottleneck: Package, limit: number, windowMs: number): Limiter =>
  new Bottleneck({
    reservoir: limit,
    reservoirRefreshAmount: limit,
    reservoirRefreshInterval: windowMs,
    highWater: 0,
    strategy: Bottleneck.strategy.OVERFLOW,
  });

/** It yields to the event loop by timers of 0 ms: those are let through until the job has begun or is dropped. */
async function ask(Bottleneck: Package, limiter: Limiter, weight: number): Promise<{ admitted: boolean }> {
  let admitted: boolean | null = null;
  const job = limiter.schedule({ weight }, async () => {
    admitted = true;
  });
  const settled = job.catch((error: unknown) => {
    if (!(error instanceof Bottleneck.BottleneckError)) throw error;
    admitted = false;
  });
  for (let turn = 0; admitted === null && turn < 100; turn += 1) {
    clock.fireShort();
    await setImmediate();
  }
  if (admitted === null) throw new Error("the job neither began nor was dropped");
  for (let turn = 0; turn < 3; turn += 1) {
    clock.fireShort();
    await setImmediate();
  }
  await settled;
  return { admitted };
}
