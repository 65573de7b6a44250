// Imports a file twice, with a change between: `node --experimental-vm-modules test/support/run.mjs THIS ROOT FILE CHANGED`.
// Prints what the modules said when they were evaluated.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Modules } from "./modules.ts";

export async function run([root = "", file = "", changed = "", text = ""]: string[]): Promise<void> {
  const modules = new Modules(root);
  await modules.import(modules.fileOf(file));
  console.log("changed");
  await writeFile(modules.fileOf(changed), text);
  modules.forget([file, changed].map((path) => modules.fileOf(path)));
  await modules.import(join(root, file));
}
