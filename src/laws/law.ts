// A law, as the runner sees it: a judge of one script against one limiter. The judge plays what it needs,
// counts the answers that it could judge, and names the first breach.
import type { CallEvent, History } from "./history.ts";
import type { CallOp, LawKind, Op, Script, WindowKey } from "./script.ts";

/** Types of the laws under rules. */
export interface RulesKind extends LawKind {
  readonly script: Script;
  readonly op: Op;
  readonly history: History;
  readonly window: WindowKey;
  readonly call: CallOp;
  readonly answered: CallEvent;
}

/** A broken expectation: what was expected, what was answered, and the arithmetic behind it. */
export interface Breach {
  readonly expected: string;
  readonly got: string;
  readonly arithmetic: string;
}

export interface LawViolation<K extends LawKind = RulesKind> extends Breach {
  /** Index in the history of the operation that breaks the law. */
  readonly at: number;
  /** Window whose count is wrong; `null` if the answer as a whole is. */
  readonly window: K["window"] | null;
}

/** Another run that the history was compared with. */
export interface Compared<K extends LawKind = RulesKind> {
  /** Difference from the first run, in words such as "without the status calls". */
  readonly label: string;
  readonly history: K["history"];
}

export interface Judgement<K extends LawKind = RulesKind> {
  readonly history: K["history"];
  readonly compared?: Compared<K>;
  /** Number of opinions of this law that were not `null`. */
  readonly judged: number;
  readonly violation: LawViolation<K> | null;
}

/** A script, and the means to play it or a part of it on a fresh limiter. */
export interface Trial<K extends LawKind = RulesKind> {
  readonly script: K["script"];
  /** True if the history was recorded: `play` returns it, whatever operations it is given. */
  readonly isRecorded?: true;
  play(ops: readonly K["op"][]): Promise<K["history"]>;
}

export type Judge<K extends LawKind = RulesKind> = (trial: Trial<K>) => Promise<Judgement<K>>;

/** Judgement of one window at one operation: kept, broken, or `null` if the law says nothing. */
export type Opinion = "kept" | Breach | null;

/** Returns a span in words: `3`, or `3 to 5`. */
export const spanText = ({ least, most }: { readonly least: number; readonly most: number }): string =>
  least === most ? String(least) : `${least} to ${most}`;
