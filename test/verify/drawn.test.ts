// Verdicts on small drawn traces in which one thing is changed. By change: how many verdicts are of each kind, and a digest
// of them all. `npm test -- test/verify/drawn.test.ts -u` writes `pinned/drawn.md` anew; read the difference.
import { expect, test } from "vitest";
import { byAnswers, byQuotas, drawnTraces } from "./drawn-changes.ts";

test("one change each", async () => {
  const drawn = drawnTraces(24, 11, 4);
  const text = [
    ...["## One answer", "", ...(await byAnswers(drawn))],
    ...["", "## Forms of all answers, and claims of the policy", "", ...(await byQuotas(drawn)), ""],
  ].join("\n");
  await expect(text).toMatchFileSnapshot("./pinned/drawn.md");
});
