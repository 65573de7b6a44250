// Findings in one window's counts. A finding is a contradiction by itself, but for `gap` and
// `excess`: those are points that no known call explains, and calls of unknown outcome may.
import type { Mark } from "./mark.ts";

export type LawFinding =
  /** A call's charge lies where something else lies, or (`over: null`) below the window's start. */
  | { readonly kind: "overlap"; readonly mark: Mark; readonly over: Mark | null; readonly lost: number }
  /** The points `(from, to]` are charged, and no call took them; `above` stands on them, `below` under them. */
  | {
      readonly kind: "gap";
      readonly from: number;
      readonly to: number;
      readonly above: Mark;
      readonly below: Mark | null;
    }
  /** `earlier` was answered before `later` was sent, whose count was at least `least` by then; `null`: that of `earlier`. */
  | { readonly kind: "fall"; readonly earlier: Mark; readonly later: Mark; readonly least: number | null }
  /** A count above the limit of a window that is enforced. */
  | { readonly kind: "beyond"; readonly mark: Mark }
  /** `sum` points were let through in a window that is enforced, more than its limit: the last had no room. */
  | { readonly kind: "overrun"; readonly marks: readonly Mark[]; readonly sum: number }
  /** A count below what `by` had surely left charged before. */
  | { readonly kind: "short"; readonly mark: Mark; readonly least: number; readonly by: readonly Mark[] }
  /** A count above the most that all known calls can have charged by then. */
  | { readonly kind: "excess"; readonly mark: Mark; readonly most: number };

/** The answer whose count a finding calls too low; `null` where charges are, and `undefined` where nothing is. */
export function lowOf(finding: LawFinding): Mark | null | undefined {
  if (finding.kind === "fall") return finding.later;
  if (finding.kind === "short") return finding.mark;
  if (finding.kind === "overlap") return finding.over;
  return finding.kind === "beyond" || finding.kind === "overrun" ? null : undefined;
}
