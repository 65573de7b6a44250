// Which test files may see a mutant: those of its room, and those that import its file, directly or not.
import { dirname, join } from "node:path/posix";
import { importsOf } from "../support/imports.ts";
import type { Sources } from "./drawing.ts";

const packages: Readonly<Record<string, string>> = {
  spillway: "src/index.ts",
  "spillway/engine": "src/engine/index.ts",
  "spillway/laws": "src/laws/index.ts",
  "spillway/scenario": "src/scenario/index.ts",
};

/** Marks of what depends on real time or on other programs. */
const apart = /^\/\/ @module-tag |runner\.mjs/m;
/** A module that is named by its path: a thread's, a worker process's, k6's entry. */
const byPath = /"(\.[\w./-]+)\.js"/g;

export class Nets {
  /** Files that import a file, by its path. */
  readonly #importers = new Map<string, string[]>();
  readonly #tests: readonly string[];

  /** @param files all TypeScript of the repository */
  constructor(files: Sources) {
    for (const [path, text] of files)
      for (const name of modulesOf(path, text)) {
        const target = packages[name] ?? (name.startsWith(".") ? join(dirname(path), name) : null);
        if (target === null || !files.has(target)) continue;
        const known = this.#importers.get(target);
        if (known === undefined) this.#importers.set(target, [path]);
        else known.push(path);
      }
    const isApart = new Set<string>();
    for (const [path, text] of files)
      if (path.startsWith("test/") && apart.test(text))
        for (const importer of this.#distances(path).keys()) isApart.add(importer);
    this.#tests = [...files.keys()].filter((path) => path.endsWith(".test.ts") && !isApart.has(path)).sort();
  }

  /**
   * The test files for a source's mutants: those of its room, then those that import it; of each the nearest first, and
   * of these the cheap ones.
   * @param costMs how long a test file takes, as far as that is known
   */
  of(path: string, costMs: (test: string) => number): string[] {
    const distances = this.#distances(path);
    const room = roomOf(path);
    const ranked = this.#tests.flatMap((test) => {
      const distance = distances.get(test);
      const isOwn = roomOf(test) === room;
      if (distance === undefined && !isOwn) return [];
      return [{ test, isOwn, distance: distance ?? Number.POSITIVE_INFINITY, cost: costMs(test) }];
    });
    return ranked
      .sort(
        (a, b) =>
          Number(b.isOwn) - Number(a.isOwn) ||
          (a.distance === b.distance ? a.cost - b.cost : a.distance - b.distance),
      )
      .map(({ test }) => test);
  }

  /** Counts the imports between this file and each that imports it. */
  #distances(path: string): ReadonlyMap<string, number> {
    const distances = new Map([[path, 0]]);
    for (const [file, distance] of distances)
      for (const importer of this.#importers.get(file) ?? [])
        if (!distances.has(importer)) distances.set(importer, distance + 1);
    return distances;
  }
}

const modulesOf = (path: string, text: string): string[] => [
  ...importsOf(path, text),
  ...[...text.matchAll(byPath)].map(([, name]) => `${name}.ts`),
];

/** `sim/fit/fit.ts` and `test/fit/fit.test.ts` are of `fit`; so are `sim/swarm/dice.ts` and `test/sim/swarm.test.ts` of `sim`. */
function roomOf(path: string): string {
  const [top = "", second = "", third] = path.split("/");
  if (top !== "sim") return third === undefined ? top : second;
  return ["fit", "replay"].includes(second) ? second : "sim";
}
