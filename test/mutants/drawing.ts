// Mutants at random: each place of the sources where one may be is as likely as any other.
import { seededRandom } from "../../src/faults/random.ts";
import { type Mutation, mutationsOf } from "./mutations.ts";

/** Sources by path. */
export type Sources = ReadonlyMap<string, string>;

/**
 * Draws mutants from all sources; the first ones of a larger sample are those of a smaller one.
 * @returns all of them where there are fewer than `count`
 */
export function drawn(sources: Sources, count: number, seed: number): Mutation[] {
  const paths = [...sources.keys()].sort();
  const all = paths.flatMap((path) => mutationsOf(path, sources.get(path) ?? ""));
  const random = seededRandom(seed);
  const size = Math.min(count, all.length);
  for (let at = 0; at < size; at++) {
    const from = at + Math.floor(random() * (all.length - at));
    [all[at], all[from]] = [all[from] as Mutation, all[at] as Mutation];
  }
  return all.slice(0, size);
}
