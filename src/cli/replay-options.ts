// Options of the verb `replay`: changed limits, the callers' reaction, expectations.
import type { Reaction } from "../../sim/replay/reaction.ts";
import { parsePolicy } from "../plan/policies.ts";
import { SpillwayError } from "../rules/errors.ts";
import { parseRules } from "../rules/parse.ts";
import type { Rules } from "../rules/rules.ts";
import { none } from "../scenario/retries/none.ts";
import { unusable } from "./run-options.ts";

/**
 * Changes single members of rules: `organization.rest.limit=400`, `semantics.anchor=first-request`.
 * @throws SpillwayError `USAGE` if a change cannot be read, `RULES_INVALID` naming the member that does not fit
 */
export function changedRules(rules: Rules, changes: readonly string[]): Rules {
  const changed: Record<string, unknown> = structuredClone(rules) as unknown as Record<string, unknown>;
  for (const change of changes) {
    const [, path, value] = /^([\w-]+(?:\.[^.=]+)+)=(.+)$/.exec(change) ?? [];
    if (path === undefined || value === undefined)
      throw unusable("--set", change, "a member of the rules and its value: user.rest.limit=100");
    place(changed, path.split("."), memberValue(value));
  }
  return parseRules(changed);
}

function place(into: Record<string, unknown>, [name = "", ...rest]: readonly string[], value: unknown): void {
  if (rest.length === 0) {
    into[name] = value;
    return;
  }
  const found = Object.hasOwn(into, name) ? into[name] : undefined;
  const inner = typeof found === "object" && found !== null ? (found as Record<string, unknown>) : {};
  // Defined, not assigned, so that `parseRules` reports a name such as __proto__ as a mistake.
  Object.defineProperty(into, name, { value: inner, writable: true, enumerable: true, configurable: true });
  place(inner, rest, value);
}

/** Returns a number, `true` or `false` for a text that reads so; otherwise the text itself. */
function memberValue(text: string): unknown {
  if (text === "true" || text === "false") return text === "true";
  return /^-?\d+(?:\.\d+)?$/.test(text) ? Number(text) : text;
}

/**
 * Reads the callers' reaction to a refusal, by the words that plans have: `waitReset`, `waitReset+0..5s`.
 * @throws SpillwayError `USAGE`, with a suggestion, if there is no such policy
 */
export function reactionOf(word: string, seed: number): Reaction {
  if (word === "own")
    throw unusable("--on-refused", word, "a policy by its name: a log does not tell its own");
  const policy = parsePolicy("--on-refused", word, none());
  if ("path" in policy) throw new SpillwayError("USAGE", "--on-refused cannot be used", { problem: policy });
  return { onRefused: policy, words: word, seed };
}

/**
 * Reads bounds of figures: `refusedShare<1%`.
 * @throws SpillwayError `USAGE` if a text is no bound, or a figure is given twice
 */
export function expectedOf(written: readonly string[]): Readonly<Record<string, string>> {
  const expect: Record<string, string> = {};
  for (const text of written) {
    const [, figure, bound] = /^\s*([\w.]+)\s*([<=>].*)$/.exec(text) ?? [];
    if (figure === undefined || bound === undefined)
      throw unusable("--expect", text, "a figure and a bound: 'refusedShare<1%'");
    if (Object.hasOwn(expect, figure)) throw unusable("--expect", text, `one bound of ${figure}`);
    expect[figure] = bound;
  }
  return expect;
}
