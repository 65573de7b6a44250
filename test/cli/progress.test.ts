// Progress of a simulation that takes its time, by a clock of the test's.
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Pace, paceText } from "../../src/runs/pace.ts";
import { factsOf, simulateInto } from "../../src/runs/simulate-into.ts";
import { measureJob, simulateJob } from "../../src/runs/simulate-job.ts";
import { defineScenario, rest, worker } from "../../src/scenario/index.ts";

describe("a pace", () => {
  /** Shares that are done, and counts, at these times. */
  const pacesOf = (...steps: readonly (readonly [atMs: number, done: number, count: number])[]) => {
    let nowMs = 1_000_000;
    const pace = new Pace(() => nowMs);
    return steps.map(([atMs, done, count]) => {
      nowMs = 1_000_000 + atMs;
      return pace.at(done, count);
    });
  };

  test("is that of the last three seconds", () => {
    const slow = [1_000, 0.25, 10] as const;
    const fast = [4_000, 0.5, 250] as const;
    expect(pacesOf(slow, fast, [5_000, 0.75, 330]).at(-1)).toEqual({ perSecond: 80, leftMs: 2_000 });
  });

  test("is that from the beginning where there is less", () => {
    expect(pacesOf([500, 0.25, 2_000])).toEqual([{ perSecond: 4_000, leftMs: 1_500 }]);
  });

  test("is not told of the first half second: a first call tells nothing of the next", () => {
    expect(pacesOf([8, 0.0001, 1], [499, 0.25, 2_000])).toEqual([null, null]);
  });

  test("of what has no known end is a speed alone", () => {
    let nowMs = 0;
    const pace = new Pace(() => nowMs);
    expect(paceText(pace.at(null, 0), "row")).toBe("");
    nowMs = 2_000;
    expect(paceText(pace.at(null, 5_000), "row")).toBe(", 2,500 rows/s");
    expect(paceText({ perSecond: 1.26, leftMs: 12_000 }, "run")).toBe(", 1.3 runs/s, about 12 s left");
  });

  test("says no time that is left of less than half a second", () => {
    const text = (leftMs: number) => paceText({ perSecond: 10, leftMs }, "run");
    expect([text(499), text(500), text(0)]).toEqual([
      ", 10 runs/s",
      ", 10 runs/s, about 500 ms left",
      ", 10 runs/s",
    ]);
  });

  test("is none where no time has passed, or nothing is done", () => {
    expect(pacesOf([0, 0.1, 5], [1_000, 0, 0])).toEqual([null, null]);
  });
});

describe("a simulation", () => {
  let folder = "";
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "spillway-progress-"));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  const scenario = defineScenario({
    name: "long",
    duration: "10m",
    populations: {
      all: {
        clients: 30,
        startWithin: "1s",
        behaviour: worker({ calls: [{ call: rest("/v2/user") }], think: "1s" }),
      },
    },
  });

  /** Each look of the simulation at the clock takes its time. */
  async function said(lookMs: number, onProgress: (signal: { aborted: boolean }) => void = () => undefined) {
    const texts: string[] = [];
    let nowMs = 0;
    const clock = (): number => {
      nowMs += lookMs;
      return nowMs;
    };
    const signal = { aborted: false };
    const parts = simulateJob({ changes: {} }, { scenario, limiter: null, signal }, clock);
    const run = await simulateInto({ out: join(folder, "run"), name: "run" }, await factsOf(parts), {
      parts,
      signal,
      file: null,
      command: "none",
      clock: () => nowMs,
      onProgress: (text) => {
        // From then on a pace is told; the terminal is silent until then.
        if (nowMs < 2_000) return;
        texts.push(text);
        onProgress(signal);
      },
    });
    return { run, texts };
  }

  test("says how far it is, how fast it goes, and how long it will take", async () => {
    const { texts } = await said(25);
    const simulating = texts.filter((text) => text.startsWith("simulating") && text.endsWith("left"));
    const shape = /^simulating: >?[\d.]+%, [\d,]+ calls, ([\d,]+) calls\/s, about ([\d.]+) (m?s) left$/;
    const left = simulating.map((text) => {
      const [, perSecond, amount, unit] = shape.exec(text) ?? [];
      // A look in 200 calls, and one for each part of some 250: about 4,400 calls a second by that clock, once parts
      // are long.
      expect(Number(perSecond?.replace(",", "")), text).toBeGreaterThan(100);
      expect(Number(perSecond?.replace(",", "")), text).toBeLessThan(8_000);
      return Number(amount) * (unit === "s" ? 1_000 : 1);
    });
    expect(left.length).toBeGreaterThan(20);
    // It falls, but for what windows do to the number of calls.
    for (const [index, leftMs] of left.entries())
      expect(leftMs).toBeLessThan((left[index - 1] ?? Infinity) + 100);
    expect(left.at(-1)).toBeLessThan(1_000);
  });

  test("keeps what is done when it is stopped, and says so", async () => {
    const { run, texts } = await said(25, (signal) => {
      signal.aborted = true;
    });
    expect(run.interrupted).toBe(true);
    const [, calls] = / ([\d,]+) calls,/.exec(texts[0] ?? "") ?? [];
    const atStop = Number(calls?.replace(",", ""));
    // Calls on the way are answered; none was sent from then on.
    expect(run.summary.records).toBeGreaterThanOrEqual(atStop);
    expect(run.summary.records).toBeLessThanOrEqual(atStop + 30);
    const lines = (await readFile(join(folder, "run", "trace.ndjson"), "utf8")).trimEnd().split("\n");
    expect(lines).toHaveLength(1 + run.summary.records);
    expect(run.verdict?.verdict).toBe("ok");
    const record = JSON.parse(await readFile(join(folder, "run", "run.json"), "utf8"));
    expect(record.scenario).toEqual({ name: "long", description: null, file: null });
  });
});

test("a job that neither a scenario nor a world is named for is a programmer's mistake", async () => {
  const signal = { aborted: false };
  const nothing = { scenario: null, limiter: null, signal };
  await expect(simulateJob({ changes: {} }, nothing).next()).rejects.toThrow(RangeError);
  await expect(measureJob({ changes: {} }, nothing).next()).rejects.toThrow(RangeError);
});
