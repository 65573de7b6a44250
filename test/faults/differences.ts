// Answers of one deployment beside those of another to the same calls, in a line.
import { digestOf } from "../support/digest.ts";

/** Answers that differ: their number, their digest, and where the first begins to differ. */
export function differences(got: readonly string[], right: readonly string[]): string {
  const differing = got.flatMap((answer, at) => (answer === right[at] ? [] : [{ answer, at }]));
  const [first] = differing;
  if (first === undefined) return "none differs";
  const digest = digestOf(differing, 8);
  const known = right[first.at] as string;
  const from = [...first.answer].findIndex((letter, place) => letter !== known[place]);
  const part = (text: string): string => text.slice(Math.max(0, from - 24), from + 24);
  const [words] = first.answer.split(":");
  return `${differing.length} differ, ${digest}; ${words}: …${part(first.answer)}… for …${part(known)}…`;
}
