// A copy of the repository that mutants are put into: the checkout itself is never changed. It has its own build, which
// is what tests load and start.
import { execFile } from "node:child_process";
import {
  cp,
  link,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  realpath,
  rm,
  symlink,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { builtText } from "./built-text.ts";
import type { Sources } from "./drawing.ts";

const isLeftOut = (path: string): boolean => /(^|[\\/])(node_modules|dist|\.git|\.vite)$/.test(path);
/** The built module of a source. */
export const moduleOf = (path: string): string => `dist/${path.replace(/\.ts$/, ".js")}`;

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
    await linkPackages(join(checkout, "node_modules"), join(root, "node_modules"));
    await promisify(execFile)(process.execPath, [".build.mjs"], { cwd: root });
    const files = new Map<string, string>();
    for (const top of ["src", "sim", "scenarios", "test"])
      for (const name of await readdir(join(root, top), { recursive: true, encoding: "utf8" }))
        if (name.endsWith(".ts")) {
          const path = `${top}/${name.replaceAll("\\", "/")}`;
          files.set(path, await readFile(join(root, path), "utf8"));
        }
    const workshop = new Workshop(root, files);
    await workshop.#buildAsMutants();
    return workshop;
  }

  /** Builds every source as its mutants are built, so that places of their modules compare. Bundled ones stay. */
  async #buildAsMutants(): Promise<void> {
    const build = await readFile(join(this.root, ".build.mjs"), "utf8");
    for (const [path, text] of this.sources)
      if (!build.includes(`"${moduleOf(path)}"`))
        await writeFile(join(this.root, moduleOf(path)), await builtText(path, text));
  }

  /** The sources that have mutants. */
  get sources(): Sources {
    return new Map([...this.files].filter(([path]) => path.startsWith("src/") || path.startsWith("sim/")));
  }

  /** Writes a source and its built module; both stand for as long as the work takes. */
  async with<T>(path: string, text: string, work: () => Promise<T>): Promise<T> {
    const source = join(this.root, path);
    const module = join(this.root, moduleOf(path));
    const built = await readFile(module, "utf8");
    await writeFile(source, text);
    await writeFile(module, await builtText(path, text));
    try {
      return await work();
    } finally {
      await writeFile(source, this.files.get(path) ?? "");
      await writeFile(module, built);
    }
  }

  remove(): Promise<void> {
    return rm(this.root, { recursive: true, force: true });
  }
}

/** A folder of its own, since tests write into its cache and packages ask where they lie. Its files are hard links. */
async function linkPackages(from: string, to: string): Promise<void> {
  await mkdir(to);
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.name === ".cache" || entry.name === ".vite") continue;
    if (entry.isDirectory()) await linkPackages(source, target);
    else if (entry.isSymbolicLink()) await symlink(await readlink(source), target);
    else await link(source, target).catch(() => cp(source, target));
  }
}
