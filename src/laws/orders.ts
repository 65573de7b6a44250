// The search for an order of overlapping calls that explains their answers: a search, one round after the other, in
// which the claimed laws themselves say whether an order will do.
import type { LimiterLawName } from "../rules/laws.ts";
import type { Judgement, LawViolation, RulesKind, Trial } from "./law.ts";
import type { LawKind } from "./script.ts";

/** Calls that overlapped, in the order in which they were answered. */
export interface Round<K extends LawKind = RulesKind> {
  readonly atMs: number;
  /** Time when the last of them was answered: `atMs`, unless the clock moved while they were under way. */
  readonly untilMs: number;
  readonly events: readonly K["answered"][];
  /** Steps that were let in between them, in their order. Empty if the limiter takes no seam. */
  readonly steps: readonly string[];
}

/** The smallest script found whose answers no order of the calls explains. */
export interface UnexplainedScript<K extends LawKind = RulesKind> {
  readonly script: K["script"];
  /** The last one is what cannot be explained. */
  readonly rounds: readonly Round<K>[];
  /** The law that the likeliest order breaks: the one in which the calls were answered. */
  readonly law: LimiterLawName;
  readonly violation: LawViolation<K>;
  /** Number of orders that were tried. */
  readonly orders: number;
}

/** The laws by which orders are told apart: those that one run is enough for. */
export const ordering: readonly LimiterLawName[] = [
  "refusal-justified",
  "conserved",
  "bounded",
  "recovers",
  "monotone",
  "twice-at-most",
  "limit-agrees",
  "rate-bound",
];

/** The laws by which orders are told apart, over one kind of calls. */
export interface OrderJudge<K extends LawKind> {
  /** Those that the limiter claims. */
  readonly laws: readonly LimiterLawName[];
  /** Tells whether a law says nothing of any count of a script. */
  isVoid(law: LimiterLawName, script: K["script"]): boolean;
  judge(law: LimiterLawName, trial: Trial<K>): Promise<Judgement<K>>;
}

/** A law, and how an order breaks it. */
interface OrderBreach<K extends LawKind> {
  readonly law: LimiterLawName;
  readonly violation: LawViolation<K>;
}

/** No more orders than this are tried of one script; one for which they do not suffice is let pass. */
const ordersMost = 2_000;

/** Looks for one order a round, such that the whole keeps every law. */
export class OrderSearch<K extends LawKind> {
  readonly #judges: OrderJudge<K>;
  readonly #script: K["script"];
  readonly #claimed: readonly LimiterLawName[];
  readonly #rounds: readonly Round<K>[];
  #orders = 0;
  /** Farthest round that any order reached, and the breach that ended the first one there. */
  #furthest = -1;
  #breach: OrderBreach<K> | null = null;

  constructor(judges: OrderJudge<K>, script: K["script"], rounds: readonly Round<K>[]) {
    this.#judges = judges;
    this.#script = script;
    this.#claimed = judges.laws.filter((law) => !judges.isVoid(law, script));
    this.#rounds = rounds;
  }

  /** `null` where an order was found, or not every one could be tried. */
  async unexplained(): Promise<Omit<UnexplainedScript<K>, "script"> | null> {
    if (await this.#explains([], 0)) return null;
    if (this.#breach === null || this.#orders >= ordersMost) return null;
    return { ...this.#breach, rounds: this.#rounds.slice(0, this.#furthest + 1), orders: this.#orders };
  }

  async #explains(history: readonly K["answered"][], at: number): Promise<boolean> {
    const round = this.#rounds[at];
    if (round === undefined) return true;
    for (const order of explanationsOf(round)) {
      if (this.#orders >= ordersMost) return true;
      this.#orders += 1;
      const sofar = [...history, ...order];
      const breach = await this.#judge(sofar);
      if (breach === null) {
        if (await this.#explains(sofar, at + 1)) return true;
      } else if (at > this.#furthest) {
        this.#furthest = at;
        this.#breach = breach;
      }
    }
    return false;
  }

  async #judge(history: readonly K["answered"][]): Promise<OrderBreach<K> | null> {
    for (const law of this.#claimed) {
      const trial: Trial<K> = { script: this.#script, isRecorded: true, play: async () => history };
      const { violation } = await this.#judges.judge(law, trial);
      if (violation !== null) return { law, violation };
    }
    return null;
  }
}

/**
 * Every order, that of the answers first. Where the clock moved, a call may have been counted before or after that; one
 * after the other, the clock never steps back between them.
 */
function* explanationsOf<K extends LawKind>({
  events,
  atMs,
  untilMs,
}: Round<K>): Generator<readonly K["answered"][]> {
  for (const order of ordersOf(events)) {
    yield order;
    if (untilMs === atMs) continue;
    for (let first = order.length - 1; first >= 0; first -= 1)
      yield order.map((event, at) => (at < first ? event : { ...event, op: { ...event.op, atMs: untilMs } }));
  }
}

/** Every order, that of the items first. */
function* ordersOf<T>(items: readonly T[]): Generator<readonly T[]> {
  if (items.length <= 1) {
    yield items;
    return;
  }
  for (const [at, first] of items.entries())
    for (const rest of ordersOf(items.toSpliced(at, 1))) yield [first, ...rest];
}
