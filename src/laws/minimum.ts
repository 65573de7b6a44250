// Makes a counterexample smaller than fast-check leaves it. fast-check leaves out intents, of which one may be a burst of
// calls; here each operation goes without which the law is broken as well.
import type { Counterexample } from "./report.ts";
import type { LawKind } from "./script.ts";

/** A script with more operations than this is left as it is: each of them costs a run of all. */
const opsMost = 60;

/** @param broken judges a script; `null` where it breaks nothing */
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
