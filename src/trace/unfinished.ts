// Repairs the trace of a run that was cut off: it may end within a line, and lacks the calls that were on their way.
import { lineLengthMost, newline, tooLong } from "./blocks.ts";

/**
 * Makes a trace of an unfinished one: drops the last line's beginning, and marks the header as incomplete. What is no
 * trace is passed on as it is.
 * @param source plain bytes
 */
export async function* unfinishedTrace(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  let held: Uint8Array[] = [];
  let heldBytes = 0;
  let isHeader = true;
  let line = 1;
  for await (const chunk of source) {
    const whole = chunk.lastIndexOf(newline) + 1;
    const bytes = whole === 0 ? null : Buffer.concat([...held, chunk.subarray(0, whole)]);
    for (let at = chunk.indexOf(newline); at !== -1; at = chunk.indexOf(newline, at + 1)) line += 1;
    if (bytes !== null) [held, heldBytes] = [[], 0];
    held.push(new Uint8Array(chunk.subarray(whole)));
    heldBytes += chunk.length - whole;
    if (heldBytes > lineLengthMost) throw tooLong(line);
    if (bytes === null) continue;
    const from = isHeader ? bytes.indexOf(newline) + 1 : 0;
    if (isHeader) yield incomplete(bytes.subarray(0, from));
    isHeader = false;
    yield bytes.subarray(from);
  }
  if (isHeader) yield Buffer.concat(held);
}

function incomplete(line: Uint8Array): Uint8Array {
  try {
    const header: unknown = JSON.parse(new TextDecoder().decode(line));
    if (typeof header !== "object" || header === null || Array.isArray(header)) return line;
    return new TextEncoder().encode(`${JSON.stringify({ ...header, complete: false })}\n`);
  } catch {
    // The reader of the trace tells what is wrong with it.
    return line;
  }
}
