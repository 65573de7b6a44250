import { expect, test } from "vitest";
import { stormSentence } from "../../src/plan/sentences.ts";
import { amountWords } from "../../src/report/verdict-words.ts";
import type { PlanStorm } from "../../src/summary/plan-result.ts";
import type { Verdict } from "../../src/verify/verdict.ts";

const off = { overAdmitted: 17, overAdmission: 0.1, wronglyRefused: 0, stalenessMs: null };
const verdict = (bounded: unknown) => ({ amounts: off, laws: { bounded } }) as unknown as Verdict;

test("calls above a limit beside the law bounded, held or skipped, are explained", () => {
  const words = amountWords(verdict("held"));
  expect(words).toContain("17 (10% of what was admitted) went in above a limit");
  expect(words).toContain("bounded held all the same: no answer showed a count above its limit");
  expect(amountWords(verdict({ skipped: "no window was seen from its start" }))).toContain(
    "The law bounded could not judge that: no window was seen from its start.",
  );
  expect(amountWords(verdict("violated"))).not.toContain("The law bounded");
});

test("one window is one window", () => {
  const answer = { kind: "none" };
  const storm = {
    answer,
    trigger: "burst",
    from: 1,
    withinWindows: 1,
    windowMs: 60_000,
  } as unknown as PlanStorm;
  const said = stormSentence(storm, { durationMs: 300_000, confidence: 0.95, share: 0.5 });
  expect(said).toContain("within 1 window of");
  expect(said).toContain("a burst of 1 call ");
});
