// Digits, several at once.

/** Four digits, read as a little-endian word, as their number; negative where they are not four digits. */
export function fourDigits(word: number): number {
  // Of each byte: a digit's is 0 to 9 now, and neither it nor it + 0x76 has its highest bit set.
  const digits = word ^ 0x3030_3030;
  if (((digits | (digits + 0x7676_7676)) & 0x8080_8080) !== 0) return -1;
  return (
    (digits & 0xff) * 1000 +
    ((digits >> 8) & 0xff) * 100 +
    ((digits >> 16) & 0xff) * 10 +
    ((digits >> 24) & 0xff)
  );
}
