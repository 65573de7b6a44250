// Commands as they are typed in a folder of the test's own; what depends on the machine and the hour is left out.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { spillwayHere } from "../support/command.ts";

interface Ran {
  readonly code: number | null;
  /** Lines of standard output, and of standard error. */
  readonly said: readonly string[];
  readonly aside: readonly string[];
  /** Standard output as JSON. */
  json(): never;
}

/** A folder with files, and a way to type commands there. */
export class TypedIn {
  readonly folder: string;

  private constructor(folder: string) {
    this.folder = folder;
  }

  /** @param files texts by their names */
  static async of(files: Readonly<Record<string, string>>): Promise<TypedIn> {
    const folder = await mkdtemp(join(tmpdir(), "spillway-typed-"));
    for (const [name, text] of Object.entries(files))
      await writeFile(join(folder, name), text, { mode: 0o600 });
    return new TypedIn(folder);
  }

  async run(command: string): Promise<Ran> {
    const { stdout, stderr, code } = await spillwayHere(command.split(" "), { cwd: this.folder });
    const steady = (text: string): string[] =>
      text
        .replaceAll(this.folder, "DIR")
        .replace(/127\.0\.0\.1:\d+/g, "HOST")
        .replace(/[\d.,]+ s \([\d.,]+ worlds\/s\)/g, "N s")
        .replace(/\d\d:\d\d:\d\d UTC/g, "TIME")
        .split("\n")
        .slice(0, -1);
    return { code, said: steady(stdout), aside: steady(stderr), json: () => JSON.parse(stdout) as never };
  }

  remove(): Promise<void> {
    return rm(this.folder, { recursive: true, force: true });
  }
}
