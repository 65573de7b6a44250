// The bytes of one log, from a file, a pipe or standard input.
import { open, stat } from "node:fs/promises";
import { join } from "node:path";
import { openBytes } from "../files/byte-source.ts";
import { requireFile } from "../files/read-file.ts";
import { SpillwayError } from "../rules/errors.ts";

export interface LogSource {
  readonly name: string;
  /** 0 where that is not known. */
  readonly bytes: number;
  readonly open: () => AsyncIterable<Uint8Array>;
}

export async function sourceOf(path: string, signal: AbortSignal | undefined): Promise<LogSource> {
  if (path === "-") return readOnce("standard input", await openBytes(path, signal));
  const folder = await stat(path).catch(() => null);
  if (folder?.isDirectory() === true)
    throw new SpillwayError("FILE_UNREADABLE", "a folder is no log", {
      problems: [{ path, got: "a folder", allowed: "a file, or a pattern in quotes" }],
      hint: `'${join(path, "**")}' takes all files below it`,
    });
  await requireFile(path, "log");
  const found = await stat(path);
  // A pipe that has a name, `<(zcat ...)`, can be read once, like standard input.
  if (!found.isFile()) return readOnce(path, await openBytes(path, signal));
  return { name: path, bytes: found.size, open: () => readable(path) };
}

const chunkBytes = 1 << 18;

/**
 * A file's bytes, in two buffers that are filled in turn: while a chunk is used the next one is read, and a chunk holds
 * until the next one is asked for.
 */
async function* readable(path: string): AsyncGenerator<Uint8Array> {
  try {
    yield* inTurn(path);
  } catch (cause) {
    const got = String((cause as NodeJS.ErrnoException).code);
    throw new SpillwayError("FILE_UNREADABLE", "the log cannot be read", {
      problems: [{ path, got, allowed: "a readable file" }],
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
      // It is waited for in the next turn; until then its failure is nobody's.
      reading.catch(() => undefined);
      yield current.subarray(0, bytesRead);
      [current, other] = [other, current];
    }
  } finally {
    await file.close();
  }
}

/** Bytes of a source that can be read but once which are given again: what it is, and a trace's header. */
const keptBytes = 1 << 20;

/** A source that can be read but once: the bytes that were looked at are given again. */
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
