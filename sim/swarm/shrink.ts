// Makes a failing world smaller: drops populations, leaves out members, lowers numbers, as long as it fails in the same
// way. The search is greedy, with larger steps first, and bounded.
import { isRecipe, type Plain, type PlainObject, type WorldRecipe } from "./world-recipe.ts";

export interface Shrunk {
  readonly world: WorldRecipe;
  /** Number of smaller worlds that were tried. */
  readonly tried: number;
}

/** Members that stay. Without them it is another world, and lower values make it larger. */
const kept: ReadonlySet<string> = new Set(["name", "seed", "executor", "timeUnit", "make"]);

/**
 * @param fails returns whether a world fails as the first one does; a world that cannot be made does not
 * @param triesMost greatest number of worlds that are tried
 */
export async function shrinkWorld(
  first: WorldRecipe,
  fails: (world: WorldRecipe) => Promise<boolean>,
  triesMost: number,
): Promise<Shrunk> {
  let world = first;
  let tried = 0;
  // A step that has failed once is tried again only after another one has made the world smaller.
  for (let progress = true; progress && tried < triesMost; ) {
    progress = false;
    for (const smaller of smallerThan) {
      // Each candidate is made of the world as it is by then.
      for (let at = 0; tried < triesMost; at++) {
        const candidate = nth(smaller(world), at);
        if (candidate === undefined) break;
        tried += 1;
        if (!(await fails(candidate as WorldRecipe))) continue;
        world = candidate as WorldRecipe;
        progress = true;
        at -= 1;
      }
    }
  }
  return { world, tried };
}

function nth<T>(values: Iterable<T>, index: number): T | undefined {
  let at = 0;
  for (const value of values) {
    if (at === index) return value;
    at += 1;
  }
  return undefined;
}

/**
 * Ways of making a world smaller, those that take most away first. Rules come last: without its low limits a world
 * needs many calls to show the same.
 */
const smallerThan: readonly ((world: Plain) => Iterable<Plain>)[] = [
  fewerPopulations,
  (world) => besideRules(world, 1),
  (world) => besideRules(world, Number.POSITIVE_INFINITY),
  lower,
  (world) => less(world, Number.POSITIVE_INFINITY),
];

/** Yields each world with less of everything but its rules. */
function* besideRules(world: Plain, depth: number): Generator<Plain> {
  const members = world as PlainObject;
  const { rules, ...rest } = members;
  for (const smaller of less(rest, depth)) {
    const all: PlainObject = { ...(smaller as PlainObject), ...(rules === undefined ? {} : { rules }) };
    yield Object.fromEntries(
      Object.keys(members).flatMap((name) => (name in all ? [[name, all[name]]] : [])),
    ) as Plain;
  }
}

/** Yields each world without one of its populations. */
function* fewerPopulations(world: Plain): Generator<Plain> {
  const members = world as WorldRecipe;
  for (const populations of without(members.populations)) yield { ...members, populations };
}

/** Yields each value without one member or entry, down to `depth`. */
function* less(value: Plain, depth: number): Generator<Plain> {
  yield* without(value);
  if (depth > 0) yield* within(value, (member) => less(member, depth - 1));
}

/** Yields the value with one member or entry fewer; nothing if that would be the last. */
function* without(value: Plain): Generator<Plain> {
  if (typeof value !== "object" || isRecipe(value)) return;
  if (Array.isArray(value)) {
    if (value.length > 1) for (const at of value.keys()) yield value.toSpliced(at, 1);
    return;
  }
  const members = Object.entries(value);
  for (const [name] of members)
    if (!kept.has(name)) yield Object.fromEntries(members.filter(([other]) => other !== name));
}

/** Greatest number that is also lowered by one: limits and counts, not times. */
const smallMost = 12;

/** Yields each value with one number lowered: to 1, to half, a small one by one, a large one to its thousands. */
function* lower(value: Plain): Generator<Plain> {
  if (typeof value === "number") {
    if (!Number.isInteger(value) || value <= 1) return;
    yield 1;
    if (value > 3) yield Math.floor(value / 2);
    if (value > 2 && value <= smallMost) yield value - 1;
    if (value > 1_000 && value % 1_000 !== 0) yield value - (value % 1_000);
    return;
  }
  yield* within(value, lower);
}

/** Yields the value with one of its parts replaced, for each replacement of each part. */
function* within(value: Plain, replace: (part: Plain) => Iterable<Plain>): Generator<Plain> {
  if (typeof value !== "object") return;
  if (Array.isArray(value)) {
    for (const [at, entry] of value.entries())
      for (const other of replace(entry)) yield value.with(at, other);
    return;
  }
  if (isRecipe(value)) {
    for (const args of within(value.with, replace)) yield { ...value, with: args as readonly Plain[] };
    return;
  }
  for (const [name, member] of Object.entries(value as PlainObject)) {
    if (kept.has(name)) continue;
    for (const other of replace(member)) yield { ...(value as PlainObject), [name]: other };
  }
}
