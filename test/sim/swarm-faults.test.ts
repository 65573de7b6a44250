// Swarms of faults: each is found, and made small; and so are those of somebody else's limiter.
// @module-tag long
import { mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { simulate } from "../../sim/simulate.ts";
import { type FailingWorld, swarm, worldNamed } from "../../sim/swarm/swarm.ts";
import type { LimiterFactory } from "../../src/engine/adapter.ts";
import { parseFault } from "../../src/faults/choice.ts";
import { faultFactory } from "../../src/faults/factory.ts";
import { keyedLimiter } from "../../src/laws/keyed.ts";
import { loadScenarioFile } from "../../src/load/scenario-file.ts";
import { judge } from "../../src/verify/judge.ts";

let folder = "";

beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "spillway-swarm-")));
});

afterAll(() => rm(folder, { recursive: true, force: true }));

const found = (failures: readonly FailingWorld[]): FailingWorld => {
  const [failure] = failures;
  if (failure === undefined) throw new Error("no world failed");
  return failure;
};

describe("a fault is found, and made small", () => {
  test.each([
    "race-read-then-write",
    "one-short",
    "narrow-drains-broad",
    "scopes-mixed",
    "reset-truncated",
    "per-instance-counters",
    "headers-missing-on-429",
  ])("%s", async (name) => {
    const fault = parseFault(name);
    const result = await swarm({ worlds: 30, seed: 2, fault });
    const failure = found(result.failures);
    expect(failure.world).toBe(`2/${result.worlds - 1}`);
    expect(failure.shrunk.populations).toBeLessThanOrEqual(failure.populations);
    // Its file, as people would run it, breaks the same law.
    const file = join(folder, `${name}.ts`);
    await writeFile(file, failure.shrunk.source);
    const { scenario } = await loadScenarioFile(file);
    const { header, calls } = simulate(scenario, { fault });
    const lines = [...calls].map((call, index) => ({ line: index + 2, call }));
    expect(lines).toHaveLength(failure.shrunk.calls);
    const { violations } = await judge(header, lines);
    expect(violations.map(({ law }) => law)).toContain(failure.law);
    // So does the world that it was, by its name.
    expect(worldNamed(failure.world, { fault }).seed).toBe(scenario.seed);
  });

  test("most of what was drawn is gone", async () => {
    const { failures } = await swarm({
      worlds: 30,
      seed: 2,
      fault: parseFault("one-extra"),
      failuresMost: 3,
    });
    expect(failures).toHaveLength(3);
    const sum = (of: (failure: FailingWorld) => number): number =>
      failures.reduce((total, failure) => total + of(failure), 0);
    expect(sum(({ shrunk }) => shrunk.populations)).toBe(3);
    for (const { calls, shrunk } of failures) expect(shrunk.calls).toBeLessThanOrEqual(Math.max(60, calls));
    expect(sum(({ shrunk }) => shrunk.source.length)).toBeLessThan(3 * 700);
  });
});

describe("somebody else's limiter", () => {
  test("that has a fault is found", async () => {
    const factory = faultFactory(parseFault("double-count"), 3);
    const { failures } = await swarm({ worlds: 10, seed: 4, limiter: { factory } });
    expect(found(failures).suspects).toContain("double-count");
  });

  test("that throws is a world that fails, made smaller as any other", async () => {
    let count = 0;
    const failing: LimiterFactory = {
      name: "failing",
      algorithm: "fixed-window",
      claims: "all",
      create: () => {
        count = 0;
        return {
          decide: () => {
            count += 1;
            if (count > 5) throw new Error("no luck");
            return { admitted: true };
          },
        };
      },
    };
    const { failures } = await swarm({ worlds: 20, seed: 1, limiter: { factory: failing }, triesMost: 30 });
    const failure = found(failures);
    expect(failure.law).toBeNull();
    expect(failure.explanation).toMatch(/: decide\(.*got Error: no luck/);
    expect(failure.shrunk.populations).toBe(1);
  });

  test("is asked by what it knows, and judged by what it claims", async () => {
    const asked = new Set<string>();
    const yes = keyedLimiter({
      name: "yes",
      algorithm: "fixed-window",
      claims: ["headers-present"],
      create: () => ({
        consume: (_key, cost) => {
          asked.add(`cost ${cost}`);
          return true;
        },
      }),
    });
    const { failures } = await swarm({ worlds: 12, seed: 1, limiter: { factory: yes } });
    expect([...asked]).toEqual(["cost 1"]);
    expect(found(failures).law).toBe("headers-present");
    const none = await swarm({ worlds: 12, seed: 1, limiter: { factory: { ...yes, claims: [] } } });
    expect(none.failures).toEqual([]);
  });
});
