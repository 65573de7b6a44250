// Documents of plans, byte for byte: see bytes.ts.
import { test } from "vitest";
import { renderPlanJunit, renderPlanMarkdown } from "../../src/report/plan-documents.ts";
import { renderPlan } from "../../src/report/plan-page.ts";
import type { PlanResult } from "../../src/summary/plan-result.ts";
import { expectBytes, type Named, partsOf } from "./bytes.ts";
import { oddAnswers, oddPlans } from "./odd-plans.ts";
import { chosen, mapped, searched, stormy } from "./results.ts";

const wordsOf = ([name, plan]: [string, PlanResult]): Named[] => [
  [`${name}.md`, renderPlanMarkdown(plan)],
  [`${name}.junit`, renderPlanJunit(plan)],
];

test("documents of plans have the bytes that they had", () => {
  const drawn = Object.entries({ searched, chosen, mapped, stormy, ...oddPlans });
  expectBytes("plans", [
    ...drawn.flatMap(([name, plan]) => partsOf(name, renderPlan(plan, "0.1.0", "pictures"))),
    ...[...drawn, ...Object.entries(oddAnswers)].flatMap(wordsOf),
  ]);
});
