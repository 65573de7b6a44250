// A folder of results, written so that an earlier result stays whole until the new one is. All parts are written into a
// new and private hidden folder inside, `.unfinished-WRITER`. When all are there, they replace the earlier ones. The
// hidden folder is also the lock, and its name says who holds it. If a writer was killed, the next one puts its parts
// in place if all are there; otherwise they stay until the next one's own are in place. A folder that holds links is
// refused.
import { lstat, mkdir, readdir, rename, rm, rmdir, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { SpillwayError } from "../rules/errors.ts";
import { type FileContent, makeFolder, writing } from "./whole-file.ts";
import { isOwn, mayLive, type Writer, writerName, writerOf } from "./writer-name.ts";

/** Parts of a folder of results. */
export interface FolderNames {
  /** Files that make the folder whole. They are removed first, and put in place last. */
  readonly seals: readonly string[];
  /** Folders inside the folder. */
  readonly folders: readonly string[];
}

/** Earlier parts that are removed if nothing new replaces them. */
export interface Outdated {
  readonly files: readonly string[];
  /** Names to remove from each folder inside; all other files there are kept. */
  readonly within: Readonly<Record<string, readonly string[]>>;
}

const prefix = ".unfinished-";
/** File in a hidden folder that says that all parts are there. */
const mark = ".whole";
/** Prefix of a folder that is being replaced. */
const setAside = ".old-";
/** Number of attempts at the lock. Two writers that begin at the same instant both step back for a random time. */
const attemptsMost = 4;
const stepBackMs = 40;

/** Hidden folders that this process is writing. */
const openHere = new Set<string>();

export class FolderWriter {
  readonly folder: string;
  /** The hidden folder. Its name is known only to those who get it here, and they may write there in any way. */
  readonly staging: string;
  readonly #names: FolderNames;
  /** Folders that were made for this one, outermost first. */
  readonly #made: readonly string[];
  #isOpen = true;

  private constructor(folder: string, staging: string, names: FolderNames, made: readonly string[]) {
    this.folder = folder;
    this.staging = staging;
    this.#names = names;
    this.#made = made;
  }

  /**
   * Begins to write a folder, which is made if need be.
   * @param isFresh true to make another folder, `FOLDER-2`, if there is one already
   * @throws SpillwayError `FOLDER_IN_USE` naming who writes it; `FILE_UNWRITABLE`, also if it holds links
   */
  static async open(path: string, names: FolderNames, isFresh = false): Promise<FolderWriter> {
    const { folder, made } = isFresh ? await makeFresh(path) : { folder: path, made: await makeFolder(path) };
    await requireNoLinks(folder, names.folders);
    const writer = new FolderWriter(folder, await lock(folder), names, made);
    try {
      await placeOthers(folder, names);
    } catch (error) {
      await writer.close();
      throw error;
    }
    return writer;
  }

  /** Writes a part. Its name may be in a folder: `pictures/waits.svg`. @throws SpillwayError `FILE_UNWRITABLE` */
  async write(name: string, content: FileContent): Promise<void> {
    const path = join(this.staging, name);
    await writing(join(this.folder, name), async () => {
      // Node's own recursive `mkdir` never ends if the working folder was deleted.
      if (dirname(name) !== ".")
        await mkdir(dirname(path)).catch((cause: NodeJS.ErrnoException) => {
          if (cause.code !== "EEXIST") throw cause;
        });
      await writeFile(path, content);
    });
  }

  /**
   * Refuses the folder if one of these names is there and is no plain file.
   * @throws SpillwayError `FILE_UNWRITABLE`
   */
  async requirePlain(files: readonly string[]): Promise<void> {
    await requireReplaceable(this.folder, this.#names, files);
  }

  /** Puts all parts in their places, and removes the outdated ones. @throws SpillwayError `FILE_UNWRITABLE` */
  async commit(outdated: Outdated): Promise<void> {
    const { folder } = this;
    await requireNoLinks(folder, this.#names.folders);
    await requireReplaceable(folder, this.#names, [...(await readdir(this.staging)), ...outdated.files]);
    await writing(folder, async () => {
      await writeFile(join(this.staging, mark), "");
      // A later process may put the parts in place from here on.
      this.#isOpen = false;
      await place(folder, this.staging, this.#names, outdated);
      await removeUnfinished(folder);
    });
  }

  /** Keeps the parts in the hidden folder, for people to look at, until the next result is put in place. */
  leave(): void {
    this.#isOpen = false;
  }

  /** Ends writing. Parts that are not in their places are removed, unless they were left. */
  async close(): Promise<void> {
    openHere.delete(resolve(this.staging));
    if (!this.#isOpen) return;
    await rm(this.staging, { recursive: true, force: true });
    // Nobody asked for an empty folder.
    for (const made of this.#made.toReversed()) await rmdir(made).catch(() => undefined);
  }
}

/** Returns the hidden folders of runs that did not end, the youngest first. */
export async function hiddenFolders(folder: string): Promise<string[]> {
  const found = (await hiddenIn(folder)).map(async ({ path }) => ({ path, ms: (await lstat(path)).mtimeMs }));
  return (await Promise.all(found)).sort((a, b) => b.ms - a.ms).map(({ path }) => path);
}

async function makeFresh(path: string): Promise<{ folder: string; made: readonly string[] }> {
  const made = await makeFolder(dirname(path));
  for (let number = 1; ; number++) {
    const folder = number === 1 ? path : `${path}-${number}`;
    const isMade = await writing(folder, () =>
      mkdir(folder).then(
        () => true,
        (cause: NodeJS.ErrnoException) => {
          if (cause.code !== "EEXIST") throw cause;
          return false;
        },
      ),
    );
    if (isMade) return { folder, made: [...made, folder] };
  }
}

/** Makes the hidden folder. A writer that finds another one of a living writer beside it has lost. */
async function lock(folder: string): Promise<string> {
  for (let attempt = 1; ; attempt++) {
    const staging = join(folder, `${prefix}${writerName()}`);
    await writing(folder, () => mkdir(staging, { mode: 0o700 }));
    openHere.add(resolve(staging));
    const holder = (await hiddenIn(folder)).find(
      ({ path, writer }) => path !== staging && isHeld(path, writer),
    );
    if (holder === undefined) return staging;
    openHere.delete(resolve(staging));
    await rmdir(staging);
    if (attempt === attemptsMost) throw inUse(folder, holder);
    await wait(Math.random() * stepBackMs);
  }
}

interface Hidden {
  readonly path: string;
  readonly writer: Writer;
}

async function hiddenIn(folder: string): Promise<Hidden[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  return entries.flatMap((entry) => {
    const writer = entry.name.startsWith(prefix) ? writerOf(entry.name.slice(prefix.length)) : null;
    return writer === null || !entry.isDirectory() ? [] : [{ path: join(folder, entry.name), writer }];
  });
}

const isHeld = (path: string, writer: Writer): boolean =>
  isOwn(writer) ? openHere.has(resolve(path)) : mayLive(writer);

function inUse(folder: string, { path, writer }: Hidden): SpillwayError {
  const { pid, host } = writer;
  return new SpillwayError("FOLDER_IN_USE", "another command is writing this folder", {
    problem: {
      path: folder,
      got: `process ${pid} on ${host}`,
      allowed: "a folder that nobody else is writing",
    },
    hint: `wait for it, or name another folder; where there is no such process any more, remove ${path}`,
  });
}

/** Puts in place what dead writers had finished. */
async function placeOthers(folder: string, names: FolderNames): Promise<void> {
  for (const { path, writer } of await hiddenIn(folder)) {
    if (isHeld(path, writer) || !(await exists(join(path, mark)))) continue;
    const inside = names.folders.flatMap((name) => [name, `${setAside}${name}`]);
    await requireNoLinks(path, inside);
    await requireReplaceable(folder, names, await readdir(path));
    await writing(path, () => place(folder, path, names, { files: [], within: {} }));
  }
}

/** Removes what dead writers had not finished, since a whole result is in place now. */
async function removeUnfinished(folder: string): Promise<void> {
  for (const { path, writer } of await hiddenIn(folder))
    if (!isHeld(path, writer)) await rm(path, { recursive: true, force: true });
}

/**
 * Puts the parts of a hidden folder in their places. It may be ended at any instant and begun again. Seals are removed
 * first and put in place last, so that a folder with a seal is of one piece.
 */
async function place(
  folder: string,
  whole: string,
  { seals, folders }: FolderNames,
  { files, within }: Outdated,
): Promise<void> {
  const isPart = (name: string): boolean => !name.startsWith(".") && !folders.includes(name);
  const parts = (await readdir(whole)).filter(isPart);
  const newSeals = parts.filter((name) => seals.includes(name));
  if (newSeals.length > 0) for (const seal of seals) await rm(join(folder, seal), { force: true });
  for (const name of files) if (!parts.includes(name)) await rm(join(folder, name), { force: true });
  for (const name of folders) await placeFolder(folder, whole, name, within[name] ?? []);
  for (const name of parts) if (!seals.includes(name)) await rename(join(whole, name), join(folder, name));
  for (const name of newSeals) await rename(join(whole, name), join(folder, name));
  await rm(whole, { recursive: true, force: true });
}

/** Puts a folder inside in its place. The earlier one is set aside; other people's files move to the new one. */
async function placeFolder(
  folder: string,
  whole: string,
  name: string,
  outdated: readonly string[],
): Promise<void> {
  const [there, next, old] = [join(folder, name), join(whole, name), join(whole, `${setAside}${name}`)];
  const isSetAside = await exists(old);
  if (!(await exists(next))) {
    if (isSetAside || outdated.length === 0 || !(await exists(there))) return;
    await mkdir(next);
  }
  if (!isSetAside && (await exists(there))) await rename(there, old);
  const kept = (await exists(old)) ? await readdir(old) : [];
  for (const entry of kept)
    if (!outdated.includes(entry) && !(await exists(join(next, entry))))
      await rename(join(old, entry), join(next, entry));
  await rename(next, there);
  if ((await readdir(there)).length === 0) await rmdir(there);
}

const exists = (path: string): Promise<boolean> =>
  lstat(path).then(
    () => true,
    () => false,
  );

/** Refuses links, which may lead anywhere: the folder's maker and its writer may be different people. */
async function requireNoLinks(folder: string, inside: readonly string[]): Promise<void> {
  for (const place of [folder, ...inside.map((name) => join(folder, name))]) {
    const entries = await readdir(place, { withFileTypes: true }).catch((cause: NodeJS.ErrnoException) => {
      // `requireReplaceable` finds a place that is no folder.
      if (place !== folder && (cause.code === "ENOENT" || cause.code === "ENOTDIR")) return [];
      return writing(place, () => Promise.reject(cause));
    });
    const link = entries.find((entry) => entry.isSymbolicLink());
    if (link !== undefined) throw notReplaceable(join(place, link.name), "a symbolic link");
  }
}

async function requireReplaceable(
  folder: string,
  { seals, folders }: FolderNames,
  names: readonly string[],
): Promise<void> {
  // A new seal replaces every seal.
  const replaced = names.some((name) => seals.includes(name)) ? [...names, ...seals] : names;
  for (const name of [...replaced, ...folders]) {
    const path = join(folder, name);
    const found = await lstat(path).catch(() => null);
    if (found === null) continue;
    const isFit = folders.includes(name) ? found.isDirectory() : found.isFile();
    if (!isFit) throw notReplaceable(path, found.isDirectory() ? "a folder" : "something else");
  }
}

const notReplaceable = (path: string, got: string): SpillwayError =>
  new SpillwayError("FILE_UNWRITABLE", "this folder cannot be written", {
    problem: { path, got, allowed: "plain files and folders of spillway's own" },
    hint: "remove it, or name another folder",
  });
