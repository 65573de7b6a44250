// A window of a day holds the rows of its last calls alone.
import { describe, expect, test, vi } from "vitest";
import type { TraceLine } from "../../src/trace/read.ts";
import { judge } from "../../src/verify/judge.ts";
import { OpenWindows } from "../../src/verify/open-windows.ts";
import { judgeQuotas } from "../../src/verify/policy-judge.ts";
import { callByQuotas, headerByQuotas } from "./as-quotas.ts";
import * as day from "./days.ts";
import { holdsAll } from "./held-rows.ts";

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
    const few = await judgeDay(version, () => day.linesOf(10_000));
    const many = await judgeDay(version, () => day.linesOf(40_000));
    expect([few.readings, many.readings]).toEqual([1, 1]);
    expect(many.verdict).toMatchObject({ verdict: "ok", records: 40_000 });
    expect(many.bytes).toBeGreaterThan(0);
    expect(many.bytes).toBe(few.bytes);
    // Two windows of 40,000 rows would take five times that.
    expect(many.bytes).toBeLessThanOrEqual(1 << 20);
  });

  test.each([1, 2] as const)(
    "is read again where something is wrong late, by version %i",
    async (version) => {
      const wrong = () => day.linesOf(8_000, [6_000]);
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
