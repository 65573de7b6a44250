// A plan's result in sentences, the answer first.
import type { Scenario } from "../scenario/scenario.ts";
import type { PlanResult } from "../summary/plan-result.ts";
import { answerSentences } from "./answer-sentences.ts";
import { comparisonSentences } from "./comparison-sentences.ts";
import { stormSentence } from "./storm-sentence.ts";

/** Returns a result in words for people. */
export function sentencesOf(result: PlanResult, scenario: Scenario): string[] {
  const { storm, comparison, question } = result;
  return [
    ...answerSentences(result),
    ...(storm === null ? [] : [stormSentence(storm, question.durationMs, question.confidence)]),
    ...(comparison === null ? [] : comparisonSentences(comparison, scenario, question.goals)),
  ];
}
