// The same wait after every refusal, whatever its headers say.
import type { RefusalPolicy } from "../client.ts";
import { Mistakes } from "../mistakes.ts";
import { drawSpread, parseSpread, type SpreadInput } from "../spread.ts";
import { type BoundsInput, bounded, boundMembers } from "./bounds.ts";

export interface FixedOptions extends BoundsInput {
  /** Constant wait, or a random one in whole milliseconds. */
  readonly wait: SpreadInput;
}

/** Waits `wait` after each refusal, counted from the answer. */
export function fixed(options: FixedOptions): RefusalPolicy {
  const mistakes = new Mistakes();
  mistakes.options("fixed", options, ["wait", ...boundMembers]);
  const wait = parseSpread("fixed.wait", options.wait, mistakes);
  return bounded("fixed", "fixed", options, mistakes, (record) => drawSpread(record, wait));
}
