// Verdicts on deployments that count wrong: see verdicts.ts.
import { test } from "vitest";
import { expectTold, firstShown, judgedFaults } from "./verdicts.ts";

test("every fault in counts", async () => {
  await expectTold("wrong-counts", await judgedFaults(0, firstShown));
});
