// A memory of JSON objects: bodies and refusals are small, and mostly the same few. The last ones are kept by their
// bytes. A text that is known need not be parsed again, nor searched for its end.

const [quoteMark, backslash, openBrace, closeBrace] = [0x22, 0x5c, 0x7b, 0x7d];
/** Bit that turns `[` and `]` into `{` and `}`, and no other byte into these. */
const asBrace = 0x20;
const remembered = 1 << 13;
/** Greatest length of a remembered text, bytes. Longer ones are parsed each time. */
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
  /** Value of the object that `read` read last; `null` before. */
  last: T | null = null;

  /** @param of returns what is kept of an object */
  constructor(of: (value: unknown) => T) {
    this.#of = of;
  }

  /**
   * Reads the object at `at`. It must be ASCII without escapes, and another byte must stand at its line's end.
   * @param key value that the object probably depends on: it is compared with the last one of the same key
   * @returns where it ends; -1 if it cannot be read
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

/** Tells whether a known object stands at `at`. An object ends at its own last bracket, so that nothing longer can. */
function stands({ bytes, view }: Known<unknown>, other: DataView, at: number): boolean {
  const { length } = bytes;
  if (at + length > other.byteLength) return false;
  let index = 0;
  for (; index + 4 <= length; index += 4)
    if (view.getInt32(index, true) !== other.getInt32(at + index, true)) return false;
  for (; index < length; index++) if (bytes[index] !== other.getUint8(at + index)) return false;
  return true;
}

/** Returns where the brackets that open at `start` close; -1 if something other than plain ASCII comes first. */
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
