// Modules of a workshop, loaded here instead of by Node, so that a mutant costs a new evaluation of the modules that
// depend on it and of no other. Needs `--experimental-vm-modules`.
import { readFileSync } from "node:fs";
import { createRequire, isBuiltin, syncBuiltinESMExports } from "node:module";
import { dirname, join, relative } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { type Module, SourceTextModule, SyntheticModule } from "node:vm";
import { transformSync } from "esbuild";
import { builtFor, builtOf } from "../support/built.ts";
import { asModule } from "./built-text.ts";

export class Modules {
  readonly #root: string;
  /** By file, or by name of a package. */
  readonly #modules = new Map<string, Module>();
  /** JavaScript of files, by path. */
  readonly #texts = new Map<string, string>();
  /** Ends when all modules are linked: Node links one graph at a time. */
  #linked: Promise<unknown> = Promise.resolve();

  /** @param root the workshop, an absolute path */
  constructor(root: string) {
    this.#root = root;
  }

  /** File of a source's built module, or of another file, by its path in the repository. */
  fileOf(path: string): string {
    return builtOf(`${this.#root}/`, path) ?? join(this.#root, path);
  }

  /** Forgets modules, so that their next import evaluates them again. @param files absolute paths */
  forget(files: Iterable<string>): void {
    for (const file of files) {
      this.#modules.delete(file);
      this.#texts.delete(file);
    }
  }

  /** Forgets modules that were not evaluated to their end. */
  forgetUnfinished(): void {
    for (const [file, { status }] of this.#modules) if (status !== "evaluated") this.#modules.delete(file);
  }

  /** Evaluates a file and all that it imports. @throws what it throws */
  async import(file: string): Promise<Module> {
    const module = await this.#get(file);
    const linked = this.#linked.then(async () => {
      if (module.status === "unlinked")
        await module.link((name, { identifier }) => this.#resolve(name, fileURLToPath(identifier)));
    });
    this.#linked = linked.catch(() => {});
    await linked;
    await module.evaluate();
    return module;
  }

  /** The module that a file imports by a name. */
  #resolve(name: string, from: string): Promise<Module> {
    const built = builtFor(`${this.#root}/`, name, from);
    if (built !== null) return this.#get(built);
    return name.startsWith(".")
      ? this.#get(join(dirname(from), name))
      : this.#kept(name, () => foreign(name));
  }

  #get(file: string): Promise<Module> {
    return this.#kept(file, async () => (/\.[mc]?[jt]s$/.test(file) ? this.#own(file) : foreign(file)));
  }

  async #kept(key: string, make: () => Promise<Module>): Promise<Module> {
    const known = this.#modules.get(key);
    if (known !== undefined) return known;
    const made = await make();
    // Another import may have made it meanwhile.
    const module = this.#modules.get(key) ?? made;
    this.#modules.set(key, module);
    return module;
  }

  #own(file: string): Module {
    const { href } = pathToFileURL(file);
    return new SourceTextModule(this.#textOf(file), {
      identifier: href,
      initializeImportMeta: (meta) => {
        meta.url = href;
        meta.filename = file;
        meta.dirname = dirname(file);
        meta.resolve = (name) => pathToFileURL(createRequire(file).resolve(name)).href;
      },
      importModuleDynamically: (name) => this.#dynamic(name, file),
    });
  }

  async #dynamic(name: string, from: string): Promise<Module> {
    if (name.startsWith("file:")) {
      const path = relative(this.#root, fileURLToPath(name));
      const file = this.fileOf(path);
      // A new query is a new module.
      if (new URL(name).search !== "") this.forget([file]);
      // What users' modules import is Node's to load: their files lie elsewhere.
      return file.startsWith(join(this.#root, "dist/")) ? this.import(file) : foreign(name);
    }
    const module = await this.#resolve(name, from);
    return module instanceof SourceTextModule ? this.import(fileURLToPath(module.identifier)) : module;
  }

  #textOf(file: string): string {
    const known = this.#texts.get(file);
    if (known !== undefined) return known;
    const text = readFileSync(file, "utf8");
    const code = file.endsWith(".ts") ? transformSync(text, asModule).code : text;
    this.#texts.set(file, code);
    return code;
  }
}

/** Node's own modules, and what they export. */
const builtins = new Map<SyntheticModule, Readonly<Record<string, unknown>>>();

/** Does what Node's function of the same name does, for modules that were loaded here, too. */
function syncAll(): void {
  syncBuiltinESMExports();
  for (const [module, loaded] of builtins) exportAll(module, loaded);
}

function exportAll(module: SyntheticModule, loaded: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(loaded))
    module.setExport(name, value === syncBuiltinESMExports ? syncAll : value);
}

/** A module that Node loads: of a package, of its own, or a user's. */
async function foreign(name: string): Promise<Module> {
  const loading: Promise<Record<string, unknown>> = name.endsWith(".json")
    ? import(name, { with: { type: "json" } })
    : import(name);
  const loaded = await loading;
  const module = new SyntheticModule(Object.keys(loaded), () => exportAll(module, loaded), {
    identifier: name,
  });
  if (isBuiltin(name)) builtins.set(module, loaded);
  return linkedOf(module);
}

/** A module that imports nothing, ready for whoever imports it. */
async function linkedOf(module: Module): Promise<Module> {
  if (module.status === "unlinked") await module.link(() => module);
  if (module.status !== "evaluated") await module.evaluate();
  return module;
}
