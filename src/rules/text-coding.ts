/**
 * Returns the coding of a text by its first bytes, as `TextDecoder` names it. UTF-16 has a byte order mark
 * (PowerShell's `>` writes it); all other texts are UTF-8.
 */
export function textCoding([first, second]: Uint8Array): "utf-8" | "utf-16le" | "utf-16be" {
  if (first === 0xff && second === 0xfe) return "utf-16le";
  return first === 0xfe && second === 0xff ? "utf-16be" : "utf-8";
}
