// Clocks that disagree: the prober's and the target's.
import { describe, expect, test } from "vitest";
import type { RulesInput } from "../../src/rules/rules.ts";
import { seen } from "./hard.ts";
import { mistakes } from "./truth.ts";
import { probeVirtually } from "./virtual.ts";

describe("clocks", () => {
  test.each([-7_200_000, -90_000, -1_300, 1_700, 86_400_000])("the prober's is %i ms off", async (skewMs) => {
    for (const anchor of ["epoch", "first-request"] as const) {
      const rules: RulesInput = { semantics: { anchor, reset: { rest: "floor", graphql: "round" } } };
      const report = await probeVirtually(rules, { skewMs });
      expect(mistakes(report, rules)).toEqual([]);
      expect(seen(report, "reset", "rest")).toMatchObject({ value: "floor", confidence: "certain" });
      for (const name of ["dateClock", "windowClock"] as const)
        expect(Math.abs(Number(seen(report, name, null)?.value) + skewMs)).toBeLessThan(150);
    }
  });

  test.each([-3_000, -1_000, -400, 400, 1_000, 2_000, 3_600_000])(
    "Date is that of another machine, %i ms off: what hangs on it alone is never certain",
    async (dateSkewMs) => {
      for (const reset of ["ceil", "floor", "round"] as const) {
        const rules: RulesInput = { semantics: { reset } };
        const report = await probeVirtually(rules, { dateSkewMs }, { allowance: { waitMs: 0 } });
        const wrong = mistakes(report, rules);
        expect(wrong.filter((text) => text.includes("(certain)"))).toEqual([]);
        expect(mistakes(await probeVirtually(rules, { dateSkewMs }), rules)).toEqual([]);
      }
    },
  );

  test("no Date, and no window's end: rounding is not seen", async () => {
    const report = await probeVirtually({}, { dateSkewMs: null }, { allowance: { waitMs: 0 } });
    expect(seen(report, "reset", "rest")?.confidence).toBe("not seen");
    expect(seen(report, "dateClock", null)?.evidence).toBe("no answer had a Date header");
    expect(mistakes(report, {})).toEqual([]);
  });
});
