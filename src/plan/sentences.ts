// A plan's result in sentences, the answer first.

import { exactDuration } from "../rules/duration.ts";
import { exactShare } from "../rules/share.ts";
import { counted } from "../rules/words.ts";
import type { Scenario } from "../scenario/scenario.ts";
import type { PlanResult, PlanStorm } from "../summary/plan-result.ts";
import { answerSentences } from "./answer-sentences.ts";
import { comparisonSentences } from "./comparison-sentences.ts";
import { sureText } from "./words.ts";

/** Returns a result in words for people. */
export function sentencesOf(result: PlanResult, scenario: Scenario): string[] {
  const { storm, comparison, question } = result;
  return [
    ...answerSentences(result, scenario.fitError),
    ...(storm === null ? [] : [stormSentence(storm, question)]),
    ...(comparison === null ? [] : comparisonSentences(comparison, scenario, question.goals)),
  ];
}

export function stormSentence(
  storm: PlanStorm,
  { durationMs, confidence, share }: Pick<PlanResult["question"], "durationMs" | "confidence" | "share">,
): string {
  const { answer, trigger, withinWindows, windowMs } = storm;
  const of = (size: number): string =>
    trigger === "outage" ? `an outage of ${exactDuration(size)}` : `a burst of ${counted(size, "call")}`;
  const window = exactDuration(windowMs);
  const inTime =
    withinWindows === null
      ? `by the end of ${exactDuration(durationMs)}`
      : `within ${counted(withinWindows, "window")} of ${window}`;
  const mostly = `in ${exactShare(storm.share ?? share)} of runs`;
  const sure = sureText(confidence);
  switch (answer.kind) {
    case "value": {
      const after = storm.triggers.find(({ size }) => size === answer.holds)?.windowsToRecover ?? 0;
      const windows = `${counted(Math.round(after * 10) / 10, "window")} of ${window}`;
      return `The load does not recover ${inTime} from ${of(answer.fails)}; from ${of(answer.holds)} it does, in ${windows} after it is over, ${mostly} ${sure}.`;
    }
    case "all":
      return `The load recovers ${mostly} from every ${trigger} tried, up to ${of(storm.to)}, ${inTime} ${sure}.`;
    case "none":
      return `The load does not recover ${inTime} ${mostly} even from ${of(storm.from)} ${sure}.`;
    case "too-noisy": {
      const [low, high] = [answer.holds, answer.fails].map((size) =>
        size === null ? "none of those tried" : of(size),
      );
      return `The runs differ too much to say which ${trigger} is too much: the load surely recovers from ${low}, surely not from ${high}.`;
    }
    default:
      return `Whether the load recovers does not go by the size of the ${trigger}: see the table.`;
  }
}
