// Writes JSON as lines, one value each: the elements of an array, or objects that take several lines.
import { newline } from "../trace/blocks.ts";

const [quoteMark, backslash, comma, space] = [0x22, 0x5c, 0x2c, 0x20] as const;
const [openBracket, closeBracket, openBrace, closeBrace] = [0x5b, 0x5d, 0x7b, 0x7d] as const;

/** Tells whether a text begins an array of objects, or an object that takes several lines. */
export const isSpreadJson = (text: string): boolean => /^\s*(?:\[\s*\{|\{\s*\n)/.test(text);

/** Yields the bytes of JSON with each value on a line, and with no line's end inside of one. */
export async function* valuesByLine(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const lines = new ValueLines();
  for await (const chunk of chunks) yield lines.of(chunk);
}

class ValueLines {
  /** Number of open brackets and braces, without the array around all values. */
  #depth = 0;
  #isInString = false;
  #isEscaped = false;

  of(chunk: Uint8Array): Uint8Array {
    // At most one line's end is put behind each byte.
    const out = new Uint8Array(2 * chunk.length);
    let at = 0;
    for (const byte of chunk) {
      if (this.#isInString) this.#passString(byte);
      else if (byte === quoteMark) this.#isInString = true;
      else if (this.#depth === 0 && (byte === openBracket || byte === closeBracket || byte === comma))
        continue;
      else if (byte === openBracket || byte === openBrace) this.#depth += 1;
      else if (byte === closeBracket || byte === closeBrace) this.#depth -= 1;
      out[at] = byte < space ? space : byte;
      at += 1;
      if (byte === closeBrace && this.#depth === 0 && !this.#isInString) {
        out[at] = newline;
        at += 1;
      }
    }
    return out.subarray(0, at);
  }

  #passString(byte: number): void {
    if (this.#isEscaped) this.#isEscaped = false;
    else if (byte === backslash) this.#isEscaped = true;
    else if (byte === quoteMark) this.#isInString = false;
  }
}
