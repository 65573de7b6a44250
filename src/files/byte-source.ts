// Bytes of what users name. Pipes are read so that reading can be given up: a read that blocks in the file system
// outlives every signal but SIGKILL, since Node waits for it when the process ends.
import { constants, createReadStream, open } from "node:fs";
import { stat } from "node:fs/promises";
import { Socket } from "node:net";
import { addAbortSignal, type Readable } from "node:stream";
import { promisify } from "node:util";

/**
 * Opens a file, a pipe that has a name, or standard input (`-`).
 * @param signal ends the bytes by its reason
 * @throws the system's error
 */
export async function openBytes(path: string, signal?: AbortSignal): Promise<Readable> {
  const stream = path === "-" ? process.stdin : await opened(path);
  return signal === undefined ? stream : addAbortSignal(signal, stream);
}

async function opened(path: string): Promise<Readable> {
  const found = await stat(path);
  if (!found.isFIFO()) return createReadStream(path, { highWaterMark: 1 << 18 });
  const { O_RDONLY, O_NONBLOCK } = constants;
  const fd = await promisify(open)(path, O_RDONLY | O_NONBLOCK);
  return new Socket({ fd, readable: true, writable: false });
}
