// Overlapping calls that no order explains, as people read them: who was answered what, what was let in between,
// and the arithmetic of the likeliest order.

import { time } from "./drawing.ts";
import type { InterleavingReport } from "./interleavings.ts";
import type { Round, Unexplained } from "./orders.ts";
import { answer, breach, operation, renderFailure, setting } from "./timeline.ts";

/** A report's counterexample or failure as lines of text; empty where there is none. */
export function renderInterleaving(report: InterleavingReport): string[] {
  const { counterexample, failure, repeat } = report;
  if (failure !== undefined)
    return renderFailure(report, "the limiter failed while calls overlapped", failure);
  if (counterexample === undefined) return [];
  const { script, rounds, law, orders } = counterexample;
  const history = rounds.flatMap(({ events }) => events);
  return [
    `no order of the overlapping calls explains their answers (${orders} tried)`,
    "",
    ...setting({ script, history }),
    ...rounds.flatMap((round, at) => roundText(round, counterexample, at === rounds.length - 1)),
    "",
    `In the order of the answers ${law} is broken, and in every other this law or another.`,
    ...(repeat === undefined ? [] : ["", `repeat: ${repeat}`]),
  ];
}

function roundText(round: Round, { script, violation }: Unexplained, last: boolean): string[] {
  const { atMs, events, steps } = round;
  const when = time(atMs, script.startMs);
  const [alone] = events;
  if (events.length === 1 && alone !== undefined && round.untilMs === atMs)
    return [
      `${when}  ${operation(alone, 1, script)}  ${answer(alone, script)}`,
      ...(last ? breach(violation, script) : []),
    ];
  return [
    `${when}  ${events.length === 1 ? "a call under way" : `${events.length} calls overlap`}`,
    ...steps.map((step) => `${" ".repeat(14)}. ${step}`),
    ...events.map((event) => {
      const asked = operation(event, 1, script).trimEnd();
      return `${" ".repeat(14)}call ${event.op.id}: ${asked}: ${answer(event, script).trimEnd()}`;
    }),
    ...(last ? breach(violation, script) : []),
  ];
}
