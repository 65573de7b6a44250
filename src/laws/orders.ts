// The search for an order of overlapping calls that explains their answers: a search, one round after the other, in
// which the claimed laws themselves say whether an order will do.
import { type LimiterLawName, voidEverywhere } from "../rules/laws.ts";
import { laws } from "./catalogue.ts";
import type { CallEvent } from "./history.ts";
import type { Violation } from "./law.ts";
import type { Script } from "./script.ts";

/** Calls that overlapped, in the order in which they were answered. */
export interface Round {
  readonly atMs: number;
  /** Time when the last of them was answered: `atMs`, unless the clock moved while they were under way. */
  readonly untilMs: number;
  readonly events: readonly CallEvent[];
  /** Steps that were let in between them, in their order. Empty if the limiter takes no seam. */
  readonly steps: readonly string[];
}

/** The smallest script found whose answers no order of the calls explains. */
export interface Unexplained {
  readonly script: Script;
  /** The last one is what cannot be explained. */
  readonly rounds: readonly Round[];
  /** The law that the likeliest order breaks: the one in which the calls were answered. */
  readonly law: LimiterLawName;
  readonly violation: Violation;
  /** Number of orders that were tried. */
  readonly orders: number;
}

/** The laws by which orders are told apart: those that look at one run and nothing else. */
export const judges: readonly LimiterLawName[] = [
  "refusal-justified",
  "conserved",
  "bounded",
  "recovers",
  "monotone",
  "twice-at-most",
  "limit-agrees",
];

/** No more orders than this are tried of one script; one for which they do not suffice is let pass. */
const ordersMost = 2_000;
/** Looks for one order a round, such that the whole keeps every law. */
export class OrderSearch {
  readonly #terms: Script;
  readonly #claimed: readonly LimiterLawName[];
  readonly #rounds: readonly Round[];
  #orders = 0;
  /** Farthest round that any order reached, and the breach that ended the first one there. */
  #furthest = -1;
  #breach: { law: LimiterLawName; violation: Violation } | null = null;

  constructor(terms: Script, claimed: readonly LimiterLawName[], rounds: readonly Round[]) {
    this.#terms = terms;
    this.#claimed = claimed.filter((law) => voidEverywhere(law, terms.rules) === null);
    this.#rounds = rounds;
  }

  /** `null` where an order was found, or not every one could be tried. */
  async unexplained(): Promise<Omit<Unexplained, "script"> | null> {
    if (await this.#explains([], 0)) return null;
    if (this.#breach === null || this.#orders >= ordersMost) return null;
    return { ...this.#breach, rounds: this.#rounds.slice(0, this.#furthest + 1), orders: this.#orders };
  }

  async #explains(history: readonly CallEvent[], at: number): Promise<boolean> {
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

  async #judge(history: readonly CallEvent[]): Promise<{ law: LimiterLawName; violation: Violation } | null> {
    for (const law of this.#claimed) {
      const trial = { script: this.#terms, play: async () => history };
      const { violation } = await laws[law].judge(trial);
      if (violation !== null) return { law, violation };
    }
    return null;
  }
}

/**
 * Every order, that of the answers first. Where the clock moved, a call may have been counted before or after that; one
 * after the other, the clock never steps back between them.
 */
function* explanationsOf({ events, atMs, untilMs }: Round): Generator<readonly CallEvent[]> {
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
