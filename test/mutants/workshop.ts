// A copy of the repository that mutants are put into: the checkout itself is never changed.
import { cp, mkdtemp, readdir, readFile, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Sources } from "./drawing.ts";

/** The built program stays, without mutants: some tests start it beside others that run commands themselves. */
const isLeftOut = (path: string): boolean => /(^|[\\/])(node_modules|\.git|\.vite)$/.test(path);

export class Workshop {
  readonly root: string;
  /** All TypeScript of it, by path. */
  readonly files: Sources;

  private constructor(root: string, files: Sources) {
    this.root = root;
    this.files = files;
  }

  /** @param checkout the repository's folder, with its node_modules */
  static async of(checkout: string): Promise<Workshop> {
    const root = await realpath(await mkdtemp(join(tmpdir(), "spillway-mutants-")));
    await cp(checkout, root, { recursive: true, filter: (from) => from === checkout || !isLeftOut(from) });
    await symlink(join(checkout, "node_modules"), join(root, "node_modules"), "junction");
    const files = new Map<string, string>();
    for (const top of ["src", "sim", "scenarios", "test"])
      for (const name of await readdir(join(root, top), { recursive: true, encoding: "utf8" }))
        if (name.endsWith(".ts")) {
          const path = `${top}/${name.replaceAll("\\", "/")}`;
          files.set(path, await readFile(join(root, path), "utf8"));
        }
    return new Workshop(root, files);
  }

  /** The sources that have mutants. */
  get sources(): Sources {
    return new Map([...this.files].filter(([path]) => path.startsWith("src/") || path.startsWith("sim/")));
  }

  write(path: string, text: string): Promise<void> {
    return writeFile(join(this.root, path), text);
  }

  remove(): Promise<void> {
    return rm(this.root, { recursive: true, force: true });
  }
}
