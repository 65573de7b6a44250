// The swarm: no world of the right deployment breaks a law, whatever was drawn; a fault is found within a few worlds,
// and what is left of such a world is a scenario's file that shows it still. It takes long: dozens of worlds are
// simulated, judged and made smaller.
import { describe, expect, test } from "vitest";
import { swarm, worldNamed } from "../../sim/swarm/swarm.ts";
import { parseFault } from "../../src/faults/choice.ts";
import { engineFactory } from "../../src/laws/engine-factory.ts";

describe("the right deployment", () => {
  test("breaks no law in 80 worlds of seed 20261, which reach every interesting state", async () => {
    const result = await swarm({ worlds: 80, seed: 20_261 });
    expect(result.failures).toEqual([]);
    expect(result.unreached).toEqual([]);
    expect(result.worlds).toBe(80);
    expect(result.calls).toBeGreaterThan(13_000);
    expect(result.windows).toBeGreaterThan(1_300);
  });

  test("the same seed is the same swarm, another one another", async () => {
    const of = async (seed: number): Promise<string> => JSON.stringify(await swarm({ worlds: 8, seed }));
    const first = await of(5);
    expect(await of(5)).toBe(first);
    expect(await of(6)).not.toBe(first);
  });

  test("behind the adapter, it breaks none either", async () => {
    const result = await swarm({ worlds: 15, seed: 11, limiter: { factory: engineFactory } });
    expect(result.failures).toEqual([]);
    const right = await swarm({ worlds: 15, seed: 11 });
    expect(result).toEqual(right);
  });
});

test("what is done when it is interrupted is kept", async () => {
  const signal = { aborted: false };
  const onProgress = ({ worlds }: { worlds: number }): void => {
    signal.aborted = worlds >= 3;
  };
  const result = await swarm({ worlds: 50, seed: 1, signal, onProgress });
  expect(result).toMatchObject({ worlds: 3, interrupted: true, failures: [] });
});

test("it ends after so many worlds that fail", async () => {
  const options = { worlds: 20, seed: 1, fault: parseFault("one-extra"), triesMost: 0 };
  expect((await swarm({ ...options, failuresMost: 3 })).failures).toHaveLength(3);
  expect((await swarm(options)).failures).toHaveLength(1);
});

test.each(["7", "7/", "a/1", "7/-1", "7/1.5"])("%s is no world's name", (name) => {
  expect(() => worldNamed(name)).toThrow(/SEED\/NUMBER/);
});

test("a number of worlds that is none is a RangeError", async () => {
  await expect(swarm({ worlds: 1.5, seed: 1 })).rejects.toThrow("worlds must be a whole number");
});
