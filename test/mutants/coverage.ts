// Parts of modules that a test file runs, in its own process and in those that it starts: V8 counts, and Node
// writes the counts where NODE_V8_COVERAGE says. What was measured is kept in a file, since it takes minutes.
import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Bench } from "./bench.ts";
import { builtText } from "./built-text.ts";
import { type Mutation, mutated } from "./mutations.ts";
import type { Nets } from "./nets.ts";
import { moduleOf, type Workshop } from "./workshop.ts";

/** Places of a text that were run: start, end, start, end, ... in order. */
export type Spans = readonly number[];

interface Measured {
  /** Mark of the test file's text, and of what it imports from `test`. */
  readonly key: string;
  readonly ms: number;
  /** False where the file fails without a mutant. */
  readonly passes: boolean;
  /** Mark of a source's text and what was run of its module, by the source's path. */
  readonly ran: Readonly<Record<string, { readonly key: string; readonly spans: Spans }>>;
}

/** File that Node writes for one process. */
interface Written {
  readonly result: readonly {
    readonly url: string;
    readonly functions: readonly { readonly ranges: readonly CountedRange[] }[];
  }[];
}

interface CountedRange {
  readonly startOffset: number;
  readonly endOffset: number;
  readonly count: number;
}

/** Test files that are measured at a time: many of them mostly wait. */
const lanes = 2;
/** A file that takes longer hangs. The longest take minutes while V8 counts, and more on a busy machine. */
const hangsMs = 1_200_000;

const markOf = (text: string): string => createHash("sha256").update(text).digest("base64url").slice(0, 12);

/** The places that were run: the innermost range of a place has its count. */
export function spansOf(ranges: readonly CountedRange[]): Spans {
  const inOrder = [...ranges].sort((a, b) => a.startOffset - b.startOffset || b.endOffset - a.endOffset);
  const spans: number[] = [];
  const open: CountedRange[] = [];
  let at = 0;
  const advance = (to: number): void => {
    if (to > at && (open.at(-1)?.count ?? 0) > 0) {
      if (spans.at(-1) === at) spans.pop();
      else spans.push(at);
      spans.push(to);
    }
    at = Math.max(at, to);
  };
  const closeUntil = (end: number): void => {
    for (let last = open.at(-1); last !== undefined && last.endOffset <= end; last = open.at(-1)) {
      advance(last.endOffset);
      open.pop();
    }
  };
  for (const range of inOrder) {
    closeUntil(range.startOffset);
    advance(range.startOffset);
    open.push(range);
  }
  closeUntil(Number.POSITIVE_INFINITY);
  return spans;
}

/** The places that are in either. */
export function unionOf(one: Spans, other: Spans): Spans {
  const pairs = [one, other].flatMap((spans) =>
    spans.flatMap((start, at) => (at % 2 === 0 ? [{ start, end: spans[at + 1] ?? start }] : [])),
  );
  const union: number[] = [];
  for (const { start, end } of pairs.sort((a, b) => a.start - b.start)) {
    const last = union.at(-1);
    if (last === undefined || start > last) union.push(start, end);
    else if (end > last) union[union.length - 1] = end;
  }
  return union;
}

const has = (spans: Spans, place: number): boolean =>
  spans.some((start, at) => at % 2 === 0 && start <= place && place < (spans[at + 1] ?? start));

export class Coverage {
  readonly #workshop: Workshop;
  readonly #nets: Nets;
  readonly #file: string;
  readonly #measured: Map<string, Measured>;
  /** Marks of test files as they are now. */
  readonly #keys = new Map<string, string>();

  private constructor(workshop: Workshop, nets: Nets, file: string, measured: Map<string, Measured>) {
    this.#workshop = workshop;
    this.#nets = nets;
    this.#file = file;
    this.#measured = measured;
  }

  /** @param file what earlier runs measured; it need not exist */
  static async of(workshop: Workshop, nets: Nets, file: string): Promise<Coverage> {
    const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return "{}";
      throw error;
    });
    const known = new Map(Object.entries(JSON.parse(text) as Record<string, Measured>));
    return new Coverage(workshop, nets, file, known);
  }

  /** Ms that a test file took, where it was measured. */
  msOf(test: string): number | undefined {
    return this.#measured.get(test)?.ms;
  }

  /** True for a test file that passes without any mutant here, by file; others say nothing. */
  get passing(): Map<string, boolean> {
    return new Map([...this.#measured].map(([test, { passes }]) => [test, passes]));
  }

  /**
   * Measures test files that were not measured yet, or whose text is another one now. One that failed stays unasked.
   * @param tell is told of each
   * @param signal ends it; what was measured until then is kept
   */
  async measure(tests: readonly string[], tell: (text: string) => void, signal: AbortSignal): Promise<void> {
    const { root } = this.#workshop;
    const stale = tests.filter((test) => this.#measured.get(test)?.key !== this.#keyOf(test));
    if (stale.length === 0) return;
    const folders = Array.from({ length: lanes }, (_, lane) => join(root, `.coverage-${lane}`));
    const benches = folders.map((folder) => new Bench(root, { NODE_V8_COVERAGE: folder }));
    let done = 0;
    const work = async (bench: Bench, lane: number): Promise<void> => {
      const folder = folders[lane] ?? "";
      for (let test = stale.shift(); test !== undefined && !signal.aborted; test = stale.shift()) {
        await rm(folder, { recursive: true, force: true });
        await mkdir(folder);
        const { failed, ms } = await bench.run({ test, changed: [] }, hangsMs);
        const key = this.#keyOf(test);
        const ran = await this.#ranIn(folder);
        this.#measured.set(test, { key, ms, passes: failed === null, ran });
        done += 1;
        tell(`${done} of ${done + stale.length}  ${failed === null ? "measured" : "fails"}  ${test}`);
      }
    };
    const onAbort = (): void => {
      for (const bench of benches) bench.end();
    };
    signal.addEventListener("abort", onAbort);
    try {
      for (const bench of benches) await bench.start();
      await Promise.all(benches.map(work));
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      signal.removeEventListener("abort", onAbort);
      for (const bench of benches) bench.end();
      await mkdir(dirname(this.#file), { recursive: true });
      await writeFile(this.#file, JSON.stringify(Object.fromEntries(this.#measured)));
    }
  }

  /**
   * Tells of test files whether they run the place of a mutant; of those measured before the module changed, whether
   * they load it. `null` of a file that was not measured as it is now, and of all where none loads the module: other
   * programs may run it, k6 among them.
   */
  async runnersOf(mutation: Mutation): Promise<(test: string) => boolean | null> {
    const { path } = mutation;
    if (![...this.#measured.values()].some(({ ran }) => ran[path] !== undefined)) return () => null;
    const text = this.#workshop.files.get(path) ?? "";
    const place = differenceOf(await builtText(path, text), await builtText(path, mutated(text, mutation)));
    const key = markOf(text);
    return (test) => {
      const measured = this.#measured.get(test);
      if (measured === undefined || measured.key !== this.#keyOf(test)) return null;
      const known = measured.ran[path];
      return known !== undefined && (known.key !== key || has(known.spans, place));
    };
  }

  #keyOf(test: string): string {
    const known = this.#keys.get(test);
    if (known !== undefined) return known;
    const texts = this.#nets.importsOf(test).filter((path) => path.startsWith("test/"));
    const key = markOf(texts.map((path) => this.#workshop.files.get(path) ?? "").join("\0"));
    this.#keys.set(test, key);
    return key;
  }

  async #ranIn(folder: string): Promise<Measured["ran"]> {
    const { files, root, sources } = this.#workshop;
    const pathOf = new Map([...sources.keys()].map((path) => [join(root, moduleOf(path)), path]));
    const ran: Record<string, { key: string; spans: Spans }> = {};
    for (const name of await readdir(folder)) {
      const text = await readFile(join(folder, name), "utf8");
      for (const { url, functions } of resultOf(text)) {
        const path = url.startsWith("file:") ? pathOf.get(fileURLToPath(url)) : undefined;
        if (path === undefined) continue;
        const spans = spansOf(functions.flatMap(({ ranges }) => ranges));
        const before = ran[path]?.spans ?? [];
        ran[path] = { key: markOf(files.get(path) ?? ""), spans: unionOf(before, spans) };
      }
    }
    return ran;
  }
}

/** Reads a process's file; returns nothing if the process was ended while it wrote. */
function resultOf(text: string): Written["result"] {
  try {
    return (JSON.parse(text) as Written).result;
  } catch (error) {
    if (error instanceof SyntaxError) return [];
    throw error;
  }
}

/** The first place where texts differ. */
function differenceOf(one: string, other: string): number {
  let at = 0;
  while (at < one.length && one[at] === other[at]) at++;
  return at;
}
