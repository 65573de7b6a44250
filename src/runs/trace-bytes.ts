// The bytes of a trace that a user names.
import { fileBytes, openBytes } from "../files/byte-source.ts";
import { SpillwayError } from "../rules/errors.ts";

/**
 * Yields the bytes of a file, a named pipe, or standard input (`-`).
 * @param signal ends the bytes with its reason
 * @throws SpillwayError `FILE_UNREADABLE`
 */
export async function* traceBytes(path: string, signal?: AbortSignal): AsyncGenerator<Uint8Array> {
  try {
    yield* (await openBytes(path, signal)) as AsyncIterable<Uint8Array>;
  } catch (cause) {
    signal?.throwIfAborted();
    throw unreadable(path, cause);
  }
}

/**
 * Yields the bytes of a file, for a thread that has nothing else to do (`fileBytes`).
 * @throws SpillwayError `FILE_UNREADABLE`
 */
export async function* traceFileBytes(path: string): AsyncGenerator<Uint8Array> {
  try {
    yield* fileBytes(path);
  } catch (cause) {
    throw unreadable(path, cause);
  }
}

const unreadable = (path: string, cause: unknown): SpillwayError =>
  new SpillwayError("FILE_UNREADABLE", "the trace cannot be read", {
    problem: { path, got: String((cause as NodeJS.ErrnoException).code), allowed: "a readable file" },
    cause,
  });
