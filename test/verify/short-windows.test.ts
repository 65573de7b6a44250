// Windows of 2 s: seconds are whole, so that one answer cannot tell two of them apart; all answers together can.
import { describe, expect, test } from "vitest";
import { Limiter } from "../../src/engine/limiter.ts";
import { parseRules } from "../../src/rules/parse.ts";
import { judge } from "../../src/verify/judge.ts";
import { TargetPhase } from "../../src/verify/target-phase.ts";
import type { Verdict } from "../../src/verify/verdict.ts";
import { brokenDeployments } from "./broken.ts";
import { play, type Target } from "./history.ts";
import { workload } from "./workload.ts";

const window = (limit: number) => ({ limit, windowSeconds: 2 });
const rules = parseRules({
  organization: { rest: window(8), graphql: window(100) },
  user: { rest: window(5), graphql: window(60) },
  semantics: { graphqlCharge: "prepaid" },
});

function verdictOf(target: Target, seed: number): Promise<Verdict> {
  const options = { calls: 400, graphqlCharge: "prepaid", showsRules: true, epochOnly: true } as const;
  const { header, lines } = play({ ...workload(seed, options), rules }, target);
  return judge(header, lines);
}

describe("windows of 2 s", () => {
  test("are judged by their counts, and a right deployment is not accused", async () => {
    for (let seed = 1; seed <= 5; seed++) {
      const { violations, methods } = await verdictOf(new Limiter(rules), seed);
      expect(violations).toEqual([]);
      expect(methods?.readings).toBeGreaterThan(500);
    }
  });

  test.each(["race-read-then-write", "double-count", "status-charged", "one-extra"])(
    "%s is caught in them",
    async (fault) => {
      const broken = brokenDeployments.find((each) => each.fault === fault);
      if (broken === undefined) throw new Error(`no fixture for ${fault}`);
      const { violations } = await verdictOf(broken.make(rules), 3);
      expect(violations.map(({ law }) => law)).toContain("conserved");
    },
  );
});

describe("the phase at which windows end", () => {
  test("narrows down with each answer", () => {
    const phase = new TargetPhase(2000);
    expect(phase.narrow({ from: 1000, to: 2010 }, 900)).toEqual({ from: 1000, to: 2010 });
    // Two windows later: from 5,500 on by this one, up to 6,010 by the first.
    const { from, to } = phase.narrow({ from: 5500, to: 6510 }, 5400);
    expect(from).toBe(5500);
    expect(to).toBeGreaterThanOrEqual(6010);
    expect(to).toBeLessThan(6011);
  });

  test("says nothing of an answer that may show either of two windows", () => {
    const phase = new TargetPhase(2000);
    phase.narrow({ from: 1000, to: 2000 }, 900);
    expect(phase.narrow({ from: 3900, to: 5200 }, 3800)).toEqual({ from: 3900, to: 5200 });
  });

  test("is given up once answers contradict each other: other laws speak of clocks", () => {
    const phase = new TargetPhase(2000);
    phase.narrow({ from: 1000, to: 1500 }, 900);
    expect(phase.narrow({ from: 3700, to: 4500 }, 3600)).toEqual({ from: 3700, to: 4500 });
    expect(phase.narrow({ from: 5000, to: 6500 }, 5000)).toEqual({ from: 5000, to: 6500 });
  });
});
