// Bodies and refusals are small JSON objects, and mostly the same few over and over. The last ones are remembered by
// their bytes: a text that stands there again need not be parsed again, nor even looked at for its end.

const [quoteMark, backslash, openBrace, closeBrace] = [0x22, 0x5c, 0x7b, 0x7d];
/** `[` and `]` become `{` and `}` by it, and nothing else does. */
const asBrace = 0x20;
const remembered = 1 << 13;
/** Longer ones are parsed each time. */
const lengthMost = 1024;

interface Known<T> {
  readonly bytes: Uint8Array;
  readonly view: DataView;
  readonly value: T;
}

const decoder = new TextDecoder();

export class ValueMemory<T> {
  readonly #known: (Known<T> | undefined)[] = new Array(remembered).fill(undefined);
  readonly #of: (value: unknown) => T;
  /** Facts of the object that `read` read; `null` before. */
  last: T | null = null;

  /** @param of tells what is kept of an object */
  constructor(of: (value: unknown) => T) {
    this.#of = of;
  }

  /**
   * Reads the object at `at`; it must be ASCII without escapes, and a byte that is neither must come at its line's end.
   * @param key what it is likely to depend on: it is compared with the last one of the same key
   * @returns where it ends; -1 where it cannot be read
   */
  read(view: DataView, at: number, key: number): number {
    const slot = key & (remembered - 1);
    const known = this.#known[slot];
    if (known !== undefined && stands(known, view, at)) {
      this.last = known.value;
      return at + known.bytes.length;
    }
    const end = endOfValue(view, at);
    if (end === -1) return -1;
    const bytes = new Uint8Array(view.buffer, view.byteOffset + at, end - at);
    let value: T;
    try {
      value = this.#of(JSON.parse(decoder.decode(bytes)));
    } catch {
      return -1;
    }
    this.last = value;
    if (bytes.length <= lengthMost) {
      const kept = bytes.slice();
      this.#known[slot] = { bytes: kept, view: new DataView(kept.buffer), value };
    }
    return end;
  }
}

/** An object ends at its own last bracket, so that where its bytes stand, it stands, and nothing longer. */
function stands({ bytes, view }: Known<unknown>, other: DataView, at: number): boolean {
  const { length } = bytes;
  if (at + length > other.byteLength) return false;
  let index = 0;
  for (; index + 4 <= length; index += 4)
    if (view.getInt32(index, true) !== other.getInt32(at + index, true)) return false;
  for (; index < length; index++) if (bytes[index] !== other.getUint8(at + index)) return false;
  return true;
}

/** Returns where the brackets that open at `start` are closed; -1 where something else than plain ASCII comes before. */
function endOfValue(view: DataView, start: number): number {
  let depth = 0;
  let isText = false;
  for (let at = start; ; at++) {
    const byte = view.getUint8(at);
    if (byte < 0x20 || byte > 0x7e || byte === backslash) return -1;
    if (byte === quoteMark) isText = !isText;
    else if (!isText && (byte | asBrace) === openBrace) depth += 1;
    else if (!isText && (byte | asBrace) === closeBrace) {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
  }
}
