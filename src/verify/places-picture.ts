// The picture of an accused window: its answers by place, around what was accused.

import type { CountsInput } from "./counts-input.ts";
import type { Mark } from "./mark.ts";
import type { CountPlace, Violation } from "./verdict.ts";

const answersMost = 200;

/**
 * The answers of a window by place, at most 200 around those that are accused.
 * @param lines the accused ones
 */
export function placesAround(
  { marks, limit, certainFrom }: CountsInput,
  lines: ReadonlySet<number>,
): NonNullable<Violation["places"]> {
  const placeOf = (mark: Mark): CountPlace => {
    const { line, role, sent, received, count, least, most } = mark;
    const takes = least === most && sent >= certainFrom && !mark.clamped ? least : 0;
    return { line, role, sent, received, from: count - takes, to: count };
  };
  const sorted = marks.map(placeOf).sort((a, b) => a.to - b.to || a.from - b.from || a.line - b.line);
  const accused = sorted.findIndex(({ line }) => lines.has(line));
  const first = Math.max(0, Math.min(sorted.length - answersMost, accused - answersMost / 2));
  return { limit, answers: sorted.slice(first, first + answersMost) };
}
