// Splits a log's bytes into blocks of whole lines, as for traces, with errors that name the file.
import { quote, SpillwayError } from "../rules/errors.ts";
import { Block, lineLengthMost, newline } from "../trace/blocks.ts";
import { plainBytes } from "../trace/plain-bytes.ts";

/** @throws SpillwayError `LOG_INVALID` if a line is longer than 16 MiB, or gzip is broken */
export async function* readLogBlocks(
  source: AsyncIterable<Uint8Array>,
  file: string,
): AsyncGenerator<Block, void> {
  const block = new Block();
  for await (const chunk of plain(source, file)) {
    const last = chunk.lastIndexOf(newline);
    if (last !== -1) block.end = block.filled + last + 1;
    block.add(chunk);
    if (last !== -1) {
      yield block;
      block.forget();
    }
    if (block.filled > lineLengthMost) throw tooLong(file, block.line);
  }
  if (block.filled === 0) return;
  block.add(Uint8Array.of(newline));
  block.end = block.filled;
  block.ended = false;
  yield block;
}

export function tooLong(file: string, line: number): SpillwayError {
  return new SpillwayError("LOG_INVALID", "a line of this log is too long", {
    problem: {
      path: `${file}:${line}`,
      got: `more than ${lineLengthMost} bytes without a line's end`,
      allowed: `at most ${lineLengthMost} bytes`,
    },
    hint: "is it one document rather than lines? jq -c '.[]' FILE writes each element of an array on a line",
  });
}

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
