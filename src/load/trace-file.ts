// A trace while it is written. Its header stands in front and is known last, so room is kept for it; until then the
// header says that calls are missing, which is true of what a kill leaves.
import { type FileHandle, open, rm } from "node:fs/promises";
import { SpillwayError } from "../rules/errors.ts";
import type { QuotaTraceHeader } from "../trace/quota-record.ts";
import type { TraceHeader } from "../trace/record.ts";
import { encodeHeader } from "../trace/write.ts";

/** The header, but for what only the run shows. */
export type TraceHead = Omit<TraceHeader, "lost"> | Omit<QuotaTraceHeader, "lost">;

/** Parts of the header that only the run shows. */
export interface TraceEnd {
  /** When the first client was let go, ms since the epoch. */
  readonly startedAt: number;
  /** Upper bound of calls that were sent and have no line, those of `linesFailed` among them. */
  readonly lost: number;
  /** The header's at the end: `false` where nobody knows how many are lost. */
  readonly complete: boolean;
}

const writeChars = 1 << 16;

/**
 * The header's line while the run is not over, and once it is: both of one length, since the end of a line of JSON may
 * be blank. So the calls are written once, whatever their number.
 */
function headerLine(head: TraceHead, end: TraceEnd): string {
  const most = Number.MAX_SAFE_INTEGER;
  const longest = encodeHeader({ ...head, startedAt: most, lost: most, complete: false }).length;
  return `${encodeHeader({ ...head, ...end }).padEnd(longest)}\n`;
}

export class TraceFile {
  /** Lines that could not be written: the disk is full, say. Nothing is written after the first of them. */
  linesFailed = 0;
  /** The reason; `null` where all lines could be written. */
  failure: Error | null = null;
  readonly path: string;
  readonly #file: FileHandle;
  readonly #head: TraceHead;
  /** Bytes up to the end of the last whole line. */
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
   * Opens a trace for writing, in place of what stood there; a link is replaced and not followed.
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

  /** Takes lines, without the last one's end; they are written soon. */
  add(lines: string, count = 1): void {
    this.#pending += `${lines}\n`;
    this.#pendingLines += count;
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
   * Completes the trace. Where that fails, what was written stays.
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

  /** Leaves the first header alone, of a trace that is not complete; never rejects. */
  async leaveHeader(): Promise<void> {
    await this.#file.truncate(this.#headerSize).catch(() => undefined);
    await this.#file.close().catch(() => undefined);
  }

  /** Leaves nothing behind. */
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

/** @param hint where else it stands, or what to do */
export function unwritable(path: string, cause: unknown, hint?: string): SpillwayError {
  return new SpillwayError("FILE_UNWRITABLE", "the trace cannot be written", {
    problems: [{ path, got: (cause as Error).message, allowed: "a place that can be written" }],
    ...(hint === undefined ? {} : { hint }),
    cause,
  });
}
