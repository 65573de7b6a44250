// The same wait after every refusal, whatever it says.
import type { RefusalPolicy } from "../client.ts";
import { type DurationSpan, Mistakes } from "../mistakes.ts";
import { type BoundsInput, bounded, boundMembers, drawn } from "./bounds.ts";

export interface FixedOptions extends BoundsInput {
  /** Constant, or uniform over whole milliseconds. */
  readonly wait: DurationSpan;
}

/** Waits `wait` after each refusal, counted from the answer. */
export function fixed(options: FixedOptions): RefusalPolicy {
  const mistakes = new Mistakes();
  mistakes.members("fixed", options, ["wait", ...boundMembers]);
  const wait = mistakes.span("fixed.wait", options.wait);
  return bounded("fixed", "fixed", options, mistakes, (record) => drawn(record, wait));
}
