// Reads values of a field from its bytes: numbers, statuses, methods.
import { durationReader } from "../rules/duration.ts";
import { hashStep } from "../trace/names.ts";
import { type Cells, METHOD, SCOPE, STATUS, textOf } from "./cells.ts";
import { costMost, GRAPHQL_CALL, REST_CALL } from "./rows.ts";

const [zero, dot, dash, quoteMark, space] = [0x30, 0x2e, 0x2d, 0x22, 0x20] as const;

/** HTTP methods that are told apart. */
export const [NO_METHOD, GET, HEAD, POST] = [0, 1, 2, 3] as const;
const OTHER_METHOD = 4;

/** Tells whether a field is neither empty nor `-` nor `"-"`. */
export function isNamed({ view, from, to }: Cells, role: number): boolean {
  const start = from[role] as number;
  const length = (to[role] as number) - start;
  return length > 1 || (length === 1 && view.getUint8(start) !== dash && view.getUint8(start) !== quoteMark);
}

/** Returns a hash of a name's bytes, for `Names.find`: by words, then by the bytes that are left. */
export function hashOf(view: DataView, from: number, to: number): number {
  let hash = to - from;
  let at = from;
  for (; at + 4 <= to; at += 4) hash = Math.imul(hash ^ view.getInt32(at, true), 0x9e37_79b1);
  for (; at < to; at++) hash = hashStep(hash, view.getUint8(at));
  return hash ^ (hash >>> 13);
}

/** Tells whether a byte is a letter from `A` to `Z`. */
export const isCapital = (byte: number): boolean => byte >= 0x41 && byte <= 0x5a;

const methods: readonly (readonly [number, string])[] = [
  [GET, "get"],
  [HEAD, "head"],
  [POST, "post"],
];

export function methodOf({ view, from, to }: Cells): number {
  const start = from[METHOD] as number;
  const length = (to[METHOD] as number) - start;
  if (length <= 0 || (length === 1 && view.getUint8(start) === dash)) return NO_METHOD;
  for (const [method, word] of methods) {
    if (word.length !== length) continue;
    let at = 0;
    while (at < length && (view.getUint8(start + at) | 0x20) === word.charCodeAt(at)) at += 1;
    if (at === length) return method;
  }
  return OTHER_METHOD;
}

/** Reads an HTTP status, `429` or `429 Too Many Requests`; returns 0 if there is none, -1 if the field is no status. */
export function statusOf({ view, from, to }: Cells): number {
  const start = from[STATUS] as number;
  const length = (to[STATUS] as number) - start;
  if (length <= 0) return 0;
  if (length === 1) {
    const byte = view.getUint8(start);
    return byte === dash || byte === zero ? 0 : -1;
  }
  const end = length > 4 && view.getUint8(start + 3) === space ? start + 3 : start + length;
  const value = whole(view, start, end);
  // nginx writes 000 if a connection ended before there was a request to answer.
  return value === 0 || (value >= 100 && value <= 999) ? value : -1;
}

/** Returns `REST_CALL` or `GRAPHQL_CALL`; `null` if the row does not tell, -1 for another word. */
export function scopeOf(cells: Cells): number | null {
  if (!isNamed(cells, SCOPE)) return null;
  const word = cells.text(SCOPE).toLowerCase();
  return word === "rest" ? REST_CALL : word === "graphql" ? GRAPHQL_CALL : -1;
}

/** Reads a whole number up to `costMost`, `503` or `503.0`; returns -1 if it is none. */
export function whole(view: DataView, from: number, to: number): number {
  let value = 0;
  let at = from;
  for (; at < to && at < from + 10; at++) {
    const digit = view.getUint8(at) - zero;
    if (digit < 0 || digit > 9) break;
    value = value * 10 + digit;
  }
  if (at === from || value > costMost) return -1;
  if (at < to && view.getUint8(at) === dot) for (at += 1; at < to && view.getUint8(at) === zero; ) at += 1;
  return at === to ? value : -1;
}

const powersOfTen = Array.from({ length: 16 }, (_, digits) => 10 ** digits);

/**
 * Reads a number that is not negative; returns -1 if it is none. Up to 15 digits and a power of ten are both exact, so
 * that their quotient is the double that `Number` gives.
 */
export function decimal(view: DataView, from: number, to: number): number {
  let value = 0;
  let point = -1;
  let at = from;
  for (; at < to; at++) {
    const byte = view.getUint8(at);
    if (byte >= zero && byte <= zero + 9) value = value * 10 + byte - zero;
    else if (byte === dot && point === -1 && at > from) point = at;
    else break;
  }
  if (at !== to || to - from > 15 || point === to - 1) return numberOf(view, from, to);
  return point === -1 ? value : value / (powersOfTen[to - point - 1] as number);
}

const readSpan = durationReader(
  { ns: 1e-6, us: 1e-3, µs: 1e-3, μs: 1e-3, sec: 1000, secs: 1000, min: 60_000 },
  " ?",
);

/** Returns the ms of a span with its units, `1.2s`, `350 µs`, `1m2s`, as Go and many proxies write it; -1 if it is none. */
export const spanOf = (text: string): number =>
  text.length > 40 ? -1 : (readSpan(text.toLowerCase()) ?? -1);

/** Reads a number that is not a few plain digits. Such numbers are rare, so that a text may be made first. */
function numberOf(view: DataView, from: number, to: number): number {
  const text = to - from > 40 ? "" : textOf(view, from, to);
  const value = /^\d+(?:\.\d+)?(?:e[-+]?\d+)?$/i.test(text) ? Number(text) : -1;
  return value === Number.POSITIVE_INFINITY ? -1 : value;
}
