// A trace while it is written. Its header stands in front but is known last, so room is kept for it. Until then the
// header says that calls are missing, which is true of what a kill leaves.
import { type FileHandle, open, rm } from "node:fs/promises";
import type { QuotaTraceHeader } from "../trace/quota-record.ts";
import type { TraceHeader } from "../trace/record.ts";
import { encodeHeader } from "../trace/write.ts";

/** The header without the members that only the run shows. */
export type TraceHead = Omit<TraceHeader, "lost"> | Omit<QuotaTraceHeader, "lost">;

/** Members of the header that only the run shows. */
export interface TraceEnd {
  /** Start of the first client, ms since the epoch. */
  readonly startedAt: number;
  /** Upper bound of the calls that were sent and have no line, `linesFailed` included. */
  readonly lost: number;
  /** Value of the header's `complete` at the end: `false` if nobody knows how many calls are lost. */
  readonly complete: boolean;
}

const writeChars = 1 << 16;

/**
 * Returns the header's line. It has the same length during the run and after it, since blanks may follow a JSON value.
 * The calls are therefore written only once, whatever their number.
 */
function headerLine(head: TraceHead, end: TraceEnd): string {
  const most = Number.MAX_SAFE_INTEGER;
  const longest = encodeHeader({ ...head, startedAt: most, lost: most, complete: false }).length;
  return `${encodeHeader({ ...head, ...end }).padEnd(longest)}\n`;
}

export class TraceFile {
  /** Number of lines that could not be written, as on a full disk. Nothing is written after the first of them. */
  linesFailed = 0;
  /** Reason of the failure; `null` if all lines could be written. */
  failure: Error | null = null;
  readonly path: string;
  readonly #file: FileHandle;
  readonly #head: TraceHead;
  /** Number of bytes up to the end of the last whole line. */
  #size = 0;
  #headerSize = 0;
  #pending = "";
  #pendingLines = 0;
  #writing: Promise<void> | null = null;

  private constructor(path: string, file: FileHandle, head: TraceHead) {
    this.path = path;
    this.#file = file;
    this.#head = head;
  }

  /**
   * Opens a trace for writing, in place of an older file. A link is replaced and not followed.
   * @throws Error of the file system
   */
  static async create(path: string, head: TraceHead): Promise<TraceFile> {
    await rm(path, { force: true });
    const made = new TraceFile(path, await open(path, "wx"), head);
    try {
      await made.#write(headerLine(head, { ...head, complete: false, lost: 0 }));
      made.#headerSize = made.#size;
    } catch (error) {
      await made.discard();
      throw error;
    }
    return made;
  }

  /** Takes lines, without the last one's end. They are written soon. */
  add(lines: string, count = 1): void {
    this.#pending += `${lines}\n`;
    this.#pendingLines += count;
    if (this.#pending.length >= writeChars && this.#writing === null) void this.flush();
  }

  /** Writes what was taken until now. Never rejects (`failure`). */
  async flush(): Promise<void> {
    await this.#writing;
    this.#writing ??= this.#writePending().finally(() => {
      this.#writing = null;
    });
    await this.#writing;
  }

  /**
   * Completes the trace. If that fails, what was written stays.
   * @throws Error of the file system
   */
  async finish(end: TraceEnd): Promise<void> {
    try {
      if (this.failure !== null) await this.#file.truncate(this.#size);
      await this.#file.write(headerLine(this.#head, end), 0);
    } finally {
      await this.#file.close();
    }
  }

  /** Leaves only the first header, which marks the trace as incomplete. Never rejects. */
  async leaveHeader(): Promise<void> {
    await this.#file.truncate(this.#headerSize).catch(() => undefined);
    await this.#file.close().catch(() => undefined);
  }

  /** Deletes the trace. Never rejects. */
  async discard(): Promise<void> {
    await this.#file.close().catch(() => undefined);
    await rm(this.path, { force: true }).catch(() => undefined);
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
