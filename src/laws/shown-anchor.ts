// Finds the anchor of fixed windows if a limiter does not say it, by calls that tell the anchors apart.
import type { LimiterFactory } from "../engine/adapter.ts";
import { agreedRules } from "../engine/adapter-rules.ts";
import { withMembers } from "../engine/frozen.ts";
import { failureIn } from "../engine/limiter-failure.ts";
import { type Rules, type RulesInput, type Scope, userLimit } from "../rules/rules.ts";
import { playCalls } from "./history.ts";
import type { CallOp } from "./script.ts";

/** Greatest limit, calls, of a window that is filled to see where it ends. */
const filledMost = 200;
/** Parts of a window after an edge at which it is filled: no simple fractions, as wrong lengths may be. */
const parts = [0.63, 0.31] as const;
/** Part of a window by which a grid of the limiter's own lies off the epoch's. */
const shift = 0.29;

const small: RulesInput = {
  user: { rest: { limit: 2, windowSeconds: 10 }, graphql: { limit: 2, windowSeconds: 10 } },
};

/**
 * Returns the factory. If it did not say its anchor, and its windows lie on a grid of the epoch or of its own start, it
 * says so now. One whose windows lie on another grid, perhaps one for each key, is taken for a bucket that is filled once
 * a window.
 */
export async function anchored(
  factory: LimiterFactory,
  given: RulesInput | undefined,
  startMs: number,
): Promise<LimiterFactory> {
  if (factory.anchorUnsaid !== true) return factory;
  const said = (facts: Partial<LimiterFactory>) => withMembers(factory, facts);
  try {
    const windows = new FilledWindows(factory, given ?? small, startMs);
    if (windows.limit > filledMost) return factory;
    const { lengthMs, edgeMs } = windows;
    const fillMs = edgeMs + Math.round(parts[0] * lengthMs);
    if (await windows.isEdge(edgeMs + lengthMs, [fillMs]))
      return said({ semantics: { ...factory.semantics, anchor: ["epoch"] } });
    const shiftMs = Math.round(shift * lengthMs);
    if (await windows.isEdge(edgeMs + lengthMs + shiftMs, [fillMs + shiftMs], edgeMs + shiftMs))
      return said({ fromStart: true });
    return (await windows.haveGrid()) ? said({ algorithm: "token-bucket" }) : factory;
  } catch (error) {
    // The laws report this failure.
    failureIn(error);
    return factory;
  }
}

/** Asks fresh limiters where the windows end that a caller fills. */
class FilledWindows {
  readonly #factory: LimiterFactory;
  readonly #rules: Rules;
  readonly #scope: Scope;
  readonly #lateMs: number;
  readonly limit: number;
  readonly lengthMs: number;
  /** Edge of the epoch's grid, ms. */
  readonly edgeMs: number;

  constructor(factory: LimiterFactory, { semantics: _, ...limits }: RulesInput, startMs: number) {
    this.#factory = factory;
    this.#rules = agreedRules(factory, limits);
    this.#scope = factory.scopes?.[0] ?? "rest";
    this.#lateMs = factory.endsLate === true ? 1 : 0;
    const { limit, windowSeconds } = userLimit(this.#rules, "acme", "ann", this.#scope);
    this.limit = limit;
    this.lengthMs = windowSeconds * 1000;
    this.edgeMs = Math.ceil(startMs / this.lengthMs) * this.lengthMs;
  }

  /**
   * Tells whether windows that are filled at some times are all full until an edge, and empty from there on.
   * @param madeMs time of another caller's first call, if the limiter is made for that
   */
  async isEdge(edgeMs: number, fillsMs: readonly number[], madeMs?: number): Promise<boolean> {
    const fills = fillsMs.flatMap((atMs) => [
      ...Array.from({ length: this.limit }, () => [atMs, true] as const),
      [atMs, false] as const,
    ]);
    const endMs = edgeMs + this.#lateMs;
    const calls = [...fills, [endMs - 1, false] as const, [endMs, true] as const];
    const admitted = await this.#play(
      calls.map(([atMs]) => atMs),
      madeMs,
    );
    return calls.every(([, expected], at) => admitted[at] === expected);
  }

  /** Tells whether windows follow one another on a grid that is not known: one of the limiter's, or of a key's. */
  async haveGrid(): Promise<boolean> {
    const { edgeMs: firstMs, lengthMs } = this;
    const edgeMs = await this.#endOf(firstMs);
    const fillsMs = parts.map((part) => edgeMs + Math.round(part * lengthMs));
    for (const fillMs of fillsMs) {
      // A grid of a key's own begins with its first call.
      const isEdge = await this.isEdge(
        edgeMs + lengthMs,
        edgeMs < firstMs + lengthMs ? [fillMs] : [firstMs, fillMs],
      );
      if (!isEdge) return false;
    }
    return true;
  }

  /** Returns the first ms at which a window that is filled at a time admits a call, at most its length later. */
  async #endOf(fillMs: number): Promise<number> {
    const fill = Array.from({ length: this.limit }, () => fillMs);
    let [full, empty] = [fillMs, fillMs + this.lengthMs];
    while (empty - full > 1) {
      const middle = Math.floor((full + empty) / 2);
      if ((await this.#play([...fill, middle])).at(-1) === true) empty = middle;
      else full = middle;
    }
    return empty - this.#lateMs;
  }

  async #play(timesMs: readonly number[], madeMs?: number): Promise<readonly boolean[]> {
    const call = (user: string, atMs: number, id: number): CallOp => ({
      do: "call",
      ...{ id, atMs, organization: "acme", user, scope: this.#scope, cost: 1 },
    });
    const made = madeMs === undefined ? [] : [call("bob", madeMs, timesMs.length)];
    const calls = timesMs.map((atMs, id) => call("ann", atMs, id));
    const answers = await playCalls(this.#factory, this.#rules, [...made, ...calls]);
    return answers.slice(made.length).map(({ decision }) => decision.admitted);
  }
}
