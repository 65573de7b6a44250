// Suspicions: what was found in one window, put together by law, with the arithmetic in a sentence and the
// smallest set of lines that shows it.

import type { LawName } from "../rules/laws.ts";
import { nounOf } from "../rules/words.ts";
import type { CountsInput } from "./counts-input.ts";
import type { LawFinding } from "./finding.ts";
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
  /** Counts that came out too low, if any: those charged, or only those shown. */
  readonly tooLow: "charges" | "readings" | null;
  readonly places: Violation["places"];
}

/** Counts that a kind of finding calls too low, if it does. */
function tooLowOf(findings: readonly LawFinding[]): Suspicion["tooLow"] {
  const charges = findings.some((finding) => {
    if (finding.kind === "fall") return finding.later.role === "admitted";
    if (finding.kind === "overlap") return finding.over === null || finding.over.role === "admitted";
    return (
      finding.kind === "beyond" ||
      finding.kind === "overrun" ||
      (finding.kind === "short" && finding.mark.role === "admitted")
    );
  });
  if (charges) return "charges";
  const kind = findings[0]?.kind;
  return kind === "fall" || kind === "overlap" || kind === "short" ? "readings" : null;
}

/** Lines of one violation, where each call adds a little to it. */
const linesMost = 100;

type FindingOf<K extends LawFinding["kind"]> = Extract<LawFinding, { kind: K }>;

/**
 * @param loose points, and their calls, that may lie anywhere in the window
 */
export function suspicionsOf(
  input: CountsInput,
  findings: readonly LawFinding[],
  loose: Unexplained,
): readonly Suspicion[] {
  if (findings.length === 0) return [];
  const of = <K extends LawFinding["kind"]>(kind: K): readonly FindingOf<K>[] =>
    findings.filter((finding): finding is FindingOf<K> => finding.kind === kind);
  const words = new Words(input);
  const all = [
    words.overlaps(of("overlap")),
    words.gaps(of("gap"), loose),
    words.falls(of("fall")),
    words.beyond(of("beyond")),
    words.short(of("short")),
    words.overrun(of("overrun")),
    words.excess(of("excess")),
  ];
  return all.filter((suspicion) => suspicion !== null);
}

const wereOf = (count: number): string => (count === 1 ? "was" : "were");

/** Writes the suspicions of one window. */
class Words {
  readonly #input: CountsInput;

  constructor(input: CountsInput) {
    this.#input = input;
  }

  #points(count: number): string {
    return `${count} ${nounOf(count, this.#input.setting.name.unit)}`;
  }

  /** `remaining 37 of 200`, as the answer said it. */
  #shown({ limit, count, role }: Mark): string {
    return role === "status" || count > limit
      ? `count ${count} of ${limit}`
      : `remaining ${limit - count} of ${limit}`;
  }

  #suspicion(
    law: LawName,
    findings: readonly LawFinding[],
    marks: readonly (Mark | null)[],
    explanation: string,
    unexplained: Unexplained | null = null,
  ): Suspicion {
    const lines = new Set(marks.flatMap((mark) => (mark === null ? [] : [mark.line])));
    return {
      law,
      breach: findings[0]?.kind ?? "",
      suspects: suspectsOf(this.#input, findings),
      lines: [...lines].sort((a, b) => a - b),
      count: findings.length,
      explanation,
      unexplained,
      tooLow: tooLowOf(findings),
      places: this.#input.setting.docket.takesPicture ? placesAround(this.#input, lines) : undefined,
    };
  }

  overlaps(findings: readonly FindingOf<"overlap">[]): Suspicion | null {
    const [first] = findings;
    if (first === undefined) return null;
    return this.#suspicion("conserved", findings, [first.over, first.mark], this.#overlapWords(first));
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

  gaps(findings: readonly FindingOf<"gap">[], loose: Unexplained): Suspicion | null {
    const [first] = findings;
    if (first === undefined) return null;
    const total = findings.reduce((sum, { from, to }) => sum + to - from, 0);
    const unexplained = {
      points: Math.max(0, total - loose.points),
      calls: Math.max(0, findings.length - loose.calls),
    };
    if (unexplained.points === 0 && unexplained.calls === 0) return null;
    const { from, to, above, below } = first;
    const law = from === 0 && this.#isNeedlessRefusal(above) ? "recovers" : "conserved";
    const explanation =
      law === "recovers"
        ? `line ${above.line} was refused, told ${this.#shown(above)}, although no call had been charged to this window yet`
        : `line ${above.line} was told ${this.#shown(above)}, but no call took (${from}, ${to}]: ` +
          `${this.#points(total)} of this window ${total === 1 ? "is" : "are"} charged that no call explains`;
    return this.#suspicion(law, findings, [below, above], explanation, unexplained);
  }

  /** Tells whether a window refused a call that would fit an unused one. */
  #isNeedlessRefusal({ role, refusedBy, cost, limit }: Mark): boolean {
    if (role !== "refused" || cost === null || cost > limit) return false;
    return refusedBy === this.#input.setting.name.owner;
  }

  falls(findings: readonly FindingOf<"fall">[]): Suspicion | null {
    const [first] = findings;
    if (first === undefined) return null;
    const { earlier, later } = first;
    const explanation =
      `line ${earlier.line} was told ${this.#shown(earlier)}, and ${later.sent - earlier.received} ms after that ` +
      `answer line ${later.line} was sent and told ${this.#shown(later)}: the count fell within the window`;
    return this.#suspicion("monotone", findings, [earlier, later], explanation);
  }

  beyond(findings: readonly FindingOf<"beyond">[]): Suspicion | null {
    const [first] = findings;
    if (first === undefined) return null;
    const { line, count, limit } = first.mark;
    const explanation = `line ${line} was told a count of ${count}, which is above the limit of ${limit} that is enforced`;
    return this.#suspicion("bounded", findings, [first.mark], explanation);
  }

  short(findings: readonly FindingOf<"short">[]): Suspicion | null {
    const [first] = findings;
    if (first === undefined) return null;
    const { mark, least, by } = first;
    const explanation =
      `line ${mark.line} was told ${this.#shown(mark)}, a count of ${mark.count}, but calls that were surely ` +
      `charged to this window by then${by.length > 0 && by.length <= 5 ? ` (${by.map(({ line }) => line).join(", ")})` : ""} ` +
      `had left ${this.#points(least)} there`;
    return this.#suspicion("conserved", findings, [...by, mark], explanation);
  }

  overrun(findings: readonly FindingOf<"overrun">[]): Suspicion | null {
    const [first] = findings;
    if (first === undefined) return null;
    const { marks, sum } = first;
    const explanation =
      `${marks.length} calls of this window, ${marks.length > linesMost ? `among them those of the lines below` : "one a line"}, ` +
      `were let through with ${this.#points(sum)} in all, more than its limit of ${this.#input.limit} that is enforced: ` +
      "the last of them found no room";
    return this.#suspicion("refusal-justified", findings, marks.slice(0, linesMost), explanation);
  }

  excess(findings: readonly FindingOf<"excess">[]): Suspicion | null {
    const worst = findings.reduce<FindingOf<"excess"> | null>(
      (most, each) =>
        most === null || each.mark.count - each.most > most.mark.count - most.most ? each : most,
      null,
    );
    if (worst === null) return null;
    const { mark, most } = worst;
    const law = most === 0 && this.#isNeedlessRefusal(mark) ? "recovers" : "conserved";
    const explanation =
      `line ${mark.line} was told ${this.#shown(mark)}, a count of ${mark.count}, but all calls that can have been ` +
      `charged to this window by then come to at most ${this.#points(most)}`;
    return this.#suspicion(law, findings, [mark], explanation, { points: mark.count - most, calls: 1 });
  }
}
