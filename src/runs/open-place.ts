// The place of a result, for every verb that makes a folder of its own.
import type { FolderWriter } from "../files/folder-writer.ts";
import { openResult, type ResultKind } from "../report/result-writer.ts";

export interface RunPlace {
  /** Folder as it was named. Default: a new folder, after `name` and the time. */
  readonly out?: string | undefined;
  /** Name of the scenario, or of whatever the result is about. */
  readonly name: string;
  /** True to replace files that belong to no result of spillway. */
  readonly force?: boolean | undefined;
}

/**
 * Begins to write a result into the named folder, or into a new one, `reports/<name>-20260102-030405`, in UTC.
 * @throws SpillwayError as `openResult`
 */
export function openPlace({ out, name, force = false }: RunPlace, kind: ResultKind): Promise<FolderWriter> {
  if (out !== undefined) return openResult(out, kind, { force });
  const time = new Date().toISOString().slice(0, 19).replace(/[-:]/g, "").replace("T", "-");
  return openResult(`reports/${name}-${time}`, kind, { isFresh: true });
}
