// Mutants that no test can see, each with the reason. They are known by their line's text, so that they stay known when
// lines move.
import type { Mutation } from "./mutations.ts";

interface Equivalent {
  readonly path: string;
  /** The line, trimmed. */
  readonly text: string;
  readonly was: string;
  readonly becomes: string;
  readonly reason: string;
}

const equivalents: readonly Equivalent[] = [
  {
    path: "src/trace/logs/instant.ts",
    text: "if (high < 0 || middle < 0 || low < 0 || last < 0 || last > 9) return -1;",
    was: "<",
    becomes: "<=",
    reason: "what this fast way leaves out is read by sinceEpoch, to the same number",
  },
];

/** Why no test can tell the mutant from the source; `null` where one should. */
export function whyEquivalent(
  { path, was, becomes }: Pick<Mutation, "path" | "was" | "becomes">,
  lineText: string,
): string | null {
  const found = equivalents.find(
    (known) =>
      known.path === path && known.text === lineText && known.was === was && known.becomes === becomes,
  );
  return found?.reason ?? null;
}
