// Findings of a run of the matrix so far, kept in a file, so that an interrupted run can go on.
import { mkdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { writeWhole } from "./matrix-report.ts";
import type { Settings } from "./matrix-settings.ts";

/** Shows one line that is written again if a person looks at it; else nothing. */
export function progress(text: string): void {
  if (process.stderr.isTTY === true) process.stderr.write(`\r\u001b[2K${text}`);
}

/** Findings so far, in a file beside the report, so that `--resume` need not find it again. */
export class Kept {
  readonly #file: string | null;
  readonly #cells: Map<string, unknown>;
  #written: Promise<void> = Promise.resolve();

  private constructor(file: string | null, cells: Map<string, unknown>) {
    this.#file = file;
    this.#cells = cells;
  }

  static async open({ out, resume, seed, seeds, lawRuns, k6Ms, driver }: Settings): Promise<Kept> {
    if (out === null) return new Kept(null, new Map());
    await mkdir(out, { recursive: true });
    const file = join(out, `partial-${driver ?? "any"}-${seed}-${seeds}-${lawRuns}-${k6Ms}.json`);
    const text = resume ? await readFile(file, "utf8").catch(() => "[]") : "[]";
    return new Kept(file, new Map(JSON.parse(text) as [string, unknown][]));
  }

  /** Returns the finding that is kept under this name, or else `find`'s. */
  async cell<T>(name: string, find: () => Promise<T>): Promise<T> {
    if (this.#cells.has(name)) return this.#cells.get(name) as T;
    progress(name);
    const found = await find();
    if (process.stderr.isTTY !== true) console.error(name);
    this.#cells.set(name, found);
    await this.#write();
    return found;
  }

  /** One write after the other: several hands keep what they find. */
  #write(): Promise<void> {
    const file = this.#file;
    if (file !== null)
      this.#written = this.#written.then(() => writeWhole(file, JSON.stringify([...this.#cells])));
    return this.#written;
  }

  async forget(): Promise<void> {
    if (this.#file !== null) await rm(this.#file, { force: true });
  }
}
