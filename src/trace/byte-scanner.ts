// Reads the values of a line's bytes, for the scanners of both versions of the trace. It reads plain whole numbers, and
// ASCII texts without escapes. Everything else is left to JSON.parse.
import { type Block, newline } from "./blocks.ts";
import { fourDigits } from "./digits.ts";
import type { Literal } from "./literal.ts";
import { hashStep, type Names } from "./names.ts";

const [quoteMark, backslash, closeBrace, carriageReturn, minus, zero] = [0x22, 0x5c, 0x7d, 0x0d, 0x2d, 0x30];

/** 1 for bytes that a JSON text may hold as they are, ASCII alone; 0 for others. */
export const isPlain = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte >= 0x20 && byte < 0x7f && byte !== quoteMark && byte !== backslash ? 1 : 0,
);

/** Result of a reading method that finds nothing it can read. */
export const FAILED = -1;
/** Result of a failed reading, for methods whose numbers include -1. */
export const NO_NUMBER = -0x8000_0000;

export class ByteScanner {
  protected readonly names: Names;
  protected view: DataView = new DataView(new ArrayBuffer(0));
  /** Place of the next byte to read. */
  protected at = 0;
  /** First eight digits of the last time, as a number of their bytes, and their ms; `NaN` at first. */
  #timeBegin = Number.NaN;
  #timeMs = 0;

  constructor(names: Names) {
    this.names = names;
  }

  /** Goes to the beginning of a line. */
  protected begin(block: Block, from: number): void {
    this.view = block.view;
    this.at = from;
  }

  protected takes(literal: Literal): boolean {
    if (!literal.stands(this.view, this.at)) return false;
    this.at += literal.length;
    return true;
  }

  /** Takes `}` and the line's end; returns whether they stood there. */
  protected ends(): boolean {
    const view = this.view;
    if (view.getUint8(this.at) !== closeBrace) return false;
    const after = view.getUint8(this.at + 1);
    this.at += 2;
    if (after === newline) return true;
    if (after !== carriageReturn || view.getUint8(this.at) !== newline) return false;
    this.at += 1;
    return true;
  }

  /** Reads a time of 13 digits, as times from 2001 to 2286 are. The first eight are mostly those of the last time. */
  protected time(): number {
    const view = this.view;
    const begin = view.getFloat64(this.at, true);
    if (begin !== this.#timeBegin) {
      const high = fourDigits(view.getInt32(this.at, true));
      const middle = fourDigits(view.getInt32(this.at + 4, true));
      if (high < 1000 || middle < 0) return FAILED;
      this.#timeBegin = begin;
      this.#timeMs = (high * 10_000 + middle) * 100_000;
    }
    const low = fourDigits(view.getInt32(this.at + 8, true));
    const last = view.getUint8(this.at + 12) - zero;
    if (low < 0 || last < 0 || last > 9) return FAILED;
    this.at += 13;
    return this.#timeMs + (low * 10 + last);
  }

  /** Reads a whole number of at most nine digits. */
  protected whole(): number {
    const view = this.view;
    const start = this.at;
    let value = view.getUint8(start) - zero;
    if (value < 0 || value > 9) return FAILED;
    let at = start + 1;
    if (value > 0)
      for (; at < start + 10; at++) {
        const digit = view.getUint8(at) - zero;
        if (digit < 0 || digit > 9) break;
        value = value * 10 + digit;
      }
    if (at === start + 10) return FAILED;
    this.at = at;
    return value;
  }

  /** Reads a whole number of at most nine digits, with or without a sign, or returns `NO_NUMBER`. */
  protected signed(): number {
    if (this.view.getUint8(this.at) !== minus) {
      const value = this.whole();
      return value === FAILED ? NO_NUMBER : value;
    }
    this.at += 1;
    const value = this.whole();
    return value <= 0 ? NO_NUMBER : -value;
  }

  /** Reads a text whose first quotation mark was taken. Returns the number of its name. */
  protected name(): number {
    const view = this.view;
    const start = this.at;
    let hash = 0;
    let at = start;
    let byte = view.getUint8(at);
    while (isPlain[byte] === 1) {
      hash = hashStep(hash, byte);
      at += 1;
      byte = view.getUint8(at);
    }
    if (byte !== quoteMark) return FAILED;
    this.at = at + 1;
    return this.names.find(view, start, at, hash);
  }
}
