// A law, as the runner sees it: a judge of one script against one kind of limiter. It plays what it needs,
// says how much it could judge, and names the first breach.
import { type LimiterLawName, voidReason } from "../rules/laws.ts";
import type { Rules } from "../rules/rules.ts";
import type { CallEvent, History } from "./history.ts";
import { type Sight, sightsOf, type WindowKey } from "./ledger.ts";
import { type CallOp, type LawKind, type Op, type Script, without } from "./script.ts";

/** The kind of today's rules. */
export interface RulesKind extends LawKind {
  readonly script: Script;
  readonly op: Op;
  readonly history: History;
  readonly window: WindowKey;
  readonly call: CallOp;
  readonly answered: CallEvent;
}

/** Expectation, answer, and the arithmetic between them. */
export interface Breach {
  readonly expected: string;
  readonly got: string;
  readonly arithmetic: string;
}

export interface LawViolation<K extends LawKind = RulesKind> extends Breach {
  /** Index in the history of the operation at which the law is broken. */
  readonly at: number;
  /** The window that it is about; `null` where it is about an answer as a whole. */
  readonly window: K["window"] | null;
}

/** Another run that the history was compared with. */
export interface Compared<K extends LawKind = RulesKind> {
  /** Difference from the history: "without the status calls". */
  readonly label: string;
  readonly history: K["history"];
}

export interface Judgement<K extends LawKind = RulesKind> {
  readonly history: K["history"];
  readonly compared?: Compared<K>;
  /** Number of answers that this law said something about. */
  readonly judged: number;
  readonly violation: LawViolation<K> | null;
}

/** A script, and the means to play it or a part of it on a fresh limiter. */
export interface Trial<K extends LawKind = RulesKind> {
  readonly script: K["script"];
  /** True if there is one history, whatever is played. */
  readonly isRecorded?: true;
  play(ops: readonly K["op"][]): Promise<K["history"]>;
}

export type Judge<K extends LawKind = RulesKind> = (trial: Trial<K>) => Promise<Judgement<K>>;

/** Judgement of one window at one operation: kept, broken, or `null` if the law says nothing. */
export type Opinion = "kept" | Breach | null;

/** Finds the first breach among opinions, and counts those that there are. */
export class OpinionTally<K extends LawKind = RulesKind> {
  judged = 0;
  violation: LawViolation<K> | null = null;
  readonly #named: (window: K["window"]) => K["window"];

  /** @param named a window's key alone, of something that has one */
  constructor(named: (window: K["window"]) => K["window"] = (window) => keyOf(window as WindowKey)) {
    this.#named = named;
  }

  add(opinion: Opinion, at: number, window: K["window"] | null): void {
    if (opinion === null) return;
    this.judged += 1;
    if (opinion === "kept" || this.violation !== null) return;
    this.violation = { at, window: window === null ? null : this.#named(window), ...opinion };
  }
}

const keyOf = ({ organization, user, scope }: WindowKey): WindowKey => ({ organization, user, scope });

/** Tells whether a law says nothing of this scope under these rules (SPEC.md §7). */
const isVoid = (law: LimiterLawName, rules: Rules, { scope }: WindowKey): boolean =>
  voidReason(law, rules, scope) !== null;

/** A law over one run, that looks at one window at a time. `begin` gives each run a memory of its own. */
export function overSights(law: LimiterLawName, begin: (rules: Rules) => (sight: Sight) => Opinion): Judge {
  return overEvents(law, ({ rules }) => {
    const judge = begin(rules);
    return (sights) => sights.map((sight) => [judge(sight), sight]);
  });
}

/** A law over one run, that looks at an operation's windows together. */
export function overEvents(
  law: LimiterLawName,
  begin: (script: Script) => (sights: readonly Sight[]) => readonly (readonly [Opinion, WindowKey | null])[],
): Judge {
  return async ({ script, play }) => {
    const history = await play(without(script.ops, "snapshot"));
    const judge = begin(script);
    const tally = new OpinionTally();
    for (const sights of grouped(sightsOf(script, history))) {
      const heard = sights.filter((sight) => !isVoid(law, script.rules, sight));
      const at = heard[0]?.at;
      if (at === undefined) continue;
      for (const [opinion, window] of judge(heard)) tally.add(opinion, at, window);
    }
    return { history, judged: tally.judged, violation: tally.violation };
  };
}

/** The sights of each operation together. */
function* grouped(sights: Iterable<Sight>): Generator<readonly Sight[]> {
  let group: Sight[] = [];
  for (const sight of sights) {
    if (group[0] !== undefined && group[0].at !== sight.at) {
      yield group;
      group = [];
    }
    group.push(sight);
  }
  if (group.length > 0) yield group;
}

/** A span in words: `3`, or `3 to 5`. */
export const spanText = ({ least, most }: { readonly least: number; readonly most: number }): string =>
  least === most ? String(least) : `${least} to ${most}`;
