// Makes a counterexample smaller than fast-check can. fast-check drops intents, one of which may be a burst of calls;
// here each single operation is dropped if the law is broken without it too.
import type { Counterexample } from "./report.ts";
import type { LawKind } from "./script.ts";

/** Greatest number of operations of a script to make smaller. Each operation costs a run of the whole script. */
const opsMost = 60;

/** @param broken judges a script; returns `null` if the script breaks nothing */
export async function minimal<K extends LawKind>(
  found: Counterexample<K>,
  broken: (script: K["script"]) => Promise<Counterexample<K> | null>,
): Promise<Counterexample<K>> {
  let best = found;
  if (best.script.ops.length > opsMost) return best;
  for (let at = best.script.ops.length - 1; at >= 0; at -= 1) {
    const { script } = best;
    best = (await broken({ ...script, ops: script.ops.toSpliced(at, 1) })) ?? best;
  }
  return best;
}
