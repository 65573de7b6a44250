// A file's lines, a chunk at a time. (readline would also end lines at U+2028, which JSON leaves in strings.)
import { createReadStream } from "node:fs";

/**
 * Gives all whole lines of a file to `take`, many at once, without their ends.
 * @returns the text after the last line's end: empty, or a line that was cut off
 */
export async function readLines(
  path: string,
  take: (lines: readonly string[]) => void | Promise<void>,
): Promise<string> {
  let rest = "";
  for await (const chunk of createReadStream(path, { encoding: "utf8", highWaterMark: 1 << 18 })) {
    const lines = (rest + String(chunk)).split("\n");
    rest = lines.pop() ?? "";
    await take(lines);
  }
  return rest;
}
