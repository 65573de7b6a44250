// The slow way to read a line, which tells its mistakes: JSON.parse, and checks that JSON.parse does not make.
import { quote } from "../rules/errors.ts";
import { repeatedMember } from "../rules/repeated-member.ts";
import { type Block, lineLengthMost, tooLong } from "./blocks.ts";
import { traceError } from "./trace-error.ts";

/** Decoder that keeps a byte order mark, which is no white space to JSON.parse. */
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const byteOrderMark = "\uFEFF";

/**
 * Reads the block's next line.
 * @param from where the line begins
 * @param to place of its newline
 * @throws SpillwayError `TRACE_INVALID`
 */
export function parseLine(block: Block, from: number, to: number): unknown {
  if (to - from > lineLengthMost) throw tooLong(block.line);
  const text = decode(block, from, to);
  const value = parse(block, block.line === 1 && text.startsWith(byteOrderMark) ? text.slice(1) : text);
  const repeated = typeof value === "object" && value !== null ? repeatedMember(text, value) : null;
  if (repeated === null) return value;
  throw traceError(
    "a line of this trace has a member twice",
    block.line,
    { member: repeated, got: "it twice", allowed: "each member once" },
    "some read the first, others the last: nobody knows what this line says",
  );
}

function decode({ bytes, line }: Block, from: number, to: number): string {
  try {
    return decoder.decode(bytes.subarray(from, to));
  } catch {
    throw traceError("a line of this trace is no text", line, {
      got: "bytes that are no UTF-8",
      allowed: "UTF-8",
    });
  }
}

function parse({ line, ended }: Block, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    if (!ended)
      throw traceError(
        "the last line of this trace is cut in the middle",
        line,
        { got: quote(text), allowed: "a whole line" },
        "was it still being written, or did the disk fill up? The lines above it are whole",
      );
    const got =
      text.trim() === "" ? "an empty line" : `${quote(text)} (${(cause as Error).message.slice(0, 80)})`;
    const hint = text.includes("\0") ? "NUL bytes: did the machine stop while this was written?" : undefined;
    throw traceError("a line of this trace is no JSON", line, { got, allowed: "a JSON object" }, hint);
  }
}
