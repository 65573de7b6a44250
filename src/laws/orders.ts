// Searches for an order of overlapping calls that explains their answers, round by round. An order explains them if it
// breaks none of the claimed laws.
import type { LimiterLawName } from "../rules/laws.ts";
import type { Judgement, LawViolation, RulesKind, Trial } from "./law.ts";
import type { LawKind } from "./script.ts";

/** Calls that overlapped, in the order of their answers. */
export interface Round<K extends LawKind = RulesKind> {
  readonly atMs: number;
  /** Time of the last answer, ms: `atMs`, unless the clock moved while the calls were under way. */
  readonly untilMs: number;
  readonly events: readonly K["answered"][];
  /** Steps of the calls, in the order in which they ran. Empty if the limiter takes no seam. */
  readonly steps: readonly string[];
}

/** The smallest script found whose answers no order of the calls explains. */
export interface UnexplainedScript<K extends LawKind = RulesKind> {
  readonly script: K["script"];
  /** The rounds up to the one that no order explains. */
  readonly rounds: readonly Round<K>[];
  /** Law that the likeliest order breaks; this is the order of the answers. */
  readonly law: LimiterLawName;
  readonly violation: LawViolation<K>;
  /** Number of orders tried. */
  readonly orders: number;
}

/** Laws by which orders are judged: each needs one run only. */
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

/** The laws by which orders are judged, by rules or by a policy. */
export interface OrderJudge<K extends LawKind> {
  /** Laws of `ordering` that the limiter claims. */
  readonly laws: readonly LimiterLawName[];
  /** Tells whether a law says nothing about any count of a script. */
  isVoid(law: LimiterLawName, script: K["script"]): boolean;
  judge(law: LimiterLawName, trial: Trial<K>): Promise<Judgement<K>>;
}

/** A law that an order breaks, with the violation. */
interface OrderBreach<K extends LawKind> {
  readonly law: LimiterLawName;
  readonly violation: LawViolation<K>;
}

/** Greatest number of orders tried for one script. A script that needs more passes. */
const ordersMost = 2_000;

/** Looks for an order of each round such that the whole history keeps every law. */
export class OrderSearch<K extends LawKind> {
  readonly #judges: OrderJudge<K>;
  readonly #script: K["script"];
  readonly #claimed: readonly LimiterLawName[];
  readonly #rounds: readonly Round<K>[];
  #orders = 0;
  /** Farthest round that any order reached; `#breach` is the first breach there. */
  #furthest = -1;
  #breach: OrderBreach<K> | null = null;

  constructor(judges: OrderJudge<K>, script: K["script"], rounds: readonly Round<K>[]) {
    this.#judges = judges;
    this.#script = script;
    this.#claimed = judges.laws.filter((law) => !judges.isVoid(law, script));
    this.#rounds = rounds;
  }

  /** Returns why no order explains the script; `null` if one does, or if there are too many to try. */
  async unexplained(): Promise<Omit<UnexplainedScript<K>, "script"> | null> {
    if (await this.#explains([], 0)) return null;
    if (this.#breach === null) return null;
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
 * Yields every order of a round, that of the answers first. If the clock moved, each order comes with every place in
 * it at which the clock can have moved.
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

/** Yields every order of items, their own first. */
function* ordersOf<T>(items: readonly T[]): Generator<readonly T[]> {
  if (items.length === 0) {
    yield items;
    return;
  }
  for (const [at, first] of items.entries())
    for (const rest of ordersOf(items.toSpliced(at, 1))) yield [first, ...rest];
}
