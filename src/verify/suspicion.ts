// Suspicions: the findings in one window, by law, with the arithmetic in a sentence and the smallest set of lines that
// shows it.

import type { LawName } from "../rules/laws.ts";
import { nounOf } from "../rules/words.ts";
import type { CountsInput } from "./counts-input.ts";
import { type LawFinding, lowOf } from "./finding.ts";
import type { Mark } from "./mark.ts";
import { placesAround } from "./places-picture.ts";
import { suspectsOf } from "./suspects.ts";
import type { Unexplained } from "./unknowns.ts";
import type { Violation } from "./verdict.ts";

export interface Suspicion {
  readonly law: LawName;
  readonly breach: string;
  readonly suspects: readonly string[];
  readonly lines: readonly number[];
  readonly count: number;
  readonly explanation: string;
  /** Points that calls of unknown outcome would have to explain; `null` for a contradiction by itself. */
  readonly unexplained: Unexplained | null;
  /** Kind of the counts that came out too low: charged ones, or shown ones only. `null` if none did. */
  readonly tooLow: "charges" | "readings" | null;
  readonly places: Violation["places"];
}

/** Returns which counts findings of one kind call too low; `null` if none. */
function tooLowOf(findings: readonly LawFinding[]): Suspicion["tooLow"] {
  const low = findings.map(lowOf).filter((each) => each !== undefined);
  if (low.some((each) => each === null || each.role === "admitted")) return "charges";
  return low.length > 0 ? "readings" : null;
}

/** Number of lines of one violation to which each call adds a little. */
const linesMost = 100;

type Kind = LawFinding["kind"];
type FindingOf<K extends Kind> = Extract<LawFinding, { kind: K }>;

/** Law that findings of one kind break, the answers that show it, and the arithmetic. */
type Told = Pick<Suspicion, "law" | "explanation"> & {
  readonly marks: readonly (Mark | null)[];
  readonly unexplained?: Unexplained;
};

/** Explains findings of one kind by the first of them; returns `null` if they show nothing. */
type Teller<K extends Kind> = (first: FindingOf<K>, findings: readonly FindingOf<K>[]) => Told | null;

/** @param loose points, and their calls, that may lie anywhere in the window */
export function suspicionsOf(
  input: CountsInput,
  findings: readonly LawFinding[],
  loose: Unexplained,
): readonly Suspicion[] {
  if (findings.length === 0) return [];
  const words = new Words(input, loose);
  return kinds.flatMap((kind) => suspicionOf(kind, input, findings, words) ?? []);
}

/** Kinds of findings, in the order in which a window's suspicions are told. */
const kinds = ["overlap", "gap", "fall", "beyond", "short", "overrun", "excess", "needless"] as const;

function suspicionOf<K extends Kind>(
  kind: K,
  input: CountsInput,
  all: readonly LawFinding[],
  words: { readonly [K in Kind]: Teller<K> },
): Suspicion | null {
  const findings = all.filter((finding): finding is FindingOf<K> => finding.kind === kind);
  const [first] = findings;
  const told = first === undefined ? null : words[kind](first, findings);
  if (told === null) return null;
  const { law, marks, explanation, unexplained = null } = told;
  const lines = new Set(marks.flatMap((mark) => (mark === null ? [] : [mark.line])));
  return {
    law,
    breach: kind,
    suspects: suspectsOf(input, findings),
    lines: [...lines].sort((a, b) => a - b),
    count: findings.length,
    explanation,
    unexplained,
    tooLow: tooLowOf(findings),
    places: input.setting.docket.takesPicture ? placesAround(input, lines) : undefined,
  };
}

const wereOf = (count: number): string => (count === 1 ? "was" : "were");

/** Words for the findings of one window, a teller for each kind. */
class Words implements Readonly<{ [K in Kind]: Teller<K> }> {
  readonly #input: CountsInput;
  readonly #loose: Unexplained;

  constructor(input: CountsInput, loose: Unexplained) {
    this.#input = input;
    this.#loose = loose;
  }

  #points(count: number): string {
    return `${count} ${nounOf(count, this.#input.setting.name.unit)}`;
  }

  /** Returns what an answer showed, in words: `remaining 37 of 200`. */
  #shown({ limit, count, role }: Mark): string {
    return role === "status" || count > limit
      ? `count ${count} of ${limit}`
      : `remaining ${limit - count} of ${limit}`;
  }

  overlap(first: FindingOf<"overlap">): Told {
    return { law: "conserved", marks: [first.over, first.mark], explanation: this.#overlapWords(first) };
  }

  #overlapWords({ mark, over, lost }: FindingOf<"overlap">): string {
    const { line, count, least } = mark;
    const took = `line ${line} added ${this.#points(least)} and was told ${this.#shown(mark)}`;
    if (over === null)
      return `${took}, a count of ${count}: ${this.#points(lost)} of its own ${wereOf(lost)} not counted`;
    if (over.role === "admitted" && over.count === count && over.least === least && lost === least)
      return (
        `lines ${over.line} and ${line} were both told ${this.#shown(mark)}, each for ${this.#points(least)} of its own: ` +
        "one update was lost"
      );
    const place = `which is the place (${count - least}, ${count}]`;
    return `${took}, ${place}; line ${over.line} was told ${this.#shown(over)}, which lies in it: ${this.#points(lost)} ${wereOf(lost)} lost`;
  }

  gap({ from, to, above, below }: FindingOf<"gap">, gaps: readonly FindingOf<"gap">[]): Told | null {
    const total = gaps.reduce((sum, gap) => sum + gap.to - gap.from, 0);
    const points = Math.max(0, total - this.#loose.points);
    const calls = Math.max(0, gaps.length - this.#loose.calls);
    if (points === 0 && calls === 0) return null;
    const law = from === 0 && this.#isNeedlessRefusal(above) ? "recovers" : "conserved";
    const explanation =
      law === "recovers"
        ? `line ${above.line} was refused, told ${this.#shown(above)}, although no call had been charged to this window yet`
        : `line ${above.line} was told ${this.#shown(above)}, but no call took (${from}, ${to}]: ` +
          `${this.#points(total)} of this window ${total === 1 ? "is" : "are"} charged that no call explains`;
    return { law, marks: [below, above], explanation, unexplained: { points, calls } };
  }

  /** Tells whether a window refused a call that an empty window would have room for. */
  #isNeedlessRefusal({ role, refusedBy, cost, limit }: Mark): boolean {
    if (role !== "refused" || cost === null || cost > limit) return false;
    return refusedBy === this.#input.setting.name.owner;
  }

  fall({ earlier, later, least }: FindingOf<"fall">): Told {
    const marks = [earlier, later];
    const inTurn =
      `line ${earlier.line} was told ${this.#shown(earlier)}, and ${later.sent - earlier.received} ms after that ` +
      `answer line ${later.line} was sent and told ${this.#shown(later)}`;
    if (least === null)
      return { law: "monotone", marks, explanation: `${inTurn}: the count fell within the window` };
    const lost = least - later.count;
    const explanation =
      `${inTurn}, a count of ${later.count}: by line ${earlier.line} and the calls since then it was at least ` +
      `${least}, so that ${this.#points(lost)} ${wereOf(lost)} lost`;
    const unexplained = this.#input.setting.givesBack ? { unexplained: { points: lost, calls: 1 } } : {};
    return { law: "conserved", marks, explanation, ...unexplained };
  }

  beyond({ mark }: FindingOf<"beyond">): Told {
    const explanation = `line ${mark.line} was told a count of ${mark.count}, which is above the limit of ${mark.limit} that is enforced`;
    return { law: "bounded", marks: [mark], explanation };
  }

  short({ mark, least, by }: FindingOf<"short">): Told {
    const explanation =
      `line ${mark.line} was told ${this.#shown(mark)}, a count of ${mark.count}, but calls that were surely ` +
      `charged to this window by then${by.length > 0 && by.length <= 5 ? ` (${by.map(({ line }) => line).join(", ")})` : ""} ` +
      `had left ${this.#points(least)} there`;
    return { law: "conserved", marks: [...by, mark], explanation };
  }

  overrun({ after, marks, sum }: FindingOf<"overrun">): Told {
    if (after !== null) {
      const one = marks.length === 1;
      const explanation =
        `line ${after.line} was told ${this.#shown(after)}, a count of ${after.count}; with the ` +
        `${one ? "call" : `${marks.length} calls`} let through that ${one ? "was" : "were"} sent after that answer it is ` +
        `at least ${sum}, more than the limit of ${this.#input.limit} that is enforced: one of them was not counted`;
      return { law: "conserved", marks: [after, ...marks].slice(0, linesMost), explanation };
    }
    const explanation =
      `${marks.length} calls of this window, ${marks.length > linesMost ? `among them those of the lines below` : "one a line"}, ` +
      `were let through with ${this.#points(sum)} in all, more than its limit of ${this.#input.limit} that is enforced: ` +
      "the last of them found no room";
    return { law: "refusal-justified", marks: marks.slice(0, linesMost), explanation };
  }

  excess(first: FindingOf<"excess">, findings: readonly FindingOf<"excess">[]): Told {
    const over = ({ mark, most }: FindingOf<"excess">): number => mark.count - most;
    const worst = findings.reduce((worst, each) => (over(each) > over(worst) ? each : worst), first);
    const { mark, most } = worst;
    const law = most === 0 && this.#isNeedlessRefusal(mark) ? "recovers" : "conserved";
    const explanation =
      `line ${mark.line} was told ${this.#shown(mark)}, a count of ${mark.count}, but all calls that can have been ` +
      `charged to this window by then come to at most ${this.#points(most)}`;
    return { law, marks: [mark], explanation, unexplained: { points: over(worst), calls: 1 } };
  }

  needless({ mark, most }: FindingOf<"needless">): Told {
    const explanation =
      `line ${mark.line} was refused and counted, told ${this.#shown(mark)}, but all calls that can have been charged to ` +
      `this window by then, itself among them, come to ${this.#points(most)}: it had room`;
    return {
      law: "refusal-justified",
      marks: [mark],
      explanation,
      unexplained: { points: mark.limit + 1 - most, calls: 1 },
    };
  }
}
