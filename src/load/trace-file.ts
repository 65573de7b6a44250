// A trace while it is written: beside its place, and renamed when it is whole, so that there is a whole one or none.
// Its header stands in front and is known last, so room is kept for it.
import { type FileHandle, open, rename, rm } from "node:fs/promises";
import { SpillwayError } from "../rules/errors.ts";
import type { TraceHeader } from "../trace/record.ts";
import { encodeHeader } from "../trace/write.ts";

/** The header, but for what only the run shows. */
export type TraceHead = Omit<TraceHeader, "lost">;

const writeChars = 1 << 16;

/**
 * The header's line while `lost` and the clients' start are not known yet, and once they are: both of one length,
 * since the end of a line of JSON may be blank. So the calls are written once, whatever their number.
 */
function headerLine(head: TraceHead, startedAt: number, lost: number): string {
  const most = Number.MAX_SAFE_INTEGER;
  const longest = encodeHeader({ ...head, startedAt: most, lost: most }).length;
  return `${encodeHeader({ ...head, startedAt, lost }).padEnd(longest)}\n`;
}

export class TraceFile {
  /** Lines that could not be written: the disk is full, say. Nothing is written after the first of them. */
  linesFailed = 0;
  /** Why they could not. */
  failure: Error | null = null;
  readonly #path: string;
  readonly #file: FileHandle;
  readonly #head: TraceHead;
  /** Bytes up to the end of the last whole line. */
  #size = 0;
  #pending = "";
  #pendingLines = 0;
  #writing: Promise<void> | null = null;

  private constructor(path: string, file: FileHandle, head: TraceHead) {
    this.#path = path;
    this.#file = file;
    this.#head = head;
  }

  /**
   * Opens a trace for writing.
   * @param path where it goes in the end
   * @throws Error of the file system
   */
  static async create(path: string, head: TraceHead): Promise<TraceFile> {
    const file = await open(partOf(path), "w");
    const made = new TraceFile(path, file, head);
    try {
      await made.#write(headerLine(head, head.startedAt, 0));
    } catch (error) {
      await made.discard();
      throw error;
    }
    return made;
  }

  /** Takes a line, without its end; it is written soon. */
  add(line: string): void {
    this.#pending += `${line}\n`;
    this.#pendingLines += 1;
    if (this.#pending.length >= writeChars && this.#writing === null) void this.flush();
  }

  /** Writes what was taken until now; never rejects (`failure`). */
  async flush(): Promise<void> {
    await this.#writing;
    this.#writing ??= this.#writePending().finally(() => {
      this.#writing = null;
    });
    await this.#writing;
  }

  /**
   * Puts the trace in its place.
   * @param startedAt ms since the epoch
   * @param lost upper bound of calls that were sent and have no line, those of `linesFailed` among them
   * @throws Error of the file system
   */
  async finish(startedAt: number, lost: number): Promise<void> {
    try {
      if (this.failure !== null) await this.#file.truncate(this.#size);
      await this.#file.write(headerLine(this.#head, startedAt, lost), 0);
      await this.#file.close();
      await rename(partOf(this.#path), this.#path);
    } catch (error) {
      await this.discard();
      throw error;
    }
  }

  /** Leaves nothing behind. */
  async discard(): Promise<void> {
    await this.#file.close().catch(() => undefined);
    await rm(partOf(this.#path), { force: true }).catch(() => undefined);
  }

  async #writePending(): Promise<void> {
    const [text, lines] = [this.#pending, this.#pendingLines];
    this.#pending = "";
    this.#pendingLines = 0;
    try {
      if (this.failure !== null) this.linesFailed += lines;
      else if (lines > 0) await this.#write(text);
    } catch (error) {
      this.failure = error as Error;
      this.linesFailed += lines;
    }
  }

  async #write(text: string): Promise<void> {
    await this.#file.writeFile(text);
    this.#size += Buffer.byteLength(text);
  }
}

const partOf = (path: string): string => `${path}.part`;

/** @param hint where else it stands, or what to do */
export function unwritable(path: string, cause: unknown, hint?: string): SpillwayError {
  return new SpillwayError("FILE_UNWRITABLE", "the trace cannot be written", {
    problems: [{ path, got: (cause as Error).message, allowed: "a place that can be written" }],
    ...(hint === undefined ? {} : { hint }),
    cause,
  });
}
