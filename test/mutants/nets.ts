// Test files that may see a mutant, in their order: those that run its place; where none is known to, those of its
// room and those that import its file, directly or not.
import { basename, dirname, join } from "node:path/posix";
import { importsOf } from "../support/imports.ts";
import type { Sources } from "./drawing.ts";

const packages: Readonly<Record<string, string>> = {
  spillway: "src/index.ts",
  "spillway/engine": "src/engine/index.ts",
  "spillway/laws": "src/laws/index.ts",
  "spillway/scenario": "src/scenario/index.ts",
};

/** Marks of what depends on real time or on other programs. */
const apart = /^\/\/ @module-tag (?!waiting$)|runner\.mjs/m;
/** A module that is named by its path: a thread's, a worker process's, k6's entry. */
const byPath = /"(\.[\w./-]+)\.js"/g;

export class Nets {
  /** Files that import a file, by its path. */
  readonly #importers = new Map<string, string[]>();
  /** Files that a file imports, by its path. */
  readonly #imports = new Map<string, string[]>();
  readonly #apart = new Set<string>();
  /** All test files. */
  readonly tests: readonly string[];

  /** @param files all TypeScript of the repository */
  constructor(files: Sources) {
    for (const [path, text] of files)
      for (const name of modulesOf(path, text)) {
        const target = packages[name] ?? (name.startsWith(".") ? join(dirname(path), name) : null);
        if (target === null || !files.has(target)) continue;
        listIn(this.#importers, target).push(path);
        listIn(this.#imports, path).push(target);
      }
    for (const [path, text] of files)
      if (path.startsWith("test/") && apart.test(text))
        for (const importer of distancesFrom(path, this.#importers).keys()) this.#apart.add(importer);
    this.tests = [...files.keys()].filter((path) => path.endsWith(".test.ts")).sort();
  }

  /** Tells whether a test file depends on real time or on other programs: it may fail by itself. */
  isApart(test: string): boolean {
    return this.#apart.has(test);
  }

  /** A file and all that it imports, directly or not. */
  importsOf(path: string): string[] {
    return [...distancesFrom(path, this.#imports).keys()].sort();
  }

  /** A file and all that import it, directly or not. */
  dependentsOf(path: string): string[] {
    return [...distancesFrom(path, this.#importers).keys()];
  }

  /**
   * The test files for a source's mutants, the near and cheap ones first. Those of its own room count as nearer than
   * others, and of a verb those of the room that it is named after. Those that may fail by themselves come last.
   * @param costMs how long a test file takes, as far as that is known
   * @param runs tells whether a test file runs the mutant's place; `null` where that is not known: those of the room and
   *   those that import the source are asked
   */
  of(path: string, costMs: (test: string) => number, runs: (test: string) => boolean | null): string[] {
    const distances = distancesFrom(path, this.#importers);
    const room = roomOf(path);
    const verbs = room === "cli" ? basename(path, ".ts").split("-") : [];
    const ranked = this.tests.flatMap((test) => {
      const distance = distances.get(test);
      const isOwn = roomOf(test) === room;
      if (!(runs(test) ?? (isOwn || distance !== undefined))) return [];
      const weight = verbs.includes(roomOf(test)) ? 1 : isOwn ? 2 : 8;
      const score = weight * (distance ?? unreached) * (1 + costMs(test));
      return [{ test, isApart: this.isApart(test), score }];
    });
    return ranked
      .sort((a, b) => Number(a.isApart) - Number(b.isApart) || a.score - b.score)
      .map(({ test }) => test);
  }
}

/** Steps to a test file that runs a source without importing it. */
const unreached = 10;

function listIn(lists: Map<string, string[]>, key: string): string[] {
  const list = lists.get(key) ?? [];
  lists.set(key, list);
  return list;
}

/** Counts the steps from a file to each that it leads to. */
function distancesFrom(
  path: string,
  next: ReadonlyMap<string, readonly string[]>,
): ReadonlyMap<string, number> {
  const distances = new Map([[path, 0]]);
  for (const [file, distance] of distances)
    for (const one of next.get(file) ?? []) if (!distances.has(one)) distances.set(one, distance + 1);
  return distances;
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
