// The place of a result, for every verb that makes a folder of its own.
import type { FolderWriter } from "../files/folder-writer.ts";
import { openResult, type ResultKind } from "../report/result-writer.ts";

/** Place of a result. */
export interface RunPlace {
  /** As it was named; a folder of its own, after `name` and the time, where it was not. */
  readonly out?: string | undefined;
  /** The scenario's, or whatever the result is about. */
  readonly name: string;
  /** Replaces files that are of no result of spillway. */
  readonly force?: boolean | undefined;
}

/**
 * Begins to write a result: into the folder that was named, or into `reports/<name>-20260102-030405`, in UTC, which
 * nobody else has.
 * @throws SpillwayError as `openResult`
 */
export function openPlace({ out, name, force = false }: RunPlace, kind: ResultKind): Promise<FolderWriter> {
  if (out !== undefined) return openResult(out, kind, { force });
  const time = new Date().toISOString().slice(0, 19).replace(/[-:]/g, "").replace("T", "-");
  return openResult(`reports/${name}-${time}`, kind, { isFresh: true });
}
