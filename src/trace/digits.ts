// Reads several digits at once.

/** Returns the number of four digits in a little-endian word; negative if they are not four digits. */
export function fourDigits(word: number): number {
  // The bytes of digits are 0 to 9 now: the highest bits of such a byte, and of its sum with 0x76, are 0.
  const digits = word ^ 0x3030_3030;
  if (((digits | (digits + 0x7676_7676)) & 0x8080_8080) !== 0) return -1;
  return (
    (digits & 0xff) * 1000 +
    ((digits >> 8) & 0xff) * 100 +
    ((digits >> 16) & 0xff) * 10 +
    ((digits >> 24) & 0xff)
  );
}
