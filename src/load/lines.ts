// A file's lines, one chunk at a time. (readline would also end lines at U+2028, which JSON leaves in strings.)
import { createReadStream } from "node:fs";

export interface LineBatch {
  /** Lines that the chunk ended, without their ends. */
  readonly whole: readonly string[];
  /** Text after the last line's end. In the last batch it is empty, or a line that was cut off. */
  readonly rest: string;
}

/** Yields all lines of a file, many at once. @throws Error of the file system */
export async function* lineBatches(path: string): AsyncGenerator<LineBatch, void> {
  let rest = "";
  for await (const chunk of createReadStream(path, { encoding: "utf8", highWaterMark: 1 << 18 })) {
    const whole = (rest + String(chunk)).split("\n");
    rest = whole.pop() ?? "";
    yield { whole, rest };
  }
}
