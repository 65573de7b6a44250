// Splits a log's bytes into blocks of whole lines, as for traces, with errors that name the file.
import { quote, SpillwayError } from "../rules/errors.ts";
import { type Block, blocksOf, lineLengthMost } from "../trace/blocks.ts";
import { plainBytes } from "../trace/plain-bytes.ts";

/** @throws SpillwayError `LOG_INVALID` if a line is longer than 16 MiB, or gzip is broken */
export const readLogBlocks = (source: AsyncIterable<Uint8Array>, file: string): AsyncGenerator<Block, void> =>
  blocksOf(plain(source, file), (line) => tooLong(file, line));

/** Returns the error of a log that cannot be used. @param path its name, with the line if there is one */
export const invalid = (
  path: string,
  summary: string,
  got: string,
  allowed: string,
  hint?: string,
): SpillwayError => new SpillwayError("LOG_INVALID", summary, { problem: { path, got, allowed }, hint });

export const tooLong = (file: string, line: number): SpillwayError =>
  invalid(
    `${file}:${line}`,
    "a line of this log is too long",
    `more than ${lineLengthMost} bytes without a line's end`,
    `at most ${lineLengthMost} bytes`,
    "is it one document rather than lines? jq -c '.[]' FILE writes each element of an array on a line",
  );

/** Yields the bytes unpacked if they are gzip, and as UTF-8. */
export async function* plain(source: AsyncIterable<Uint8Array>, file: string): AsyncGenerator<Uint8Array> {
  try {
    yield* plainBytes(source);
  } catch (error) {
    if (!(error instanceof SpillwayError) || error.code !== "TRACE_INVALID") throw error;
    throw new SpillwayError("LOG_INVALID", "this log's gzip cannot be unpacked", {
      problems: error.problems.map(({ got, allowed }) => ({ path: file, got, allowed })),
      hint: `was it copied whole? gzip -t ${quote(file)} tells`,
      cause: error,
    });
  }
}
