// Memory in lines of the processor's cache, 64 bytes each. Large blocks of memory begin 16 bytes after a line: in front
// of them most C libraries keep numbers of their own. Without a gap, a row of 64 bytes would take two lines.

/** Number of bytes in front of the first row. */
const GAP = 48;

/** Returns zeros whose rows of 64 bytes take a line each. */
export const doublesInLines = (length: number): Float64Array<ArrayBuffer> =>
  new Float64Array(new ArrayBuffer(GAP + 8 * length), GAP);

/** Returns the same memory, seen as 32-bit integers. */
export const intsOf = ({ buffer, byteOffset }: Float64Array<ArrayBuffer>): Int32Array<ArrayBuffer> =>
  new Int32Array(buffer, byteOffset);
