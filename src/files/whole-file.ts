// Files written whole or not at all. Each is filled under a new name that nobody can foresee (`wx`), and then renamed.
// A link in its place is replaced and never followed, and an older file stays until all is written.
import { randomBytes } from "node:crypto";
import { lstat, mkdir, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { SpillwayError } from "../rules/errors.ts";
import { unwritable } from "./unwritable.ts";

/** Text at once, or in pieces. */
export type FileContent = string | AsyncIterable<string | Uint8Array>;

/**
 * Writes a file whole or not at all, and makes the folders on its way.
 * @throws SpillwayError `FILE_UNWRITABLE`; an older file is then untouched
 */
export async function writeWhole(path: string, content: FileContent): Promise<void> {
  await writing(path, async () => {
    await makeFolder(dirname(path));
    const found = await stat(path).catch(() => null);
    // A device or a pipe, such as /dev/stdout, cannot be replaced, so it is written to.
    if (found !== null && !found.isFile() && !found.isDirectory()) return writeFile(path, content);
    const partial = join(dirname(path), `.${randomBytes(8).toString("hex")}.part`);
    try {
      await writeFile(partial, content, { flag: "wx" });
      await rename(partial, path);
    } catch (error) {
      await rm(partial, { force: true }).catch(() => undefined);
      throw error;
    }
  });
}

/**
 * Writes a new file, whole or not at all.
 * @throws SpillwayError `FILE_UNWRITABLE`, also if there is a file already
 */
export async function writeNew(path: string, content: FileContent): Promise<void> {
  await writing(path, async () => {
    await makeFolder(dirname(path));
    try {
      await writeFile(path, content, { flag: "wx" });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "EEXIST") throw taken(path);
      await rm(path, { force: true }).catch(() => undefined);
      throw error;
    }
  });
}

const taken = (path: string): SpillwayError =>
  new SpillwayError("FILE_UNWRITABLE", "nothing is overwritten", {
    problem: { path, got: "a file that is already there", allowed: "a path where there is no file" },
    hint: "name another place",
  });

/**
 * Makes a folder and those on its way. Node's own recursive `mkdir` never ends under /proc.
 * @returns the folders that were made, outermost first
 * @throws SpillwayError `FILE_UNWRITABLE`
 */
export async function makeFolder(path: string): Promise<string[]> {
  const missing: string[] = [];
  const made: string[] = [];
  await writing(path, async () => {
    for (let at = resolve(path); at !== missing.at(-1) && !(await isFolder(at)); at = dirname(at))
      missing.push(at);
    for (const folder of missing.reverse())
      await mkdir(folder).then(
        () => made.push(folder),
        async (cause: NodeJS.ErrnoException) => {
          // Somebody else may have made it meanwhile.
          if (cause.code !== "EEXIST" || !(await isFolder(folder))) throw cause;
        },
      );
  });
  return made;
}

/**
 * Makes a folder whose name no user chose, and refuses a link in its place, which might lead anywhere.
 * @throws SpillwayError `FILE_UNWRITABLE`
 */
export async function makeOwnFolder(path: string): Promise<void> {
  await makeFolder(path);
  await requireNoLink(path);
}

/** Refuses a folder that is a link, and may lead anywhere. @throws SpillwayError `FILE_UNWRITABLE` */
export async function requireNoLink(path: string): Promise<void> {
  if ((await lstat(path).catch(() => null))?.isSymbolicLink() !== true) return;
  throw new SpillwayError("FILE_UNWRITABLE", "this folder cannot be written", {
    problem: { path, got: "a symbolic link", allowed: "a folder" },
  });
}

/** Tells whether there is a folder; `false` if nothing is there. @throws Error of the file system for something else */
async function isFolder(path: string): Promise<boolean> {
  const found = await stat(path).catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === "ENOENT") return null;
    throw cause;
  });
  if (found === null) return false;
  if (found.isDirectory()) return true;
  throw Object.assign(new Error(`${path} is no folder`), { code: "ENOTDIR" });
}

/**
 * Runs a function that writes a file or a folder.
 * @throws SpillwayError `FILE_UNWRITABLE` naming the path for an error of the system; any other error unchanged
 */
export async function writing<T>(path: string, write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    // An error of the content's source is no fault of the file.
    if (code === undefined || cause instanceof SpillwayError) throw cause;
    throw unwritable("a file", path, cause);
  }
}
