// The picture of an accused window: its answers by place, around the accused ones.

import type { CountsInput } from "./counts-input.ts";
import type { Mark } from "./mark.ts";
import type { CountPlace, Violation } from "./verdict.ts";

const answersMost = 200;

/**
 * Returns the answers of a window by place, at most 200 around the accused ones.
 * @param lines lines of the accused answers
 */
export function placesAround(
  { marks, limit, certainFrom }: CountsInput,
  lines: ReadonlySet<number>,
): NonNullable<Violation["places"]> {
  const takesOf = ({ least, most, sent, clamped }: Mark): number =>
    least === most && sent >= certainFrom && !clamped ? least : 0;
  const sorted = marks.toSorted((a, b) => a.count - b.count || takesOf(b) - takesOf(a) || a.line - b.line);
  const accused = sorted.findIndex(({ line }) => lines.has(line));
  const first = Math.max(0, Math.min(sorted.length - answersMost, accused - answersMost / 2));
  const answers = sorted.slice(first, first + answersMost).map((mark): CountPlace => {
    const { line, role, sent, received, count } = mark;
    return { line, role, sent, received, from: count - takesOf(mark), to: count };
  });
  return { limit, answers };
}
