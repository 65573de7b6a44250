// Takes each log once: a file may be given twice, by another name of it, or as a copy.
import { createHash } from "node:crypto";
import { realpath } from "node:fs/promises";
import { type LogSource, sourceOf } from "./log-bytes.ts";

interface DistinctLogs {
  readonly sources: readonly LogSource[];
  /** Words on the files that are left out. */
  readonly notes: readonly string[];
}

/**
 * Opens files, each once.
 * @throws SpillwayError `FILE_UNREADABLE`
 */
export async function sourcesOf(
  paths: readonly string[],
  signal: AbortSignal | undefined,
): Promise<DistinctLogs> {
  const sources: LogSource[] = [];
  const notes: string[] = [];
  const byPlace = new Map<string, string>();
  const digests = new Map<LogSource, string>();
  for (const path of paths) {
    const place = path === "-" ? path : await realpath(path).catch(() => path);
    const same = byPlace.get(place);
    if (same !== undefined) {
      notes.push(
        same === path ? `${path} is given twice, and read once.` : `${path} is ${same}, which is read once.`,
      );
      continue;
    }
    byPlace.set(place, path);
    const source = await sourceOf(path, signal);
    const copied = await copiedBy(source, sources, digests);
    if (copied === null) sources.push(source);
    else notes.push(`${path} is a copy of ${copied.name}, which is read once.`);
  }
  return { sources, notes };
}

/** Returns the file that has the same bytes; `null` if none has. Only files of one size are read for that, each once. */
async function copiedBy(
  source: LogSource,
  others: readonly LogSource[],
  digests: Map<LogSource, string>,
): Promise<LogSource | null> {
  const alike = others.filter(({ bytes }) => bytes > 0 && bytes === source.bytes);
  for (const one of alike.length === 0 ? [] : [source, ...alike])
    if (!digests.has(one)) digests.set(one, await digestOf(one));
  return alike.find((other) => digests.get(other) === digests.get(source)) ?? null;
}

async function digestOf({ open }: LogSource): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of open()) hash.update(chunk);
  return hash.digest("hex");
}
