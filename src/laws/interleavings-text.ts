// Draws overlapping calls that no order explains, as text: the calls with their answers, the steps between them,
// and the arithmetic of the likeliest order.

import { breachLines, indent, renderedFailure, type ScriptDrawing, settingOf, time } from "./drawing.ts";
import type { LawViolation } from "./law.ts";
import type { Round, UnexplainedScript } from "./orders.ts";
import type { InterleavingReport } from "./overlaps.ts";
import { repeatHint } from "./repeats.ts";
import type { LawKind } from "./script.ts";

/** The parts of a drawing that depend on the kind of calls. */
export interface OverlapDrawing<K extends LawKind> extends ScriptDrawing<K> {
  /** Returns a function from an event of the history to its call and its answer, as text. */
  texts(script: K["script"], history: readonly K["answered"][]): (event: K["answered"]) => [string, string];
  whose(violation: LawViolation<K>, script: K["script"]): string | null;
}

/** Returns a report's counterexample or failure as lines of text; no lines if there is none. */
export function renderedInterleaving<K extends LawKind>(
  report: InterleavingReport<K>,
  drawing: OverlapDrawing<K>,
): string[] {
  const { counterexample, failure, outcome, repeat } = report;
  if (failure !== undefined)
    return renderedFailure(
      { ...(repeat !== undefined && { repeat }) },
      "the limiter failed in a check of overlapping calls",
      failure,
      drawing,
    );
  if (counterexample === undefined) return [];
  const { script, rounds, law, orders } = counterexample;
  const history = rounds.flatMap(({ events }) => events);
  const texts = drawing.texts(script, history);
  const isRepeated = outcome !== "not-repeatable";
  const isOverlapped = rounds.some(({ events, atMs, untilMs }) => events.length > 1 || untilMs > atMs);
  return [
    !isRepeated
      ? "overlapping calls cannot be judged: one after the other, they are answered otherwise in a second play"
      : isOverlapped
        ? `no order of the overlapping calls explains their answers (${orders} tried)`
        : `${law} is violated by one call after the other, before any overlap`,
    "",
    ...settingOf({ script, history }, drawing),
    ...rounds.flatMap((round, at) =>
      roundText(round, counterexample, texts, at === rounds.length - 1 && drawing),
    ),
    "",
    isOverlapped
      ? `In the order of the answers ${law} is broken, and in every other this law or another.`
      : "Mend this first: then calls that overlap can be judged.",
    ...(isRepeated ? [] : ["", `note: ${repeatHint}`]),
    ...(repeat === undefined || !isRepeated ? [] : ["", `repeat: ${repeat}`]),
  ];
}

/** @param ending drawing of the breach; `false` for rounds before the last */
function roundText<K extends LawKind>(
  round: Round<K>,
  { script, violation }: UnexplainedScript<K>,
  texts: (event: K["answered"]) => [string, string],
  ending: OverlapDrawing<K> | false,
): string[] {
  const { atMs, events, steps } = round;
  const when = time(atMs, script.startMs);
  const breach = ending === false ? [] : breachLines(violation, ending.whose(violation, script));
  const [alone] = events;
  if (events.length === 1 && alone !== undefined && round.untilMs === atMs) {
    const [asked, answered] = texts(alone);
    return [`${when}  ${asked}  ${answered}`, ...breach];
  }
  return [
    `${when}  ${events.length === 1 ? "a call under way" : `${events.length} calls overlap`}`,
    ...steps.map((step) => `${indent}. ${step}`),
    ...events.map((event) => {
      const [asked, answered] = texts(event);
      return `${indent}call ${event.op.id}: ${asked.trimEnd()}: ${answered.trimEnd()}`;
    }),
    ...breach,
  ];
}
