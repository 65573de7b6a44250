// Bytes of files that users name. Reading a pipe can be given up. A read that blocks in the file system would outlive
// every signal but SIGKILL: Node waits for it when the process ends.
import { closeSync, constants, createReadStream, open, openSync, readSync } from "node:fs";
import { stat } from "node:fs/promises";
import { Socket } from "node:net";
import { addAbortSignal, type Readable } from "node:stream";
import { promisify } from "node:util";

/**
 * Opens a file, a named pipe, or standard input (`-`).
 * @param signal ends the bytes with its reason
 * @throws the system's error
 */
export async function openBytes(path: string, signal?: AbortSignal): Promise<Readable> {
  const stream = path === "-" ? process.stdin : await opened(path);
  return signal === undefined ? stream : addAbortSignal(signal, stream);
}

/** Size of a chunk, bytes. A chunk and a block of its lines fit a processor's own cache. */
const chunkSize = 1 << 18;

/**
 * Yields the bytes of a file, for a thread that has nothing else to do. Reading blocks the thread, at half the cost of
 * a stream. All chunks share one memory: use one up before asking for the next.
 * @throws the system's error
 */
export function* fileBytes(path: string): Generator<Uint8Array, void> {
  const file = openSync(path, "r");
  try {
    const bytes = new Uint8Array(chunkSize);
    for (let size = readSync(file, bytes); size > 0; size = readSync(file, bytes))
      yield bytes.subarray(0, size);
  } finally {
    closeSync(file);
  }
}

async function opened(path: string): Promise<Readable> {
  const found = await stat(path);
  if (!found.isFIFO()) return createReadStream(path, { highWaterMark: chunkSize });
  const { O_RDONLY, O_NONBLOCK } = constants;
  const fd = await promisify(open)(path, O_RDONLY | O_NONBLOCK);
  return new Socket({ fd, readable: true, writable: false });
}
