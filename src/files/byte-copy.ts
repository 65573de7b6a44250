// Bytes that come only once, as from a pipe, but can be read again: they are copied to a temporary file. If the system
// allows it, the file has no name from the start. It then vanishes with the process, however that ends.
import { mkdtempSync, rmSync, statfsSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SpillwayError } from "../rules/errors.ts";

const gibi = 2 ** 30;
const chunkSize = 1 << 18;

/** Returns the greatest size of a copy, bytes: 8 GiB, or half of the free space for temporary files if that is less. */
function bytesMostOf(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return Math.min(8 * gibi, (bavail * bsize) / 2);
}

/** Bytes that are copied during their first reading. */
export class ByteCopy {
  readonly #source: AsyncIterable<Uint8Array>;
  readonly #bytesMost: number;
  #file: FileHandle | null = null;
  #size = 0;
  #isWhole = false;
  /** Reason why there is no whole copy. */
  #failure = new Error("the first reading did not come to its end");

  /** @param bytesMost greatest size of a copy, bytes; longer input has no copy */
  constructor(source: AsyncIterable<Uint8Array>, bytesMost = bytesMostOf(tmpdir())) {
    this.#source = source;
    this.#bytesMost = bytesMost;
  }

  /** Yields the bytes as they come, and copies them. */
  async *first(): AsyncGenerator<Uint8Array, void> {
    await this.#open().catch((failure: Error) => this.#giveUp(failure));
    for await (const chunk of this.#source) {
      const copied = this.#copy(chunk).catch((failure: Error) => this.#giveUp(failure));
      try {
        yield chunk;
      } finally {
        await copied;
      }
    }
    this.#isWhole = this.#file !== null;
  }

  /**
   * Yields the same bytes.
   * @throws SpillwayError `SYSTEM_REFUSED` if there is no copy of all of them
   */
  async *again(): AsyncGenerator<Uint8Array, void> {
    const file = this.#file;
    if (file === null || !this.#isWhole)
      throw new SpillwayError("SYSTEM_REFUSED", "these bytes have to be read again, and there is no copy", {
        problem: {
          path: tmpdir(),
          got: this.#failure.message,
          allowed: "room for a copy in a temporary file",
        },
        hint: "write them to a file, and name that",
      });
    const bytes = Buffer.allocUnsafe(Math.min(chunkSize, this.#size + 1));
    for (let at = 0; at < this.#size; ) {
      const { bytesRead } = await file.read(bytes, 0, bytes.length, at);
      at += bytesRead;
      yield bytes.subarray(0, bytesRead);
    }
  }

  /** Deletes the copy. */
  async close(): Promise<void> {
    this.#isWhole = false;
    const file = this.#file;
    this.#file = null;
    await file?.close();
  }

  async #open(): Promise<void> {
    const folder = mkdtempSync(join(tmpdir(), "spillway-copy-"));
    try {
      this.#file = await open(join(folder, "bytes"), "wx+", 0o600);
    } finally {
      rmSync(folder, { recursive: true });
    }
  }

  async #copy(chunk: Uint8Array): Promise<void> {
    const file = this.#file;
    if (file === null) return;
    if (this.#size + chunk.length > this.#bytesMost) throw new Error(`more than ${this.#bytesMost} bytes`);
    for (let at = 0; at < chunk.length; ) {
      const { bytesWritten } = await file.write(chunk, at, chunk.length - at, this.#size);
      at += bytesWritten;
      this.#size += bytesWritten;
    }
  }

  async #giveUp(failure: Error): Promise<void> {
    this.#failure = failure;
    await this.close();
  }
}
