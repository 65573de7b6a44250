// Writes the folders of runs, plans and replays: their parts, their owners, and the files that a new result replaces.
import { copyFile, link, open, readFile, rm, rmdir, stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { type FolderNames, FolderWriter } from "../files/folder-writer.ts";
import { makeOwnFolder, writeWhole, writing } from "../files/whole-file.ts";
import { SpillwayError } from "../rules/errors.ts";
import { k6Folder, picturesFolder, type Run, runFiles } from "./run.ts";
import { hasFile } from "./run-folder.ts";

/** Name of the file that makes a folder whole, by what the folder holds. */
export const resultFiles = {
  run: runFiles.record,
  plan: "plan.json",
  replay: "replay.json",
  swarm: "swarm.json",
  audit: "audit.json",
} as const;
export type ResultKind = keyof typeof resultFiles;

/** File of a plan's points. It shows whose a folder is if the plan did not end. */
export const pointsFile = "points.ndjson";
const tables = ["points.csv", "users.csv", "windows.csv"];
const documents = [runFiles.html, runFiles.markdown, runFiles.junit];
const names: FolderNames = { seals: Object.values(resultFiles), folders: [picturesFolder, k6Folder] };
const otherFiles = [runFiles.trace, runFiles.verdict, runFiles.summary, ...documents, ...tables];

export interface OpenResultOptions {
  /** True to make another folder, `FOLDER-2`, if there is one already. */
  readonly isFresh?: boolean;
  /** True to replace files that belong to no result of this kind. */
  readonly force?: boolean;
}

/**
 * Begins to write a folder.
 * @throws SpillwayError `FOLDER_IN_USE`; `FILE_UNWRITABLE`, also for somebody else's files that would be replaced
 */
export async function openResult(
  path: string,
  kind: ResultKind,
  { isFresh = false, force = false }: OpenResultOptions = {},
): Promise<FolderWriter> {
  const writer = await FolderWriter.open(path, names, isFresh);
  try {
    if (!force) await requireOwn(writer.folder, kind);
    await writer.requirePlain(replacedBy(kind));
    return writer;
  } catch (error) {
    await writer.close();
    throw error;
  }
}

/** Returns the names that a result of this kind replaces. */
const replacedBy = (kind: ResultKind): readonly string[] => [
  ...names.seals,
  ...otherFiles,
  ...(kind === "plan" ? [pointsFile] : []),
];

async function requireOwn(folder: string, kind: ResultKind): Promise<void> {
  const mark = new RegExp(`^\\s*\\{\\s*"format":\\s*"spillway-${kind}\\b`);
  for (const name of [resultFiles[kind], pointsFile])
    if (mark.test(await beginningOf(join(folder, name)))) return;
  const inTheWay: string[] = [];
  for (const name of replacedBy(kind)) if (await isThere(join(folder, name))) inTheWay.push(name);
  if (inTheWay.length === 0) return;
  throw new SpillwayError("FILE_UNWRITABLE", `the folder holds files that are of no ${kind} of spillway`, {
    problems: inTheWay.map((name) => ({
      path: join(folder, name),
      got: "a file that would be replaced",
      allowed: `a folder without it, or with the ${resultFiles[kind]} of a ${kind}`,
    })),
    hint: "name another folder; --force replaces these files",
  });
}

const isThere = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );

/** Returns the first characters of a plain file; none if there is no such file. */
async function beginningOf(path: string): Promise<string> {
  if ((await stat(path).catch(() => null))?.isFile() !== true) return "";
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(200));
    return buffer.toString("utf8", 0, bytesRead);
  } finally {
    await file.close();
  }
}

/**
 * Puts a whole result in place of what the folder held.
 * @param ofK6 the names in the folder `k6` that are k6's; others are kept
 */
export async function placeResult(writer: FolderWriter, ofK6: readonly string[] = []): Promise<void> {
  const ofPage = await linkedPictures(join(writer.folder, runFiles.html), picturesFolder);
  await writer.commit({ files: otherFiles, within: { [picturesFolder]: ofPage, [k6Folder]: ofK6 } });
}

/**
 * Writes documents alone and puts them in place.
 * @param out another place of the page, as `writePage` gets it
 * @throws SpillwayError `FILE_UNWRITABLE`, `FOLDER_IN_USE`, and what `write` throws
 */
export async function writeDocuments<T>(
  folder: string,
  out: string | undefined,
  write: (writer: FolderWriter) => Promise<T>,
): Promise<T> {
  const writer = await FolderWriter.open(folder, names);
  try {
    const made = await write(writer);
    const page = join(folder, runFiles.html);
    const ofPage = out === undefined ? await linkedPictures(page, picturesFolder) : [];
    await writer.commit({ files: [], within: { [picturesFolder]: ofPage } });
    return made;
  } finally {
    await writer.close();
  }
}

/** Returns the pictures that a page links in the folder beside it. Other files there may be somebody else's. */
async function linkedPictures(html: string, beside: string): Promise<string[]> {
  // A file that is not plain, as in `--out /dev/stdout`, is no page yet, and might never end.
  const page = (await hasFile(html)) ? await readFile(html, "utf8").catch(() => "") : "";
  const linked = page.matchAll(/href="([^"/]+)\/([a-z][a-z0-9-]*\.(?:svg|csv))"/g);
  return Array.from(linked).flatMap(([, folder, name = ""]) => (folder === beside ? [name] : []));
}

/** Lines of a trace without their ends; or a finished file, which is moved into the folder. */
export type TraceLines = Iterable<string> | AsyncIterable<string> | { readonly moveFrom: string };

export interface RunParts extends Run {
  readonly trace: TraceLines;
}

/**
 * Writes a run's data into its folder, which is made if need be. Once all is written, it replaces an earlier run there,
 * and even files of another kind. `writeReport` adds the documents for people.
 * @throws SpillwayError `FILE_UNWRITABLE`, naming the file; `FOLDER_IN_USE`
 */
export async function writeRun(folder: string, { trace, ...parts }: RunParts): Promise<void> {
  const writer = await openResult(folder, "run", { force: true });
  const from = "moveFrom" in trace ? trace.moveFrom : null;
  try {
    if ("moveFrom" in trace) await takeTrace(writer, trace.moveFrom);
    else await writer.write(runFiles.trace, endLines(trace));
    await writeParts(writer, parts);
    await placeResult(writer);
  } finally {
    await writer.close();
  }
  if (from !== null && resolve(from) !== resolve(folder, runFiles.trace)) await writing(from, () => rm(from));
}

/** Writes the verdict, the summary and the record of a run. */
export async function writeParts(writer: FolderWriter, { record, summary, verdict }: Run): Promise<void> {
  await writer.write(runFiles.verdict, json(verdict));
  await writer.write(runFiles.summary, json(summary));
  await writer.write(runFiles.record, json(record));
}

/** Returns a value as files keep it. */
export const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

/** Links or copies the trace. The file stays in its place until the run is in its own. */
async function takeTrace(writer: FolderWriter, from: string): Promise<void> {
  const path = join(writer.staging, runFiles.trace);
  await writing(from, () => link(from, path).catch(() => copyFile(from, path)));
}

/** Yields lines with their ends, in chunks that are worth writing. */
export async function* endLines(lines: Iterable<string> | AsyncIterable<string>): AsyncIterable<string> {
  let chunk = "";
  for await (const line of lines) {
    chunk += `${line}\n`;
    if (chunk.length < 65_536) continue;
    yield chunk;
    chunk = "";
  }
  yield chunk;
}

export interface PageOptions {
  /** Path of the HTML, in place of the folder's report.html. */
  readonly out?: string | undefined;
  /** False to write no pictures beside the page, as SVG and CSV. */
  readonly pictures?: boolean | undefined;
}

/** Paths of the files that were written. */
export interface WrittenPage {
  readonly html: string;
  readonly pictures: readonly string[];
}

/**
 * Writes a page and its pictures.
 * @param render gets the name of the pictures' folder beside the page; `null` for none
 * @throws SpillwayError `FILE_UNWRITABLE`, naming the file
 */
export async function writePage(
  writer: FolderWriter,
  { out, pictures = true }: PageOptions,
  render: (beside: string | null) => { readonly html: string; files(): ReadonlyMap<string, string> },
): Promise<WrittenPage> {
  const beside = out === undefined ? picturesFolder : `${basename(out).replace(/\.html?$/, "")}-pictures`;
  if (out !== undefined) await requireNoFolder(out);
  const page = render(pictures ? beside : null);
  const files = pictures ? page.files() : new Map<string, string>();
  const place = join(out === undefined ? writer.folder : dirname(out), beside);
  if (out === undefined) {
    for (const [name, content] of files) await writer.write(join(picturesFolder, name), content);
    await writer.write(runFiles.html, page.html);
  } else await writePageAt(out, place, page.html, files);
  return {
    html: out ?? join(writer.folder, runFiles.html),
    pictures: Array.from(files.keys(), (name) => join(place, name)),
  };
}

async function requireNoFolder(out: string): Promise<void> {
  const isFolder = /[\\/]$/.test(out) || (await stat(out).catch(() => null))?.isDirectory() === true;
  if (!isFolder) return;
  throw new SpillwayError("FILE_UNWRITABLE", "the page cannot be written", {
    problem: { path: out, got: "a folder", allowed: "the path of an .html file" },
  });
}

/** Writes a page to the named place, and its pictures beside it. Removes the pictures of an earlier page there. */
async function writePageAt(
  out: string,
  place: string,
  html: string,
  files: ReadonlyMap<string, string>,
): Promise<void> {
  const earlier = await linkedPictures(out, basename(place));
  if (earlier.length > 0 || files.size > 0) await makeOwnFolder(place);
  // The page comes first. If the rest fails, its links still find the pictures, of which some may be missing.
  await writeWhole(out, html);
  for (const [name, content] of files) await writeWhole(join(place, name), content);
  for (const name of earlier)
    if (!files.has(name)) await writing(place, () => rm(join(place, name), { force: true }));
  await rmdir(place).catch(() => undefined);
}
