// Bytes → lines. Chunks are decoded whole and then split, which is several times faster than a line at a time;
// only a chunk that is no UTF-8 is looked at line by line, to say which.
import { SpillwayError } from "../rules/errors.ts";
import { traceError } from "./trace-error.ts";

/** The longest line that is read, in bytes: a status answer's is under 1 kB. */
const lineLengthMost = 1 << 20;

/** Neighbouring lines without their ends, many at once: an await a line would cost as much as its parsing. */
export interface LineBatch {
  /** Number of the first one; the trace's first is 1. */
  readonly line: number;
  readonly texts: readonly string[];
  /** `false` for text after the last line's end. */
  readonly ended: boolean;
}

const newline = 0x0a;
/** Keeps a byte order mark, which it would drop at the start of every chunk. */
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const byteOrderMark = "\uFEFF";

/** The lines of a file, gzip or plain, numbered from 1; memory is bounded by `lineLengthMost` and the chunks. */
export async function* readLines(source: AsyncIterable<Uint8Array>): AsyncGenerator<LineBatch, void> {
  let line = 1;
  let kept: Uint8Array[] = [];
  let keptLength = 0;
  const keep = (bytes: Uint8Array): void => {
    if (bytes.length === 0) return;
    keptLength += bytes.length;
    if (keptLength > lineLengthMost) throw tooLong(line);
    kept.push(bytes);
  };
  for await (const chunk of unzipped(source)) {
    const end = chunk.lastIndexOf(newline);
    if (end === -1) {
      keep(chunk);
      continue;
    }
    const whole = joined([...kept, chunk.subarray(0, end)]);
    kept = [];
    keptLength = 0;
    const texts = decodeLines(whole, line);
    yield { line, texts, ended: true };
    line += texts.length;
    keep(chunk.subarray(end + 1));
  }
  if (keptLength === 0) return;
  yield { line, texts: decodeLines(joined(kept), line), ended: false };
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const [only] = parts;
  if (parts.length === 1 && only !== undefined) return only;
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

function decodeLines(bytes: Uint8Array, firstLine: number): string[] {
  let lines: string[];
  try {
    lines = decoder.decode(bytes).split("\n");
  } catch {
    throw notText(bytes, firstLine);
  }
  for (const [index, text] of lines.entries())
    if (text.length > lineLengthMost) throw tooLong(firstLine + index);
  if (firstLine === 1 && lines[0]?.startsWith(byteOrderMark)) lines[0] = lines[0].slice(1);
  return lines;
}

/** Finds the line that is no UTF-8. */
function notText(bytes: Uint8Array, firstLine: number): SpillwayError {
  let line = firstLine;
  for (let start = 0; start <= bytes.length; line++) {
    const next = bytes.indexOf(newline, start);
    const end = next === -1 ? bytes.length : next;
    try {
      decoder.decode(bytes.subarray(start, end));
    } catch {
      break;
    }
    start = end + 1;
  }
  return traceError("a line of this trace is no text", line, {
    got: "bytes that are no UTF-8",
    allowed: "UTF-8",
  });
}

function tooLong(line: number): SpillwayError {
  return traceError(
    "a line of this trace is too long",
    line,
    { got: `more than ${lineLengthMost} bytes`, allowed: `at most ${lineLengthMost} bytes` },
    "a trace is NDJSON: one call a line",
  );
}

/** The source itself, or what it unpacks to where it begins as gzip does. */
async function* unzipped(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  const chunks = source[Symbol.asyncIterator]();
  let first: Uint8Array = new Uint8Array(0);
  while (first.length < 2) {
    const next = await chunks.next();
    if (next.done === true) break;
    first = first.length === 0 ? next.value : joined([first, next.value]);
  }
  const rest = async function* (): AsyncGenerator<Uint8Array, void> {
    yield first;
    for (let next = await chunks.next(); next.done !== true; next = await chunks.next()) yield next.value;
  };
  if (first[0] === 0x1f && first[1] === 0x8b) yield* gunzipped(rest());
  else yield* rest();
}

async function* gunzipped(packed: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  try {
    yield* ReadableStream.from(packed).pipeThrough(new DecompressionStream("gzip"));
  } catch (cause) {
    if (!(cause instanceof Error && "code" in cause && String(cause.code).startsWith("Z_"))) throw cause;
    throw new SpillwayError("TRACE_INVALID", "this trace's gzip cannot be unpacked", {
      problems: [{ path: "trace", got: cause.message, allowed: "whole gzip data" }],
      hint: "was it copied whole? gzip -t FILE tells",
      cause,
    });
  }
}
