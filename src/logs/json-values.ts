// Writes JSON as lines, one value each: the elements of an array, or objects that take several lines.
import { newline } from "../trace/blocks.ts";

const [quoteMark, backslash, comma, space] = [0x22, 0x5c, 0x2c, 0x20] as const;
const [openBracket, closeBracket, openBrace, closeBrace] = [0x5b, 0x5d, 0x7b, 0x7d] as const;

const string = String.raw`"(?:[^"\\]|\\.)*"`;
/** An object whose first array has objects; strings, numbers and words may stand before it. */
const wrapper = new RegExp(
  String.raw`^\s*\{\s*(?:${string}\s*:\s*(?:${string}|[\w.+-]+)\s*,\s*)*${string}\s*:\s*\[\s*\{`,
);

/**
 * Returns the number of brackets and braces around each value of JSON that has to be written as lines, from its first
 * bytes: 0 for objects that take several lines, 1 for the elements of an array, 2 for those of an object's array, as in
 * `{"Records": [{}, {}]}`. Returns `null` if the text is no such JSON.
 */
export function valuesDepth(head: Uint8Array): number | null {
  const text = new TextDecoder().decode(head);
  if (/^\s*\[\s*\{/.test(text)) return 1;
  if (wrapper.test(text) && !isFollowed(head)) return 2;
  return /^\s*\{\s*\n/.test(text) ? 0 : null;
}

/** Tells whether something follows the first value: an object behind another one is a row as that one is. */
function isFollowed(head: Uint8Array): boolean {
  const lines = new ValueLines(0).of(head);
  const end = lines.indexOf(newline);
  return end !== -1 && lines.subarray(end).some((byte) => byte > space);
}

/**
 * Yields the bytes of JSON with each value on a line, and with no line's end inside of one.
 * @param depth number of brackets and braces around each value (`valuesDepth`)
 */
export async function* valuesByLine(
  chunks: AsyncIterable<Uint8Array>,
  depth: number,
): AsyncGenerator<Uint8Array> {
  const lines = new ValueLines(depth);
  for await (const chunk of chunks) yield lines.of(chunk);
}

class ValueLines {
  /** Number of brackets and braces around each value. */
  readonly #base: number;
  /** Number of open brackets and braces. */
  #depth = 0;
  /** False within members of the outer object that hold no values. */
  #isAmongValues: boolean;
  #isInString = false;
  #isEscaped = false;

  constructor(base: number) {
    this.#base = base;
    this.#isAmongValues = base === 0;
  }

  of(chunk: Uint8Array): Uint8Array {
    // At most one line's end is put behind each byte.
    const out = new Uint8Array(2 * chunk.length);
    let at = 0;
    for (const byte of chunk) {
      const before = this.#depth;
      let isBetween = false;
      if (this.#isInString) this.#passString(byte);
      else isBetween = this.#pass(byte);
      if (isBetween || !this.#isAmongValues || this.#depth < this.#base) continue;
      out[at] = byte < space ? space : byte;
      at += 1;
      if (this.#depth === this.#base && before > this.#depth) {
        out[at] = newline;
        at += 1;
      }
    }
    return out.subarray(0, at);
  }

  /** Takes a byte outside of strings; tells whether it stands around or between values. */
  #pass(byte: number): boolean {
    if (byte === quoteMark) this.#isInString = true;
    else if (byte === comma) return this.#depth === this.#base;
    else if (byte === openBracket || byte === openBrace) {
      this.#depth += 1;
      if (this.#depth !== this.#base) return false;
      this.#isAmongValues = byte === openBracket;
      return true;
    } else if ((byte === closeBracket || byte === closeBrace) && this.#depth > 0) {
      this.#depth -= 1;
      if (this.#depth !== this.#base - 1) return false;
      this.#isAmongValues = false;
      return true;
    }
    return false;
  }

  #passString(byte: number): void {
    if (this.#isEscaped) this.#isEscaped = false;
    else if (byte === backslash) this.#isEscaped = true;
    else if (byte === quoteMark) this.#isInString = false;
  }
}
