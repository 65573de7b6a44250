// Windows that hold few of their rows: the verdict is the same to the last word, since what is stopped after its rows had gone
// is judged by another reading.
//   HISTORIES=3000 npx vitest run --config test/vitest.config.ts test/verify/held-rows.test.ts
import { createReadStream, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { Limiter } from "../../src/engine/limiter.ts";
import { readTrace, type TraceLine } from "../../src/trace/read.ts";
import { judge } from "../../src/verify/judge.ts";
import { OpenWindows } from "../../src/verify/open-windows.ts";
import { judgeQuotas } from "../../src/verify/policy-judge.ts";
import { callByQuotas, headerByQuotas } from "./as-quotas.ts";
import { brokenDeployments } from "./broken.ts";
import * as day from "./days.ts";
import { allFates, worlds } from "./drawn-worlds.ts";
import { type History, play } from "./history.ts";
import { workload } from "./workload.ts";

const runs = Number(process.env["HISTORIES"] ?? 60);
const golden = fileURLToPath(new URL("../golden/", import.meta.url));

const holdsAll = Number.POSITIVE_INFINITY;

/** Judgements in which rows went, and those of them that another reading was needed for. */
const seen = { letGo: 0, again: 0 };

/** Judges with all rows held, and with few. */
async function judgeBoth({ header, lines }: History, rowsMost: number, each = 1): Promise<void> {
  const goes = vi.spyOn(OpenWindows.prototype, "letGo");
  const options = { callsBetweenClosings: each };
  let readings = 0;
  const again =
    <T>(calls: T) =>
    () => {
      readings += 1;
      return calls;
    };
  const few = { ...options, rowsMost };
  const all = { ...options, rowsMost: holdsAll };
  const count = (): void => {
    if (goes.mock.calls.length > 0) seen.letGo += 1;
    if (readings > 0) seen.again += 1;
    goes.mockClear();
    readings = 0;
  };
  const byRules = await judge(header, lines, few, again(lines));
  count();
  expect(byRules).toEqual(await judge(header, lines, all));
  const { rules } = header;
  if (rules !== null) {
    const quotas = headerByQuotas(header, rules);
    const calls = lines.map(({ line, call }) => ({ line, call: callByQuotas(call) }));
    const byQuotas = await judgeQuotas(quotas, calls, few, again(calls));
    count();
    expect(byQuotas).toEqual(await judgeQuotas(quotas, calls, all));
  }
  goes.mockRestore();
}

describe("the verdict does not depend on how many rows are held", () => {
  test.each(readdirSync(golden).filter((name) => name.endsWith(".ndjson")))("%s", async (name) => {
    const { header, calls } = await readTrace(createReadStream(`${golden}${name}`));
    const lines: TraceLine[] = [];
    for await (const each of calls) lines.push(each);
    for (const rowsMost of [2, 5]) await judgeBoth({ header, lines }, rowsMost);
  });

  test("in random histories of the engine", async () => {
    await fc.assert(
      fc.asyncProperty(
        worlds({ fates: allFates, anonymous: true, plansMost: 90 }),
        fc.constantFrom(2, 3, 8, 16),
        fc.constantFrom(1, 1, 7),
        (world, rowsMost, each) => judgeBoth(play(world, new Limiter(world.rules)), rowsMost, each),
      ),
      { numRuns: runs },
    );
  });

  test.each(brokenDeployments.map((broken) => [broken.fault, broken] as const))(
    "in deployments with %s",
    async (_, broken) => {
      for (let seed = 1; seed <= Math.max(3, runs / 20); seed++) {
        const graphqlCharge = (["prepaid", "reserved", "postpaid"] as const)[seed % 3] ?? "prepaid";
        const options = { calls: 160, graphqlCharge, showsRules: true, epochOnly: broken.epochOnly ?? false };
        const world = workload(seed, options);
        const { header, lines } = play(world, broken.make(world.rules));
        const changed = lines.map(({ line, call }) => ({ line, call: broken.change?.(call) ?? call }));
        await judgeBoth({ header, lines: changed }, 2 + (seed % 7));
      }
    },
  );

  test("in most of which rows went, and in many of which one reading was enough", () => {
    expect(seen.letGo).toBeGreaterThan(100);
    expect(seen.again).toBeGreaterThan(50);
    expect(seen.letGo - seen.again).toBeGreaterThan(50);
  });
});

describe("a window of a day", () => {
  const rowsMost = 2048;

  /** Judges a day's calls as they are made. @returns the verdict, the readings, and the bytes of all rows */
  async function judgeDay(version: 1 | 2, lines: () => Iterable<TraceLine>) {
    const goes = vi.spyOn(OpenWindows.prototype, "letGo");
    let readings = 1;
    const again =
      <T>(calls: () => T) =>
      () => {
        readings += 1;
        return calls();
      };
    const byQuotas = function* () {
      for (const { line, call } of lines()) yield { line, call: callByQuotas(call) };
    };
    const verdict =
      version === 1
        ? await judge(day.header, lines(), { rowsMost }, again(lines))
        : await judgeQuotas(headerByQuotas(day.header, day.rules), byQuotas(), { rowsMost }, again(byQuotas));
    const bytes = (goes.mock.contexts as OpenWindows[]).map(({ rows }) => rows.numbers.byteLength);
    goes.mockRestore();
    return { verdict, readings, bytes: Math.max(0, ...bytes) };
  }

  test.each([1, 2] as const)("holds the rows of its last calls alone, by version %i", async (version) => {
    const few = await judgeDay(version, () => day.linesOf(20_000));
    const many = await judgeDay(version, () => day.linesOf(80_000));
    expect([few.readings, many.readings]).toEqual([1, 1]);
    expect(many.verdict).toMatchObject({ verdict: "ok", records: 80_000 });
    expect(many.bytes).toBeGreaterThan(0);
    expect(many.bytes).toBe(few.bytes);
    // Two windows of 80,000 rows would take ten times that.
    expect(many.bytes).toBeLessThanOrEqual(1 << 20);
  });

  test.each([1, 2] as const)(
    "is read again where something is wrong late, by version %i",
    async (version) => {
      const wrong = () => day.linesOf(20_000, [15_000]);
      const { verdict, readings } = await judgeDay(version, wrong);
      expect(readings).toBe(2);
      expect(verdict.violations[0]).toMatchObject({ law: "conserved" });
      const lines = [...wrong()];
      const calls = lines.map(({ line, call }) => ({ line, call: callByQuotas(call) }));
      const all = { rowsMost: holdsAll };
      expect(verdict).toEqual(
        version === 1
          ? await judge(day.header, lines, all)
          : await judgeQuotas(headerByQuotas(day.header, day.rules), calls, all),
      );
    },
  );
});
