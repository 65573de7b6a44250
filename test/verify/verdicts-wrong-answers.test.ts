// Verdicts on deployments whose answers show what is wrong: see verdicts.ts.
import { test } from "vitest";
import { expectTold, firstShown, judgedFaults } from "./verdicts.ts";

test("every fault in answers", async () => {
  await expectTold("wrong-answers", await judgedFaults(firstShown, Number.POSITIVE_INFINITY));
});
