// The fast way to read a line of JSON: it notes where wanted members stand, and skips all others, with checks as strict
// as those of JSON.parse. It takes no line that JSON.parse refuses or reads differently. Escapes in wanted members,
// numbers that a double does not hold exactly, and booleans are left to the slow way.
import { newline } from "../trace/blocks.ts";
import { ACTUAL, type Cells, COST, DURATION, NO_ROLE, STATUS, TIME } from "./cells.ts";
import type { WantedMember, WantedMembers } from "./json-members.ts";

const [quoteMark, backslash, openBrace, closeBrace, openBracket, closeBracket] = [
  0x22, 0x5c, 0x7b, 0x7d, 0x5b, 0x5d,
] as const;
const [colon, comma, minus, plus, dot, zero, space, carriageReturn, tab] = [
  0x3a, 0x2c, 0x2d, 0x2b, 0x2e, 0x30, 0x20, 0x0d, 0x09,
] as const;

/** Greatest depth of members on the fast way. */
const depthMost = 32;

/** 1 for bytes that a JSON text may hold as they are. */
const isInText = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte >= 0x20 && byte !== quoteMark && byte !== backslash ? 1 : 0,
);
/** 1 for bytes that may follow a backslash, except `u`. */
const isEscape = Uint8Array.from({ length: 256 }, (_, byte) =>
  '"\\/bfnrt'.includes(String.fromCharCode(byte)) ? 1 : 0,
);
/** Roles whose field is read as a number or a time: `0.120` equals `0.12`. */
const isNumeric = new Set<number>([TIME, STATUS, COST, ACTUAL, DURATION]);

const FAILED = -1;

export class JsonScanner {
  readonly #wanted: WantedMembers;
  #view: DataView = new DataView(new ArrayBuffer(0));
  #at = 0;
  #keyEnd = 0;

  constructor(wanted: WantedMembers) {
    this.#wanted = wanted;
  }

  /** @returns where the next line begins; -1 if this one is left to JSON.parse */
  scan(view: DataView, from: number, cells: Cells): number {
    this.#view = view;
    this.#at = from;
    cells.view = view;
    cells.clear();
    this.#blanks();
    if (view.getUint8(this.#at) !== openBrace) return FAILED;
    this.#at += 1;
    if (!this.#members(this.#wanted, cells, 0)) return FAILED;
    this.#blanks();
    return view.getUint8(this.#at) === newline ? this.#at + 1 : FAILED;
  }

  /** Reads from behind `{` to behind `}`. */
  #members(wanted: WantedMembers, cells: Cells, depth: number): boolean {
    const view = this.#view;
    if (this.#next() === closeBrace) {
      this.#at += 1;
      return true;
    }
    let before: WantedMember | null = null;
    for (;;) {
      let member: WantedMember | null = before === null ? wanted.first : before.next;
      const literal = member?.literal ?? null;
      if (literal?.stands(view, this.#at) === true) this.#at += literal.length;
      else {
        const start = this.#at + 1;
        if (!this.#key()) return false;
        member = wanted.find(view, start, this.#keyEnd);
        if (before === null) wanted.first = member;
        else before.next = member;
      }
      this.#blanks();
      if (!(member === null ? this.#value(depth) : this.#member(member, cells, depth))) return false;
      before = member;
      const after = this.#next();
      this.#at += 1;
      if (after === closeBrace) return true;
      if (after !== comma) return false;
      this.#blanks();
    }
  }

  /** Reads a key and its colon. */
  #key(): boolean {
    const view = this.#view;
    if (view.getUint8(this.#at) !== quoteMark) return false;
    let end = this.#at + 1;
    while (isInText[view.getUint8(end)] === 1) end += 1;
    if (view.getUint8(end) !== quoteMark) return false;
    this.#keyEnd = end;
    this.#at = end + 1;
    if (this.#next() !== colon) return false;
    this.#at += 1;
    return true;
  }

  /** Reads the value behind a key. If a member comes twice, the last one counts, as in JSON.parse. */
  #member(member: WantedMember, cells: Cells, depth: number): boolean {
    const { role, child } = member;
    if (child === null) return role === NO_ROLE ? this.#value(depth) : this.#field(role, cells);
    for (const each of member.below) cells.to[each] = 0;
    if (this.#view.getUint8(this.#at) === openBrace) {
      this.#at += 1;
      return depth < depthMost && this.#members(child, cells, depth + 1);
    }
    return role === NO_ROLE ? this.#value(depth) : this.#field(role, cells);
  }

  /** Reads a wanted text or number. */
  #field(role: number, cells: Cells): boolean {
    const view = this.#view;
    const start = this.#at;
    if (view.getUint8(start) === quoteMark) {
      let at = start + 1;
      let byte = view.getUint8(at);
      while (isInText[byte] === 1) {
        at += 1;
        byte = view.getUint8(at);
      }
      if (byte !== quoteMark) return false;
      cells.from[role] = start + 1;
      cells.to[role] = at;
      this.#at = at + 1;
      return true;
    }
    if (this.#plainNumber(role, cells)) return true;
    if (this.#word(0x6e, "null")) {
      cells.to[role] = 0;
      return true;
    }
    if (!this.#number()) return false;
    cells.from[role] = start;
    cells.to[role] = this.#at;
    return isHeldByDouble(view, start, this.#at, isNumeric.has(role));
  }

  /** Reads a whole number of at most 15 digits, as most numbers are. */
  #plainNumber(role: number, cells: Cells): boolean {
    const view = this.#view;
    const start = this.#at;
    const first = view.getUint8(start);
    if (first <= zero || first > 0x39) return false;
    let at = start + 1;
    let byte = view.getUint8(at);
    while (isDigit(byte)) {
      at += 1;
      byte = view.getUint8(at);
    }
    if ((byte !== comma && byte !== closeBrace) || at - start > 15) return false;
    cells.from[role] = start;
    cells.to[role] = at;
    this.#at = at;
    return true;
  }

  /** Skips any value. */
  #value(depth: number): boolean {
    const byte = this.#view.getUint8(this.#at);
    if (byte === quoteMark) return this.#text();
    if (byte === openBrace || byte === openBracket) return depth < depthMost && this.#nested(byte, depth + 1);
    if (byte === 0x74) return this.#word(0x74, "true");
    if (byte === 0x66) return this.#word(0x66, "false");
    if (byte === 0x6e) return this.#word(0x6e, "null");
    return this.#number();
  }

  #nested(open: number, depth: number): boolean {
    const view = this.#view;
    const close = open === openBrace ? closeBrace : closeBracket;
    this.#at += 1;
    if (this.#next() === close) {
      this.#at += 1;
      return true;
    }
    for (;;) {
      if (open === openBrace) {
        if (view.getUint8(this.#at) !== quoteMark || !this.#text() || this.#next() !== colon) return false;
        this.#at += 1;
        this.#blanks();
      }
      if (!this.#value(depth)) return false;
      const after = this.#next();
      this.#at += 1;
      if (after === close) return true;
      if (after !== comma) return false;
      this.#blanks();
    }
  }

  #text(): boolean {
    const view = this.#view;
    let at = this.#at + 1;
    for (;;) {
      const byte = view.getUint8(at);
      at += 1;
      if (isInText[byte] === 1) continue;
      if (byte === quoteMark) {
        this.#at = at;
        return true;
      }
      if (byte !== backslash) return false;
      const escaped = view.getUint8(at);
      at += 1;
      if (isEscape[escaped] === 1) continue;
      if (escaped !== 0x75) return false;
      for (const end = at + 4; at < end; at++) if (!isHex(view.getUint8(at))) return false;
    }
  }

  #number(): boolean {
    const view = this.#view;
    let at = this.#at;
    if (view.getUint8(at) === minus) at += 1;
    const first = at;
    while (isDigit(view.getUint8(at))) at += 1;
    if (at === first || (view.getUint8(first) === zero && at > first + 1)) return false;
    if (view.getUint8(at) === dot) {
      const fraction = at + 1;
      for (at = fraction; isDigit(view.getUint8(at)); ) at += 1;
      if (at === fraction) return false;
    }
    if ((view.getUint8(at) | 0x20) === 0x65) {
      at += 1;
      const sign = view.getUint8(at);
      if (sign === plus || sign === minus) at += 1;
      const exponent = at;
      while (isDigit(view.getUint8(at))) at += 1;
      if (at === exponent) return false;
    }
    this.#at = at;
    return true;
  }

  #word(first: number, word: string): boolean {
    const view = this.#view;
    if (view.getUint8(this.#at) !== first) return false;
    for (let index = 1; index < word.length; index++)
      if (view.getUint8(this.#at + index) !== word.charCodeAt(index)) return false;
    this.#at += word.length;
    return true;
  }

  /** Returns the next byte that is no blank, without taking it. */
  #next(): number {
    const byte = this.#view.getUint8(this.#at);
    if (byte > space) return byte;
    this.#blanks();
    return this.#view.getUint8(this.#at);
  }

  #blanks(): void {
    const view = this.#view;
    let byte = view.getUint8(this.#at);
    while (byte === space || byte === tab || byte === carriageReturn) {
      this.#at += 1;
      byte = view.getUint8(this.#at);
    }
  }
}

const isDigit = (byte: number): boolean => byte >= 0x30 && byte <= 0x39;
const isHex = (byte: number): boolean => isDigit(byte) || ((byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x66);

/**
 * Tells whether a number reads the same from its digits as through a double. A name must be whole, without a sign, of
 * at most 15 digits: `1.0` is `1` to JSON.parse. Times and counts may have a fraction. Seconds since the epoch have ten
 * digits and six behind the point; doubles are closer together there (2^-22 s).
 */
function isHeldByDouble(view: DataView, from: number, to: number, isNumeric: boolean): boolean {
  let point = -1;
  for (let at = from; at < to; at++) {
    const byte = view.getUint8(at);
    if (byte === dot && isNumeric) point = at - from;
    else if (!isDigit(byte)) return false;
  }
  const length = to - from;
  if (point === -1) return length <= 15 || (length === 16 && isNumeric && view.getUint8(from) < 0x39);
  if (point === 1 && view.getUint8(from) === zero) return length <= 8;
  return length <= 15 || (point === 10 && length <= 17);
}
