// Findings in one window's counts. Each is a contradiction by itself, except `gap`, `excess` and `needless`: those are
// points that no known call explains, but calls of unknown outcome may.
import type { Mark } from "./mark.ts";

export type LawFinding =
  /** A charge lies where another mark's place lies, or (`over: null`) below the window's start. */
  | { readonly kind: "overlap"; readonly mark: Mark; readonly over: Mark | null; readonly lost: number }
  /** The points `(from, to]` are charged, and no call took them. `above` stands on them, `below` under them. */
  | {
      readonly kind: "gap";
      readonly from: number;
      readonly to: number;
      readonly above: Mark;
      readonly below: Mark | null;
    }
  /** `earlier` was answered before `later` was sent: its count was at least `least` (`null`: that of `earlier`). */
  | { readonly kind: "fall"; readonly earlier: Mark; readonly later: Mark; readonly least: number | null }
  /** A count is above the limit of an enforced window. */
  | { readonly kind: "beyond"; readonly mark: Mark }
  /** `sum` admitted points exceed the limit of an enforced window, so that the last call had no room. */
  | {
      readonly kind: "overrun";
      readonly after: Mark | null;
      readonly marks: readonly Mark[];
      readonly sum: number;
    }
  /** A count is below what the calls `by` had surely left charged before. */
  | { readonly kind: "short"; readonly mark: Mark; readonly least: number; readonly by: readonly Mark[] }
  /** A count is above the most that all known calls can have charged by then. */
  | { readonly kind: "excess"; readonly mark: Mark; readonly most: number }
  /** A counted refusal, whose own charge passes the limit, although all known calls come to no more than the limit. */
  | { readonly kind: "needless"; readonly mark: Mark; readonly most: number };

/** Returns the answer whose count is too low; `null` if only charges are, `undefined` if nothing is. */
export function lowOf(finding: LawFinding): Mark | null | undefined {
  if (finding.kind === "fall") return finding.later;
  if (finding.kind === "short") return finding.mark;
  if (finding.kind === "overlap") return finding.over;
  return finding.kind === "beyond" || finding.kind === "overrun" ? null : undefined;
}
