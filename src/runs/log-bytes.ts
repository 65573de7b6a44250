// The bytes of one log, from a file, a pipe or standard input.
import { open, stat } from "node:fs/promises";
import { join } from "node:path";
import { openBytes } from "../files/byte-source.ts";
import { requireFile } from "../files/read-file.ts";
import { SpillwayError } from "../rules/errors.ts";

export interface LogSource {
  readonly name: string;
  /** 0 if unknown. */
  readonly bytes: number;
  readonly open: () => AsyncIterable<Uint8Array>;
}

export async function sourceOf(path: string, signal: AbortSignal | undefined): Promise<LogSource> {
  if (path === "-") return readOnce("standard input", await openBytes(path, signal));
  const folder = await stat(path).catch(() => null);
  if (folder?.isDirectory() === true)
    throw new SpillwayError("FILE_UNREADABLE", "a folder is no log", {
      problem: { path, got: "a folder", allowed: "a file, or a pattern in quotes" },
      hint: `'${join(path, "**")}' takes all files below it`,
    });
  await requireFile(path, "log");
  const found = await stat(path);
  // A named pipe, `<(zcat ...)`, can be read once, like standard input.
  if (!found.isFile()) return readOnce(path, await openBytes(path, signal));
  return { name: path, bytes: found.size, open: () => readable(path) };
}

const chunkBytes = 1 << 18;

/**
 * Yields a file's bytes in two buffers that are filled in turn. The next chunk is read while one is used. A chunk is
 * valid until the next one is asked for.
 */
async function* readable(path: string): AsyncGenerator<Uint8Array> {
  try {
    yield* inTurn(path);
  } catch (cause) {
    const got = String((cause as NodeJS.ErrnoException).code);
    throw new SpillwayError("FILE_UNREADABLE", "the log cannot be read", {
      problem: { path, got, allowed: "a readable file" },
      cause,
    });
  }
}

async function* inTurn(path: string): AsyncGenerator<Uint8Array> {
  const file = await open(path);
  try {
    let [current, other] = [Buffer.allocUnsafeSlow(chunkBytes), Buffer.allocUnsafeSlow(chunkBytes)];
    let reading = file.read(current, 0, chunkBytes);
    for (;;) {
      const { bytesRead } = await reading;
      if (bytesRead === 0) return;
      reading = file.read(other, 0, chunkBytes);
      // The next turn awaits it; until then nobody handles its failure.
      reading.catch(() => undefined);
      yield current.subarray(0, bytesRead);
      [current, other] = [other, current];
    }
  } finally {
    await file.close();
  }
}

/** Number of bytes that a source of one reading gives again: enough to tell its format, and for a trace's header. */
const keptBytes = 1 << 20;

/** Returns a source that can be read only once. The bytes that were looked at are given again. */
function readOnce(name: string, stream: AsyncIterable<Uint8Array>): LogSource {
  const chunks = stream[Symbol.asyncIterator]();
  const seen: Uint8Array[] = [];
  let kept = 0;
  const open = async function* (): AsyncGenerator<Uint8Array> {
    yield* seen.slice();
    for (let next = await chunks.next(); next.done !== true; next = await chunks.next()) {
      if (kept < keptBytes) seen.push(next.value);
      kept += next.value.length;
      yield next.value;
    }
  };
  return { name, bytes: 0, open };
}
